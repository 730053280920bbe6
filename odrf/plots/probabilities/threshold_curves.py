"""ROC curves, precision against recall, and decision curves."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from odrf.plots.elements.lettering import label_x, label_y, title
from odrf.plots.elements.style import ACCENT, MUTED, in_legend, line_of, plain
from odrf.plots.probabilities.several_classes import axes_for, classes_named
from odrf.text.names import shortened_names

__all__ = ["plot_benefit", "plot_thresholds"]

MOST_CHARACTERS = 24
MEASURES = {"roc": "area under ROC curve", "precision": "average precision"}


def plot_thresholds(
    thresholds: pd.DataFrame, table: pd.DataFrame, kind: str, ax: Axes | None = None
) -> Axes:
    """Plot a curve for each class.

    Parameters
    ----------
    thresholds : DataFrame
        Columns ``class``, ``sensitivity``, ``specificity``, ``precision``.
    table : DataFrame
        Columns ``class``, ``measure``, ``estimate``, ``conf_low``, ``conf_high``.
    kind : {"roc", "precision"}
    ax : Axes, optional
        By default the axes of a new figure.

    Returns
    -------
    Axes
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

    Parameters
    ----------
    benefit : DataFrame
        Columns ``class``, ``threshold``, ``benefit``, ``all``.
    ax : Axes, optional
        By default the axes of a new figure.

    Returns
    -------
    Axes
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
