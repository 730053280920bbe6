"""Summary and short description of boosted trees."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf.fits.fit import BoostedFit
from odrf.fits.responses import boosted_error, judging_rows
from odrf.fits.scores import mean_loss, r_squared
from odrf.options.boosting import BoostingControl, loss_in_words, mean_loss_in_words
from odrf.options.table import REFIT
from odrf.reports.data_summary import missing_notes
from odrf.reports.importance_tables import MeasuredImportance
from odrf.reports.residuals.training_scores import training_score, without_rounding
from odrf.reports.summaries import (
    data_facts,
    importance_section,
    mean_and_range,
    predictors_in_words,
    rows_in_words,
    subset_size,
    tried,
    weights_in_words,
)
from odrf.text.layouts import quantity
from odrf.text.splits import number
from odrf.text.summary import Card, Summary

__all__ = ["boosted_card", "boosted_facts", "boosted_summary", "loss_path", "loss_section"]

# Rounds of the loss path in the summary.
SHOWN = 6


def loss_path(fit: BoostedFit) -> pd.DataFrame:
    """Return the table `odrf.results.boosted.boosted_results.ODBTResults.loss_path`."""
    boosted = fit.boosted
    path = {"training": boosted.training}
    if len(boosted.held_out):
        path["validation" if fit.held.any() else "out-of-bag"] = boosted.held_out
    return pd.DataFrame(path, index=pd.RangeIndex(len(boosted.training), name="rounds"))


def boosted_summary(
    fit: BoostedFit,
    fitted: NDArray[np.float64],
    out_of_bag: NDArray[np.float64] | None,
    importance: MeasuredImportance,
) -> Summary:
    """Return the summary of boosted trees: data, losses, options, loss path, importances.

    `fitted` and `out_of_bag` (n, K) are predictions of the training rows by all runs, and by the
    runs that did not draw a row; the latter None for one run.
    """
    facts = {**data_facts(fit), **boosted_facts(fit, _score(fit, fitted, out_of_bag))}
    sections = {**loss_section(fit), **importance_section(importance)}
    name = f"Boosted oblique trees: {fit.kind}"
    notes = (*importance.notes, *missing_notes(fit))
    return Summary(name, fit.call, facts, sections, notes)


def boosted_facts(fit: BoostedFit, scores: dict[str, str]) -> dict[str, str]:
    """Return the losses of a fit, its `scores` in words, and its options."""
    control = fit.control
    l2 = number(control.l2)
    share = 100 * control.sample_fraction
    return {
        **_losses(fit),
        **scores,
        "Rounds": _rounds(fit),
        "Trees": str(fit.forest.n_trees),
        **_runs(fit),
        **_leaf_values(control),
        "L2 penalty": l2 if fit.loss.penalised else f"{l2} (no effect)",
        "Rows of a tree": "all" if control.sample_fraction == 1 else f"{share:.3g}% at random",
        **_predictors(fit),
        **({"Offset": fit.offset.column or "given"} if fit.offset.given else {}),
        "Projection": control.mixture.name.replace("_", " "),
        **subset_size(control),
        "Tried per node": tried(control),
        "Max. depth": str(control.max_depth),
        **_limits(control),
        "Min. leaf": str(control.min_leaf),
        "Leaves": mean_and_range(fit.forest.leaves()),
        "Seed": str(control.seed),
    }


def loss_section(fit: BoostedFit) -> dict[str, pd.DataFrame]:
    """Return the loss path at a few rounds, under its title."""
    return {f"Mean loss ({mean_loss_in_words(fit.control.loss)})": _shown_rounds(fit)}


def boosted_card(
    fit: BoostedFit, fitted: NDArray[np.float64], out_of_bag: NDArray[np.float64] | None
) -> Card:
    """Return a short description of boosted trees; arguments as in `boosted_summary`."""
    facts = {
        "Formula": fit.design.formula,
        "Rows": rows_in_words(fit),
        **weights_in_words(fit),
        "Predictors": predictors_in_words(fit),
        "Rounds": _rounds(fit),
        "Leaves": mean_and_range(fit.forest.leaves()),
        **_losses(fit),
        **_score(fit, fitted, out_of_bag),
    }
    loss = loss_in_words(fit.control.loss)
    return Card(f"Boosted oblique trees, {loss} loss: {fit.kind}", facts)


def _runs(fit: BoostedFit) -> dict[str, str]:
    """Return the number of runs, if there are several, and what they are grown on."""
    control, P = fit.control, len(fit.design.predictors)
    if control.n_runs == 1:
        return {}
    drawn = "all" if control.run_predictors == P else str(control.run_predictors)
    return {"Runs": f"{control.n_runs}, each of a bootstrap sample and {drawn} predictors"}


def _leaf_values(control: BoostingControl) -> dict[str, str]:
    if control.leaf_values == REFIT:
        return {"Leaf values": "refitted with every tree"}
    return {"Learning rate": number(control.learning_rate)}


def _limits(control: BoostingControl) -> dict[str, str]:
    """Return the limits on leaves that are not there by default."""
    limits = {}
    if control.max_leaves is not None:
        limits["Max. leaves"] = f"{control.max_leaves}, best-first"
    if control.min_hessian > 0:
        limits["Min. hessian"] = number(control.min_hessian)
    return limits


def _predictors(fit: BoostedFit) -> dict[str, str]:
    """Return the number of predictors that each tree draws, if fewer than its run has."""
    control = fit.control
    if control.tree_predictors == control.run_predictors:
        return {}
    return {"Predictors of a tree": f"{control.tree_predictors} at random"}


def _shown_rounds(fit: BoostedFit) -> pd.DataFrame:
    """Return the loss path at a few rounds, with the first, the last kept and the last."""
    path = without_rounding(loss_path(fit))
    last = path.index[-1]
    rounds = np.linspace(0, last, min(SHOWN, last + 1)).round().astype(int)
    return path.loc[sorted({*rounds.tolist(), fit.n_rounds})]


def _rounds(fit: BoostedFit) -> str:
    kept, grown = fit.n_rounds, len(loss_path(fit)) - 1
    if fit.control.validation is None:
        return str(kept)
    held = fit.held.sum()
    rows = f"{quantity(held, 'row')} held out" if held else "rows out of bag"
    return f"{kept} of {grown}, by {rows}"


def _losses(fit: BoostedFit) -> dict[str, str]:
    """Return the losses after the last round that is kept; "–" where no row judges."""
    last = without_rounding(loss_path(fit)).iloc[fit.n_rounds]
    words = last.map(lambda loss: "–" if np.isnan(loss) else number(loss))
    return {f"{str(name).capitalize()} loss": word for name, word in words.items()}


def _score(
    fit: BoostedFit, fitted: NDArray[np.float64], out_of_bag: NDArray[np.float64] | None
) -> dict[str, str]:
    """Return the errors of the rows that trees grew on, of those held out, and out of bag."""
    error, of_classes = mean_loss(fit, fitted, ~fit.held), fit.kind == "classification"
    scores = training_score(error, None if of_classes else r_squared(fit, error))
    name = "error rate" if of_classes else "MSE"
    if fit.held.any():
        scores[f"Validation {name}"] = number(mean_loss(fit, fitted, fit.held))
    if out_of_bag is not None:
        judged = judging_rows(fit, out_of_bag).any()
        scores[f"OOB {name}"] = number(boosted_error(fit, out_of_bag)) if judged else "–"
    return scores
