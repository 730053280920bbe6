"""Room for the names of several classes beside their curves."""

from __future__ import annotations

import matplotlib.pyplot as plt
from matplotlib.axes import Axes

from odrf.plots.elements.style import legend_as_written, legend_columns

__all__ = ["axes_for", "classes_named"]

WIDTH, BESIDE, HEIGHT = 5.6, 3.0, 4.2
# More names stand beside the curves, not between them.
MOST_INSIDE = 3


def axes_for(n_classes: int) -> Axes:
    """Return the axes of a new figure, wider if many names stand beside them."""
    width = WIDTH if n_classes <= MOST_INSIDE else WIDTH + BESIDE
    return plt.subplots(figsize=(width, HEIGHT), layout="constrained")[1]


def classes_named(ax: Axes) -> None:
    """Name the curves that have labels: between them, or beside them if they are many."""
    names = len(ax.get_legend_handles_labels()[1])
    many = names > MOST_INSIDE
    beside = {"loc": "center left", "bbox_to_anchor": (1.0, 0.5)} if many else {"loc": "best"}
    legend = ax.legend(frameon=False, fontsize="small", ncols=legend_columns(names), **beside)
    legend_as_written(legend)
