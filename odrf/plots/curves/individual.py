"""A line for each row, coloured by another variable."""

from __future__ import annotations

from typing import TYPE_CHECKING

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.lines import Line2D
from numpy.typing import NDArray

from odrf.plots.curves.effects import draw_rug, hatch_gaps
from odrf.plots.elements.lettering import label_x, label_y, named_columns
from odrf.plots.elements.style import (
    HEIGHT,
    MUTED,
    WIDTH,
    PlainNumbers,
    in_legend,
    ink,
    legend_as_written,
    line_of,
    plain,
)
from odrf.text.names import shortened, shortened_names

if TYPE_CHECKING:
    from odrf.statistics.curves.variable_points import VariablePoints

__all__ = ["plot_individual"]

BESIDE, NAME, MOST_LEVELS = 1.6, 20, 12
PLAIN = "#8fb8d8"


def plot_individual(
    axis: VariablePoints,
    curves: NDArray[np.float64],
    scale: str,
    by: pd.Series | None,
    ax: Axes | None = None,
) -> Axes:
    """Plot a line for each row and their mean in black.

    Rows whose colouring variable is empty are grey.

    Parameters
    ----------
    axis : VariablePoints
    curves : (m, G) float64
    scale : str
        What they show.
    by : Series of m values, optional
        What colours the lines.
    ax : Axes, optional
        By default the axes of a new figure.

    Returns
    -------
    Axes
    """
    if ax is None:
        width = WIDTH + (0.0 if by is None else BESIDE)
        ax = plt.subplots(figsize=(width, HEIGHT), layout="constrained")[1]
    at = axis.at
    lines = LineCollection(
        [np.column_stack([at, curve]) for curve in curves], linewidths=0.9,
        alpha=float(np.clip(12 / np.sqrt(len(curves)) / 2, 0.15, 0.8)),
    )  # fmt: skip
    ax.add_collection(lines)
    _colour(ax, lines, by)
    mark = "o" if len(at) == 1 or not axis.numeric else None
    ax.plot(at, curves.mean(axis=0), color=ink(ax), linewidth=2.2, marker=mark)
    ax.autoscale_view()
    if axis.numeric:
        if len(at) > 1:
            ax.set_xlim(at[0], at[-1])
        hatch_gaps(ax, axis)
        draw_rug(ax, axis.observed)
    else:
        named_columns(ax, at, axis.labels)
    label_x(ax, axis.name)
    label_y(ax, scale)
    plain(ax, "y")
    return ax


def _colour(ax: Axes, lines: LineCollection, by: pd.Series | None) -> None:
    """Colour the lines by a variable, with a bar or a legend that says how."""
    if by is None:
        lines.set_color(PLAIN)
        return
    numeric = pd.api.types.is_numeric_dtype(by) and not pd.api.types.is_bool_dtype(by)
    if numeric:
        lines.set_array(by.to_numpy(dtype=np.float64, na_value=np.nan))
        lines.set_cmap(colormaps["viridis"].with_extremes(bad=MUTED))
        bar = ax.figure.colorbar(lines, ax=ax, format=PlainNumbers())
        bar.set_alpha(1.0)
        bar.outline.set_visible(False)
        bar.ax.tick_params(color=MUTED, labelcolor=ink(ax))
        label_y(bar.ax, str(by.name))
        return
    code, found = pd.factorize(by, sort=True)
    drawn = [line_of(number) for number in range(len(found))]
    lines.set_color([drawn[k][0] if k >= 0 else MUTED for k in code])
    lines.set_linestyle([drawn[k][1] if k >= 0 else "-" for k in code])
    names = shortened_names([str(level) for level in found], NAME)[:MOST_LEVELS]
    handles = [
        Line2D([], [], color=colour, linestyle=dash, label=in_legend(name))
        for (colour, dash), name in zip(drawn, names, strict=False)
    ]
    if len(found) > MOST_LEVELS:
        rest = f"and {len(found) - MOST_LEVELS} more"
        handles.append(Line2D([], [], linestyle="none", label=rest))
    if (code < 0).any():
        handles.append(Line2D([], [], color=MUTED, label="empty"))
    title = shortened(str(by.name), NAME)
    legend = ax.legend(
        handles=handles, title=title, frameon=False, loc="upper left", bbox_to_anchor=(1, 1)
    )
    legend_as_written(legend)
