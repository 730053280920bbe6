"""What the summary and the card of a guided forest say."""

from __future__ import annotations

from typing import TYPE_CHECKING

from odrf.reports.summaries import (
    REMOVED,
    card,
    data_facts,
    importance_section,
    mean_and_range,
    missing_notes,
    seeds,
)
from odrf.text.summary import Summary
from odrf.text.wording import number

if TYPE_CHECKING:
    from odrf.results.guided import GRAFResults

__all__ = ["guided_card", "guided_summary"]


def guided_summary(results: GRAFResults) -> Summary:
    """Summarise a guided forest: data, training error, planes and regions, importances."""
    control, guided = results.control, results.guided
    facts = {
        **data_facts(results),
        **_score(results),
        "Trees": str(guided.n_trees),
        "Subspace M": f"{control.subspace} predictors ({control.subspace_rule})",
        "Trials": f"{control.trials} planes a step",
        "Weights from": f"the range in the region, about the mean of the {control.origin}",
        "Min. split": str(control.min_split),
        "Seed": seeds(results.fit),
        "Planes": mean_and_range(guided.n_planes),
        "Inner regions": mean_and_range(guided.n_inner),
        "Leaves": mean_and_range(guided.n_leaves),
        "Regions per plane": f"{guided.n_inner.sum() / max(1, guided.n_planes.sum()):.1f}",
        "Numbers to predict": f"{results.model_size} (TW (M + 1) + 3 TNL + TL)",
    }
    sections = importance_section(results, REMOVED)
    notes = (
        "Every tree uses all rows: no row is out of bag.",
        "Every plane uses all columns of its tree: importances tell predictors apart less well "
        "than those of other forests.",
        *missing_notes(results),
    )
    name = f"Guided random forest: {results.kind}"
    return Summary(name, results.call, facts, sections, notes)


def guided_card(results: GRAFResults) -> str:
    """Describe a guided forest in a few lines."""
    guided = results.guided
    facts = {
        "Formula": results.formula,
        "Rows": str(results.nobs),
        "Predictors": str(len(results.design.predictors)),
        "Planes": mean_and_range(guided.n_planes),
        "Leaves": mean_and_range(guided.n_leaves),
        **_score(results),
    }
    return card(f"Guided random forest of {guided.n_trees} trees: {results.kind}", facts)


def _score(results: GRAFResults) -> dict[str, str]:
    name = "Training error rate" if results.kind == "classification" else "Training MSE"
    return {name: number(results.training_error)}
