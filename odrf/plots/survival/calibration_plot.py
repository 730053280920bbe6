"""Observed against predicted probabilities of an event by a time."""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes

from odrf.plots.elements.lettering import label_x, label_y, title
from odrf.plots.elements.style import ACCENT, MUTED, new_panels, plain
from odrf.text.splits import number

__all__ = ["plot_survival_calibration"]


def plot_survival_calibration(
    table: pd.DataFrame, time: float, estimate: str, ax: Axes | None = None
) -> Axes:
    """Plot the observed probability of each group of rows, with its limits.

    Parameters
    ----------
    table : DataFrame
        Columns ``predicted``, ``observed``, ``conf_low``, ``conf_high``.
    time : float
    estimate : str
        How it was estimated, in words.
    ax : Axes, optional
        By default the axes of a new figure.

    Returns
    -------
    Axes
    """
    ax = new_panels(1)[0] if ax is None else ax
    ax.plot([0, 1], [0, 1], color=MUTED, linewidth=1, linestyle="--", zorder=1)
    ax.vlines(table["predicted"], table["conf_low"], table["conf_high"], color=ACCENT)
    ax.plot(table["predicted"], table["observed"], "o", color=ACCENT, markersize=5)
    ax.set_xlim(-0.02, 1.02)
    ax.set_ylim(-0.02, 1.02)
    label_x(ax, "mean predicted probability")
    label_y(ax, f"observed ({estimate})")
    title(ax, f"Event by time {number(time)}")
    plain(ax, "y")
    return ax
