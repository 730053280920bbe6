"""Errors of the candidates of a tuning."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from odrf.plots.elements.lettering import label_x, label_y, named_rows, shown_ticks
from odrf.plots.elements.style import (
    ACCENT,
    MUTED,
    ink,
    log_scale,
    named_panel,
    new_panels,
    plain,
)
from odrf.text.names import shortened
from odrf.text.splits import number

__all__ = ["plot_candidates", "plot_option"]

MOST = 20
MOST_CHARACTERS, MOST_OF_A_VALUE = 60, 18
# inches
WIDTH = 8.0
# Values are drawn on a logarithmic scale if the largest is more than this times the smallest.
WIDE = 20.0
# So few values are marked, each.
MOST_TICKS = 8


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
    ax.plot(*best, "o", mfc="none", mec=ink(ax), markersize=11, mew=1.6)
    if at[0] > 0 and at[-1] > WIDE * at[0]:
        log_scale(ax, "x")
    label_x(ax, option)
    label_y(ax, error)
    if len(at) <= MOST_TICKS:
        _mark_values(ax, at)
    plain(ax, "y")
    return ax


def _mark_values(ax: Axes, at: NDArray[np.float64]) -> None:
    """Mark the values (k,), ascending, with their numbers, as far as these do not overlap."""
    labels = [number(float(value), 6) for value in at]
    places = np.log(at) if ax.get_xscale() == "log" else at
    shown = shown_ticks(ax, places, [labels], [0, len(at) - 1, *range(len(at))])
    ax.set_xticks(at)
    ax.set_xticklabels([labels[k] if k in shown else "" for k in range(len(at))])
    ax.minorticks_off()


def plot_candidates(
    options: pd.DataFrame, table: pd.DataFrame, error: str, ax: Axes | None = None
) -> Axes:
    """Plot the error of each candidate as a dot, the best on top, beside its options.

    Parameters
    ----------
    options : (k, q) DataFrame
        The values of the q options of the candidates.
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
    shown = table.head(MOST)
    ax = named_panel(len(shown) + 1, WIDTH) if ax is None else ax
    at = np.arange(len(shown))[::-1]
    width = shown["std_error"]
    ax.errorbar(shown["error"], at, xerr=width, color=MUTED, fmt="none", capsize=2, linewidth=1)
    ax.plot(shown["error"], at, "o", color=ACCENT, markersize=5)
    lines = _lines(options.head(MOST))
    beside = named_rows(ax, lines, MOST_CHARACTERS, "DejaVu Sans Mono")
    # the first line, above the dots, names the options
    ax.get_yticklabels()[0].set_fontweight("bold")
    rest = f" (best {MOST} of {len(table)})" if len(table) > MOST else ""
    ax.xaxis.set_major_locator(MaxNLocator(5))
    label_x(ax, f"{error}{rest}", beside)
    plain(ax, "x")
    ax.tick_params(axis="y", length=0)
    return ax


def _lines(options: pd.DataFrame) -> list[str]:
    """Return the names of the options, and each candidate's values, in columns of letters."""
    columns = []
    for name, values in options.items():
        words = [shortened(str(word), MOST_OF_A_VALUE) for word in (name, *values)]
        width = max(map(len, words))
        columns.append([f"{word:<{width}}" for word in words])
    return ["  ".join(line) for line in zip(*columns, strict=True)]
