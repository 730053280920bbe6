"""Impurity against the number of planes of guided trees."""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes

from odrf.plots.elements.bands import draw_band
from odrf.plots.elements.lettering import label_x, label_y
from odrf.plots.elements.style import ACCENT, new_panels, plain, whole_numbers

__all__ = ["plot_guided_growth"]


def plot_guided_growth(path: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Plot the remaining impurity against the number of planes.

    Parameters
    ----------
    path : DataFrame
        By number of planes: the ``mean`` over the trees, and ``low`` and ``high``, between which
        are 80 % of the trees.
    ax : Axes, optional
        By default the axes of a new figure.

    Returns
    -------
    Axes
    """
    ax = new_panels(1)[0] if ax is None else ax
    draw_band(ax, path.index.to_numpy(), path["low"], path["high"], ACCENT, alpha=0.2)
    mark = "o" if len(path) == 1 else None
    ax.plot(path.index, path["mean"], color=ACCENT, linewidth=1.6, marker=mark, clip_on=not mark)
    ax.set_xlim(0, max(1, path.index[-1]))
    ax.set_ylim(bottom=0)
    label_x(ax, "planes of a tree (mean, 80 % of the trees)")
    whole_numbers(ax)
    label_y(ax, "impurity left, as a share")
    plain(ax, "y")
    return ax
