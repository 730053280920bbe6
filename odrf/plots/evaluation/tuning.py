"""Errors of candidates of options."""

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
# A range of more than this is drawn on a logarithmic scale.
WIDE = 20.0


def plot_option(
    option: str, values: pd.Series, table: pd.DataFrame, error: str, ax: Axes | None = None
) -> Axes:
    """Draw the error against the values of one option.

    Parameters
    ----------
    option : str
    values : Series of numbers
        In the order of the table.
    table : DataFrame
        Columns ``error``, ``std_error``, the best candidate first.
    error : str
        What the error is called.
    ax : Axes, optional

    Returns
    -------
    Axes
    """
    ax = new_panels(1)[0] if ax is None else ax
    order = np.argsort(values.to_numpy(dtype=float))
    at, level = values.to_numpy(dtype=float)[order], table["error"].to_numpy()[order]
    std_error = table["std_error"].to_numpy()[order]
    ax.errorbar(at, level, std_error, color=MUTED, fmt="none", capsize=2, linewidth=1)
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
    """Draw the error of each candidate as a dot, the best on top.

    Parameters
    ----------
    labels : (k,) str
        What the candidates are called.
    table : DataFrame
        Columns ``error``, ``std_error``, the best candidate first; the first 20 are drawn.
    error : str
        What the error is called.
    ax : Axes, optional

    Returns
    -------
    Axes
    """
    ax = new_panels(1)[0] if ax is None else ax
    shown = table.head(MOST)
    at = np.arange(len(shown))[::-1]
    ax.errorbar(
        shown["error"], at, xerr=shown["std_error"], color=MUTED, fmt="none", capsize=2, linewidth=1
    )
    ax.plot(shown["error"], at, "o", color=ACCENT, markersize=5)
    named_rows(ax, list(labels[: len(shown)]), MOST_CHARACTERS)
    rest = f" (best {MOST} of {len(table)})" if len(table) > MOST else ""
    ax.set_xlabel(f"{error}{rest}")
    plain(ax, "x")
    ax.tick_params(axis="y", length=0)
    return ax
