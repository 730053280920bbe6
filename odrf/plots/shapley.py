"""Shapley values of all terms, of one row, and of one term against its values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from odrf.design.scaling import as_numbers, is_ranked
from odrf.plots import style
from odrf.text.layouts import quantity
from odrf.text.names import shortened
from odrf.text.splits import number

MOST = 15
# Dots whose values are in the same of so many bins lie beside each other.
BINS = 80
HALF_ROW = 0.4
COLOURS = "viridis"


def plot_shapley_swarm(
    data: pd.DataFrame, values: NDArray[np.float64], words: str, ax: Axes | None = None
) -> Axes:
    """Plot the Shapley value of each row and term (n, P) as a dot.

    Colours are ranks of the value of the term; grey: factors without an order, missing values.
    """
    shown = data.iloc[:, :MOST]
    ax = style.named_panel(ax, len(shown.columns), 6.4)
    ax.axvline(0, color=style.MUTED, linewidth=0.8)
    low, high = float(values[:, :MOST].min()), float(values[:, :MOST].max())
    ranked = None
    for i in range(shown.shape[1]):
        own, column = values[:, i], shown.iloc[:, i]
        place = len(shown.columns) - 1 - i + _beside(own, low, high)
        rank = _ranks(column) if is_ranked(column) else np.full(len(own), np.nan)
        grey = np.isnan(rank)
        ax.scatter(own[grey], place[grey], s=12, c=style.MUTED, linewidths=0, alpha=0.7)
        dots = ax.scatter(
            own[~grey], place[~grey], s=12, c=rank[~grey], cmap=COLOURS, vmin=0, vmax=1,
            linewidths=0, alpha=0.8,
        )  # fmt: skip
        ranked = ranked if grey.all() else dots
    total = data.shape[1]
    note = f" (first {MOST} of {total} terms)"
    style.finish_rows(ax, shown.columns, f"Shapley value ({words})", note, total)
    if ranked is not None:
        bar = style.colour_bar(ax, ranked, "value, by rank", ticks=[0, 1], fraction=0.04, pad=0.02)
        bar.ax.set_yticklabels(["low", "high"])
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
    """Return ranks from 0 to 1 of the values, NaN for missing values."""
    ranks = pd.Series(as_numbers(column)).rank().to_numpy(dtype=np.float64)
    known = ranks[~np.isnan(ranks)]
    low, high = (known.min(), known.max()) if len(known) else (0.0, 1.0)
    return np.asarray((ranks - low) / (high - low) if high > low else ranks * 0 + 0.5)


MOST_OF_A_ROW = 12
UP, DOWN = style.CLASSES[5], style.ACCENT
# Characters of a value, and of a term with its value.
MOST_OF_VALUE, MOST_CHARACTERS = 12, 25


def plot_shapley_row(table: pd.DataFrame, base: float, words: str, ax: Axes | None = None) -> Axes:
    """Plot how the terms lead from the mean background prediction to the prediction of a row.

    The first 12 terms are drawn, the others as one bar.
    """
    names = [_named(term, row["data"]) for term, row in table.iterrows()]
    values, errors = table["value"].to_numpy(), table["std_error"].to_numpy()
    if len(table) > MOST_OF_A_ROW:
        rest = len(table) - MOST_OF_A_ROW + 1
        names = [*names[: MOST_OF_A_ROW - 1], quantity(rest, "other term")]
        values = np.append(values[: MOST_OF_A_ROW - 1], values[MOST_OF_A_ROW - 1 :].sum())
        errors = np.append(
            errors[: MOST_OF_A_ROW - 1], np.sqrt((errors[MOST_OF_A_ROW - 1 :] ** 2).sum())
        )
    ax = style.named_panel(ax, len(names))
    at = np.arange(len(names))[::-1]
    ends = base + np.cumsum(values)
    starts = ends - values
    ax.barh(at, values, left=starts, color=np.where(values < 0, DOWN, UP), height=0.62)
    ax.vlines(ends[:-1], at[:-1] - 1, at[:-1], color=style.MUTED, linewidth=0.8)
    if (errors > 0).any():
        ax.errorbar(ends, at, xerr=errors, fmt="none", ecolor=style.MUTED, capsize=2, linewidth=1)
    style.reference(ax, x=base)
    ax.use_sticky_edges = False
    ax.margins(x=0.06)
    ends_in_words = f"from the mean of the background, {number(base)}, to {number(ends[-1])}"
    style.finish_rows(ax, names, f"{words}: {ends_in_words}")
    return ax


def _named(term: Any, value: Any) -> str:
    """Return a term with its value."""
    words = "empty"
    if not pd.isna(value):
        words = number(float(value)) if isinstance(value, float | np.floating) else str(value)
    words = shortened(words, MOST_OF_VALUE)
    return f"{shortened(str(term), MOST_CHARACTERS - len(words))} = {words}"


MOST_LEVELS = 20
EMPTY = "empty"
# How far dots of one level are spread, of the distance to the next.
SPREAD = 0.3


def plot_shapley_term(
    column: pd.Series, values: NDArray[np.float64], words: str, ax: Axes | None = None
) -> Axes:
    """Plot what a term adds (n,) against its value; the 20 most frequent levels have rows."""
    words = f"Shapley value ({words})"
    if is_ranked(column) and not isinstance(column.dtype, pd.CategoricalDtype):
        return _numbers(column, values, words, ax)
    return _levels(column, values, words, ax)


def _numbers(column: pd.Series, values: NDArray[np.float64], words: str, ax: Axes | None) -> Axes:
    ax = style.one_panel(ax)
    at = as_numbers(column)
    known = ~np.isnan(at)
    ax.axhline(0, color=style.MUTED, linewidth=0.8)
    shown = column if column.dtype.kind in "mM" else pd.Series(at)
    ax.plot(
        shown.to_numpy()[known], values[known], "o", color=style.ACCENT, markersize=4, alpha=0.6,
        mew=0,
    )  # fmt: skip
    if not known.all():
        ends = ax.get_xlim()
        left = ends[0] - 0.04 * (ends[1] - ends[0])
        ax.plot(
            np.full((~known).sum(), left), values[~known], "o", mfc="none", mec=style.MUTED,
            markersize=4, label=EMPTY,
        )  # fmt: skip
        ax.legend(frameon=False)
    if column.dtype.kind not in "mM":
        ax.xaxis.set_major_locator(MaxNLocator(5))
    style.finish(ax, str(column.name), words)
    return ax


def _levels(column: pd.Series, values: NDArray[np.float64], words: str, ax: Axes | None) -> Axes:
    labels = column.astype(object).where(column.notna(), "").astype(str)
    empty = EMPTY if EMPTY not in set(labels) else f"({EMPTY})"
    labels = labels.where(column.notna(), empty)
    counts = labels.value_counts()
    levels = list(counts.index[:MOST_LEVELS])
    if is_ranked(column):
        order = [str(level) for level in column.cat.categories]
        levels.sort(key=lambda level: order.index(level) if level in order else len(order))
    ax = style.named_panel(ax, len(levels))
    ax.axvline(0, color=style.MUTED, linewidth=0.8)
    for i, level in enumerate(levels):
        own = values[(labels == level).to_numpy()]
        # in a regular pattern, so that the picture is always the same
        place = len(levels) - 1 - i + SPREAD * np.sin(2.4 * np.arange(len(own)))
        ax.plot(own, place, "o", color=style.ACCENT, markersize=4, alpha=0.6, mew=0)
    note = f" (the {MOST_LEVELS} most frequent levels)"
    style.finish_rows(ax, levels, f"{words}, by {column.name}", note, len(counts))
    return ax
