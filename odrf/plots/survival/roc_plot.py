"""ROC curves at a time, and the area under them along time."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from odrf.plots.elements.bands import draw_band
from odrf.plots.elements.lettering import label_x, label_y, title
from odrf.plots.elements.style import ACCENT, MUTED, new_panels, plain
from odrf.text.splits import number

__all__ = ["plot_areas_along_time", "plot_roc_at"]


def plot_roc_at(curve: pd.DataFrame, time: float, words: str, ax: Axes | None = None) -> Axes:
    """Plot sensitivity against 1 - specificity.

    Parameters
    ----------
    curve : DataFrame
        Columns ``sensitivity`` and ``specificity``, both from the highest threshold on.
    time : float
    words : str
        The area in words, for the legend.
    ax : Axes, optional
        By default the axes of a new figure.

    Returns
    -------
    Axes
    """
    ax = new_panels(1)[0] if ax is None else ax
    ax.plot([0, 1], [0, 1], color=MUTED, linewidth=1, linestyle="--", zorder=1)
    ax.plot(
        1 - curve["specificity"], curve["sensitivity"], color=ACCENT, linewidth=1.6, label=words
    )
    ax.set_xlim(-0.02, 1.02)
    ax.set_ylim(-0.02, 1.02)
    label_x(ax, "1 - specificity")
    label_y(ax, "sensitivity")
    title(ax, f"Event by time {number(time)}")
    ax.legend(frameon=False, loc="lower right")
    plain(ax, "y")
    return ax


def plot_areas_along_time(table: pd.DataFrame, time: float, ax: Axes | None = None) -> Axes:
    """Plot the area under the ROC curve at each time, with its interval.

    Parameters
    ----------
    table : DataFrame
        Index: times; columns ``auc``, ``conf_low``, ``conf_high``.
    time : float
        The time that is marked.
    ax : Axes, optional
        By default the axes of a new figure.

    Returns
    -------
    Axes
    """
    ax = new_panels(1)[0] if ax is None else ax
    at = table.index.to_numpy()
    ax.axhline(0.5, color=MUTED, linewidth=1, linestyle="--", zorder=1)
    draw_band(ax, at, table["conf_low"], table["conf_high"], ACCENT)
    ax.plot(at, table["auc"], "o-", color=ACCENT, markersize=3, linewidth=1.6)
    ax.plot([time], [table["auc"].loc[time]], "o", color=ACCENT, markersize=7)
    lowest = float(np.nanmin(table[["auc", "conf_low"]].to_numpy()))
    ax.set_ylim(min(0.45, lowest - 0.02), 1.01)
    label_x(ax, "time")
    label_y(ax, "area under ROC curve")
    plain(ax, "y")
    return ax
