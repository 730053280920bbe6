"""Summary, importances and short description of a stack of models."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf.engine.factors import indicated
from odrf.engine.running import one_thread
from odrf.fits.stack.fit import StackedFit, StackedPart, Trial
from odrf.reports import summaries
from odrf.reports.importance import MeasuredImportance, held_out_table, impurity_table, with_shares
from odrf.text.layouts import quantity
from odrf.text.splits import number
from odrf.text.summary import Card, Summary

MEASURE = "held-out importance, mean of the models with trees"
# Weights are found to about so many digits, and losses rise by their errors.
ROUNDING = 1e-7
NOT_USED = "The models with trees, which tell importances, have weight 0 in the predictions."


def parts_table(fit: StackedFit) -> pd.DataFrame:
    """Return the table `odrf.results.stack.AutoResults.parts`."""
    return pd.DataFrame(
        {
            "weight": fit.weights,
            "oob_error": fit.errors,
            "rise_without": np.where(np.abs(fit.rises) < ROUNDING, 0.0, fit.rises),
            "trees": [
                fit.grown[part.name].forest.n_trees if part.name in fit.grown else 0
                for part in fit.parts
            ],
        },
        index=pd.Index([part.name for part in fit.parts], name="part"),
    )


def trials_table(fit: StackedFit) -> pd.DataFrame:
    """Return the table `odrf.results.stack.AutoResults.trials`."""
    table = pd.DataFrame(fit.trials, columns=list(Trial._fields)).set_index("name")
    return table.rename_axis(index="part")


def stacked_importance(fit: StackedFit, progress: bool = False) -> MeasuredImportance:
    """Return the weighted mean of the shares of importance in models with trees."""
    importance = np.zeros(len(fit.design.predictors))
    notes: tuple[str, ...] = ()
    weights = {
        part.name: weight
        for part, weight in zip(fit.parts, fit.weights, strict=True)
        if part.name in fit.grown
    }
    if not any(weights.values()):
        weights, notes = dict.fromkeys(weights, 1 / len(weights)), (NOT_USED,)
    total = sum(weights.values())
    for part in fit.parts:
        if weights.get(part.name, 0) > 0:
            importance += weights[part.name] / total * _shares(part, fit, progress)
    return MeasuredImportance(with_shares(fit, importance), MEASURE, notes)


def _shares(part: StackedPart, fit: StackedFit, progress: bool) -> NDArray[np.float64]:
    """Return the importance of each predictor (P,) in one model; those above 0 add up to 1."""
    grown = fit.grown[part.name]
    table = held_out_table(grown, progress)
    table = impurity_table(grown) if table is None else table
    of_predictors = table["importance"].reindex(list(fit.design.predictors), fill_value=0.0)
    importance = of_predictors.to_numpy()
    if part.base is not None:
        importance = importance + _of_base(part, fit)
    total = importance[importance > 0].sum()
    return np.asarray(importance / total if total > 0 else np.zeros(len(importance)))


@one_thread()
def _of_base(part: StackedPart, fit: StackedFit) -> NDArray[np.float64]:
    """Return the covariance of the response with what each predictor adds to the base (P,)."""
    assert part.base is not None
    data, first = fit.data, fit.design.first
    share = data.weights / data.weights.sum()
    off = share * (data.y - share @ data.y)
    added = part.base.by_column(indicated(data.X))
    return np.array([off @ added[:, a:b].sum(axis=1) for a, b in pairwise(first)])


def stacked_summary(
    fit: StackedFit, scores: dict[str, str], importance: MeasuredImportance
) -> Summary:
    """Return the summary of a stack: data, errors, what it is made of, importances."""
    facts = {**scores, "Seed": str(fit.control.seed)}
    tried = {"Tried": trials_table(fit)} if fit.trials else {}
    sections = {"Parts": parts_table(fit), **tried}
    notes = (*_of_losses(fit), *_of_probabilities(fit))
    return summaries.fit_summary("Weighted mean of models", fit, facts, sections, importance, notes)


def _of_losses(fit: StackedFit) -> tuple[str, ...]:
    """Say what a model adds to the others, and what those that were tried would add."""
    loss = "mean squared error" if fit.design.response.classes is None else "log loss"
    notes = []
    if len(fit.parts) > 1:
        notes.append(
            f"rise_without is the share by which the OOB {loss} would rise without the model."
        )
    if fit.trials:
        notes.append(
            f"gain is by how much the OOB {loss} would fall with the model, not as a share."
        )
    return tuple(notes)


def _of_probabilities(fit: StackedFit) -> tuple[str, ...]:
    """Say how class probabilities are put together."""
    if fit.design.response.classes is None:
        return ()
    if len(fit.parts) > 1 and not fit.weights[1:].any():
        return (
            "The forest is used alone: with the other models the OOB Brier score would fall by no "
            f"more than chance.  Its probabilities are taken to the power {number(fit.power)}.",
        )
    return (
        "Probabilities are the weighted geometric mean of those of the models, to the power "
        f"{number(fit.power)}.",
    )


def stacked_card(fit: StackedFit, scores: dict[str, str]) -> Card:
    """Return a short description of a stack."""
    title = f"Weighted mean of {quantity(len(fit.parts), 'model')}"
    return summaries.fit_card(title, fit, scores, table=parts_table(fit))
