"""Selection of predictors: errors of backward elimination, and importances beside shadows."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from odrf.plots.elements.error_axis import draw_errors
from odrf.plots.elements.style import ACCENT, GRID, MUTED, new_panels, plain
from odrf.plots.importance import named_rows

__all__ = ["plot_elimination", "plot_shadows"]

MOST = 30
LABELS = 10
FILLED = {"confirmed": ACCENT, "tentative": "white", "rejected": GRID}


def plot_elimination(
    table: pd.DataFrame, best: int, chosen: int, choice: str, error: str, ax: Axes | None = None
) -> Axes:
    """Plot the error of each step against the number of predictors, on a logarithmic scale.

    Parameters
    ----------
    table : DataFrame
        Columns ``predictors``, ``error``, ``std_error``, from all predictors to one.
    best, chosen : int
        The row of the smallest error, and the row that is marked.
    choice : str
        The rule that chose it, in words.
    error : str
        Name of the error.
    ax : Axes, optional
        By default the axes of a new figure.

    Returns
    -------
    Axes
    """
    ax = new_panels(1)[0] if ax is None else ax
    numbers = table["predictors"].to_numpy()
    at = np.log2(numbers.astype(float))
    words = f"{choice}: {numbers[chosen]} predictor{'s' * int(numbers[chosen] > 1)}"
    draw_errors(ax, at, table["error"], table["std_error"], best, chosen, words)
    wanted = np.linspace(at.min(), at.max(), LABELS)
    shown = np.unique([int(np.argmin(np.abs(at - place))) for place in wanted])
    ax.set_xticks(at[shown], labels=[str(number) for number in numbers[shown]])
    ax.set_xlabel("predictors")
    ax.set_ylabel(error)
    return ax


def plot_shadows(table: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Plot the importance of each predictor as a dot, and of the best shadow as a bar.

    Parameters
    ----------
    table : DataFrame
        Columns ``decision``, ``importance``, ``shadow`` by predictor, falling; the first 30 are
        drawn.
    ax : Axes, optional
        By default the axes of a new figure.

    Returns
    -------
    Axes
    """
    ax = new_panels(1)[0] if ax is None else ax
    shown = table.head(MOST)
    at = np.arange(len(shown))[::-1]
    ax.hlines(at, 0, shown["importance"], color=GRID, linewidth=2, zorder=1)
    ax.plot(shown["shadow"], at, "|", color=MUTED, markersize=11, mew=1.6, label="best shadow")
    for decision, colour in FILLED.items():
        rows = (shown["decision"] == decision).to_numpy()
        if rows.any():
            ax.plot(
                shown["importance"][rows], at[rows], "o", mfc=colour, mec=ACCENT, markersize=6,
                label=decision,
            )  # fmt: skip
    named_rows(ax, [str(name) for name in shown.index])
    ax.axvline(0, color=MUTED, linewidth=0.8)
    note = f" (first {MOST} of {len(table)})" if len(table) > MOST else ""
    ax.set_xlabel(f"increase of the out-of-bag loss when permuted{note}")
    ax.legend(frameon=False, loc="lower right")
    plain(ax, "x")
    ax.tick_params(axis="y", length=0)
    return ax
