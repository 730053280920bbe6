"""Errors along a pruning path and along the growth of trees."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import LogLocator, MaxNLocator, NullLocator, StrMethodFormatter
from numpy.typing import NDArray

from odrf.plots import style
from odrf.pruning.growth_stages import DEPTH
from odrf.text.layouts import quantity
from odrf.text.splits import number

LABELS = 9
CHOOSING = "smallest α that chooses the tree"


def plot_error_path(
    table: pd.DataFrame, best: int, chosen: int, choice: str, error: str, ax: Axes | None = None,
    sizes: str = "leaves", alphas: str = CHOOSING,
) -> Axes:  # fmt: skip
    """Plot the held-out error of each subtree against its leaves, ± 1 standard error.

    `best`, `chosen`: the rows of the smallest error, and of the `choice` of a rule in words.
    """
    ax = style.one_panel(ax)
    at = np.log2(table["leaves"].to_numpy(dtype=float))
    leaves = number(float(table["leaves"].iloc[chosen]), 3)
    words = f"{choice}: {quantity(leaves, 'leaf', 'leaves')}"
    style.draw_errors(ax, at, table["xerror"], table["xstd"], best, chosen, words)
    style.label_y(ax, error)
    _label_subtrees(ax, table, at, chosen, sizes, alphas)
    return ax


def _label_subtrees(
    ax: Axes, table: pd.DataFrame, at: NDArray[np.float64], chosen: int, sizes: str, words: str
) -> None:
    """Label some subtrees by their α below the axes, and by their leaves above."""
    alphas = [number(float(alpha), 2) for alpha in table["alpha"]]
    leaves = [number(float(size), 3) for size in table["leaves"]]
    even = np.linspace(at.min(), at.max(), LABELS)
    wanted = [0, len(at) - 1, chosen, *(int(np.argmin(np.abs(at - place))) for place in even)]
    shown = style.shown_ticks(ax, at, [alphas, leaves], wanted)
    ax.set_xticks(at[shown], labels=[alphas[tick] for tick in shown])
    style.label_x(ax, words)
    ax.margins(x=0.03)
    _top_axis(ax, at[shown], [leaves[tick] for tick in shown], sizes)


def _top_axis(ax: Axes, at: NDArray[np.float64], labels: Sequence[str], words: str) -> None:
    """Label the places `at` above the axes."""
    top = ax.secondary_xaxis("top")
    top.set_xticks(at, labels=labels)
    top.set_xlabel(words, labelpad=7)
    top.tick_params(colors=style.MUTED)
    top.spines["top"].set_visible(False)


def plot_path(
    table: pd.DataFrame, along: NDArray[np.float64] | None, error: str, ax: Axes | None = None
) -> Axes:
    """Plot the training error of the nested subtrees against their leaves.

    `along` (t,): errors of all trees along the growth, with 1, …, t leaves.
    """
    ax = style.one_panel(ax)
    if along is not None:
        leaves = np.arange(1, len(along) + 1)
        ax.plot(leaves, along, color=style.MUTED, linewidth=1, label="every tree along the growth")
    ax.plot(
        table["leaves"], table["error"], "o-", color=style.ACCENT, markersize=5, linewidth=1.4,
        label="optimal for some α",
    )  # fmt: skip
    ax.set_xlabel("leaves")
    style.label_y(ax, f"training {error}")
    ax.set_ylim(bottom=0)
    style.whole_numbers(ax)
    ax.legend(frameon=False, loc="upper right")
    style.plain(ax, "y")
    _alpha_axis(ax, table)
    return ax


def _alpha_axis(ax: Axes, table: pd.DataFrame) -> None:
    """Label some subtrees by their smallest α above the axes."""
    leaves = table["leaves"].to_numpy(dtype=float)
    alphas = [number(float(alpha), 2) for alpha in table["alpha"]]
    shown = style.shown_ticks(ax, leaves, [alphas], [0, len(leaves) - 1, *range(len(leaves))])
    _top_axis(ax, leaves[shown], [alphas[tick] for tick in shown], CHOOSING)


# Numbers of leaves with more digits take more room on the axis.
MOST_TICKS, FEW_TICKS, LONG = 9, 5, 2**15


def plot_growth(
    table: pd.DataFrame, along: str, chosen: int, choice: str, size: int, error: str, by: str,
    ax: Axes | None = None,
) -> Axes:  # fmt: skip
    """Plot training and test error against the size of the trees.

    Numbers of leaves are on a logarithmic scale, as a full level of splits doubles them.
    """
    ax = style.one_panel(ax)
    at, test, width = (table[name].to_numpy() for name in (along, "test", "std_error"))
    ax.plot(at, table["train"], color=style.MUTED, linewidth=1.2, label="training rows")
    style.draw_band(ax, at, test - width, test + width, style.ACCENT)
    ax.plot(at, test, color=style.ACCENT, linewidth=1.6, label=f"{by}, ± 1 standard error")
    ax.plot(
        at[chosen], test[chosen], "o", mfc="none", mec=style.ink(ax), markersize=10, mew=1.5,
        label=f"{choice}: {_sized(at[chosen], along)}",
    )  # fmt: skip
    ax.axvline(
        size, color=style.MUTED, linestyle=":", linewidth=1.2,
        label=f"this fit: {_sized(size, along)}",
    )  # fmt: skip
    if along == DEPTH:
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    else:
        ax.set_xscale("log", base=2)
        ticks = MOST_TICKS if max(at[-1], size) < LONG else FEW_TICKS
        ax.xaxis.set_major_locator(LogLocator(2, numticks=ticks))
        ax.xaxis.set_major_formatter(StrMethodFormatter("{x:.0f}"))
        ax.xaxis.set_minor_locator(NullLocator())
    style.label_x(ax, f"{along} of a tree at most" if "mean_leaves" in table else along)
    style.label_y(ax, error)
    if along != DEPTH and at[0] == max(at[-1], size):
        ax.set_xlim(at[0] / 2, at[0] * 2)
    else:
        ax.margins(x=0.03)
    # the line at this fit may pass behind
    style.legend_over(ax)
    style.plain(ax, "y")
    return ax


def _sized(size: int, along: str) -> str:
    if along == DEPTH:
        return f"depth {size}"
    return quantity(size, "leaf", "leaves")
