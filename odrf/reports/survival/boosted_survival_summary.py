"""Summary and short description of boosted trees for times to an event."""

from __future__ import annotations

from odrf.fits.survival.boosted import BoostedSurvivalFit
from odrf.fits.survival.validation import JudgedPredictions
from odrf.options.boosting import loss_in_words
from odrf.reports.boosted_summary import boosted_facts, loss_section
from odrf.reports.data_summary import missing_notes
from odrf.reports.importance_tables import MeasuredImportance
from odrf.reports.summaries import (
    data_facts,
    importance_section,
    mean_and_range,
    predictors_in_words,
    rows_in_words,
)
from odrf.reports.survival.survival_summary import (
    censored_in_words,
    concordances_in_words,
    judged_section,
)
from odrf.statistics.survival.score_curves import FailureTimes
from odrf.text.layouts import quantity
from odrf.text.splits import number
from odrf.text.summary import Card, Summary

__all__ = ["boosted_survival_card", "boosted_survival_summary"]

UNKNOWN = "No scores: no row that judges has an event."
CURVES = {
    "out of bag": "calibrated by out-of-bag scores",
    "held out": "calibrated by the rows held out",
    "training": "of training scores, too far apart; n_runs=10 or validation=0.2 calibrates them",
}


def boosted_survival_summary(
    fit: BoostedSurvivalFit, judged: JudgedPredictions | None, importance: MeasuredImportance
) -> Summary:
    """Return the summary: data, options, scores, loss path, importances.

    `judged` are the rows that judge; None if none of them has an event.
    """
    facts = {**data_facts(fit), **_events(fit), **boosted_facts(fit, _curves(fit))}
    scores = {} if judged is None else dict([judged_section(judged)])
    sections = {**scores, **loss_section(fit), **importance_section(importance)}
    notes = (*importance.notes, *missing_notes(fit))
    if judged is None:
        notes = (*notes, UNKNOWN)
    return Summary("Boosted oblique trees: survival", fit.call, facts, sections, notes)


def boosted_survival_card(fit: BoostedSurvivalFit, judged: JudgedPredictions | None) -> Card:
    """Return a short description: data, sizes, concordances; `judged` as in the summary."""
    scores = {} if judged is None else concordances_in_words(judged)
    facts = {
        "Formula": fit.design.formula,
        "Rows": rows_in_words(fit),
        **_events(fit),
        "Predictors": predictors_in_words(fit),
        "Rounds": str(fit.n_rounds),
        "Leaves": mean_and_range(fit.forest.leaves()),
        **scores,
    }
    return Card(f"Boosted oblique trees, {loss_in_words(fit.control.loss)} loss: survival", facts)


def _events(fit: BoostedSurvivalFit) -> dict[str, str]:
    events = f"{fit.times.n_events} at {quantity(len(fit.event_times), 'time')}"
    return {"Events": events + censored_in_words(fit.design.response)}


def _curves(fit: BoostedSurvivalFit) -> dict[str, str]:
    facts = {"Curves": CURVES[fit.judged]}
    if isinstance(fit.curves, FailureTimes):
        facts["Scale"] = number(fit.curves.scale)
    return facts
