"""One plot of a fit by its name, or all of them side by side."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from odrf.checks import checked_choice
from odrf.errors import InputError
from odrf.plots.elements.style import new_panels

__all__ = ["draw_panels"]


def draw_panels(
    drawings: Mapping[str, Callable[[Axes], object]],
    kind: str | None,
    ax: Axes | NDArray | None,
) -> Axes | NDArray:
    """Draw the plot named `kind`, or all plots for None, and return the axes.

    If a plot cannot be drawn, no new figure stays open.

    Parameters
    ----------
    drawings : mapping of str to callable
        For each name, a function that draws on the axes it is called with.
    kind : str or None
    ax : Axes, array of Axes or None
        One for each plot; None for a new figure.

    Raises
    ------
    InputError
        If `kind` is not a name of `drawings`, or `ax` holds another number of axes.
    """
    kinds = list(drawings) if kind is None else [checked_choice("kind", kind, drawings)]
    panels = new_panels(len(kinds)) if ax is None else np.ravel(np.asarray(ax, dtype=object))
    if len(panels) != len(kinds):
        raise InputError(
            f"ax holds {len(panels)} axes: kind=None draws on two, a kind by its name on one"
        )
    try:
        for name, panel in zip(kinds, panels, strict=True):
            drawings[name](panel)
    except BaseException:
        if ax is None:
            plt.close(panels[0].figure)
        raise
    return panels if kind is None else panels[0]
