"""The models of a stack: their errors and their weights."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from odrf.plots.elements.lettering import label_x, named_rows
from odrf.plots.elements.style import ACCENT, MUTED, faint, named_panel, plain

__all__ = ["plot_parts"]


def plot_parts(parts: pd.DataFrame, together: float, words: str, ax: Axes | None = None) -> Axes:
    """Plot the out-of-bag error of each model as a dot, the larger the more weight it has.

    Parameters
    ----------
    parts : DataFrame
        One row for each model, with ``weight`` and ``oob_error``.
    together : float
        The error of the weighted mean, at which a vertical line is drawn.
    words : str
        What the errors are.
    ax : Axes, optional
        By default the axes of a new figure.

    Returns
    -------
    Axes
    """
    ax = named_panel(len(parts)) if ax is None else ax
    at = np.arange(len(parts))[::-1]
    errors, weights = parts["oob_error"].to_numpy(), parts["weight"].to_numpy()
    ax.hlines(at, 0, errors, color=faint(ax), linewidth=2, zorder=1)
    ax.scatter(errors, at, s=20 + 180 * weights, color=ACCENT, zorder=2)
    ax.axvline(together, color=MUTED, linewidth=1, linestyle=":", zorder=1)
    named = zip(parts.index, weights, strict=True)
    names = [f"{name} ({weight:.2f})" for name, weight in named]
    beside = named_rows(ax, names)
    ax.set_xlim(left=0)
    label_x(ax, f"{words}; dotted: together; in brackets: weights", beside)
    plain(ax, "x")
    ax.tick_params(axis="y", length=0)
    return ax
