"""Numbers of rows at risk below the axis of time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from odrf.plots.elements.lettering import label_x
from odrf.plots.elements.style import PlainNumbers, ink

__all__ = ["draw_numbers_at_risk", "time_axis"]

# points: from the axis to the heading, whose space the label of the axis leaves, and between lines
HEADING, LINE = 38.0, 12.0
# points: from the names of groups to the first number
BESIDE = 16.0
SIZE = 9.0
STEPS = 5


def time_axis(ax: Axes, until: float) -> NDArray[np.float64]:
    """Let the axis of time go from 0 to `until`, to 1 if that is 0; return its ticks."""
    until = until if until > 0 else 1.0
    ax.set_xlim(0, until)
    locator = MaxNLocator(STEPS)
    ax.xaxis.set_major_locator(locator)
    ax.xaxis.set_major_formatter(PlainNumbers())
    label_x(ax, "time")
    ticks = np.asarray(locator.tick_values(0.0, until), dtype=np.float64)
    return ticks[(ticks >= 0) & (ticks <= until)]


def draw_numbers_at_risk(
    ax: Axes,
    times: NDArray[np.float64],
    counts: Sequence[NDArray[np.float64]],
    colours: Sequence[str],
    names: Sequence[str] = ("",),
) -> None:
    """Write below the axis how many rows are at risk, a line for each group in its colour.

    Parameters
    ----------
    ax : Axes
        Its horizontal axis has its label already.
    times : (k,) float64
    counts : sequence of (k,) float64
        Weights of rows at risk in each group.
    colours : sequence of str
    names : sequence of str, optional
        Of the groups, beside the numbers.
    """
    place: dict[str, Any] = {
        "xycoords": ax.get_xaxis_transform(),
        "textcoords": "offset points",
        "fontsize": SIZE,
    }
    ax.annotate(
        "at risk", (0.0, 0.0), xytext=(0, -HEADING), ha="left", va="top", color=ink(ax), **place
    )
    lines = zip(counts, colours, names, strict=True)
    for line, (of_group, colour, name) in enumerate(lines, start=1):
        if name:
            ax.annotate(
                name, (0.0, 0.0), xytext=(-BESIDE, -HEADING - LINE * line),
                ha="right", va="top", color=colour, **place,
            )  # fmt: skip
        for time, count in zip(times, of_group, strict=True):
            ax.annotate(
                f"{count:.0f}", (float(time), 0.0), xytext=(0, -HEADING - LINE * line),
                ha="center", va="top", color=colour, **place,
            )  # fmt: skip
