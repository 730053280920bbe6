"""Mean scores of models beside each other."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from odrf.plots.elements.style import ACCENT, MUTED, new_panels, plain

__all__ = ["plot_means"]


def plot_means(table: pd.DataFrame, score: str, ax: Axes | None = None) -> Axes:
    """Draw each model's mean score as a dot, one standard error to either side.

    Parameters
    ----------
    table : DataFrame
        Columns ``estimate`` and ``std_error`` by model; the first model is drawn on top.
    score : str
        What the score is called.
    ax : Axes, optional

    Returns
    -------
    Axes
    """
    ax = new_panels(1)[0] if ax is None else ax
    at = np.arange(len(table))[::-1]
    mean, error = table["estimate"].to_numpy(), table["std_error"].to_numpy()
    ax.errorbar(mean, at, xerr=error, fmt="none", color=MUTED, capsize=3, linewidth=1.4)
    ax.plot(mean, at, "o", color=ACCENT, markersize=7)
    ax.set_yticks(at, labels=[str(name) for name in table.index])
    for label in ax.get_yticklabels():
        label.set_parse_math(False)
    ax.set_ylim(-0.7, len(table) - 0.3)
    ax.set_xlabel(score)
    plain(ax, "x")
    ax.tick_params(axis="y", length=0)
    return ax
