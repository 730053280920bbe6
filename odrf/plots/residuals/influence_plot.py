"""Residuals against leverage."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from odrf.plots.elements.lettering import label_x, label_y, room_of, text_width, title
from odrf.plots.elements.style import ACCENT, MUTED, ink, plain
from odrf.text.names import shortened

__all__ = ["plot_influence"]

SIZE = (5.6, 4.2)
LABELLED = 3
# Square points.
SMALLEST_CIRCLE, LARGEST_CIRCLE = 2.0, 400.0
LONGEST_LABEL = 14
# Points: the size and the height of a label, and its distance from its circle.
FONT_SIZE, HEIGHT, BESIDE = 8.0, 12.0, 2.0


def plot_influence(influence: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Plot residuals against leverage, as circles whose area is the squared influence.

    Parameters
    ----------
    influence : DataFrame
        Columns ``leverage``, ``residual``, ``influence``, the most influential row first.
    ax : Axes, optional
        By default the axes of a new figure.

    Returns
    -------
    Axes
    """
    if ax is None:
        ax = plt.subplots(figsize=SIZE, layout="constrained")[1]
    largest = float(influence["influence"].max()) or 1.0
    area = LARGEST_CIRCLE * (influence["influence"] / largest) ** 2 + SMALLEST_CIRCLE
    ax.axhline(0.0, color=MUTED, linewidth=1, linestyle="--")
    ax.scatter(
        influence["leverage"], influence["residual"], s=area, color=ACCENT, alpha=0.5, linewidth=0
    )
    ax.margins(0.15)
    label_x(ax, "leverage (sum of weights out of bag, mean 1)")
    label_y(ax, "residual in standard deviations")
    title(ax, "Residuals and leverage (area: squared influence)")
    plain(ax, "y")
    _label(influence.assign(radius=(area / np.pi) ** 0.5).head(LABELLED), ax)
    return ax


def _label(rows: pd.DataFrame, ax: Axes) -> None:
    """Write the labels of rows beside their circles, as far as they do not cover each other."""
    (left, right), (low, high) = ax.get_xlim(), ax.get_ylim()
    width, height = room_of(ax)
    taken: list[tuple[float, float, float]] = []
    values = rows[["leverage", "residual", "radius"]].to_numpy(dtype=np.float64)
    for name, (x, y, radius) in zip(rows.index, values, strict=True):
        words = shortened(str(name), LONGEST_LABEL)
        inwards = -1.0 if x > (left + right) / 2 else 1.0
        beside = inwards * (radius + BESIDE)
        at = width * (x - left) / (right - left) + beside
        begin, end = sorted((at, at + inwards * text_width(words, FONT_SIZE)))
        middle = height * (y - low) / (high - low)
        free = all(
            end < first or begin > last or abs(middle - level) > HEIGHT
            for first, last, level in taken
        )
        if free:
            taken.append((begin, end, middle))
            ax.annotate(
                words, (x, y), (beside, 0), textcoords="offset points", va="center",
                ha="left" if inwards > 0 else "right", fontsize=FONT_SIZE, color=ink(ax),
                parse_math=False,
            )  # fmt: skip
