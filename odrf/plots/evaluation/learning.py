"""Learning curves with fitted power laws."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
from matplotlib.axes import Axes

from odrf.plots.elements.lettering import label_x, label_y
from odrf.plots.elements.style import (
    MUTED,
    in_legend,
    legend_as_written,
    line_of,
    log_scale,
    marker_of,
    new_panels,
    plain,
)

__all__ = ["plot_learning"]


def plot_learning(
    table: pd.DataFrame, curves: Mapping[str, pd.DataFrame], error: str, ax: Axes | None = None
) -> Axes:
    """Plot mean errors as dots with bars, and the fitted power laws as lines with bands.

    Axes are logarithmic; that of the errors is not if one of them is 0 or below.

    Parameters
    ----------
    table : DataFrame
        Columns ``error`` and ``std_error``; index ``model`` and ``n``.
    curves : mapping of str to DataFrame
        For each model the fitted curve: columns ``n``, ``error``, ``conf_low``, ``conf_high``.
    error : str
        Name of the error.
    ax : Axes, optional
        By default the axes of a new figure.

    Returns
    -------
    Axes
    """
    ax = new_panels(1)[0] if ax is None else ax
    for at, (model, curve) in enumerate(curves.items()):
        colour, dash = line_of(at)
        rows = table.loc[model]
        ax.fill_between(
            curve["n"], curve["conf_low"], curve["conf_high"], color=colour, alpha=0.15, linewidth=0
        )
        ax.plot(curve["n"], curve["error"], color=colour, linestyle=dash, linewidth=1.2)
        ax.errorbar(
            rows.index, rows["error"], rows["std_error"], fmt=marker_of(at), color=colour,
            markersize=4, capsize=2, linewidth=1, label=in_legend(model),
        )  # fmt: skip
    largest = table.index.get_level_values("n").max()
    ax.axvline(largest, color=MUTED, linewidth=1, linestyle=":", zorder=0, label="largest sample")
    log_scale(ax, "x")
    if (table["error"].dropna() > 0).all():
        log_scale(ax, "y")
    label_x(ax, "training rows")
    label_y(ax, error)
    legend_as_written(ax.legend(frameon=False))
    plain(ax, "y")
    return ax
