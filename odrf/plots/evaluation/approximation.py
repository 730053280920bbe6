"""Errors of models against the share of the training rows kept."""

from __future__ import annotations

from collections.abc import Mapping

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import PercentFormatter
from numpy.typing import NDArray

from odrf.errors import InputError
from odrf.plots.elements.lettering import label_y, title
from odrf.plots.elements.style import CLASSES, MUTED, plain

__all__ = ["plot_approximation"]

WIDTH, HEIGHT = 4.4, 3.9
COLOURS = (MUTED, CLASSES[0], CLASSES[1])


def plot_approximation(
    table: pd.DataFrame, methods: Mapping[str, str], error: str, ax: Axes | NDArray | None = None
) -> NDArray[np.object_]:
    """Plot a panel for each model, a line for each method of choosing the rows.

    Parameters
    ----------
    table : DataFrame
        Columns ``error`` and ``std_error``; index ``model``, ``method`` and ``fraction``.
    methods : mapping of str to str
        The label of each method.
    error : str
        Name of the error.
    ax : Axes or array of Axes, optional
        One for each model; by default those of a new figure.

    Returns
    -------
    array of Axes
    """
    models = table.index.unique("model")
    panels = _panels(len(models), ax)
    for panel, model in zip(panels, models, strict=True):
        for (method, label), colour in zip(methods.items(), COLOURS, strict=True):
            rows = table.loc[model].loc[method]
            panel.errorbar(
                rows.index, rows["error"], rows["std_error"].fillna(0.0), fmt="o-", color=colour,
                markersize=4, capsize=2, linewidth=1.2, label=label,
            )  # fmt: skip
        title(panel, str(model))
        panel.set_xlim(0, 1.04)
        panel.xaxis.set_major_formatter(PercentFormatter(1.0))
        panel.set_xlabel("rows kept")
        plain(panel, "y")
    label_y(panels[0], error)
    panels[-1].legend(frameon=False)
    return panels


def _panels(count: int, ax: Axes | NDArray | None) -> NDArray[np.object_]:
    if ax is None:
        size = (WIDTH * count, HEIGHT)
        return np.ravel(plt.subplots(1, count, figsize=size, sharey=True, layout="constrained")[1])
    panels = np.ravel(np.asarray(ax, dtype=object))
    if len(panels) != count:
        raise InputError(f"ax holds {len(panels)} axes: {count} are drawn on, one for each model")
    return panels
