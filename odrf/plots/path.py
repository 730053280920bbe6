"""Error along a pruning path: held-out rows', or the training rows'."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from odrf.plots.elements.error_axis import draw_errors
from odrf.plots.elements.style import ACCENT, MUTED, new_panels, plain
from odrf.text.wording import number

__all__ = ["plot_error_path", "plot_path"]

LABELS = 9


def plot_error_path(
    table: pd.DataFrame, best: int, chosen: int, choice: str, error: str, ax: Axes | None = None
) -> Axes:
    """Draw the held-out error of each subtree, one standard error to either side.

    The number of leaves goes up to the right, on a logarithmic scale: the small trees are the
    ones to choose among.

    Parameters
    ----------
    table : DataFrame
        Columns ``alpha``, ``leaves``, ``xerror``, ``xstd``, from the largest tree to the root.
    best : int
        The row of the smallest error.
    chosen : int
        The row that is marked.
    choice : str
        What it was chosen by.
    error : str
        What the error is called.
    ax : Axes, optional

    Returns
    -------
    Axes
    """
    ax = new_panels(1)[0] if ax is None else ax
    at = np.log2(table["leaves"].to_numpy(dtype=float))
    leaves = number(float(table["leaves"].iloc[chosen]), 3)
    words = f"{choice}: {leaves} {'leaf' if leaves == '1' else 'leaves'}"
    draw_errors(ax, at, table["xerror"], table["xstd"], best, chosen, words)
    ax.set_ylabel(error)
    _label_subtrees(ax, table, at)
    return ax


def _label_subtrees(ax: Axes, table: pd.DataFrame, at: NDArray[np.float64]) -> None:
    """Write some subtrees' smallest α below the axes, and their sizes above."""
    wanted = np.linspace(at.min(), at.max(), LABELS)
    shown = np.unique([int(np.argmin(np.abs(at - place))) for place in wanted])
    alphas, leaves = table["alpha"].to_numpy()[shown], table["leaves"].to_numpy()[shown]
    ax.set_xticks(at[shown], labels=[number(float(alpha), 2) for alpha in alphas])
    ax.set_xlabel("smallest α that chooses the tree")
    ax.margins(x=0.03)
    top = ax.secondary_xaxis("top")
    top.set_xticks(at[shown], labels=[number(float(size), 3) for size in leaves])
    top.set_xlabel("leaves", labelpad=7)
    top.tick_params(colors=MUTED)
    top.spines["top"].set_visible(False)


def plot_path(
    table: pd.DataFrame, along: NDArray[np.float64] | None, error: str, ax: Axes | None = None
) -> Axes:
    """Draw the training error of the subtrees that some α chooses against their leaves.

    Parameters
    ----------
    table : DataFrame
        Columns ``alpha``, ``leaves``, ``error``: the subtrees that are chosen.
    along : (t,) float64 or None
        Error of every tree along the growth, with 1, …, t leaves, where these are chosen among.
    error : str
        What the error is called.
    ax : Axes, optional

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
        label="chosen by some α",
    )  # fmt: skip
    ax.set_xlabel("leaves")
    ax.set_ylabel(f"training {error}")
    ax.set_ylim(bottom=0)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.legend(frameon=False, loc="upper right")
    plain(ax, "y")
    _alpha_axis(ax, table)
    return ax


def _alpha_axis(ax: Axes, table: pd.DataFrame) -> None:
    """Write above some of the subtrees the α from which they are chosen."""
    leaves = table["leaves"].to_numpy(dtype=float)
    apart = (leaves.max() - leaves.min()) / LABELS
    shown: list[int] = []
    for at in range(len(leaves)):
        if not shown or abs(leaves[at] - leaves[shown[-1]]) >= apart:
            shown.append(at)
    top = ax.secondary_xaxis("top")
    alphas = table["alpha"].to_numpy()
    top.set_xticks(leaves[shown], labels=[number(float(alphas[at]), 2) for at in shown])
    top.set_xlabel("smallest α that chooses the tree", labelpad=7)
    top.tick_params(colors=MUTED)
    top.spines["top"].set_visible(False)
