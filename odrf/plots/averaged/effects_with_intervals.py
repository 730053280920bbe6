"""Estimates as points, with their intervals."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from odrf.plots.elements.lettering import label_x, named_rows, title
from odrf.plots.elements.style import ACCENT, MUTED, faint, named_panel, plain

__all__ = ["plot_effects"]

MOST = 40
# Columns whose values need no name.
UNNAMED = ("term", "contrast", "class", "predictor")


def plot_effects(
    labels: pd.DataFrame,
    numbers: pd.DataFrame,
    words: str,
    null: float | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Plot each estimate as a point with its interval, the first on top.

    Parameters
    ----------
    labels : DataFrame of M rows
        What names each estimate; columns in which all rows are the same are in the title.
    numbers : DataFrame of M rows
        Columns ``estimate``, ``conf_low`` and ``conf_high``; NaN without an interval.
    words : str
        What the estimates are.
    null : float, optional
        The value without an effect, drawn as a line.
    ax : Axes, optional
        By default the axes of a new figure.

    Returns
    -------
    Axes
    """
    shown = numbers.head(MOST)
    ax = named_panel(len(shown)) if ax is None else ax
    at = np.arange(len(shown))[::-1]
    if null is not None:
        ax.axvline(null, color=MUTED, linewidth=1, linestyle="--", zorder=1)
    ax.hlines(at, shown["conf_low"], shown["conf_high"], color=ACCENT, linewidth=1.6, zorder=2)
    ax.plot(shown["estimate"].to_numpy(), at, "o", color=ACCENT, markersize=5, zorder=3)
    names, common = _names(labels.head(MOST))
    beside = named_rows(ax, names, most=40)
    note = f" (first {MOST} of {len(numbers)})" if len(numbers) > MOST else ""
    ax.xaxis.set_major_locator(MaxNLocator(5))
    label_x(ax, f"estimate{note}", beside)
    title(ax, "; ".join(filter(None, (words, common))))
    plain(ax, "x")
    ax.grid(axis="y", color=faint(ax), linewidth=0.4)
    ax.tick_params(axis="y", length=0)
    return ax


def _names(labels: pd.DataFrame) -> tuple[list[str], str]:
    """Return in words what tells each row from the others, and what all rows have in common."""
    told = [name for name in labels if labels[name].astype(str).nunique() > 1]
    told = told or list(labels)[:1]
    rest = [name for name in labels if name not in told]
    rows = [_joined(told, row) for row in labels[told].to_numpy(dtype=object)]
    return rows, _joined(rest, labels[rest].iloc[0].to_numpy(dtype=object))


def _joined(names: Sequence[object], values: NDArray) -> str:
    """Return the values, those of columns of the data with their names."""
    words = (
        str(value) if name in UNNAMED else f"{name} = {value}"
        for name, value in zip(names, values, strict=True)
    )
    return ", ".join(words)
