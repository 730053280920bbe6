"""What the summary and the card of boosted trees say."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from odrf.results.report import TOP, data_facts, mean_and_range, missing_notes
from odrf.summary import Summary
from odrf.wording import number

if TYPE_CHECKING:
    from odrf.results.boosted import ODBTResults

__all__ = ["boosted_card", "boosted_summary"]

# Rounds of the path that are shown.
SHOWN = 6


def boosted_summary(results: ODBTResults) -> Summary:
    """Summarise boosted trees: data, losses, options, the path of the loss, importances."""
    control = results.control
    mixture = control.mixture
    l2 = number(control.l2)
    size = "random, up to n(node)^0.4" if control.subset_size == "random" else control.subset_size
    share = 100 * control.sample_fraction
    facts = {
        **data_facts(results),
        **_losses(results),
        **_score(results),
        "Rounds": _rounds(results),
        "Trees": str(results.forest.n_trees),
        "Learning rate": number(control.learning_rate),
        "L2 penalty": f"{l2} (not of medians)" if control.loss in ("absolute", "huber") else l2,
        "Rows of a tree": "all" if control.sample_fraction == 1 else f"{share:.3g}% at random",
        "Projection": mixture.name.replace("_", " "),
        **({"Subset size q": str(size)} if mixture.on_subsets else {}),
        "Tried per node": f"{mixture.n_singles} single, {mixture.n_directions} oblique",
        "Max. depth": str(control.max_depth),
        "Min. leaf": str(control.min_leaf),
        "Leaves": mean_and_range(results.n_leaves),
        "Seed": str(control.seed),
    }
    importance = results.importance()
    few = f", first {TOP} of {len(importance)} predictors" if len(importance) > TOP else ""
    sections = {
        f"Mean loss ({control.loss.replace('_', ' ')})": _some_rounds(results),
        f"Importance (impurity of the slopes removed{few})": importance.head(TOP),
    }
    name = f"Boosted oblique trees: {results.kind}"
    return Summary(name, results.call, facts, sections, tuple(missing_notes(results)))


def boosted_card(results: ODBTResults) -> str:
    """Describe boosted trees in a few lines."""
    facts = {
        "Formula": results.formula,
        "Rows": str(results.nobs),
        "Predictors": str(len(results.design.predictors)),
        "Rounds": _rounds(results),
        "Leaves": mean_and_range(results.n_leaves),
        **_losses(results),
        **_score(results),
    }
    width = max(map(len, facts))
    lines = [f"  {key:<{width}}  {value}" for key, value in facts.items()]
    head = f"Boosted oblique trees, {results.control.loss.replace('_', ' ')} loss: {results.kind}"
    return "\n".join([head, *lines])


def _some_rounds(results: ODBTResults) -> pd.DataFrame:
    """Return the path at a few rounds, the first, the last kept and the last among them."""
    path = results.loss_path
    last = path.index[-1]
    rounds = np.linspace(0, last, min(SHOWN, last + 1)).round().astype(int)
    return path.loc[sorted({*rounds.tolist(), results.n_rounds})]


def _rounds(results: ODBTResults) -> str:
    kept, grown = results.n_rounds, len(results.loss_path) - 1
    if results.control.validation is None:
        return str(kept)
    return f"{kept} of {grown}, by {results.fit.held.sum()} rows held out"


def _losses(results: ODBTResults) -> dict[str, str]:
    """Return the losses after the rounds that are kept."""
    path, at = results.loss_path, results.n_rounds
    return {f"{str(name).capitalize()} loss": number(path[name].iloc[at]) for name in path}


def _score(results: ODBTResults) -> dict[str, str]:
    name = "Error rate of all rows" if results.kind == "classification" else "MSE of all rows"
    return {name: number(results.training_error)}
