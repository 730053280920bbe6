"""Importances of predictors."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from odrf.plots.elements.style import ACCENT, GRID, new_panels, plain

__all__ = ["named_rows", "plot_importance"]

MOST = 15


def plot_importance(share: pd.Series, ax: Axes | None = None) -> Axes:
    """Plot the share of each predictor in the importance as a dot, the largest on top.

    Parameters
    ----------
    share : Series
        Shares by predictor, falling; the first 15 are drawn.
    ax : Axes, optional
        By default the axes of a new figure.

    Returns
    -------
    Axes
    """
    ax = new_panels(1)[0] if ax is None else ax
    shown = share.head(MOST)
    at = np.arange(len(shown))[::-1]
    ax.hlines(at, 0, shown, color=GRID, linewidth=2, zorder=1)
    ax.plot(shown.to_numpy(), at, "o", color=ACCENT, markersize=6)
    named_rows(ax, [str(name) for name in shown.index])
    ax.set_xlim(left=0)
    note = f" (first {MOST} of {len(share)} predictors)" if len(share) > MOST else ""
    ax.set_xlabel(f"share of impurity removed{note}")
    plain(ax, "x")
    ax.tick_params(axis="y", length=0)
    return ax


def named_rows(ax: Axes, names: list[str], most: int = 28) -> None:
    """Label the rows of a plot, the first on top, with at most `most` characters each."""
    at = range(len(names) - 1, -1, -1)
    ax.set_yticks(list(at), labels=[_shortened(name, most) for name in names])
    for label in ax.get_yticklabels():
        label.set_parse_math(False)
    ax.set_ylim(-0.7, len(names) - 0.3)


def _shortened(name: str, most: int) -> str:
    return name if len(name) <= most else f"{name[: most - 1]}…"
