"""Estimates of several models with their standard errors."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from odrf.plots.elements.style import ACCENT, MUTED, new_panels, plain

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
    ax = new_panels(1)[0] if ax is None else ax
    at = np.arange(len(table))[::-1]
    estimate, std_error = table["estimate"].to_numpy(), table["std_error"].to_numpy()
    ax.errorbar(estimate, at, xerr=std_error, fmt="none", color=MUTED, capsize=3, linewidth=1.4)
    ax.plot(estimate, at, "o", color=ACCENT, markersize=7)
    ax.set_yticks(at, labels=[str(name) for name in table.index])
    for label in ax.get_yticklabels():
        label.set_parse_math(False)
    ax.set_ylim(-0.7, len(table) - 0.3)
    ax.set_xlabel(score)
    plain(ax, "x")
    ax.tick_params(axis="y", length=0)
    return ax
