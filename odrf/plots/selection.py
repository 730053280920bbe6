"""Selection of predictors: errors of backward elimination, and importances beside shadows."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from odrf.plots.elements.error_axis import draw_errors
from odrf.plots.elements.lettering import label_x, label_y, named_rows, shown_ticks
from odrf.plots.elements.style import ACCENT, GRID, MUTED, faint, named_panel, new_panels, plain
from odrf.text.layouts import quantity

__all__ = ["plot_elimination", "plot_knockoffs", "plot_shadows"]

MOST = 30
LEGEND_ROWS = 3
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
    words = f"{choice}: {quantity(numbers[chosen], 'predictor')}"
    draw_errors(ax, at, table["error"], table["std_error"], best, chosen, words)
    labels = [str(number) for number in numbers]
    shown = shown_ticks(ax, at, [labels], [0, len(at) - 1, chosen, *range(len(at))])
    ax.set_xticks(at[shown], labels=[labels[tick] for tick in shown])
    ax.set_xlabel("predictors")
    label_y(ax, error)
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
    shown = table.head(MOST)
    ax = named_panel(len(shown) + LEGEND_ROWS) if ax is None else ax
    at = np.arange(len(shown))[::-1]
    ax.hlines(at, 0, shown["importance"], color=faint(ax), linewidth=2, zorder=1)
    ax.plot(shown["shadow"], at, "|", color=MUTED, markersize=11, mew=1.6, label="best shadow")
    for decision, colour in FILLED.items():
        rows = (shown["decision"] == decision).to_numpy()
        if rows.any():
            ax.plot(
                shown["importance"][rows], at[rows], "o", mfc=colour, mec=ACCENT, markersize=6,
                label=decision,
            )  # fmt: skip
    beside = named_rows(ax, [str(name) for name in shown.index])
    ax.axvline(0, color=MUTED, linewidth=0.8)
    note = f" (first {MOST} of {len(table)})" if len(table) > MOST else ""
    ax.xaxis.set_major_locator(MaxNLocator(5))
    label_x(ax, f"increase of the out-of-bag loss when permuted{note}", beside)
    # above the axes, where there are no dots
    ax.legend(frameon=False, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2)
    plain(ax, "x")
    ax.tick_params(axis="y", length=0)
    return ax


def plot_knockoffs(table: pd.DataFrame, threshold: float, ax: Axes | None = None) -> Axes:
    """Plot the importance of each predictor less that of its knockoff, filled if it is selected.

    Parameters
    ----------
    table : DataFrame
        Columns ``selected`` and ``importance`` by predictor, falling; the first 30 are drawn.
    threshold : float
        Drawn as a line, unless it is infinite.
    ax : Axes, optional
        By default the axes of a new figure.

    Returns
    -------
    Axes
    """
    shown = table.head(MOST)
    ax = named_panel(len(shown) + LEGEND_ROWS) if ax is None else ax
    at = np.arange(len(shown))[::-1]
    ax.hlines(at, 0, shown["importance"], color=faint(ax), linewidth=2, zorder=1)
    for words, rows in (("selected", shown["selected"]), ("not selected", ~shown["selected"])):
        if rows.any():
            colour = ACCENT if words == "selected" else "white"
            values = shown["importance"][rows]
            ax.plot(values, at[rows], "o", mfc=colour, mec=ACCENT, markersize=6, label=words)
    beside = named_rows(ax, [str(name) for name in shown.index])
    ax.axvline(0, color=MUTED, linewidth=0.8)
    if np.isfinite(threshold):
        ax.axvline(threshold, color=MUTED, linewidth=1, linestyle="--", label="threshold")
    note = f" (first {MOST} of {len(table)})" if len(table) > MOST else ""
    ax.xaxis.set_major_locator(MaxNLocator(5))
    label_x(ax, f"importance less that of the knockoff{note}", beside)
    ax.legend(frameon=False, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2)
    plain(ax, "x")
    ax.tick_params(axis="y", length=0)
    return ax
