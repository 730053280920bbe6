"""The Shapley values of one row, from the mean prediction to its own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from odrf.plots.elements.lettering import label_x, named_rows
from odrf.plots.elements.style import ACCENT, CLASSES, MUTED, named_panel, plain
from odrf.text.layouts import quantity
from odrf.text.names import shortened
from odrf.text.splits import number

__all__ = ["plot_shapley_row"]

MOST = 12
UP, DOWN = CLASSES[5], ACCENT
# Characters of a value, and of a term with its value.
MOST_OF_VALUE, MOST_CHARACTERS = 12, 25


def plot_shapley_row(table: pd.DataFrame, base: float, words: str, ax: Axes | None = None) -> Axes:
    """Plot how the terms lead from the mean background prediction to the prediction of a row.

    Parameters
    ----------
    table : DataFrame
        Index: terms, the largest value first; the first 12 are drawn, the others as one bar.
        Columns ``data``, ``value`` and ``std_error``.
    base : float
        The mean prediction of the background rows.
    words : str
        What is explained.
    ax : Axes, optional
        By default the axes of a new figure.

    Returns
    -------
    Axes
    """
    names = [_named(term, row["data"]) for term, row in table.iterrows()]
    values, errors = table["value"].to_numpy(), table["std_error"].to_numpy()
    if len(table) > MOST:
        rest = len(table) - MOST + 1
        names = [*names[: MOST - 1], quantity(rest, "other term")]
        values = np.append(values[: MOST - 1], values[MOST - 1 :].sum())
        errors = np.append(errors[: MOST - 1], np.sqrt((errors[MOST - 1 :] ** 2).sum()))
    ax = named_panel(len(names)) if ax is None else ax
    at = np.arange(len(names))[::-1]
    ends = base + np.cumsum(values)
    starts = ends - values
    ax.barh(at, values, left=starts, color=np.where(values < 0, DOWN, UP), height=0.62)
    ax.vlines(ends[:-1], at[:-1] - 1, at[:-1], color=MUTED, linewidth=0.8)
    if (errors > 0).any():
        ax.errorbar(ends, at, xerr=errors, fmt="none", ecolor=MUTED, capsize=2, linewidth=1)
    ax.axvline(base, color=MUTED, linestyle="--", linewidth=1)
    beside = named_rows(ax, names)
    ax.xaxis.set_major_locator(MaxNLocator(5))
    ax.use_sticky_edges = False
    ax.margins(x=0.06)
    told = f"{words}: from the mean of the background, {number(base)}, to {number(ends[-1])}"
    label_x(ax, told, beside)
    plain(ax, "x")
    ax.tick_params(axis="y", length=0)
    return ax


def _named(term: Any, value: Any) -> str:
    """Return a term with its value."""
    told = "empty"
    if not pd.isna(value):
        told = number(float(value)) if isinstance(value, float | np.floating) else str(value)
    told = shortened(told, MOST_OF_VALUE)
    return f"{shortened(str(term), MOST_CHARACTERS - len(told))} = {told}"
