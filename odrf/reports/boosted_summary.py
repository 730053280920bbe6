"""What the summary and the card of boosted trees say."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from odrf.options.boosting_control import REFIT, BoostingControl
from odrf.reports.summaries import (
    card,
    data_facts,
    importance_section,
    mean_and_range,
    missing_notes,
    subset_size,
    tried,
)
from odrf.text.summary import Summary
from odrf.text.wording import number

if TYPE_CHECKING:
    from odrf.results.boosted import ODBTResults

__all__ = ["boosted_card", "boosted_summary"]

# Rounds of the path that are shown.
SHOWN = 6


def boosted_summary(results: ODBTResults) -> Summary:
    """Summarise boosted trees: data, losses, options, the path of the loss, importances."""
    control = results.control
    l2 = number(control.l2)
    share = 100 * control.sample_fraction
    facts = {
        **data_facts(results),
        **_losses(results),
        **_score(results),
        "Rounds": _rounds(results),
        "Trees": str(results.forest.n_trees),
        **_runs(results),
        **_leaf_values(control),
        "L2 penalty": f"{l2} (not of medians)" if control.loss in ("absolute", "huber") else l2,
        "Rows of a tree": "all" if control.sample_fraction == 1 else f"{share:.3g}% at random",
        **_predictors(results),
        **({"Offset": results.fit.offset.column or "given"} if results.fit.offset.given else {}),
        "Projection": control.mixture.name.replace("_", " "),
        **subset_size(control),
        "Tried per node": tried(control),
        "Max. depth": str(control.max_depth),
        "Min. leaf": str(control.min_leaf),
        "Leaves": mean_and_range(results.n_leaves),
        "Seed": str(control.seed),
    }
    sections = {
        f"Mean loss ({control.loss.replace('_', ' ')})": _some_rounds(results),
        **importance_section(results, "impurity of the slopes removed"),
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
    loss = results.control.loss.replace("_", " ")
    return card(f"Boosted oblique trees, {loss} loss: {results.kind}", facts)


def _runs(results: ODBTResults) -> dict[str, str]:
    """Return how many runs there are, if there are several, and what they see."""
    control, P = results.control, len(results.design.predictors)
    if control.n_runs == 1:
        return {}
    seen = "all" if control.run_predictors == P else str(control.run_predictors)
    return {"Runs": f"{control.n_runs}, each of a bootstrap sample and {seen} predictors"}


def _leaf_values(control: BoostingControl) -> dict[str, str]:
    if control.leaf_values == REFIT:
        return {"Leaf values": "refitted with every tree"}
    return {"Learning rate": number(control.learning_rate)}


def _predictors(results: ODBTResults) -> dict[str, str]:
    """Return how many predictors each tree draws, if not all of its run."""
    control = results.control
    if control.tree_predictors == control.run_predictors:
        return {}
    return {"Predictors of a tree": f"{control.tree_predictors} at random"}


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
    held = results.fit.held.sum()
    return (
        f"{kept} of {grown}, by rows out of bag"
        if not held
        else (f"{kept} of {grown}, by {held} rows held out")
    )


def _losses(results: ODBTResults) -> dict[str, str]:
    """Return the losses after the rounds that are kept."""
    path, at = results.loss_path, results.n_rounds
    return {f"{str(name).capitalize()} loss": number(path[name].iloc[at]) for name in path}


def _score(results: ODBTResults) -> dict[str, str]:
    name = "Error rate" if results.kind == "classification" else "MSE"
    scores = {f"{name} of all rows": number(results.training_error)}
    if results.control.n_runs > 1:
        scores[f"{name}, out of bag"] = number(results.oob_error)
    return scores
