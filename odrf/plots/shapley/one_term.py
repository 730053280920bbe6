"""The Shapley values of one term against its values."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from odrf.design.scaling import as_numbers, is_ranked
from odrf.plots.elements.lettering import label_x, label_y, named_rows
from odrf.plots.elements.style import ACCENT, MUTED, named_panel, new_panels, plain

__all__ = ["plot_shapley_term"]

MOST_LEVELS = 20
EMPTY = "empty"
# How far dots of one level are spread, of the distance to the next.
SPREAD = 0.3


def plot_shapley_term(
    column: pd.Series, values: NDArray[np.float64], words: str, ax: Axes | None = None
) -> Axes:
    """Plot what a term adds against its value, one dot for each row.

    Levels of a factor are rows of the plot, the 20 most frequent ones.

    Parameters
    ----------
    column : Series of n rows
        The values of the term; its name is the term.
    values : (n,) float64
        What the term adds.
    words : str
        What is explained.
    ax : Axes, optional
        By default the axes of a new figure.

    Returns
    -------
    Axes
    """
    told = f"Shapley value ({words})"
    if is_ranked(column) and not isinstance(column.dtype, pd.CategoricalDtype):
        return _numbers(column, values, told, ax)
    return _levels(column, values, told, ax)


def _numbers(column: pd.Series, values: NDArray[np.float64], told: str, ax: Axes | None) -> Axes:
    ax = new_panels(1)[0] if ax is None else ax
    at = as_numbers(column)
    known = ~np.isnan(at)
    ax.axhline(0, color=MUTED, linewidth=0.8)
    shown = column if column.dtype.kind in "mM" else pd.Series(at)
    ax.plot(
        shown.to_numpy()[known], values[known], "o", color=ACCENT, markersize=4, alpha=0.6, mew=0
    )
    if not known.all():
        ends = ax.get_xlim()
        left = ends[0] - 0.04 * (ends[1] - ends[0])
        ax.plot(
            np.full((~known).sum(), left), values[~known], "o", mfc="none", mec=MUTED,
            markersize=4, label=EMPTY,
        )  # fmt: skip
        ax.legend(frameon=False)
    if column.dtype.kind not in "mM":
        ax.xaxis.set_major_locator(MaxNLocator(5))
    label_x(ax, str(column.name))
    label_y(ax, told)
    plain(ax, "y")
    return ax


def _levels(column: pd.Series, values: NDArray[np.float64], told: str, ax: Axes | None) -> Axes:
    labels = column.astype(object).where(column.notna(), "").astype(str)
    empty = EMPTY if EMPTY not in set(labels) else f"({EMPTY})"
    labels = labels.where(column.notna(), empty)
    counts = labels.value_counts()
    levels = list(counts.index[:MOST_LEVELS])
    if is_ranked(column):
        order = [str(level) for level in column.cat.categories]
        levels.sort(key=lambda level: order.index(level) if level in order else len(order))
    ax = named_panel(len(levels)) if ax is None else ax
    ax.axvline(0, color=MUTED, linewidth=0.8)
    for i, level in enumerate(levels):
        own = values[(labels == level).to_numpy()]
        # in a regular pattern, so that the picture is always the same
        place = len(levels) - 1 - i + SPREAD * np.sin(2.4 * np.arange(len(own)))
        ax.plot(own, place, "o", color=ACCENT, markersize=4, alpha=0.6, mew=0)
    beside = named_rows(ax, levels)
    ax.xaxis.set_major_locator(MaxNLocator(5))
    note = f" (the {MOST_LEVELS} most frequent levels)" if len(counts) > MOST_LEVELS else ""
    label_x(ax, f"{told}, by {column.name}{note}", beside)
    plain(ax, "x")
    ax.tick_params(axis="y", length=0)
    return ax
