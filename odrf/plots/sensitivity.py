"""Sensitivity of rows, and the rows kept by each method."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.collections import PathCollection
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from odrf.plots import style

SIDE = 3.2
LARGEST, SMALLEST = 14.0, 2.0
ROWS_OF_LARGE_DOTS = 500
# points that numbers and a bar of colours take up beside a panel
AROUND = 70.0
# without the white end of the scale, on which dots would be invisible
SEEN = LinearSegmentedColormap.from_list("seen", style.HEAT(np.linspace(0.2, 1.0, 5)))


def plot_sensitivity(
    places: pd.DataFrame, relative: NDArray[np.float64], kept: Mapping[str, NDArray[np.int64]],
    y: NDArray[np.float64], classes: pd.Index | None, ax: NDArray | None = None,
) -> NDArray[np.object_]:  # fmt: skip
    """Plot all rows by their probability, then one panel with the rows that each method keeps.

    `places` (n, 2).  `relative` (n,): the probability of each row, as a multiple of the mean.
    `kept` (k,): by method, the rows kept.  `y` (n,): responses, or class codes.
    """
    count, together = 1 + len(kept), {"sharex": True, "sharey": True}
    page = (SIDE * count + 1.4, SIDE + 0.3)
    panels = style.on_panels(
        ax, count, f"{count} are drawn on", lambda: style.new_panels(count, page, **together)
    )
    first, second = (places[name].to_numpy(dtype=np.float64) for name in places.columns)
    size = float(np.clip(LARGEST * ROWS_OF_LARGE_DOTS / len(places), SMALLEST, LARGEST))
    # the darkest on top
    order = np.argsort(relative, kind="stable")
    dots = panels[0].scatter(
        first[order], second[order], s=size, c=relative[order], cmap=SEEN, vmin=0.0, linewidths=0
    )
    style.colour_bar(panels[0], dots, "probability / mean", style.ink(panels[0]))
    style.title(panels[0], "sensitivity")
    for panel, (words, rows) in zip(panels[1:], kept.items(), strict=True):
        panel.scatter(first, second, s=size / 2, c=style.faint(panel), linewidths=0)
        drawn = _kept(panel, first[rows], second[rows], y, rows, classes, size)
        style.title(panel, words)
        panel.tick_params(labelleft=False)
    if classes is None:
        style.colour_bar(panels[-1], drawn, "response", style.ink(panels[-1]))
    elif len(classes) <= len(style.CLASSES):
        handles = [
            Line2D(
                [],
                [],
                marker="o",
                linestyle="none",
                color=style.CLASSES[k],
                label=style.in_legend(label),
            )
            for k, label in enumerate(classes)
        ]
        beside = {"loc": "upper left", "bbox_to_anchor": (1, 1)}
        style.legend_as_written(panels[-1], handles=handles, title="class", **beside)
    for panel in panels:
        style.label_x(panel, str(places.columns[0]), AROUND)
        for axis in (panel.xaxis, panel.yaxis):
            axis.set_major_locator(MaxNLocator(4, steps=[1, 2, 5, 10]))
        style.plain(panel, "y")
        panel.grid(False)
    style.label_y(panels[0], str(places.columns[1]))
    return panels


def _kept(
    panel: Axes, first: NDArray, second: NDArray, y: NDArray[np.float64], rows: NDArray[np.int64],
    classes: pd.Index | None, size: float,
) -> PathCollection:  # fmt: skip
    if classes is None:
        ends = {"vmin": y.min(), "vmax": y.max()}
        return panel.scatter(first, second, s=size, c=y[rows], cmap="viridis", linewidths=0, **ends)
    colours = [style.CLASSES[int(code) % len(style.CLASSES)] for code in y[rows]]
    return panel.scatter(first, second, s=size, c=colours, linewidths=0)
