"""Predicted curves of rows: survival, or the incidence of a cause."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from numpy.typing import NDArray

from odrf.plots.elements.lettering import label_y
from odrf.plots.elements.style import (
    ACCENT,
    CLASSES,
    in_legend,
    ink,
    legend_over,
    new_panels,
    plain,
)
from odrf.plots.survival.numbers_at_risk import draw_numbers_at_risk, time_axis
from odrf.text.layouts import quantity
from odrf.text.names import shortened_names

__all__ = ["plot_predicted_curves"]

# More curves have no names, and even more are not drawn.
NAMED, MOST = 8, 100
MOST_CHARACTERS = 24


def plot_predicted_curves(
    curves: pd.DataFrame,
    at_risk: Callable[[NDArray], NDArray],
    ax: Axes | None = None,
    cause: str | None = None,
) -> Axes:
    """Plot the predicted curve of each row, numbers of training rows at risk below.

    Parameters
    ----------
    curves : DataFrame
        A row for each curve, with the times, ascending, as columns.
    at_risk : callable
        Returns the weight of the training rows at risk at times (k,).
    ax : Axes, optional
        By default the axes of a new figure.
    cause : str, optional
        The cause whose incidences they are; by default they are of survival.

    Returns
    -------
    Axes
    """
    ax = new_panels(1)[0] if ax is None else ax
    shown, first = curves.head(MOST), 1.0 if cause is None else 0.0
    named = 0 < len(shown) <= NAMED
    names = shortened_names([str(label) for label in shown.index], MOST_CHARACTERS)
    times = [0.0, *shown.columns]
    faint: dict[str, Any] = {"color": ACCENT, "linewidth": 0.8, "alpha": 0.3}
    for k, (name, row) in enumerate(zip(names, shown.to_numpy(), strict=True)):
        bold = {"color": CLASSES[k % len(CLASSES)], "label": in_legend(name), "linewidth": 1.6}
        style = bold if named else faint
        ax.plot(times, [first, *row], drawstyle="steps-post", **style)
    ticks = time_axis(ax, float(times[-1]))
    draw_numbers_at_risk(ax, ticks, [at_risk(ticks)], [ink(ax)])
    ax.set_ylim(0, 1.02)
    label_y(ax, "predicted survival" if cause is None else f"predicted incidence of {cause}")
    if named:
        legend_over(ax, "row")
    else:
        of = f" (first {MOST} of {len(curves)})" if len(curves) > MOST else ""
        ax.set_title(f"{quantity(len(shown), 'row')}{of}", fontsize="medium", color=ink(ax))
    plain(ax, "y")
    return ax
