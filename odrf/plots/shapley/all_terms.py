"""The Shapley values of all terms: a dot for each row, or their mean size."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from odrf.design.scaling import as_numbers, is_ranked
from odrf.plots.elements.lettering import label_x, label_y, named_rows
from odrf.plots.elements.style import ACCENT, MUTED, faint, ink, named_panel, plain

__all__ = ["plot_shapley_sizes", "plot_shapley_swarm"]

MOST = 15
# Dots whose values are in the same of so many bins lie beside each other.
BINS = 80
HALF_ROW = 0.4
COLOURS = "viridis"


def plot_shapley_sizes(
    sizes: pd.Series, measure: str, ax: Axes | None = None, of: str = "terms"
) -> Axes:
    """Plot the mean absolute Shapley value of each term or pair as a dot, the largest on top.

    Parameters
    ----------
    sizes : Series
        By term, falling; the first 15 are drawn.
    measure : str
        Label of the axis.
    ax : Axes, optional
        By default the axes of a new figure.
    of : str, default "terms"
        What they are.

    Returns
    -------
    Axes
    """
    shown = sizes.head(MOST)
    ax = named_panel(len(shown)) if ax is None else ax
    at = np.arange(len(shown))[::-1]
    ax.hlines(at, 0, shown, color=faint(ax), linewidth=2, zorder=1)
    ax.plot(shown.to_numpy(), at, "o", color=ACCENT, markersize=6)
    ax.set_xlim(left=0)
    _finish(ax, [str(name) for name in shown.index], measure, len(sizes), of)
    return ax


def plot_shapley_swarm(
    data: pd.DataFrame, values: NDArray[np.float64], words: str, ax: Axes | None = None
) -> Axes:
    """Plot the Shapley value of each row and term as a dot.

    Dots are coloured by the rank of the value of the term among the rows; those of factors without
    an order, and of empty cells, are grey.

    Parameters
    ----------
    data : DataFrame of n rows
        A column for each term, the largest on average first; the first 15 are drawn.
    values : (n, P) float64
        What the terms add.
    words : str
        What is explained.
    ax : Axes, optional
        By default the axes of a new figure.

    Returns
    -------
    Axes
    """
    shown = data.iloc[:, :MOST]
    ax = named_panel(len(shown.columns), 6.4) if ax is None else ax
    ax.axvline(0, color=MUTED, linewidth=0.8)
    low, high = float(values[:, :MOST].min()), float(values[:, :MOST].max())
    ranked = None
    for i in range(shown.shape[1]):
        own, column = values[:, i], shown.iloc[:, i]
        place = len(shown.columns) - 1 - i + _beside(own, low, high)
        rank = _ranks(column) if is_ranked(column) else np.full(len(own), np.nan)
        grey = np.isnan(rank)
        ax.scatter(own[grey], place[grey], s=12, c=MUTED, linewidths=0, alpha=0.7)
        dots = ax.scatter(
            own[~grey], place[~grey], s=12, c=rank[~grey], cmap=COLOURS, vmin=0, vmax=1,
            linewidths=0, alpha=0.8,
        )  # fmt: skip
        ranked = ranked if grey.all() else dots
    _finish(
        ax,
        [str(name) for name in shown.columns],
        f"Shapley value ({words})",
        data.shape[1],
        "terms",
    )
    if ranked is not None:
        bar = ax.figure.colorbar(ranked, ax=ax, ticks=[0, 1], fraction=0.04, pad=0.02)
        bar.ax.set_yticklabels(["low", "high"])
        label_y(bar.ax, "value, by rank")
        bar.outline.set_visible(False)
        bar.ax.tick_params(color=MUTED, labelcolor=ink(ax))
    return ax


def _beside(values: NDArray[np.float64], low: float, high: float) -> NDArray[np.float64]:
    """Return how far up or down (n,) each dot lies, so that dots of like values do not cover."""
    width = (high - low) / BINS or 1.0
    bin_of = np.floor((values - low) / width).astype(np.int64)
    order = np.argsort(bin_of, kind="stable")
    first = np.flatnonzero(np.diff(bin_of[order], prepend=-1))
    size = np.diff(first, append=len(values))
    within = np.empty(len(values))
    within[order] = np.arange(len(values)) - np.repeat(first, size)
    # 0, 1, -1, 2, -2, …
    steps = np.where(within % 2 == 1, (within + 1) / 2, -within / 2)
    return HALF_ROW * steps / max(6.0, float(np.abs(steps).max(initial=0.0)))


def _ranks(column: pd.Series) -> NDArray[np.float64]:
    """Return ranks from 0 to 1 of the values, NaN for empty cells."""
    ranks = pd.Series(as_numbers(column)).rank().to_numpy(dtype=np.float64)
    known = ranks[~np.isnan(ranks)]
    low, high = (known.min(), known.max()) if len(known) else (0.0, 1.0)
    return np.asarray((ranks - low) / (high - low) if high > low else ranks * 0 + 0.5)


def _finish(ax: Axes, names: list[str], measure: str, count: int, of: str) -> None:
    beside = named_rows(ax, names)
    ax.xaxis.set_major_locator(MaxNLocator(5))
    note = f" (first {MOST} of {count} {of})" if count > MOST else ""
    label_x(ax, f"{measure}{note}", beside)
    plain(ax, "x")
    ax.tick_params(axis="y", length=0)
