"""Strength, correlation and error of forests, one panel each."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf.errors import InputError
from odrf.plots.elements.lettering import label_x, label_y
from odrf.plots.elements.style import ACCENT, MUTED, log_scale, new_panels, plain

__all__ = ["plot_strength"]

PANELS = 3
LABELS = {
    "strength": "strength (mean margin)",
    "tree_error": "mean squared error of a tree",
    "correlation": "correlation of trees",
    "error": "out-of-bag error",
    "trees": "trees",
    "subset_size": "predictors in a subset",
}


def _numbers(sizes: pd.Series) -> NDArray[np.float64]:
    return pd.to_numeric(sizes, errors="coerce").fillna(-1.0).to_numpy(dtype=np.float64)


def plot_strength(table: pd.DataFrame, axes: NDArray | None = None) -> NDArray[np.object_]:
    """Plot strength (or tree error), correlation and error against trees or subset size.

    Parameters
    ----------
    table : DataFrame
        Columns: first ``trees`` or ``subset_size``, then ``strength`` or ``tree_error``,
        ``correlation``, ``bound``, ``error``.
    axes : array of 3 Axes, optional
        By default those of a new figure.

    Returns
    -------
    array of 3 Axes
    """
    panels = new_panels(PANELS) if axes is None else np.ravel(np.asarray(axes, dtype=object))
    if len(panels) != PANELS:
        raise InputError(f"ax holds {len(panels)} axes: strength is drawn on {PANELS}")
    by, first = table.columns[0], table.columns[1]
    # sizes drawn at random are no number, and come first
    table = table.iloc[np.argsort(_numbers(table[by]), kind="stable")]
    at = np.arange(len(table)) if by == "subset_size" else table[by].to_numpy()
    for ax, name in zip(panels, (first, "correlation", "error"), strict=True):
        ax.plot(at, table[name], "o-", color=ACCENT, markersize=4, linewidth=1.2)
        label_y(ax, LABELS[name])
        label_x(ax, LABELS[by])
        if by == "trees":
            log_scale(ax, "x")
        else:
            ax.set_xticks(at, labels=[str(size) for size in table[by]])
        plain(ax, "y")
    bound = float(table["bound"].iloc[-1])
    if by == "trees" and bound < 2 * float(table["error"].max()):
        panels[2].axhline(
            bound, color=MUTED, linestyle="--", linewidth=1, label="bound for many trees"
        )
        panels[2].legend(frameon=False)
    return panels
