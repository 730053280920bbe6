"""Four panels on consistency: rates in n, residual tails, leaf sizes, predictors per split."""

from __future__ import annotations

from collections.abc import Mapping

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray
from scipy.special import ndtri

from odrf.errors import InputError
from odrf.plots.elements.lettering import label_x, label_y, title
from odrf.plots.elements.style import ACCENT, MUTED, log_scale, plain, whole_numbers

__all__ = ["plot_consistency"]

PANELS = 4
COLOURS = (ACCENT, "#d55e00")
MOST_PREDICTORS = 12


def plot_consistency(
    n: int,
    ratios: Mapping[str, tuple[float, ...]],
    tails: NDArray[np.float64] | None,
    leaf_sizes: NDArray[np.int64],
    per_split: NDArray[np.int64],
    axes: NDArray | None = None,
) -> NDArray:
    """Plot the four panels.

    Parameters
    ----------
    n : int
        Number of training rows.
    ratios : mapping of str to tuple of float
        Quantities that must go to 0, by name: their values at n, 10·n, … rows.
    tails : (n,) float64 or None
        Sorted standardised residuals; None if there are none.
    leaf_sizes : (k,) int64
        Training rows in each leaf.
    per_split : (q,) int64
        Number of splits that combine 1, 2, 3 … predictors.
    axes : array of 4 Axes, optional
        By default those of a new figure.

    Returns
    -------
    array of 4 Axes
    """
    if axes is None:
        axes = plt.subplots(2, 2, figsize=(9.5, 7.5), layout="constrained")[1]
    panels = np.ravel(np.asarray(axes, dtype=object))
    if len(panels) != PANELS:
        raise InputError(f"ax holds {len(panels)} axes: the report draws on {PANELS}")
    _draw_ratios(panels[0], n, ratios)
    _draw_tails(panels[1], tails)
    _draw_sizes(panels[2], leaf_sizes)
    _draw_predictors(panels[3], per_split)
    return panels


def _draw_ratios(ax: Axes, n: int, ratios: Mapping[str, tuple[float, ...]]) -> None:
    title(ax, "Must go to 0 as n grows")
    if not ratios:
        _note(ax, "no option is a rule in n")
        return
    for (name, values), colour in zip(ratios.items(), COLOURS, strict=False):
        rows = n * 10.0 ** np.arange(len(values))
        ax.plot(rows, values, "o-", color=colour, markersize=3.5, linewidth=1.2, label=name)
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_xlabel("n")
    ax.legend(frameon=False)
    plain(ax, "y")


def _draw_tails(ax: Axes, tails: NDArray[np.float64] | None) -> None:
    title(ax, "Tails of the residuals")
    if tails is None:
        _note(ax, "no residuals of a numeric response")
        return
    expected = ndtri((np.arange(len(tails)) + 0.5) / len(tails))
    ax.plot(expected, expected, color=MUTED, linewidth=1)
    ax.plot(expected, tails, "o", color=ACCENT, markersize=2.5)
    label_x(ax, "quantiles of a normal distribution")
    label_y(ax, "residuals, standardised by median and MAD")
    plain(ax, "y")


def _draw_sizes(ax: Axes, leaf_sizes: NDArray[np.int64]) -> None:
    title(ax, "Sizes of leaves")
    smallest, largest = max(1, leaf_sizes.min()), leaf_sizes.max()
    edges = np.unique(np.geomspace(smallest, largest + 1, 25).astype(int))
    edges = np.append(edges, largest + 1) if len(edges) < 2 else edges
    ax.hist(leaf_sizes, bins=list(edges - 0.5), color=ACCENT)
    log_scale(ax, "x")
    label_x(ax, "training rows in a leaf")
    ax.set_ylabel("leaves")
    ax.yaxis.set_major_locator(MaxNLocator(integer=True))
    plain(ax, "y")


def _draw_predictors(ax: Axes, per_split: NDArray[np.int64]) -> None:
    title(ax, "Predictors that a split combines")
    if not per_split.sum():
        _note(ax, "no splits")
        return
    shown, note = per_split[:MOST_PREDICTORS].astype(float), ""
    if len(per_split) > MOST_PREDICTORS:
        shown[-1] += per_split[MOST_PREDICTORS:].sum()
        note = f" (last bar: {MOST_PREDICTORS} or more)"
    ax.bar(np.arange(1, len(shown) + 1), shown / per_split.sum(), color=ACCENT)
    label_x(ax, f"predictors{note}")
    ax.set_ylabel("share of splits")
    whole_numbers(ax)
    plain(ax, "y")


def _note(ax: Axes, words: str) -> None:
    ax.text(0.5, 0.5, words, ha="center", va="center", color=MUTED, transform=ax.transAxes)
    ax.set_axis_off()
