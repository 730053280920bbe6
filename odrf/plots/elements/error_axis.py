"""Held-out errors of nested models, with standard errors, the chosen one marked."""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes
from numpy.typing import NDArray

from odrf.plots.elements.style import ACCENT, GRID, INK, MUTED, plain

__all__ = ["draw_errors"]

# Fewer points are told apart by their own error bars.
MOST_BARS = 40


def draw_errors(
    ax: Axes,
    at: NDArray,
    error: pd.Series,
    spread: pd.Series,
    best: int,
    chosen: int,
    words: str,
) -> None:
    """Draw errors (k,) at the places `at`, one standard error to either side.

    Parameters
    ----------
    ax : Axes
    at : (k,) float64
    error, spread : Series of length k
        Errors and their standard errors.
    best : int
        The row of the smallest error; one standard error above it is a line.
    chosen : int
        The row that is marked.
    words : str
        What the mark says.
    """
    level, width = error.to_numpy(), spread.to_numpy()
    if len(level) <= MOST_BARS:
        ax.errorbar(at, level, width, color=MUTED, fmt="none", capsize=2, linewidth=1)
    else:
        ax.fill_between(at, level - width, level + width, color=GRID, linewidth=0)
    ax.plot(at, level, "o-", color=ACCENT, markersize=3.5, linewidth=1.2)
    limit = float(level[best] + width[best])
    ax.axhline(limit, color=MUTED, linestyle="--", linewidth=1, label="smallest + 1 standard error")
    ax.plot(
        at[chosen], level[chosen], "o", mfc="none", mec=INK, markersize=11, mew=1.6, label=words
    )
    ax.margins(x=0.03)
    ax.legend(frameon=False)
    plain(ax, "y")
