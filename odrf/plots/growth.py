"""Training and test error along the growth of trees."""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import LogLocator, MaxNLocator, NullLocator, StrMethodFormatter

from odrf.plots.elements.bands import draw_band
from odrf.plots.elements.lettering import label_x, label_y
from odrf.plots.elements.style import ACCENT, MUTED, ink, legend_over, new_panels, plain
from odrf.pruning.growth_stages import DEPTH
from odrf.text.layouts import quantity

__all__ = ["plot_growth"]

# Numbers of leaves with more digits take more room on the axis.
MOST_TICKS, FEW_TICKS, LONG = 9, 5, 2**15


def plot_growth(
    table: pd.DataFrame,
    along: str,
    chosen: int,
    choice: str,
    size: int,
    error: str,
    by: str,
    ax: Axes | None = None,
) -> Axes:
    """Plot training and test error against the size of the trees.

    Numbers of leaves are on a logarithmic scale, as a full level of splits doubles them.

    Parameters
    ----------
    table : DataFrame
        Columns `along`, ``train``, ``test``, ``std_error``, and for a forest ``mean_leaves``;
        sizes rising.
    along : {"leaves", "depth"}
        How size is measured.
    chosen : int
        The row that is marked.
    choice : str
        The rule that chose it, in words.
    size : int
        The size of the present fit.
    error : str
        Name of the error.
    by : str
        Which rows the test error was computed on, in words.
    ax : Axes, optional
        By default the axes of a new figure.

    Returns
    -------
    Axes
    """
    ax = new_panels(1)[0] if ax is None else ax
    at, test, width = (table[name].to_numpy() for name in (along, "test", "std_error"))
    ax.plot(at, table["train"], color=MUTED, linewidth=1.2, label="training rows")
    draw_band(ax, at, test - width, test + width, ACCENT)
    ax.plot(at, test, color=ACCENT, linewidth=1.6, label=f"{by}, ± 1 standard error")
    ax.plot(
        at[chosen], test[chosen], "o", mfc="none", mec=ink(ax), markersize=10, mew=1.5,
        label=f"{choice}: {_sized(at[chosen], along)}",
    )  # fmt: skip
    ax.axvline(
        size, color=MUTED, linestyle=":", linewidth=1.2, label=f"this fit: {_sized(size, along)}"
    )
    if along == DEPTH:
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    else:
        ax.set_xscale("log", base=2)
        ticks = MOST_TICKS if max(at[-1], size) < LONG else FEW_TICKS
        ax.xaxis.set_major_locator(LogLocator(2, numticks=ticks))
        ax.xaxis.set_major_formatter(StrMethodFormatter("{x:.0f}"))
        ax.xaxis.set_minor_locator(NullLocator())
    label_x(ax, f"{along} of a tree at most" if "mean_leaves" in table else along)
    label_y(ax, error)
    if along != DEPTH and at[0] == max(at[-1], size):
        ax.set_xlim(at[0] / 2, at[0] * 2)
    else:
        ax.margins(x=0.03)
    # the line at this fit may pass behind
    legend_over(ax)
    plain(ax, "y")
    return ax


def _sized(size: int, along: str) -> str:
    if along == DEPTH:
        return f"depth {size}"
    return quantity(size, "leaf", "leaves")
