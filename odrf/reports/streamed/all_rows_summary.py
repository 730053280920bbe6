"""Summary and short description of one tree of all rows in chunks."""

from __future__ import annotations

from typing import Any

import numpy as np

from odrf.fits.all_rows.all_rows_fit import AllRowsFit
from odrf.pruning.complexity import root_losses
from odrf.reports.importance_tables import impurity_measured
from odrf.reports.pruning_path import PruningPath
from odrf.reports.summaries import growth_card, growth_summary, held_out_scores
from odrf.text.card import Card
from odrf.text.summary import Summary
from odrf.text.wording import number

__all__ = ["all_rows_card", "all_rows_summary", "training_error"]

NAME = "Oblique decision tree of rows in chunks"


def training_error(fit: AllRowsFit) -> float:
    """Return the mean squared error, or the misclassification rate, of the rows of the leaves."""
    forest = fit.forest
    leaf = np.flatnonzero(forest.is_leaf())
    loss = forest.impurity[leaf]
    if fit.kind == "classification":
        loss = 1.0 - forest.value[leaf].max(axis=1)
    return float(forest.weight[leaf] @ loss / forest.weight[0])


def all_rows_summary(fit: AllRowsFit, path: PruningPath[Any] | None) -> Summary:
    """Return the summary: data, errors, options, size, importances.

    `path` is the pruning path that the tree was chosen from, if any.
    """
    facts = {**_scores(fit), **held_out_scores(fit, path)}
    return growth_summary(NAME, fit, facts, {}, impurity_measured(fit))


def all_rows_card(fit: AllRowsFit) -> Card:
    """Return a short description."""
    return growth_card(NAME, fit, _scores(fit))


def _scores(fit: AllRowsFit) -> dict[str, str]:
    error = training_error(fit)
    if fit.kind == "classification":
        return {"Training error rate": number(error)}
    root = float(root_losses(fit.forest)[0])
    explained = f"{1 - error / root:.3f}" if root > 0 else "unknown"
    return {"Training MSE": number(error), "Training R²": explained}
