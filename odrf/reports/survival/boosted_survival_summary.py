"""Summary and short description of boosted trees for times to an event."""

from __future__ import annotations

from odrf.engine.boosting.failure_time_losses import FailureTimeLoss
from odrf.fits.survival.boosted_survival_fit import BoostedSurvivalFit, times_of
from odrf.reports.boosted_summary import boosted_facts, loss_section
from odrf.reports.importance_tables import MeasuredImportance
from odrf.reports.summaries import (
    data_facts,
    importance_section,
    mean_and_range,
    missing_notes,
)
from odrf.statistics.survival.concordance import Concordance
from odrf.statistics.survival.of_scores.failure_times import FailureTimes
from odrf.text.card import Card
from odrf.text.summary import Summary
from odrf.text.wording import number

__all__ = ["boosted_survival_card", "boosted_survival_summary"]

CURVES = {
    "out of bag": "calibrated by out-of-bag scores",
    "held out": "calibrated by the rows held out",
    "training": "of training scores, too far apart; n_runs=10 or validation=0.2 calibrates them",
}


def boosted_survival_summary(
    fit: BoostedSurvivalFit, concordance: Concordance, importance: MeasuredImportance
) -> Summary:
    """Return the summary: data, concordance, options, loss path, importances."""
    facts = {**data_facts(fit), **_events(fit), **boosted_facts(fit, _scores(fit, concordance))}
    sections = {**loss_section(fit), **importance_section(importance)}
    notes = (*importance.notes, *missing_notes(fit))
    return Summary("Boosted oblique trees: survival", fit.call, facts, sections, notes)


def boosted_survival_card(fit: BoostedSurvivalFit, concordance: Concordance) -> Card:
    """Return a short description."""
    facts = {
        "Formula": fit.design.formula,
        "Rows": str(fit.data.n_rows),
        **_events(fit),
        "Predictors": str(len(fit.design.predictors)),
        "Rounds": str(fit.n_rounds),
        "Leaves": mean_and_range(fit.forest.leaves()),
        **_scores(fit, concordance),
    }
    return Card(f"Boosted oblique trees, {fit.control.loss} loss: survival", facts)


def _events(fit: BoostedSurvivalFit) -> dict[str, str]:
    return {"Events": f"{times_of(fit).n_events} at {len(fit.event_times)} times"}


def _scores(fit: BoostedSurvivalFit, concordance: Concordance) -> dict[str, str]:
    rows = "OOB" if fit.control.n_runs > 1 else "Validation" if fit.held.any() else "Training"
    facts = {f"{rows} C": f"{concordance.estimate:.3f} ± {concordance.std_error:.3f}"}
    if isinstance(fit.loss, FailureTimeLoss) and isinstance(fit.curves, FailureTimes):
        facts["Scale"] = number(fit.curves.scale)
    return facts | {"Curves": CURVES[fit.judged]}
