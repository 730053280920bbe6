"""Critical-difference diagram: mean ranks on a line, bars over methods that do not differ."""

from __future__ import annotations

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes

__all__ = ["groups", "plot_ranks", "save_ranks"]

BASE_COLOUR = "#c2410c"
COLOUR = "#334155"
ROW = 0.3
"""Inches from a label to the next."""
MARGIN = 0.24
"""Room for a label, as a share of the scale."""
GAP = 0.015
"""From the end of the scale to where a label begins, likewise."""


def groups(ranks: pd.Series, difference: float) -> list[tuple[float, float]]:
    """Return the longest runs of two or more sorted ranks that are no wider than `difference`."""
    ordered = np.sort(ranks.to_numpy())
    last = np.searchsorted(ordered, ordered + difference, side="right") - 1
    return [
        (float(ordered[first]), float(ordered[end]))
        for first, end in enumerate(last)
        if end > first and (first == 0 or end > last[first - 1])
    ]


def plot_ranks(ax: Axes, ranks: pd.Series, difference: float, base: str | None = None) -> Axes:
    """Draw the diagram.

    Parameters
    ----------
    ax : Axes
        Emptied of axes; one unit down is a row of labels.
    ranks : Series
        Mean rank of each method.
    difference : float
        Critical difference.
    base : str, optional
        Method to be set off by colour.
    """
    ordered = ranks.sort_values()
    bars = groups(ordered, difference)
    low, high = 1, len(ranks)
    ax.set_axis_off()
    half = (high + 1) // 2
    top = -0.9 - 0.35 * len(bars)  # first row of labels, below the bars
    room = MARGIN * (high - low)
    ax.set(xlim=(low - room, high + room), ylim=(top - half + 0.4, 2.6))
    _scale(ax, low, high)
    _ruler(ax, low, difference)
    for place, (name, rank) in enumerate(ordered.items()):
        left = place < half
        row = top - (place if left else high - 1 - place)
        edge = low - GAP * (high - low) if left else high + GAP * (high - low)
        _label(ax, str(name), float(rank), row, edge, left, name == base)
    for number, bar in enumerate(bars):
        y = -0.55 - 0.35 * number
        ax.plot(bar, [y, y], color=COLOUR, lw=4.5, solid_capstyle="round")
    return ax


def save_ranks(path: Path, ranks: pd.Series, difference: float, base: str | None = None) -> None:
    """Write the diagram to a file."""
    rows = 3.9 + (len(ranks) + 1) // 2 + 0.35 * len(groups(ranks, difference))
    figure, ax = plt.subplots(figsize=(8, ROW * rows), layout="constrained")
    plot_ranks(ax, ranks, difference, base)
    figure.savefig(path, dpi=150)
    plt.close(figure)


def _scale(ax: Axes, low: int, high: int) -> None:
    ax.plot([low, high], [0, 0], color=COLOUR, lw=1)
    for rank in range(low, high + 1):
        ax.plot([rank, rank], [0, 0.22], color=COLOUR, lw=1)
        ax.text(rank, 0.35, str(rank), ha="center", va="bottom", fontsize=9, color=COLOUR)


def _ruler(ax: Axes, low: int, difference: float) -> None:
    ax.plot([low, low + difference], [1.5, 1.5], color=COLOUR, lw=1, marker="|", ms=7)
    words = f"critical difference {difference:.2f}"
    ax.text(low, 1.85, words, ha="left", va="bottom", fontsize=9, color=COLOUR)


def _label(
    ax: Axes, name: str, rank: float, row: float, edge: float, left: bool, stressed: bool
) -> None:
    """Draw a line from a rank on the scale down and out to its name."""
    colour = BASE_COLOUR if stressed else COLOUR
    ax.plot([rank, rank, edge], [0, row, row], color=colour, lw=1.6 if stressed else 0.9)
    ax.text(
        edge,
        row,
        f"{name}  {rank:.2f} " if left else f" {rank:.2f}  {name}",
        ha="right" if left else "left",
        va="center",
        fontsize=9.5,
        color=colour,
        fontweight="bold" if stressed else "normal",
    )
