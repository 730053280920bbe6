"""The style of all plots: colours, axes, figures."""

from __future__ import annotations

from typing import Literal

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap, to_rgb
from numpy.typing import NDArray

__all__ = [
    "ACCENT",
    "CLASSES",
    "GRID",
    "HEAT",
    "INK",
    "MUTED",
    "VALUES",
    "class_colour",
    "new_panels",
    "plain",
    "value_colour",
]

INK = "#222222"
MUTED = "#666666"
GRID = "#dddddd"
ACCENT = "#0072b2"
# Okabe and Ito's palette, told apart by colour-blind readers
CLASSES = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442", "#999999")
# light to mid blue: black text stays readable on all of it
VALUES = LinearSegmentedColormap.from_list("values", ["#f7fbff", "#c6dbef", "#6baed6"])
# white to dark blue, for images without text
HEAT = LinearSegmentedColormap.from_list("heat", ["#ffffff", "#9ecae1", "#2171b5", "#08234f"])


def class_colour(code: int, certainty: float) -> tuple[float, float, float]:
    """Return the colour of class `code`, paler for lower `certainty` (0 to 1)."""
    strength = 0.12 + 0.53 * certainty
    red, green, blue = (1 - strength * (1 - part) for part in to_rgb(CLASSES[code % len(CLASSES)]))
    return red, green, blue


def value_colour(position: float) -> tuple[float, float, float]:
    """Return the colour of a value at `position` (0 to 1) between the smallest and largest."""
    red, green, blue, _ = VALUES(position)
    return red, green, blue


def new_panels(count: int) -> NDArray:
    """Return the axes (count,) of a new figure with `count` panels side by side."""
    _, panels = plt.subplots(1, count, figsize=(5.6 * count, 4.2), layout="constrained")
    return np.atleast_1d(panels)


def plain(ax: Axes, grid: Literal["x", "y"]) -> None:
    """Remove the top and right spines; draw grid lines of the `grid` axis only."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.spines[["left", "bottom"]].set_color(MUTED)
    ax.tick_params(colors=MUTED, labelcolor=INK)
    ax.grid(axis=grid, color=GRID, linewidth=0.8)
    ax.set_axisbelow(True)
