"""Importances of predictors."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from odrf.plots.elements.lettering import label_x, named_rows
from odrf.plots.elements.style import ACCENT, faint, named_panel, plain

__all__ = ["plot_importance"]

MOST = 15


def plot_importance(importance: pd.Series, words: str, ax: Axes | None = None) -> Axes:
    """Plot the importance of each predictor as a dot, the largest on top.

    Parameters
    ----------
    importance : Series
        Importances by predictor, falling; the first 15 are drawn.
    words : str
        What they are.
    ax : Axes, optional
        By default the axes of a new figure.

    Returns
    -------
    Axes
    """
    shown = importance.head(MOST)
    ax = named_panel(len(shown)) if ax is None else ax
    at = np.arange(len(shown))[::-1]
    ax.hlines(at, 0, shown, color=faint(ax), linewidth=2, zorder=1)
    ax.plot(shown.to_numpy(), at, "o", color=ACCENT, markersize=6)
    beside = named_rows(ax, [str(name) for name in shown.index])
    ax.set_xlim(left=min(0.0, 1.1 * shown.min()))
    note = f" (first {MOST} of {len(importance)} predictors)" if len(importance) > MOST else ""
    ax.xaxis.set_major_locator(MaxNLocator(5))
    label_x(ax, f"{words}{note}", beside)
    plain(ax, "x")
    ax.tick_params(axis="y", length=0)
    return ax
