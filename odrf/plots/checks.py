"""Plots of checks: calibration, thresholds, residuals, influence."""

from __future__ import annotations

from collections.abc import Mapping

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import scipy
from matplotlib.axes import Axes
from numpy.typing import NDArray

from odrf.checks import checked_choice
from odrf.plots.style import (
    ACCENT,
    MUTED,
    faint,
    in_legend,
    ink,
    label_x,
    label_y,
    legend_as_written,
    legend_columns,
    line_of,
    named_panel,
    named_rows,
    plain,
    room_of,
    text_width,
    title,
)
from odrf.statistics.residuals import quantiles_to_compare
from odrf.text.layouts import percentage
from odrf.text.names import shortened, shortened_names

# Room for the names of several classes beside their curves.

WIDTH, BESIDE, HEIGHT = 5.6, 3.0, 4.2
# More names stand beside the curves, not between them.
MOST_INSIDE = 3


def axes_for(n_classes: int) -> Axes:
    """Return the axes of a new figure, wider if many names stand beside them."""
    width = WIDTH if n_classes <= MOST_INSIDE else WIDTH + BESIDE
    return plt.subplots(figsize=(width, HEIGHT), layout="constrained")[1]


def classes_named(ax: Axes) -> None:
    """Name the curves that have labels: between them, or beside them if they are many."""
    names = len(ax.get_legend_handles_labels()[1])
    many = names > MOST_INSIDE
    beside = {"loc": "center left", "bbox_to_anchor": (1.0, 0.5)} if many else {"loc": "best"}
    legend = ax.legend(frameon=False, fontsize="small", ncols=legend_columns(names), **beside)
    legend_as_written(legend)


# ROC curves, precision against recall, and decision curves.

MOST_CHARACTERS = 24
MEASURES = {"roc": "area under ROC curve", "precision": "average precision"}


def plot_thresholds(
    thresholds: pd.DataFrame, table: pd.DataFrame, kind: str, ax: Axes | None = None
) -> Axes:
    """Plot a curve for each class.

    `thresholds`: columns ``class``, ``sensitivity``, ``specificity``, ``precision``.  `table`:
    columns ``class``, ``measure``, ``estimate``, ``conf_low``, ``conf_high``.  `ax`: by default the
    axes of a new figure.
    """
    if ax is None:
        ax = axes_for(thresholds["class"].nunique())
    measured = table[table["measure"] == MEASURES[kind]]
    for label, name, colour, style in _lines(thresholds):
        of_class = thresholds[thresholds["class"] == label]
        found = measured[measured["class"] == label].iloc[0]
        words = f"{name} {found['estimate']:.3f}"
        if pd.notna(found["conf_low"]):
            words += f" ({found['conf_low']:.3f} to {found['conf_high']:.3f})"
        x, y = of_class["sensitivity"], of_class["precision"]
        if kind == "roc":
            x, y = 1 - of_class["specificity"], of_class["sensitivity"]
        # equal probabilities make a slanted piece of a ROC curve; a step of precision is the
        # precision of the events that its threshold adds, so that its area is the average precision
        shape = "default" if kind == "roc" else "steps-pre"
        first = 0.0 if kind == "roc" else float(y.iloc[0])
        ax.plot(
            np.r_[0.0, x], np.r_[first, y], style, color=colour, label=words, linewidth=1.4,
            drawstyle=shape,
        )  # fmt: skip
    if kind == "roc":
        ax.plot([0, 1], [0, 1], color=MUTED, linewidth=1, linestyle="--", zorder=1)
    label_x(ax, "1 - specificity" if kind == "roc" else "recall (sensitivity)")
    label_y(ax, "sensitivity" if kind == "roc" else "precision")
    title(ax, MEASURES[kind].capitalize().replace("roc", "ROC"))
    _finished(ax)
    ax.set_ylim(-0.02, 1.02)
    return ax


