"""Predicted curves of groups of rows beside those observed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from odrf.plots.elements.lettering import label_y, title
from odrf.plots.elements.style import CLASSES, legend_over, new_panels, plain
from odrf.plots.survival.numbers_at_risk import draw_numbers_at_risk, time_axis
from odrf.statistics.survival.of_curves.risk_groups import RiskGroup
from odrf.text.splits import number

__all__ = ["plot_risk_groups"]

LOWEST, HIGHEST = "lowest", "highest"


def plot_risk_groups(
    groups: Sequence[RiskGroup],
    curves: NDArray[np.float64],
    times: NDArray[np.float64],
    source: str,
    ax: Axes | None = None,
    cause: str | None = None,
) -> Axes:
    """Plot the predicted and the observed curve of each group, numbers at risk below.

    Parameters
    ----------
    groups : sequence of RiskGroup
        From the lowest risk to the highest.
    curves : (n, m) float64
        The predicted survival of all rows at the times, or the incidence of the cause.
    times : (m,) float64
        The first is 0, or if rows enter late the time since when they are judged; the plot ends
        with the last one.
    source : str
        Which rows they are, in words.
    ax : Axes, optional
        By default the axes of a new figure.
    cause : str, optional
        The cause that is judged; by default all.

    Returns
    -------
    Axes
    """
    ax = new_panels(1)[0] if ax is None else ax
    colours = [CLASSES[g % len(CLASSES)] for g in range(len(groups))]
    names = _names(len(groups))
    for name, group, colour in zip(names, groups, colours, strict=True):
        at = np.insert(group.observed.times, 0, 0.0)
        observed, low, high = (
            np.insert(curve, 0, 1.0 if cause is None else 0.0) for curve in group.steps()
        )
        ax.fill_between(at, low, high, step="post", color=colour, alpha=0.13, linewidth=0)
        ax.plot(at, observed, drawstyle="steps-post", color=colour, linewidth=0.8, alpha=0.8)
        ax.plot(
            times, group.predicted(curves), drawstyle="steps-post", color=colour, linewidth=1.8,
            label=name,
        )  # fmt: skip
    ticks = time_axis(ax, float(times[-1]))
    draw_numbers_at_risk(ax, ticks, [group.at_risk(ticks) for group in groups], colours, names)
    ax.set_ylim(0, 1.02)
    since = f", given no event by {number(float(times[0]))}" if times[0] > 0 else ""
    label_y(ax, f"survival{since}" if cause is None else f"incidence of {cause}{since}")
    estimate = "Kaplan–Meier" if cause is None else "Aalen–Johansen"
    title(ax, f"Predicted ({source}); thin: {estimate}, 95% limits")
    legend_over(ax, "risk")
    plain(ax, "y")
    return ax


def _names(count: int) -> list[str]:
    if count == 1:
        return ["all rows"]
    return [LOWEST, *(str(g) for g in range(2, count)), HIGHEST]
