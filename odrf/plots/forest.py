"""Out-of-bag error against the number of trees."""

from __future__ import annotations

import math

import pandas as pd
from matplotlib.axes import Axes

from odrf.plots.elements.lettering import label_y
from odrf.plots.elements.style import ACCENT, new_panels, plain, whole_numbers
from odrf.text.layouts import quantity
from odrf.text.splits import number

__all__ = ["plot_error"]


def plot_error(path: pd.Series, ax: Axes | None = None) -> Axes:
    """Plot the out-of-bag error of the first trees.

    Parameters
    ----------
    path : Series
        Error by number of trees; its name labels the axis.
    ax : Axes, optional
        By default the axes of a new figure.

    Returns
    -------
    Axes
    """
    ax = new_panels(1)[0] if ax is None else ax
    ax.plot(path.index, path.to_numpy(), color=ACCENT, linewidth=1.6)
    last = float(path.iloc[-1])
    said = "unknown" if math.isnan(last) else number(last, 3)
    ax.plot(
        path.index[-1:], [last], "o", color=ACCENT, markersize=5, clip_on=False,
        label=f"{said} with {quantity(int(path.index[-1]), 'tree')}",
    )  # fmt: skip
    ax.set_xlim(0, int(path.index[-1]))
    ax.set_xlabel("trees")
    whole_numbers(ax)
    label_y(ax, str(path.name))
    ax.legend(frameon=False)
    plain(ax, "y")
    return ax
