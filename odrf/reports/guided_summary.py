"""Summary and short description of a guided forest."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from odrf.fits.fit import GuidedFit
from odrf.fits.scores import mean_loss, r_squared
from odrf.reports.data_summary import missing_notes
from odrf.reports.importance_tables import MeasuredImportance
from odrf.reports.residuals.training_scores import training_score
from odrf.reports.summaries import (
    data_facts,
    importance_section,
    mean_and_range,
    predictors_in_words,
    rows_in_words,
    seeds,
    weights_in_words,
)
from odrf.text.layouts import quantity
from odrf.text.summary import Card, Summary

__all__ = ["guided_card", "guided_summary"]

UNORDERED = "The planes treat ordered classes as unordered."


def guided_summary(
    fit: GuidedFit, fitted: NDArray[np.float64], importance: MeasuredImportance
) -> Summary:
    """Return the summary of a guided forest: data, training error, options, sizes, importances.

    `fitted` (n, K) are its predictions for the training rows.
    """
    control, guided = fit.control, fit.guided
    facts = {
        **data_facts(fit),
        **_score(fit, fitted),
        "Trees": str(guided.n_trees),
        "Subspace M": f"{quantity(control.subspace, 'predictor')} ({control.subspace_rule})",
        "Trials": f"{quantity(control.trials, 'plane')} per step",
        "Coefficients": f"uniform on the region's range, from the mean of the {control.origin}",
        "Min. split": str(control.min_split),
        "Seed": seeds(fit),
        "Planes": mean_and_range(guided.n_planes),
        "Inner regions": mean_and_range(guided.n_inner),
        "Leaves": mean_and_range(guided.n_leaves),
        "Regions per plane": f"{guided.n_inner.sum() / max(1, guided.n_planes.sum()):.1f}",
        "Model size": f"{guided.sizes.sum()} numbers",
    }
    sections = importance_section(importance)
    notes = (
        "Every tree uses all rows: no row is out of bag, and the training error is not that of new "
        "rows, which compare() estimates.",
        *((UNORDERED,) if fit.design.response.ordered else ()),
        *importance.notes,
        *missing_notes(fit),
    )
    name = f"Guided random forest: {fit.kind}"
    return Summary(name, fit.call, facts, sections, notes)


def guided_card(fit: GuidedFit, fitted: NDArray[np.float64]) -> Card:
    """Return a short description of a guided forest; arguments as in `guided_summary`."""
    guided = fit.guided
    facts = {
        "Formula": fit.design.formula,
        "Rows": rows_in_words(fit),
        **weights_in_words(fit),
        "Predictors": predictors_in_words(fit),
        "Planes": mean_and_range(guided.n_planes),
        "Leaves": mean_and_range(guided.n_leaves),
        **_score(fit, fitted),
    }
    return Card(f"Guided random forest of {quantity(guided.n_trees, 'tree')}: {fit.kind}", facts)


def _score(fit: GuidedFit, fitted: NDArray[np.float64]) -> dict[str, str]:
    error = mean_loss(fit, fitted)
    return training_score(error, None if fit.kind == "classification" else r_squared(fit, error))
