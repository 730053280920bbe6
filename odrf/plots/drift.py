"""Errors of new rows in the order in which they came."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from numpy.typing import NDArray

from odrf.plots.elements.bands import draw_band
from odrf.plots.elements.lettering import label_x, label_y
from odrf.plots.elements.style import (
    ACCENT,
    MUTED,
    ink,
    legend_over,
    new_panels,
    plain,
    whole_numbers,
)

__all__ = ["plot_drift"]


def plot_drift(
    table: pd.DataFrame, marked: NDArray[np.bool_], error: str, ax: Axes | None = None
) -> Axes:
    """Plot the error of each block of rows ± 1 standard error, and that of all earlier blocks.

    Parameters
    ----------
    table : DataFrame
        Index: the number of the first row of each block.  Columns ``rows``, ``error``,
        ``std_error``, ``before``.
    marked : (B,) bool
        Blocks that are marked.
    error : str
        Name of the error.
    ax : Axes, optional
        By default the axes of a new figure.

    Returns
    -------
    Axes
    """
    ax = new_panels(1)[0] if ax is None else ax
    at = table.index.to_numpy() + table["rows"].to_numpy() / 2
    level, width = table["error"].to_numpy(), table["std_error"].fillna(0).to_numpy()
    draw_band(ax, at, level - width, level + width, ACCENT)
    ax.plot(at, level, "o-", color=ACCENT, markersize=3.5, label="new rows, ± 1 standard error")
    ax.plot(at, table["before"], color=MUTED, linewidth=1.2, label="all earlier new rows")
    if marked.any():
        ax.plot(
            at[marked], level[marked], "o", mfc="none", mec=ink(ax), markersize=10, mew=1.5,
            label="larger than before",
        )  # fmt: skip
    label_x(ax, "number of the row")
    label_y(ax, error)
    whole_numbers(ax)
    legend_over(ax)
    plain(ax, "y")
    return ax
