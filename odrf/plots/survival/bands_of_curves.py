"""Predicted survival curves, or incidences of a cause, with their intervals and bands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from odrf.plots.elements.lettering import label_y
from odrf.plots.elements.style import in_legend, legend_over, line_of, new_panels, plain
from odrf.plots.survival.numbers_at_risk import time_axis
from odrf.text.names import shortened_names

__all__ = ["plot_survival_bands"]

# Bands of more curves hide each other: then there are lines alone.
MOST_BANDS = 4
MOST_CHARACTERS = 24
# Between the last time and the end of the axis.
BEYOND = 1.03


def plot_survival_bands(
    times: NDArray[np.float64],
    curves: Mapping[str, Sequence[NDArray[np.float64]]],
    ax: Axes | None = None,
    cause: str | None = None,
) -> Axes:
    """Plot survival curves, or incidences, as steps.

    Parameters
    ----------
    times : (G,) float64
        Ascending.
    curves : mapping of str to 5 arrays (G,)
        By label of the row: estimate, ends of the intervals, ends of the band.
    ax : Axes, optional
        By default the axes of a new figure.
    cause : str, optional
        The cause of incidences; by default the curves are of survival.

    Returns
    -------
    Axes
    """
    ax = new_panels(1)[0] if ax is None else ax
    names = shortened_names(list(curves), MOST_CHARACTERS)
    last = float(times[-1]) * BEYOND
    at = np.array([0.0, *times, last])
    begin = 1.0 if cause is None else 0.0
    for k, (name, values) in enumerate(zip(names, curves.values(), strict=True)):
        colour, dash = line_of(k)
        estimate, *ends = (np.array([begin, *value, value[-1]]) for value in values)
        if len(curves) <= MOST_BANDS:
            for low, high, alpha in ((ends[2], ends[3], 0.13), (ends[0], ends[1], 0.22)):
                ax.fill_between(at, low, high, step="post", color=colour, alpha=alpha, linewidth=0)
        ax.plot(
            at, estimate, drawstyle="steps-post", color=colour, linestyle=dash, linewidth=1.8,
            label=in_legend(name),
        )  # fmt: skip
    time_axis(ax, last)
    ax.set_ylim(0, 1.02)
    of = "" if cause is None else shortened_names([cause], MOST_CHARACTERS)[0]
    label_y(ax, "predicted survival" if cause is None else f"predicted incidence of {of}")
    legend_over(ax, "row")
    plain(ax, "y")
    return ax
