"""Bands around curves."""

from __future__ import annotations

from matplotlib.axes import Axes
from numpy.typing import ArrayLike, NDArray

__all__ = ["draw_band"]


def draw_band(
    ax: Axes, at: NDArray, low: ArrayLike, high: ArrayLike, colour: str, alpha: float = 0.15
) -> None:
    """Fill what is between two curves; at a single point, where this has no width, draw a line.

    Parameters
    ----------
    ax : Axes
    at : (k,) array
    low, high : (k,) float64
    colour : str
    alpha : float, default 0.15
        How opaque the band is.
    """
    if len(at) == 1:
        ax.vlines(at, low, high, color=colour, alpha=alpha, linewidth=8.0)
    else:
        ax.fill_between(at, low, high, color=colour, alpha=alpha, linewidth=0)
