"""Errors of the candidates of a tuning."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from numpy.typing import NDArray

from odrf.plots.elements.style import ACCENT, INK, MUTED, new_panels, plain
from odrf.plots.importance import named_rows

__all__ = ["plot_candidates", "plot_option"]

MOST = 20
MOST_CHARACTERS = 60
# Values are drawn on a logarithmic scale if the largest is more than this times the smallest.
WIDE = 20.0


def plot_option(
    option: str, values: pd.Series, table: pd.DataFrame, error: str, ax: Axes | None = None
) -> Axes:
    """Plot the error against the values of one option.

    Parameters
    ----------
    option : str
        Name of the option.
    values : Series of numbers
        In the order of the table.
    table : DataFrame
        Columns ``error`` and ``std_error``, the best candidate first.
    error : str
        Name of the error.
    ax : Axes, optional
        By default the axes of a new figure.

    Returns
    -------
    Axes
    """
    ax = new_panels(1)[0] if ax is None else ax
    order = np.argsort(values.to_numpy(dtype=float))
    at, level = values.to_numpy(dtype=float)[order], table["error"].to_numpy()[order]
    width = table["std_error"].to_numpy()[order]
    ax.errorbar(at, level, width, color=MUTED, fmt="none", capsize=2, linewidth=1)
    ax.plot(at, level, "o-", color=ACCENT, markersize=4, linewidth=1.2)
    best = float(values.iloc[0]), float(table["error"].iloc[0])
    ax.plot(*best, "o", mfc="none", mec=INK, markersize=11, mew=1.6)
    if at[0] > 0 and at[-1] > WIDE * at[0]:
        ax.set_xscale("log")
    ax.set_xlabel(option)
    ax.set_ylabel(error)
    plain(ax, "y")
    return ax


def plot_candidates(
    labels: NDArray[np.str_], table: pd.DataFrame, error: str, ax: Axes | None = None
) -> Axes:
    """Plot the error of each candidate as a dot, the best on top.

    Parameters
    ----------
    labels : (k,) str
        Labels of the candidates.
    table : DataFrame
        Columns ``error`` and ``std_error``, the best candidate first; the first 20 are drawn.
    error : str
        Name of the error.
    ax : Axes, optional
        By default the axes of a new figure.

    Returns
    -------
    Axes
    """
    ax = new_panels(1)[0] if ax is None else ax
    shown = table.head(MOST)
    at = np.arange(len(shown))[::-1]
    width = shown["std_error"]
    ax.errorbar(shown["error"], at, xerr=width, color=MUTED, fmt="none", capsize=2, linewidth=1)
    ax.plot(shown["error"], at, "o", color=ACCENT, markersize=5)
    named_rows(ax, list(labels[: len(shown)]), MOST_CHARACTERS)
    rest = f" (best {MOST} of {len(table)})" if len(table) > MOST else ""
    ax.set_xlabel(f"{error}{rest}")
    plain(ax, "x")
    ax.tick_params(axis="y", length=0)
    return ax
