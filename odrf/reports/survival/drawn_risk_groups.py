"""Predicted curves of groups of rows of similar risk, drawn beside those that are observed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from odrf import plots
from odrf.fits.survival.validation import JudgedPredictions
from odrf.statistics.survival.scores import groups_by_risk

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["drawn_risk_groups"]


def drawn_risk_groups(judged: JudgedPredictions, ax: Axes | None, cause: str | None = None) -> Axes:
    """Draw the rows that judge in groups of similar risk, predicted and observed.

    A `cause` is the one that they judge.
    """
    rows = judged.rows
    times = rows.grid(rows.last_time())
    groups = groups_by_risk(rows, judged.risk)
    survival = judged.survival(times)
    curves = survival if cause is None else 1 - survival
    return plots.plot_risk_groups(groups, curves, times, rows.source, ax, cause)
