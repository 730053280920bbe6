"""A surface over two variables, in colours."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PatchCollection
from matplotlib.patches import Rectangle
from numpy.typing import NDArray
from scipy.ndimage import maximum_filter

from odrf.plots.elements.lettering import AROUND, ROW, SIZE, label_x, label_y, room_of
from odrf.plots.elements.style import HEIGHT, MUTED, WIDTH, PlainNumbers, ink
from odrf.text.names import shortened_names

if TYPE_CHECKING:
    from odrf.statistics.curves.variable_points import VariablePoints

__all__ = ["plot_effect_surface"]

# A cell without rows is hatched if no row is nearer than this share of the axis.
NEAR = 0.1
NAME = 18
BAR = 60.0
# points: levels that are nearer to each other have upright names
SLANTED = 20.0


def plot_effect_surface(
    first: VariablePoints,
    second: VariablePoints,
    surface: NDArray[np.float64],
    rows: NDArray[np.int64],
    scale: str,
    ax: Axes | None = None,
) -> Axes:
    """Plot a surface (G, H) over the points of two variables.

    Parameters
    ----------
    first, second : VariablePoints
        On the horizontal and the vertical axis.
    surface : (G, H) float64
    rows : (G, H) int64
        Cells with 0 rows, and none near, are hatched.
    scale : str
        What the colours show.
    ax : Axes, optional
        By default the axes of a new figure.

    Returns
    -------
    Axes
    """
    if ax is None:
        _, ax = plt.subplots(figsize=(WIDTH + 0.8, HEIGHT), layout="constrained")
    edges = [_edges(axis.at) for axis in (first, second)]
    drawn = ax.pcolormesh(*edges, surface.T, cmap="viridis", shading="flat")
    near = [1 + 2 * round(NEAR * len(a.values)) if a.numeric else 1 for a in (first, second)]
    empty = maximum_filter(rows, size=near) == 0
    cells = [_cell(edges[0], edges[1], i, j) for i, j in zip(*np.nonzero(empty), strict=True)]
    ax.add_collection(
        PatchCollection(cells, facecolor="none", edgecolor="white", hatch="////", linewidth=0)
    )
    bar = ax.figure.colorbar(drawn, ax=ax, format=PlainNumbers())
    bar.outline.set_visible(False)
    bar.ax.tick_params(color=MUTED, labelcolor=ink(ax))
    label_y(bar.ax, scale)
    if second.numeric:
        ax.yaxis.set_major_formatter(PlainNumbers())
        label_x(ax, first.name, BAR)
    else:
        _name_levels(ax, first, second)
        label_x(ax, first.name, BAR)
    label_y(ax, second.name)
    if first.numeric:
        ax.xaxis.set_major_formatter(PlainNumbers())
    ax.spines[:].set_visible(False)
    ax.tick_params(colors=MUTED, labelcolor=ink(ax))
    return ax


def _name_levels(ax: Axes, first: VariablePoints, second: VariablePoints) -> None:
    """Name the levels of two factors, smaller where there are many."""
    wide, high = (room - AROUND for room in room_of(ax))
    step = (wide - BAR - AROUND) / len(first.at)
    place: dict[str, Any] = {"rotation": 45, "ha": "right", "rotation_mode": "anchor"}
    if step < SLANTED:
        place = {"rotation": 90, "fontsize": min(SIZE, step / ROW)}
    ax.set_xticks(first.at, labels=shortened_names(first.labels, NAME), **place)
    size = min(SIZE, (high - AROUND) / len(second.at) / ROW)
    ax.set_yticks(second.at, labels=shortened_names(second.labels, NAME), fontsize=size)
    for label in (*ax.get_xticklabels(), *ax.get_yticklabels()):
        label.set_parse_math(False)


def _cell(x: NDArray[np.float64], y: NDArray[np.float64], i: np.intp, j: np.intp) -> Rectangle:
    return Rectangle((x[i], y[j]), x[i + 1] - x[i], y[j + 1] - y[j])


def _edges(at: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the edges (G + 1,) of cells around points."""
    if len(at) == 1:
        return np.array([at[0] - 0.5, at[0] + 0.5])
    middle = (at[1:] + at[:-1]) / 2
    return np.concatenate([[2 * at[0] - middle[0]], middle, [2 * at[-1] - middle[-1]]])
