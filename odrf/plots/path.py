"""Error along a pruning path: on held-out rows, or on the training rows."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from numpy.typing import NDArray

from odrf.plots.elements.error_axis import draw_errors
from odrf.plots.elements.lettering import label_x, label_y, shown_ticks
from odrf.plots.elements.style import ACCENT, MUTED, new_panels, plain, whole_numbers
from odrf.text.layouts import quantity
from odrf.text.splits import number

__all__ = ["plot_error_path", "plot_path"]

LABELS = 9
CHOOSING = "smallest α that chooses the tree"


def plot_error_path(
    table: pd.DataFrame,
    best: int,
    chosen: int,
    choice: str,
    error: str,
    ax: Axes | None = None,
    sizes: str = "leaves",
    alphas: str = CHOOSING,
) -> Axes:
    """Plot the held-out error of each subtree, ± 1 standard error.

    The number of leaves rises to the right, on a logarithmic scale, which shows the differences
    between small trees.

    Parameters
    ----------
    table : DataFrame
        Columns ``alpha``, ``leaves``, ``xerror``, ``xstd``, from the largest tree to the root.
    best : int
        The row of the smallest error.
    chosen : int
        The row that is marked.
    choice : str
        The rule that chose it, in words.
    error : str
        Name of the error.
    ax : Axes, optional
        By default the axes of a new figure.
    sizes, alphas : str, optional
        What the sizes are, and what the values of α.

    Returns
    -------
    Axes
    """
    ax = new_panels(1)[0] if ax is None else ax
    at = np.log2(table["leaves"].to_numpy(dtype=float))
    leaves = number(float(table["leaves"].iloc[chosen]), 3)
    words = f"{choice}: {quantity(leaves, 'leaf', 'leaves')}"
    draw_errors(ax, at, table["xerror"], table["xstd"], best, chosen, words)
    label_y(ax, error)
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
    shown = shown_ticks(ax, at, [alphas, leaves], wanted)
    ax.set_xticks(at[shown], labels=[alphas[tick] for tick in shown])
    label_x(ax, words)
    ax.margins(x=0.03)
    top = ax.secondary_xaxis("top")
    top.set_xticks(at[shown], labels=[leaves[tick] for tick in shown])
    top.set_xlabel(sizes, labelpad=7)
    top.tick_params(colors=MUTED)
    top.spines["top"].set_visible(False)


def plot_path(
    table: pd.DataFrame, along: NDArray[np.float64] | None, error: str, ax: Axes | None = None
) -> Axes:
    """Plot the training error of the nested subtrees against their leaves.

    Parameters
    ----------
    table : DataFrame
        Columns ``alpha``, ``leaves``, ``error``: the subtrees that are optimal for some α.
    along : (t,) float64 or None
        Errors of all trees along the growth, with 1, …, t leaves; None to leave them out.
    error : str
        Name of the error.
    ax : Axes, optional
        By default the axes of a new figure.

    Returns
    -------
    Axes
    """
    ax = new_panels(1)[0] if ax is None else ax
    if along is not None:
        leaves = np.arange(1, len(along) + 1)
        ax.plot(leaves, along, color=MUTED, linewidth=1, label="every tree along the growth")
    ax.plot(
        table["leaves"], table["error"], "o-", color=ACCENT, markersize=5, linewidth=1.4,
        label="optimal for some α",
    )  # fmt: skip
    ax.set_xlabel("leaves")
    label_y(ax, f"training {error}")
    ax.set_ylim(bottom=0)
    whole_numbers(ax)
    ax.legend(frameon=False, loc="upper right")
    plain(ax, "y")
    _alpha_axis(ax, table)
    return ax


def _alpha_axis(ax: Axes, table: pd.DataFrame) -> None:
    """Label some subtrees by their smallest α above the axes."""
    leaves = table["leaves"].to_numpy(dtype=float)
    alphas = [number(float(alpha), 2) for alpha in table["alpha"]]
    shown = shown_ticks(ax, leaves, [alphas], [0, len(leaves) - 1, *range(len(leaves))])
    top = ax.secondary_xaxis("top")
    top.set_xticks(leaves[shown], labels=[alphas[tick] for tick in shown])
    top.set_xlabel(CHOOSING, labelpad=7)
    top.tick_params(colors=MUTED)
    top.spines["top"].set_visible(False)
