"""Plots of checks: calibration, thresholds, residuals, influence."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
import scipy
from matplotlib.axes import Axes
from numpy.typing import NDArray

from odrf.checks import checked_choice
from odrf.plots import style
from odrf.statistics.residuals import quantiles_to_compare
from odrf.text.layouts import percentage
from odrf.text.names import shortened, shortened_names

BESIDE = 3.0
# More names stand beside the curves, not between them.
MOST_INSIDE = 3


def axes_for(ax: Axes | None, n_classes: int) -> Axes:
    """Return the axes, or those of a new figure, wider if many names stand beside them."""
    return style.one_panel(ax, style.WIDTH + (BESIDE if n_classes > MOST_INSIDE else 0.0))


def classes_named(ax: Axes) -> None:
    """Name the curves that have labels: between them, or beside them if they are many."""
    names = len(ax.get_legend_handles_labels()[1])
    many = names > MOST_INSIDE
    beside = {"loc": "center left", "bbox_to_anchor": (1.0, 0.5)} if many else {"loc": "best"}
    style.legend_as_written(ax, fontsize="small", ncols=style.legend_columns(names), **beside)


# ROC curves, precision against recall, and decision curves.

MOST_CHARACTERS = 24
MEASURES = {"roc": "area under ROC curve", "precision": "average precision"}


def plot_thresholds(
    thresholds: pd.DataFrame, table: pd.DataFrame, kind: str, ax: Axes | None = None
) -> Axes:
    """Plot a curve for each class; `table`: ``class``, ``measure`` and estimate with its limits."""
    ax = axes_for(ax, thresholds["class"].nunique())
    measured = table[table["measure"] == MEASURES[kind]]
    for label, name, colour, dash in _lines(thresholds):
        of_class = thresholds[thresholds["class"] == label]
        measure = measured[measured["class"] == label].iloc[0]
        words = f"{name} {measure['estimate']:.3f}"
        if pd.notna(measure["conf_low"]):
            words += f" ({measure['conf_low']:.3f} to {measure['conf_high']:.3f})"
        x, y = of_class["sensitivity"], of_class["precision"]
        if kind == "roc":
            x, y = 1 - of_class["specificity"], of_class["sensitivity"]
        # equal probabilities make a slanted piece of a ROC curve; a step of precision is the
        # precision of the events that its threshold adds, so that its area is the average precision
        shape = "default" if kind == "roc" else "steps-pre"
        first = 0.0 if kind == "roc" else float(y.iloc[0])
        ax.plot(
            np.r_[0.0, x], np.r_[first, y], dash, color=colour, label=words, linewidth=1.4,
            drawstyle=shape,
        )  # fmt: skip
    if kind == "roc":
        across, up = "1 - specificity", "sensitivity"
    else:
        across, up = "recall (sensitivity)", "precision"
    style.unit_square(ax, diagonal=kind == "roc")
    style.finish(ax, across, up, MEASURES[kind].capitalize().replace("roc", "ROC"))
    classes_named(ax)
    return ax


def plot_benefit(benefit: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Plot the net benefit of acting above a threshold, and on all rows, for each class."""
    ax = axes_for(ax, benefit["class"].nunique())
    style.reference(ax, y=0.0)
    for label, name, colour, dash in _lines(benefit):
        of_class = benefit[benefit["class"] == label]
        at = of_class["threshold"]
        ax.plot(at, of_class["benefit"], dash, color=colour, label=name, linewidth=1.4)
        ax.plot(at, of_class["all"], color=colour, linewidth=0.8, alpha=0.5)
    highest = float(benefit["benefit"].max())
    highest = highest if highest > 0 else float(benefit["benefit"].abs().max()) or 1.0
    ax.set_ylim(-0.15 * highest, 1.1 * highest)
    ax.set_xlim(-0.02, 1.02)
    style.finish(
        ax, "threshold (thin: acting on all rows; dashed: on none)", "net benefit",
        "Decision curves",
    )  # fmt: skip
    classes_named(ax)
    return ax


