"""Bias, variance and error of models, one panel each."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator, NullLocator
from numpy.typing import NDArray

from odrf.errors import InputError
from odrf.plots.elements.lettering import label_x, label_y
from odrf.plots.elements.means import plot_means
from odrf.plots.elements.style import (
    MUTED,
    in_legend,
    legend_as_written,
    line_of,
    marker_of,
    plain,
)

__all__ = ["plot_bias_variance"]

OF_CLASSES = {
    "bias": "bias",
    "variance": "variance",
    "variance_effect": "variance effect",
    "error": "error rate",
}
OF_NUMBERS = {"bias2": "bias²", "variance": "variance", "error": "mean squared error"}
LEAST = {"bayes_error": "Bayes error", "noise": "noise"}
WIDTH, HEIGHT, ROW = 4.2, 3.9, 0.32
# Ticks are at the sizes themselves, unless there are more or closer ones.
MOST_TICKS, CLOSEST = 8, 1.25
MOST_MARKS = 5
MARGIN = 1.05


def plot_bias_variance(
    table: pd.DataFrame, std_error: pd.DataFrame, axes: NDArray | None = None
) -> NDArray[np.object_]:
    """Plot a panel for each term: lines against n, or dots if there is only one n.

    Parameters
    ----------
    table, std_error : DataFrame
        Terms and their standard errors; index ``model`` and ``n``.
    axes : array of 4 Axes for classes, of 3 for numbers, optional
        By default those of a new figure.

    Returns
    -------
    array of Axes
    """
    labels = OF_CLASSES if "variance_effect" in table else OF_NUMBERS
    models, sizes = table.index.unique("model"), table.index.unique("n")
    curves = len(sizes) > 1
    panels = _new(len(labels), HEIGHT if curves else 1.6 + ROW * len(models), axes)
    shown, width = table[list(labels)], std_error[list(labels)].fillna(0.0)
    low, high = (shown - width).to_numpy().min(), (shown + width).to_numpy().max()
    # one scale for all panels, so that the terms can be compared
    ends = min(0.0, MARGIN * low), MARGIN * max(high, 0.0) or 1.0
    for ax, (name, label) in zip(panels, labels.items(), strict=True):
        if curves:
            _draw_curves(ax, table[name], std_error[name], label)
            ax.set_ylim(ends)
        else:
            term = pd.DataFrame({"estimate": table[name], "std_error": std_error[name]})
            plot_means(term.droplevel("n"), label, ax)
            ax.set_xlim(ends)
            ax.xaxis.set_major_locator(MaxNLocator(MOST_MARKS))
    for name in LEAST.keys() & table.columns:
        level = float(table[name].iloc[0])
        if level == 0.0:  # the axis is there already
            continue
        draw = panels[-1].axhline if curves else panels[-1].axvline
        least = draw(level, color=MUTED, linestyle="--", linewidth=1, label=LEAST[name], zorder=1)
        panels[-1].legend(handles=[least], frameon=False)
    if curves:
        legend_as_written(panels[0].legend(frameon=False))
    else:
        for ax in panels[1:]:
            ax.tick_params(axis="y", labelleft=False)
    return panels


def _new(count: int, height: float, axes: NDArray | None) -> NDArray[np.object_]:
    if axes is None:
        size = (WIDTH * count, height)
        return np.ravel(plt.subplots(1, count, figsize=size, layout="constrained")[1])
    panels = np.ravel(np.asarray(axes, dtype=object))
    if len(panels) != count:
        raise InputError(f"ax holds {len(panels)} axes: bias and variance are drawn on {count}")
    return panels


def _draw_curves(ax: Axes, term: pd.Series, std_error: pd.Series, label: str) -> None:
    for number, model in enumerate(term.index.unique("model")):
        curve, (colour, dash) = term.loc[model], line_of(number)
        ax.errorbar(
            curve.index, curve, std_error.loc[model], fmt=f"{marker_of(number)}{dash}",
            color=colour, markersize=4, capsize=2, linewidth=1.2, label=in_legend(model),
        )  # fmt: skip
    sizes = term.index.unique("n").to_numpy(dtype=float)
    ax.set_xscale("log")
    if len(sizes) <= MOST_TICKS and np.min(sizes[1:] / sizes[:-1]) >= CLOSEST:
        ax.set_xticks(sizes, labels=[f"{size:.0f}" for size in sizes])
        ax.xaxis.set_minor_locator(NullLocator())
    label_x(ax, "training rows")
    label_y(ax, label)
    plain(ax, "y")
