"""Estimates of several models with their standard errors."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from odrf.plots.elements.lettering import label_x, named_rows
from odrf.plots.elements.style import ACCENT, MUTED, named_panel, plain

__all__ = ["plot_means"]


def plot_means(table: pd.DataFrame, score: str, ax: Axes | None = None) -> Axes:
    """Plot the estimate of each model as a dot, ± 1 standard error.

    Parameters
    ----------
    table : DataFrame
        Columns ``estimate`` and ``std_error``; index: the models, the first drawn on top.
    score : str
        Label of the axis.
    ax : Axes, optional
        By default the axes of a new figure.

    Returns
    -------
    Axes
    """
    ax = named_panel(len(table)) if ax is None else ax
    at = np.arange(len(table))[::-1]
    estimate, std_error = table["estimate"].to_numpy(), table["std_error"].to_numpy()
    ax.errorbar(estimate, at, xerr=std_error, fmt="none", color=MUTED, capsize=3, linewidth=1.4)
    ax.plot(estimate, at, "o", color=ACCENT, markersize=7)
    ax.xaxis.set_major_locator(MaxNLocator(5))
    label_x(ax, score, named_rows(ax, [str(name) for name in table.index]))
    plain(ax, "x")
    ax.tick_params(axis="y", length=0)
    return ax
