"""Histograms of predicted shares, coverage by region, and residuals."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import scipy
from matplotlib.axes import Axes

from odrf.checks import checked_choice
from odrf.plots.elements.lettering import label_x, label_y, named_rows, title
from odrf.plots.elements.style import ACCENT, MUTED, faint, named_panel, plain
from odrf.statistics.residuals.predicted_distributions import quantiles_to_compare
from odrf.text.layouts import percentage

__all__ = ["plot_check"]

SIZE = (5.6, 4.2)
BINS = 20
MOST_REGIONS = 40


def plot_check(
    rows: pd.DataFrame, coverage: pd.DataFrame, level: float, kind: str, ax: Axes | None = None
) -> Axes:
    """Plot one view of residuals and predicted distributions.

    Parameters
    ----------
    rows : DataFrame
        Columns ``fitted``, ``residual``, ``pit``.
    coverage : DataFrame
        Columns ``region``, ``coverage``, ``conf_low``, ``conf_high``.
    level : float
    kind : {"pit", "coverage", "residuals", "quantiles"}
    ax : Axes, optional
        By default the axes of a new figure.

    Returns
    -------
    Axes

    Raises
    ------
    InputError
        `kind` is unknown.
    """
    drawings = {"pit": _shares, "residuals": _residuals, "quantiles": _quantiles}
    if checked_choice("kind", kind, (*drawings, "coverage")) == "coverage":
        return _coverage(coverage, level, ax)
    if ax is None:
        ax = plt.subplots(figsize=SIZE, layout="constrained")[1]
    drawings[kind](rows, ax)
    plain(ax, "y")
    return ax


def _shares(rows: pd.DataFrame, ax: Axes) -> None:
    n = len(rows)
    ax.hist(rows["pit"], bins=BINS, range=(0, 1), color=ACCENT, alpha=0.7, edgecolor="white")
    low, high = scipy.stats.binom.ppf([0.025, 0.975], n, 1 / BINS)
    ax.axhspan(low, high, color=faint(ax), zorder=0)
    ax.axhline(n / BINS, color=MUTED, linewidth=1, linestyle="--")
    label_x(ax, "share of the predicted distribution below the response")
    label_y(ax, "rows")
    title(ax, "Predicted distributions (band: uniform shares)")


def _residuals(rows: pd.DataFrame, ax: Axes) -> None:
    ax.axhline(0.0, color=MUTED, linewidth=1, linestyle="--")
    ax.plot(rows["fitted"], rows["residual"], ".", color=ACCENT, markersize=4, alpha=0.6)
    label_x(ax, "fitted value")
    label_y(ax, "residual")
    title(ax, "Residuals")


def _quantiles(rows: pd.DataFrame, ax: Axes) -> None:
    residual = np.sort(rows["residual"].to_numpy())
    at = quantiles_to_compare(len(residual))
    low, high = np.quantile(residual, [0.25, 0.75])
    slope = (high - low) / (2 * scipy.special.ndtri(0.75))
    ends = np.array([at[0], at[-1]])
    ax.plot(ends, (low + high) / 2 + slope * ends, color=MUTED, linewidth=1, linestyle="--")
    ax.plot(at, residual, ".", color=ACCENT, markersize=4)
    label_x(ax, "quantile of a normal distribution")
    label_y(ax, "residual")
    title(ax, "Residuals and a normal distribution (line: quartiles)")


def _coverage(regions: pd.DataFrame, level: float, ax: Axes | None) -> Axes:
    coverage, note = regions.head(MOST_REGIONS), ""
    if len(regions) > MOST_REGIONS:
        note = f" (first {MOST_REGIONS} of {len(regions)} regions)"
    ax = named_panel(len(coverage)) if ax is None else ax
    at = np.arange(len(coverage))[::-1]
    ax.axvline(level, color=MUTED, linewidth=1, linestyle="--")
    ax.hlines(at, coverage["conf_low"], coverage["conf_high"], color=ACCENT, linewidth=1.6)
    ax.plot(coverage["coverage"].to_numpy(), at, "o", color=ACCENT, markersize=5)
    beside = named_rows(ax, list(coverage["region"]))
    label_x(ax, f"coverage of {percentage(level)} prediction intervals{note}", beside)
    plain(ax, "x")
    ax.tick_params(axis="y", length=0)
    return ax
