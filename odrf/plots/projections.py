"""Coefficients of directions as a heat map."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap

from odrf.plots.elements.lettering import label_x, label_y, named_rows, room_of, text_width
from odrf.plots.elements.style import CLASSES, MUTED, named_panel

__all__ = ["plot_projections"]

SIGNED = LinearSegmentedColormap.from_list("signed", [CLASSES[5], "#ffffff", CLASSES[0]])
MOST = 40
# inches: the names of rows with the bar of colours, and a direction
NAMES, CELL = 4.4, 0.4
# points
BAR, SIZE = 100.0, 10.0


def plot_projections(coefficients: pd.DataFrame, share: pd.Series, ax: Axes | None = None) -> Axes:
    """Plot directions as columns of a heat map; its rows are the columns of the design.

    Only columns that take part in one of the directions are drawn, and of these at most the 40
    with the largest coefficients; at most 40 directions.

    Parameters
    ----------
    coefficients : DataFrame
        Index: columns of the design; columns: ranks of the directions.
    share : Series
        The share of each direction in the impurity removed.
    ax : Axes, optional
        By default the axes of a new figure.

    Returns
    -------
    Axes
    """
    note = f" (first {MOST} of {len(share)})" if len(share) > MOST else ""
    coefficients, share = coefficients.iloc[:, :MOST], share.head(MOST)
    size = coefficients.abs().max(axis=1)
    kept = size[size > 0].sort_values(ascending=False, kind="stable").head(MOST).index
    coefficients = coefficients.loc[coefficients.index.isin(kept)]
    p, k = coefficients.shape
    ax = named_panel(p, NAMES + CELL * k) if ax is None else ax
    if not p:
        return _without_splits(ax)
    image = ax.imshow(
        coefficients.to_numpy()[::-1],
        cmap=SIGNED, vmin=-1, vmax=1, aspect="auto", origin="lower",
        extent=(0.5, k + 0.5, -0.5, p - 0.5),
    )  # fmt: skip
    beside = named_rows(ax, [str(name) for name in coefficients.index])
    ax.set_ylim(-0.5, p - 0.5)
    ranks = np.arange(1, k + 1)
    labels = [f"{rank}\n{100 * part:.2g}" for rank, part in zip(ranks, share, strict=True)]
    cell = (room_of(ax)[0] - beside - BAR) / k
    widest = max(text_width(line) for label in labels for line in label.split("\n"))
    ax.set_xticks(ranks, labels=labels, fontsize=SIZE * min(1.0, 0.9 * cell / widest))
    words = f"direction by importance{note}, and its share of the impurity removed, in %"
    label_x(ax, words, beside + BAR)
    ax.tick_params(length=0)
    ax.set_xticks(ranks[:-1] + 0.5, minor=True)
    ax.set_yticks(np.arange(p - 1) + 0.5, minor=True)
    ax.grid(which="minor", color="white", linewidth=1.5)
    ax.tick_params(which="minor", length=0)
    ax.spines[:].set_visible(False)
    bar = ax.figure.colorbar(image, ax=ax, shrink=0.8)
    label_y(bar.ax, "coefficient (columns scaled to [0,\u00a01])")
    return ax


def _without_splits(ax: Axes) -> Axes:
    ax.text(0.5, 0.5, "no splits", ha="center", va="center", color=MUTED, transform=ax.transAxes)
    ax.set_axis_off()
    return ax