def _lines(table: pd.DataFrame) -> list[tuple[object, str, str, str]]:
    """Return label, name, colour and dash of each class."""
    labels = list(dict.fromkeys(table["class"]))
    names = shortened_names([str(label) for label in labels], MOST_CHARACTERS)
    if len(labels) == 1:
        return [(labels[0], style.in_legend(names[0]), style.ACCENT, "-")]
    named = zip(labels, names, strict=True)
    return [
        (label, style.in_legend(name), *style.line_of(k)) for k, (label, name) in enumerate(named)
    ]


def plot_reliability(table: pd.DataFrame, curves: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Plot observed shares against probabilities: `table`: of bins; `curves`: with their bands."""
    ax = axes_for(ax, table["class"].nunique())
    style.unit_square(ax)
    lines = _lines(table)
    alone = len(lines) == 1
    for label, name, colour, dash in lines:
        bins, curve = (each[each["class"] == label] for each in (table, curves))
        if alone:
            band = curve["predicted"], curve["band_low"], curve["band_high"]
            ax.fill_between(*band, color=style.faint(ax), linewidth=0, zorder=0)
            ax.vlines(bins["predicted"], bins["conf_low"], bins["conf_high"], color=colour)
            ax.plot(bins["predicted"], bins["observed"], "o", color=colour, markersize=5)
        ax.plot(
            curve["predicted"], curve["observed"], dash, color=colour, linewidth=1.4, label=name
        )
    if not alone:
        classes_named(ax)
    heading = "Calibration (band: if calibrated, pointwise)" if alone else "Calibration"
    x = "predicted probability"
    if alone:
        x += f" of {shortened_names([str(lines[0][0])], MOST_CHARACTERS)[0]}"
    style.finish(ax, x, "observed share", heading)
    return ax


def plot_maps(
    at: NDArray[np.float64], curves: Mapping[str, NDArray[np.float64]], ax: Axes | None = None
) -> Axes:
    """Plot calibrated against predicted probabilities `at` (m,); `curves` (m,): by class."""
    ax = axes_for(ax, len(curves))
    ax.plot([0, 1], [0, 1], zorder=1, **style.DASHED)
    names = shortened_names(list(curves), MOST_CHARACTERS)
    for code, (curve, name) in enumerate(zip(curves.values(), names, strict=True)):
        colour, dash = style.line_of(code)
        ax.plot(at, curve, dash, color=colour, label=style.in_legend(name), linewidth=1.4)
    classes_named(ax)
    style.finish(ax, "predicted probability", "calibrated probability", "Calibration maps")
    return ax


BINS = 20
MOST_REGIONS = 40


def plot_check(
    rows: pd.DataFrame, coverage: pd.DataFrame, level: float, kind: str, ax: Axes | None = None
) -> Axes:
    """Plot one view of residuals and predicted distributions; `coverage`: by ``region``."""
    drawings = {"pit": _shares, "residuals": _residuals, "quantiles": _quantiles}
    if checked_choice("kind", kind, (*drawings, "coverage")) == "coverage":
        return _coverage(coverage, level, ax)
    ax = style.one_panel(ax)
    drawings[kind](rows, ax)
    return ax


def _shares(rows: pd.DataFrame, ax: Axes) -> None:
    n = len(rows)
    ax.hist(rows["pit"], bins=BINS, range=(0, 1), color=style.ACCENT, alpha=0.7, edgecolor="white")
    low, high = scipy.stats.binom.ppf([0.025, 0.975], n, 1 / BINS)
    ax.axhspan(low, high, color=style.faint(ax), zorder=0)
    style.reference(ax, y=n / BINS)
    x, heading = "share of the predicted distribution below the response", "Predicted distributions"
    style.finish(ax, x, "rows", f"{heading} (band: uniform shares)")


def _residuals(rows: pd.DataFrame, ax: Axes) -> None:
    style.reference(ax, y=0.0)
    ax.plot(rows["fitted"], rows["residual"], ".", color=style.ACCENT, markersize=4, alpha=0.6)
    style.finish(ax, "fitted value", "residual", "Residuals")


def _quantiles(rows: pd.DataFrame, ax: Axes) -> None:
    residual = np.sort(rows["residual"].to_numpy())
    at = quantiles_to_compare(len(residual))
    low, high = np.quantile(residual, [0.25, 0.75])
    slope = (high - low) / (2 * scipy.special.ndtri(0.75))
    ends = np.array([at[0], at[-1]])
    ax.plot(ends, (low + high) / 2 + slope * ends, **style.DASHED)
    ax.plot(at, residual, ".", color=style.ACCENT, markersize=4)
    heading = "Residuals and a normal distribution (line: quartiles)"
    style.finish(ax, "quantile of a normal distribution", "residual", heading)


def _coverage(regions: pd.DataFrame, level: float, ax: Axes | None) -> Axes:
    coverage = regions.head(MOST_REGIONS)
    ax = style.named_panel(ax, len(coverage))
    at = np.arange(len(coverage))[::-1]
    style.reference(ax, x=level)
    ax.hlines(at, coverage["conf_low"], coverage["conf_high"], color=style.ACCENT, linewidth=1.6)
    ax.plot(coverage["coverage"].to_numpy(), at, "o", color=style.ACCENT, markersize=5)
    words = f"coverage of {percentage(level)} prediction intervals"
    note = f" (first {MOST_REGIONS} of {len(regions)} regions)"
    style.finish_rows(ax, coverage["region"], words, note, len(regions), few_ticks=False)
    return ax


LABELLED = 3
# Square points.
SMALLEST_CIRCLE, LARGEST_CIRCLE = 2.0, 400.0
LONGEST_LABEL = 14
# Points: the size and the height of a label, and its distance from its circle.
FONT_SIZE, LABEL_HEIGHT, BESIDE_CIRCLE = 8.0, 12.0, 2.0


def plot_influence(influence: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Plot residuals against leverage, as circles whose area is the squared influence."""
    ax = style.one_panel(ax)
    largest = float(influence["influence"].max()) or 1.0
    area = LARGEST_CIRCLE * (influence["influence"] / largest) ** 2 + SMALLEST_CIRCLE
    style.reference(ax, y=0.0)
    ax.scatter(
        influence["leverage"], influence["residual"], s=area, color=style.ACCENT, alpha=0.5,
        linewidth=0,
    )  # fmt: skip
    ax.margins(0.15)
    x, y = "leverage (sum of weights out of bag, mean 1)", "residual in standard deviations"
    style.finish(ax, x, y, "Residuals and leverage (area: squared influence)")
    _label(influence.assign(radius=(area / np.pi) ** 0.5).head(LABELLED), ax)
    return ax


def _label(rows: pd.DataFrame, ax: Axes) -> None:
    """Write the labels of rows beside their circles, as far as they do not cover each other."""
    (left, right), (low, high) = ax.get_xlim(), ax.get_ylim()
    width, height = style.room_of(ax)
    taken: list[tuple[float, float, float]] = []
    values = rows[["leverage", "residual", "radius"]].to_numpy(dtype=np.float64)
    for name, (x, y, radius) in zip(rows.index, values, strict=True):
        words = shortened(str(name), LONGEST_LABEL)
        inwards = -1.0 if x > (left + right) / 2 else 1.0
        beside = inwards * (radius + BESIDE_CIRCLE)
        at = width * (x - left) / (right - left) + beside
        begin, end = sorted((at, at + inwards * style.text_width(words, FONT_SIZE)))
        middle = height * (y - low) / (high - low)
        free = all(
            end < first or begin > last or abs(middle - level) > LABEL_HEIGHT
            for first, last, level in taken
        )
        if free:
            taken.append((begin, end, middle))
            ax.annotate(
                words, (x, y), (beside, 0), textcoords="offset points", va="center",
                ha="left" if inwards > 0 else "right", fontsize=FONT_SIZE, color=style.ink(ax),
                parse_math=False,
            )  # fmt: skip
