"""Observed shares of a class against predicted probabilities."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from numpy.typing import NDArray

from odrf.plots.elements.lettering import label_x, label_y, title
from odrf.plots.elements.style import ACCENT, MUTED, faint, in_legend, line_of, plain
from odrf.plots.probabilities.several_classes import axes_for, classes_named
from odrf.text.names import shortened_names

__all__ = ["plot_maps", "plot_reliability"]

MOST_CHARACTERS = 24


def plot_reliability(table: pd.DataFrame, curves: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Plot observed shares against probabilities.

    Parameters
    ----------
    table : DataFrame
        Columns ``class``, ``predicted``, ``observed``, ``conf_low``, ``conf_high``.
    curves : DataFrame
        Columns ``class``, ``predicted``, ``observed``, ``band_low``, ``band_high``.
    ax : Axes, optional
        By default the axes of a new figure.

    Returns
    -------
    Axes
    """
    if ax is None:
        ax = axes_for(table["class"].nunique())
    ax.plot([0, 1], [0, 1], color=MUTED, linewidth=1, linestyle="--", zorder=1)
    labels = list(dict.fromkeys(table["class"]))
    names = shortened_names([str(label) for label in labels], MOST_CHARACTERS)
    alone = len(labels) == 1
    for code, (label, name) in enumerate(zip(labels, names, strict=True)):
        colour, style = (ACCENT, "-") if alone else line_of(code)
        bins, curve = (each[each["class"] == label] for each in (table, curves))
        if alone:
            band = curve["predicted"], curve["band_low"], curve["band_high"]
            ax.fill_between(*band, color=faint(ax), linewidth=0, zorder=0)
            ax.vlines(bins["predicted"], bins["conf_low"], bins["conf_high"], color=colour)
            ax.plot(bins["predicted"], bins["observed"], "o", color=colour, markersize=5)
        label = in_legend(name)
        ax.plot(
            curve["predicted"], curve["observed"], style, color=colour, linewidth=1.4, label=label
        )
    if not alone:
        classes_named(ax)
    ax.set_xlim(-0.02, 1.02)
    ax.set_ylim(-0.02, 1.02)
    label_x(ax, "predicted probability" + (f" of {names[0]}" if alone else ""))
    label_y(ax, "observed share")
    title(ax, "Calibration (band: if calibrated, pointwise)" if alone else "Calibration")
    plain(ax, "y")
    return ax


def plot_maps(
    at: NDArray[np.float64], curves: Mapping[str, NDArray[np.float64]], ax: Axes | None = None
) -> Axes:
    """Plot calibrated against predicted probabilities.

    Parameters
    ----------
    at : (m,) float64
        Predicted probabilities.
    curves : mapping of str to (m,) float64
        By class the calibrated ones.
    ax : Axes, optional
        By default the axes of a new figure.

    Returns
    -------
    Axes
    """
    if ax is None:
        ax = axes_for(len(curves))
    ax.plot([0, 1], [0, 1], color=MUTED, linewidth=1, linestyle="--", zorder=1)
    names = shortened_names(list(curves), MOST_CHARACTERS)
    for code, (curve, name) in enumerate(zip(curves.values(), names, strict=True)):
        colour, style = line_of(code)
        ax.plot(at, curve, style, color=colour, label=in_legend(name), linewidth=1.4)
    classes_named(ax)
    label_x(ax, "predicted probability")
    label_y(ax, "calibrated probability")
    title(ax, "Calibration maps")
    plain(ax, "y")
    return ax
