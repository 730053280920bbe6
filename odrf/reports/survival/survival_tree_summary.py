"""What the summary of a tree for times to an event says beside that of a forest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from odrf.fits.scores import explained_part
from odrf.fits.survival.fit import SurvivalFit
from odrf.fits.survival.validation import OUT_OF_BAG_ROWS, JudgedPredictions
from odrf.pruning.complexity import root_errors
from odrf.reports.importance_tables import MeasuredImportance, impurity_table
from odrf.reports.pruning_path import PruningPath
from odrf.reports.summaries import held_out_scores
from odrf.reports.survival.hazard_nodes import counted_by_cause, hazard_nodes, hazards_of
from odrf.reports.survival.survival_summary import survival_summary
from odrf.text.splits import number
from odrf.text.summary import Summary

__all__ = ["deviance_measured", "survival_tree_summary"]

MOST_LEAVES = 12
NEVER = "A median is inf where less than half had the event by the last event time."
CHOSEN_BY_THEM = (
    "The rows that chose the splits also give scores, hazards and importances, which look better "
    "than they are: see pruning_path() and score(newdata)."
)
# Of a tree of a forest, rows that it did not draw give the scores.
SCORED_BY_OTHERS = (
    "The rows that chose the splits also give hazards and importances, which look better than they "
    "are."
)


def deviance_measured(fit: SurvivalFit) -> MeasuredImportance:
    """Return the exponential deviance that the splits on each predictor remove."""
    return MeasuredImportance(impurity_table(fit), "exponential deviance removed")


def survival_tree_summary(
    fit: SurvivalFit,
    judged: JudgedPredictions | None,
    of_causes: Mapping[str, JudgedPredictions],
    path: PruningPath[Any] | None,
) -> Summary:
    """Return the summary of a tree; `path` is the pruning path that it was chosen from, if any.

    `judged` and `of_causes` are those of `survival_summary`.
    """
    summary = survival_summary(fit, judged, of_causes, deviance_measured(fit))
    facts = {**summary.facts, **_training(fit), **held_out_scores(fit, path)}
    leaves = _leaves(fit)
    infinite = any(np.isinf(table.get("median", 0.0)).any() for table in leaves.values())
    by_others = judged is not None and judged.rows.source == OUT_OF_BAG_ROWS
    chosen = SCORED_BY_OTHERS if by_others else CHOSEN_BY_THEM
    notes = (*summary.notes, chosen, *([NEVER] if infinite else []))
    return replace(summary, facts=facts, sections=summary.sections | leaves, notes=notes)


def _training(fit: SurvivalFit) -> dict[str, str]:
    """Return the deviance of the training rows, as one number for each row."""
    forest = fit.forest
    leaf = (forest.left < 0) & (forest.depth() >= 0)
    deviance = float((forest.weight * forest.impurity)[leaf].sum() / forest.weight[0])
    root = float(root_errors(forest)[0])
    explained = {"Deviance explained": f"{explained_part(deviance, root):.3f}"} if root > 0 else {}
    return {"Training deviance": number(deviance), **explained}


def _columns(fit: SurvivalFit) -> list[str]:
    """Return what leaves show: of a tree about one cause its incidence in place of a median."""
    size = ["count", *(["subjects"] if len(hazards_of(fit).subjects) else [])]
    cause, several = fit.control.cause, [f"events({name})" for name in counted_by_cause(fit)]
    if cause is not None:
        return [*size, "events", "rate", f"incidence({cause})", "relative_hazard"]
    return [*size, "events", *several, "rate", "median", "relative_hazard"]


def _leaves(fit: SurvivalFit) -> dict[str, pd.DataFrame]:
    """Return the leaves, the largest hazard first; of many leaves, those at both ends."""
    nodes = hazard_nodes(fit)
    leaves = nodes[nodes["leaf"]][_columns(fit)]
    leaves = leaves.sort_values("relative_hazard", ascending=False, kind="stable")
    title = "Leaves, the largest hazard first"
    if len(leaves) > MOST_LEAVES:
        half = MOST_LEAVES // 2
        title += f" ({MOST_LEAVES} of {len(leaves)}, those at both ends)"
        leaves = pd.concat([leaves.head(half), leaves.tail(half)])
    return {title: leaves}
