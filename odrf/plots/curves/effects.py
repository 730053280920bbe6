"""Curves over one variable: lines for numbers, points for levels of a factor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from odrf.plots.elements.bands import draw_band
from odrf.plots.elements.lettering import label_x, label_y, named_rows
from odrf.plots.elements.style import (
    HEIGHT,
    MUTED,
    WIDTH,
    faint,
    in_legend,
    legend_as_written,
    legend_columns,
    line_of,
    marker_of,
    named_panel,
    plain,
)
from odrf.text.names import shortened_names

if TYPE_CHECKING:
    from odrf.statistics.curves.variable_points import VariablePoints

__all__ = ["draw_rug", "hatch_gaps", "plot_effect"]

# Regions without rows that are wider than this share of the axis are hatched.
GAP = 0.08
MOST_TICKS = 500
# More bands than these hide each other: then there are lines alone.
MOST_BANDS = 4
# How far classes of one level are apart, in rows.
APART = 0.6
# A variable of so few points has them marked.
FEW = 10
# inches that labels of curves take up beside the axes
LEGEND = 2.4
NAME = 26
# More names than these are written in small letters.
MOST_LINES = 12


def plot_effect(
    axis: VariablePoints,
    curves: Mapping[str, Sequence[NDArray[np.float64]]],
    scale: str,
    ax: Axes | None = None,
) -> Axes:
    """Plot curves over the points of a variable.

    Parameters
    ----------
    axis : VariablePoints
    curves : mapping of str to 5 arrays (G,)
        By label: estimate, ends of the interval, ends of the band; the ends NaN if unknown.
    scale : str
        What the curves show.
    ax : Axes, optional
        By default the axes of a new figure.

    Returns
    -------
    Axes
    """
    if not axis.numeric:
        return _points(axis, curves, scale, ax)
    beside = LEGEND if len(curves) > 1 else 0.0
    if ax is None:
        size = (WIDTH + beside, HEIGHT)
        ax = plt.subplots(figsize=size, layout="constrained")[1]
    at = axis.at
    for number, (estimate, *ends) in enumerate(curves.values()):
        colour, dash = line_of(number)
        if len(curves) <= MOST_BANDS and not np.isnan(ends[0]).all():
            draw_band(ax, at, ends[2], ends[3], colour)
            draw_band(ax, at, ends[0], ends[1], colour, alpha=0.25)
        mark = "o" if len(at) <= FEW else None
        ax.plot(at, estimate, color=colour, linestyle=dash, linewidth=1.8, marker=mark)
    if len(at) > 1:
        ax.set_xlim(at[0], at[-1])
    hatch_gaps(ax, axis)
    draw_rug(ax, axis.observed)
    label_x(ax, axis.name)
    label_y(ax, scale)
    plain(ax, "y")
    if len(curves) > 1:
        _legend(ax, list(curves))
    return ax


def _points(
    axis: VariablePoints,
    curves: Mapping[str, Sequence[NDArray[np.float64]]],
    scale: str,
    ax: Axes | None,
) -> Axes:
    """Draw a row for each level."""
    levels, several = axis.labels, len(curves)
    if ax is None:
        height = len(levels) * max(1, several // 2) + 3
        ax = named_panel(height, WIDTH + (LEGEND if several > 1 else 0.0))
    rows = np.arange(len(levels))[::-1].astype(np.float64)
    for number, (estimate, *ends) in enumerate(curves.values()):
        colour, marker = line_of(number)[0], marker_of(number)
        shift = APART * ((number + 0.5) / several - 0.5)
        at = rows - shift
        if not np.isnan(ends[0]).all():
            ax.hlines(at, ends[2], ends[3], color=colour, linewidth=1.2, alpha=0.5)
            ax.hlines(at, ends[0], ends[1], color=colour, linewidth=3.0, alpha=0.6)
        ax.plot(estimate, at, marker, color=colour, markersize=5)
    beside = named_rows(ax, levels)
    label_x(ax, scale, beside)
    plain(ax, "x")
    ax.tick_params(axis="y", length=0)
    label_y(ax, axis.name)
    if several > 1:
        _legend(ax, list(curves), lines=False)
    return ax


def hatch_gaps(ax: Axes, axis: VariablePoints) -> None:
    """Hatch the intervals of the horizontal axis in which no row is."""
    low, high = ax.get_xlim()
    observed = axis.observed[~np.isnan(axis.observed)]
    inside = np.unique(observed[(observed >= low) & (observed <= high)])
    ends = np.concatenate([[low], inside, [high]])
    for left, right in pairwise(ends):
        if right - left > GAP * (high - low) and not _neighbours(axis.at, left, right):
            ax.axvspan(left, right, facecolor="none", edgecolor=faint(ax), hatch="///", linewidth=0)


def _neighbours(at: NDArray[np.float64], left: float, right: float) -> bool:
    """Return whether both are points and none is between: values of a number that has only few."""
    found = np.searchsorted(at, [left, right])
    there = found < len(at)
    return bool(
        there.all() and (at[found] == (left, right)).all() and found[1] - found[0] == 1
        and len(at) <= 1 / GAP
    )  # fmt: skip


def draw_rug(ax: Axes, observed: NDArray[np.float64]) -> None:
    """Mark rows on the horizontal axis: some of them, spread over all quantiles, if many."""
    known = np.sort(observed[~np.isnan(observed)])
    if len(known) > MOST_TICKS:
        known = known[np.linspace(0, len(known) - 1, MOST_TICKS).round().astype(int)]
    low, high = ax.get_xlim()
    known = known[(known >= low) & (known <= high)]
    ax.plot(
        known, np.zeros(len(known)), "|", transform=ax.get_xaxis_transform(), color=MUTED,
        markersize=8, alpha=0.4, clip_on=False,
    )  # fmt: skip


def _legend(ax: Axes, labels: list[str], lines: bool = True) -> None:
    """Name the curves beside the axes, by their lines or by their markers."""
    handles = []
    for number, label in enumerate(shortened_names(labels, NAME)):
        colour, dash = line_of(number)
        style = dash if lines else marker_of(number)
        handles += ax.plot([], [], style, color=colour, label=in_legend(label))
    legend = ax.legend(
        handles=handles, frameon=False, loc="upper left", bbox_to_anchor=(1, 1),
        fontsize="medium" if len(labels) <= MOST_LINES else "small",
        ncols=legend_columns(len(labels)),
    )  # fmt: skip
    legend_as_written(legend)
