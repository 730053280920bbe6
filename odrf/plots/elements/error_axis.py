"""Held-out errors of nested models with standard errors; the chosen model is marked."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from numpy.typing import NDArray

from odrf.plots.elements.style import ACCENT, MUTED, faint, ink, plain

__all__ = ["draw_errors"]

# Up to this many points have error bars; more have a band.
MOST_BARS = 40


def draw_errors(
    ax: Axes,
    at: NDArray,
    error: pd.Series,
    std_error: pd.Series,
    best: int,
    chosen: int,
    words: str,
) -> None:
    """Plot errors (k,) at the positions `at`, ± 1 standard error.

    Parameters
    ----------
    ax : Axes
    at : (k,) float64
    error, std_error : Series of length k
        Errors and their standard errors.
    best : int
        The row of the smallest error; a line is drawn one standard error above it, if that is
        known.
    chosen : int
        The row that is marked.
    words : str
        The legend of the mark.
    """
    level, width = error.to_numpy(), std_error.to_numpy()
    if len(level) <= MOST_BARS:
        ax.errorbar(at, level, width, color=MUTED, fmt="none", capsize=2, linewidth=1)
    else:
        ax.fill_between(at, level - width, level + width, color=faint(ax), linewidth=0)
    ax.plot(at, level, "o-", color=ACCENT, markersize=3.5, linewidth=1.2)
    limit = float(level[best] + width[best])
    if np.isfinite(limit):
        label = "smallest + 1 standard error"
        ax.axhline(limit, color=MUTED, linestyle="--", linewidth=1, label=label)
    ax.plot(
        at[chosen], level[chosen], "o", mfc="none", mec=ink(ax), markersize=11, mew=1.6, label=words
    )
    ax.margins(x=0.03)
    ax.legend(frameon=False)
    plain(ax, "y")
