"""Training error along a pruning path."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from odrf.plots.style import ACCENT, MUTED, new_panels, plain
from odrf.wording import number

__all__ = ["plot_path"]

LABELS = 7


def plot_path(
    table: pd.DataFrame, errors: NDArray[np.float64], error: str, ax: Axes | None = None
) -> Axes:
    """Draw the training error of every tree along the growth, and mark those that some α chooses.

    Parameters
    ----------
    table : DataFrame
        Columns ``alpha``, ``leaves``, ``error``: the subtrees that are chosen.
    errors : (t,) float64
        Error with 1, …, t leaves.
    error : str
        What the error is called.
    ax : Axes, optional

    Returns
    -------
    Axes
    """
    ax = new_panels(1)[0] if ax is None else ax
    leaves = np.arange(1, len(errors) + 1)
    ax.plot(leaves, errors, color=MUTED, linewidth=1, label="every tree along the growth")
    ax.plot(
        table["leaves"], table["error"], "o-", color=ACCENT, markersize=5, linewidth=1.4,
        label="chosen by some α (lower hull)",
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
