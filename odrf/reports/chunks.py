"""Summaries of forests whose rows came in chunks."""

from __future__ import annotations

import numpy as np
import pandas as pd

from odrf.errors import InputError
from odrf.fits.fit import Fit, RowSums, StreamedFit
from odrf.fits.scores import OutOfBagScores, counts_of_classes, explained_part
from odrf.reports.importance import MeasuredImportance, impurity_table, with_shares
from odrf.reports.summaries import error_scores, growth_card, growth_summary
from odrf.text.layouts import quantity
from odrf.text.splits import number
from odrf.text.summary import Card, Summary

OWN, OUT_OF_BAG = "impurity removed", "impurity removed, out of bag"
NOTE = (
    "The rows that chose the splits also evaluate their importances, which favours predictors of "
    "many values."
)


def is_evaluated(fit: StreamedFit) -> bool:
    """Return whether rows have evaluated this very forest, and not the one that it was cut from."""
    return fit.sums is not None and (fit.pruning is None or fit.pruning.by_options)


def summed_rows(fit: StreamedFit) -> RowSums:
    """Return what the rows have evaluated; raise `InputError` if it was another forest."""
    if fit.sums is None:
        raise InputError(
            "only the pruned forest has been evaluated by its rows: grow another without alpha="
        )
    if not is_evaluated(fit):
        raise InputError(
            "the rows have evaluated the forest before prune(), which is its parent: for errors of "
            "the pruned one, grow it with alpha="
        )
    return fit.sums


def streamed_r_squared(fit: StreamedFit) -> float:
    """Return 1 - mean squared error / variance of the response; raise `InputError` for classes."""
    if fit.kind == "classification":
        raise InputError("r_squared needs a regression; for classes see confusion_matrix")
    evaluated = summed_rows(fit)
    return explained_part(evaluated.error_path[-1], evaluated.variance)


def streamed_scores(fit: StreamedFit) -> pd.Series:
    """Return the out-of-bag scores by name."""
    evaluated = summed_rows(fit)
    if fit.kind == "regression":
        values = {"mse": evaluated.error_path[-1], "r2": streamed_r_squared(fit)}
    else:
        values = {"error": evaluated.error_path[-1], "brier": evaluated.brier}
        values["log_loss"] = evaluated.log_loss
    return pd.Series({**values, "rows": evaluated.n_evaluated}, name="out of bag", dtype=float)


def streamed_confusion(fit: StreamedFit) -> pd.DataFrame:
    """Return the weights of rows by observed and predicted class, with error rates."""
    classes, counts = fit.design.response.classes, summed_rows(fit).confusion
    if classes is None or counts is None:
        raise InputError("confusion_matrix needs classes; for a regression see r_squared")
    return counts_of_classes(classes, counts, bool((counts == np.rint(counts)).all()))


def importance_by_own_rows(fit: Fit) -> MeasuredImportance:
    """Return the importances as the rows that chose the splits evaluate them."""
    return MeasuredImportance(impurity_table(fit), OWN, (NOTE,))


def streamed_importance(fit: StreamedFit) -> MeasuredImportance:
    """Return the importances that are shown: by the rows that trees did not sample, if known."""
    if not is_evaluated(fit):
        return importance_by_own_rows(fit)
    return MeasuredImportance(with_shares(fit, summed_rows(fit).importance), OUT_OF_BAG)


def streamed_summary(fit: StreamedFit) -> Summary:
    """Return the summary: data, out-of-bag error, options, sizes, importances."""
    facts = {
        "Trees": str(fit.forest.n_trees),
        "Rows a tree": f"about {fit.control.sample_fraction * fit.training.n_rows:.0f}",
        **_in_words(fit),
    }
    confusion = {}
    if fit.kind == "classification" and is_evaluated(fit):
        confusion = {"out of bag": streamed_confusion(fit)}
    return growth_summary(_NAME, fit, facts, confusion, streamed_importance(fit))


def streamed_card(fit: StreamedFit) -> Card:
    """Return a short description."""
    name = f"{_NAME}, {quantity(fit.forest.n_trees, 'tree')}"
    return growth_card(name, fit, _in_words(fit))


_NAME = "Oblique random forest of rows in chunks"


def _in_words(fit: StreamedFit) -> dict[str, str]:
    if not is_evaluated(fit):
        return {"OOB error": "unknown (the rows evaluated the forest before or after pruning)"}
    scores = streamed_scores(fit)
    if fit.kind == "regression" or np.isnan(scores.iloc[0]):
        of_rows = OutOfBagScores(scores.iloc[0], np.nan, scores.get("r2", None))
        return error_scores(of_rows)
    return error_scores(OutOfBagScores(scores["error"], np.nan)) | {
        "OOB log loss": number(scores["log_loss"]),
        "OOB Brier score": number(scores["brier"]),
    }
