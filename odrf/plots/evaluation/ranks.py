"""Critical-difference diagram: mean ranks on a line, bars join methods that do not differ.

As in J. Demšar (2006), Statistical comparisons of classifiers over multiple data sets, Journal of
Machine Learning Research 7.
"""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from odrf.plots.elements.lettering import room_of, text_width
from odrf.plots.elements.style import ACCENT, ink
from odrf.text.names import shortened

__all__ = ["groups_alike", "plot_ranks"]

WIDTH = 8
# inches from a label to the next
ROW = 0.3
# size of a label in points, and its most letters
LABEL, MOST_CHARACTERS = 9.5, 32
# largest width of the labels on one side, and distance from the scale to a label, as shares
LARGEST = 0.4
GAP = 0.015
# rows from the scale to the first bar, from bar to bar, and from the last bar to the labels
FIRST_BAR, BAR, LABELS = 0.55, 0.35, 0.9
ABOVE = 2.6


def groups_alike(ranks: pd.Series, difference: float) -> list[tuple[float, float]]:
    """Return the ends of the maximal runs of two or more ranks at most `difference` wide."""
    ordered = np.sort(ranks.to_numpy())
    last = np.searchsorted(ordered, ordered + difference, side="right") - 1
    return [
        (float(ordered[first]), float(ordered[end]))
        for first, end in enumerate(last)
        if end > first and (first == 0 or end > last[first - 1])
    ]


def plot_ranks(
    ranks: pd.Series, difference: float, base: str | None = None, ax: Axes | None = None
) -> Axes:
    """Plot the diagram, the best method on the left.

    Parameters
    ----------
    ranks : Series
        Mean rank of each method.
    difference : float
        Critical difference.
    base : str, optional
        Method to be highlighted.
    ax : Axes, optional
        The diagram hides its axis lines.  By default the axes of a new figure, as high as the
        diagram needs.

    Returns
    -------
    Axes
    """
    ordered = ranks.sort_values(kind="stable")
    bars = groups_alike(ordered, difference)
    low, high = 1, len(ranks)
    half = (high + 1) // 2
    top = -LABELS - BAR * len(bars)  # first row of labels, below the bars
    bottom = top - half + 0.4
    ax = _new_axes(ABOVE - bottom) if ax is None else ax
    ax.set_axis_off()
    # a critical difference that is wider than the scale is drawn in full
    last = max(float(high), low + difference)
    labels = [shortened(str(name), MOST_CHARACTERS) for name in ordered.index]
    widest = max(text_width(f"  {label}  1.00 ", LABEL, bold=True) for label in labels)
    share = min(LARGEST, widest / room_of(ax)[0] + GAP)
    room = (high - low) * share / (1 - 2 * share)
    ax.set(xlim=(low - room, max(high + room, last)), ylim=(bottom, ABOVE))
    _scale(ax, low, high)
    _ruler(ax, low, difference)
    for place, (name, rank) in enumerate(ordered.items()):
        left = place < half
        row = top - (place if left else high - 1 - place)
        edge = low - GAP * (high - low) if left else high + GAP * (high - low)
        _label(ax, labels[place], float(rank), row, edge, left, name == base)
    for number, bar in enumerate(bars):
        y = -FIRST_BAR - BAR * number
        ax.plot(bar, [y, y], color=ink(ax), lw=4.5, solid_capstyle="round")
    return ax


def _new_axes(rows: float) -> Axes:
    _, ax = plt.subplots(figsize=(WIDTH, ROW * rows), layout="constrained")
    return ax


def _scale(ax: Axes, low: int, high: int) -> None:
    ax.plot([low, high], [0, 0], color=ink(ax), lw=1)
    for rank in range(low, high + 1):
        ax.plot([rank, rank], [0, 0.22], color=ink(ax), lw=1)
        ax.text(rank, 0.35, str(rank), ha="center", va="bottom", fontsize=9, color=ink(ax))


def _ruler(ax: Axes, low: int, difference: float) -> None:
    ax.plot([low, low + difference], [1.5, 1.5], color=ink(ax), lw=1, marker="|", ms=7)
    words = f"critical difference {difference:.2f}"
    ax.text(low, 1.85, words, ha="left", va="bottom", fontsize=9, color=ink(ax))


def _label(
    ax: Axes, name: str, rank: float, row: float, edge: float, left: bool, highlighted: bool
) -> None:
    """Draw a line from a rank on the scale to the name of the method."""
    colour = ACCENT if highlighted else ink(ax)
    ax.plot([rank, rank, edge], [0, row, row], color=colour, lw=1.6 if highlighted else 0.9)
    ax.text(
        edge,
        row,
        f"{name}  {rank:.2f} " if left else f" {rank:.2f}  {name}",
        ha="right" if left else "left",
        va="center",
        fontsize=LABEL,
        color=colour,
        fontweight="bold" if highlighted else "normal",
        parse_math=False,
    )
