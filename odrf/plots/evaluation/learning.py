"""Learning curves with their laws."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import NullFormatter, ScalarFormatter

from odrf.plots.elements.style import CLASSES, new_panels, plain

__all__ = ["plot_learning"]


def plot_learning(
    table: pd.DataFrame, curves: Mapping[str, pd.DataFrame], error: str, ax: Axes | None = None
) -> Axes:
    """Draw mean errors as dots with bars, and the laws as lines with bands.

    Parameters
    ----------
    table : DataFrame
        Columns ``error``, ``std_error``; index ``model`` and ``n``.
    curves : mapping of str to DataFrame
        For each model the law: columns ``n``, ``error``, ``conf_low``, ``conf_high``.
    error : str
        What the error is called.
    ax : Axes, optional

    Returns
    -------
    Axes
    """
    ax = new_panels(1)[0] if ax is None else ax
    for at, (model, curve) in enumerate(curves.items()):
        colour = CLASSES[at % len(CLASSES)]
        own = table.loc[model]
        ax.fill_between(
            curve["n"], curve["conf_low"], curve["conf_high"], color=colour, alpha=0.15, linewidth=0
        )
        ax.plot(curve["n"], curve["error"], color=colour, linewidth=1.2)
        ax.errorbar(
            own.index, own["error"], own["std_error"], fmt="o", color=colour, markersize=4,
            capsize=2, linewidth=1, label=model,
        )  # fmt: skip
    ax.axvline(table.index.get_level_values("n").max(), color="#bbbbbb", linewidth=1, zorder=0)
    ax.set_xscale("log")
    ax.set_yscale("log")
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_formatter(ScalarFormatter())
    low, high = ax.get_ylim()
    if high < 10 * low:
        ax.yaxis.set_minor_formatter(ScalarFormatter())
    else:
        ax.yaxis.set_minor_formatter(NullFormatter())
    ax.set_xlabel("training rows")
    ax.set_ylabel(error)
    ax.legend(frameon=False)
    plain(ax, "y")
    return ax
