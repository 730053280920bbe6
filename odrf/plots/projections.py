"""Coefficients of directions as a heat map."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap

from odrf.plots.elements.style import CLASSES, new_panels
from odrf.plots.importance import named_rows

__all__ = ["plot_projections"]

SIGNED = LinearSegmentedColormap.from_list("signed", [CLASSES[5], "#ffffff", CLASSES[0]])
MOST = 40


def plot_projections(coefficients: pd.DataFrame, share: pd.Series, ax: Axes | None = None) -> Axes:
    """Plot directions as columns of a heat map; its rows are the columns of the design.

    Only the 40 rows with the largest coefficients are drawn.

    Parameters
    ----------
    coefficients : DataFrame
        Index: columns of the design; columns: ranks of the directions.
    share : Series
        The share of each direction in the impurity removed.
    ax : Axes, optional
        By default the axes of a new figure.

    Returns
    -------
    Axes
    """
    ax = new_panels(1)[0] if ax is None else ax
    if len(coefficients) > MOST:
        size = coefficients.abs().max(axis=1)
        kept = size.sort_values(ascending=False, kind="stable").head(MOST).index
        coefficients = coefficients.loc[coefficients.index.isin(kept)]
    p, k = coefficients.shape
    image = ax.imshow(
        coefficients.to_numpy()[::-1],
        cmap=SIGNED, vmin=-1, vmax=1, aspect="auto", origin="lower",
        extent=(0.5, k + 0.5, -0.5, p - 0.5),
    )  # fmt: skip
    named_rows(ax, [str(name) for name in coefficients.index])
    ax.set_ylim(-0.5, p - 0.5)
    ranks = np.arange(1, k + 1)
    parts = zip(ranks, share, strict=True)
    ax.set_xticks(ranks, labels=[f"{rank}\n{100 * part:.2g}" for rank, part in parts])
    ax.set_xlabel("direction by importance, and its share of the impurity removed, in %")
    ax.tick_params(length=0)
    ax.set_xticks(ranks[:-1] + 0.5, minor=True)
    ax.set_yticks(np.arange(p - 1) + 0.5, minor=True)
    ax.grid(which="minor", color="white", linewidth=1.5)
    ax.tick_params(which="minor", length=0)
    ax.spines[:].set_visible(False)
    ax.figure.colorbar(image, ax=ax, shrink=0.8, label="coefficient (columns scaled to [0, 1])")
    return ax