def plot_benefit(benefit: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Plot the net benefit of acting above a threshold, for each class.

    `benefit`: columns ``class``, ``threshold``, ``benefit``, ``all``.  `ax`: by default the axes of
    a new figure.
    """
    if ax is None:
        ax = axes_for(benefit["class"].nunique())
    ax.axhline(0.0, color=MUTED, linewidth=1, linestyle="--")
    for label, name, colour, style in _lines(benefit):
        of_class = benefit[benefit["class"] == label]
        at = of_class["threshold"]
        ax.plot(at, of_class["benefit"], style, color=colour, label=name, linewidth=1.4)
        ax.plot(at, of_class["all"], color=colour, linewidth=0.8, alpha=0.5)
    highest = float(benefit["benefit"].max())
    highest = highest if highest > 0 else float(benefit["benefit"].abs().max()) or 1.0
    ax.set_ylim(-0.15 * highest, 1.1 * highest)
    label_x(ax, "threshold (thin: acting on all rows; dashed: on none)")
    label_y(ax, "net benefit")
    title(ax, "Decision curves")
    _finished(ax)
    return ax


def _lines(table: pd.DataFrame) -> list[tuple[object, str, str, str]]:
    """Return label, name, colour and style of each class."""
    labels = list(dict.fromkeys(table["class"]))
    names = shortened_names([str(label) for label in labels], MOST_CHARACTERS)
    if len(labels) == 1:
        return [(labels[0], in_legend(names[0]), ACCENT, "-")]
    named = zip(labels, names, strict=True)
    return [(label, in_legend(name), *line_of(k)) for k, (label, name) in enumerate(named)]


def _finished(ax: Axes) -> None:
    classes_named(ax)
    ax.set_xlim(-0.02, 1.02)
    plain(ax, "y")


# Observed shares of a class against predicted probabilities.


def plot_reliability(table: pd.DataFrame, curves: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Plot observed shares against probabilities.

    `table`: columns ``class``, ``predicted``, ``observed``, ``conf_low``, ``conf_high``.  `curves`:
    columns ``class``, ``predicted``, ``observed``, ``band_low``, ``band_high``.  `ax`: by default
    the axes of a new figure.
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

    `at` (m,): predicted probabilities.  `curves` (m,): by class the calibrated ones.  `ax`: by
    default the axes of a new figure.
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


# Histograms of predicted shares, coverage by region, and residuals.

SIZE = (5.6, 4.2)
BINS = 20
MOST_REGIONS = 40


def plot_check(
    rows: pd.DataFrame, coverage: pd.DataFrame, level: float, kind: str, ax: Axes | None = None
) -> Axes:
    """Plot one view of residuals and predicted distributions.

    `rows`: columns ``fitted``, ``residual``, ``pit``.  `coverage`: columns ``region``,
    ``coverage``, ``conf_low``, ``conf_high``.  `ax`: by default the axes of a new figure.  Raises
    `InputError`: `kind` is unknown.
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


# Residuals against leverage.

LABELLED = 3
# Square points.
SMALLEST_CIRCLE, LARGEST_CIRCLE = 2.0, 400.0
LONGEST_LABEL = 14
# Points: the size and the height of a label, and its distance from its circle.
FONT_SIZE, LABEL_HEIGHT, BESIDE_CIRCLE = 8.0, 12.0, 2.0


def plot_influence(influence: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Plot residuals against leverage, as circles whose area is the squared influence.

    `influence`: columns ``leverage``, ``residual``, ``influence``, the most influential row first.
    `ax`: by default the axes of a new figure.
    """
    if ax is None:
        ax = plt.subplots(figsize=SIZE, layout="constrained")[1]
    largest = float(influence["influence"].max()) or 1.0
    area = LARGEST_CIRCLE * (influence["influence"] / largest) ** 2 + SMALLEST_CIRCLE
    ax.axhline(0.0, color=MUTED, linewidth=1, linestyle="--")
    ax.scatter(
        influence["leverage"], influence["residual"], s=area, color=ACCENT, alpha=0.5, linewidth=0
    )
    ax.margins(0.15)
    label_x(ax, "leverage (sum of weights out of bag, mean 1)")
    label_y(ax, "residual in standard deviations")
    title(ax, "Residuals and leverage (area: squared influence)")
    plain(ax, "y")
    _label(influence.assign(radius=(area / np.pi) ** 0.5).head(LABELLED), ax)
    return ax


def _label(rows: pd.DataFrame, ax: Axes) -> None:
    """Write the labels of rows beside their circles, as far as they do not cover each other."""
    (left, right), (low, high) = ax.get_xlim(), ax.get_ylim()
    width, height = room_of(ax)
    taken: list[tuple[float, float, float]] = []
    values = rows[["leverage", "residual", "radius"]].to_numpy(dtype=np.float64)
    for name, (x, y, radius) in zip(rows.index, values, strict=True):
        words = shortened(str(name), LONGEST_LABEL)
        inwards = -1.0 if x > (left + right) / 2 else 1.0
        beside = inwards * (radius + BESIDE_CIRCLE)
        at = width * (x - left) / (right - left) + beside
        begin, end = sorted((at, at + inwards * text_width(words, FONT_SIZE)))
        middle = height * (y - low) / (high - low)
        free = all(
            end < first or begin > last or abs(middle - level) > LABEL_HEIGHT
            for first, last, level in taken
        )
        if free:
            taken.append((begin, end, middle))
            ax.annotate(
                words, (x, y), (beside, 0), textcoords="offset points", va="center",
                ha="left" if inwards > 0 else "right", fontsize=FONT_SIZE, color=ink(ax),
                parse_math=False,
            )  # fmt: skip
