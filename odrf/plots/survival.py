"""Plots of survival: curves, incidences, bands, trees with curves, calibration, ROC."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from odrf.design import Design
from odrf.engine.survival.curve_numbers import incidence_steps
from odrf.engine.survival.curves import LeafCurves
from odrf.engine.trees.forest import Forest
from odrf.plots import style
from odrf.plots.tree import FONT_SIZE, Box, box_of, hidden_leaves, plot_tree
from odrf.statistics.survival.scores import RiskGroup
from odrf.text.layouts import quantity
from odrf.text.names import shortened, shortened_names
from odrf.text.splits import number

# Plot of a tree for survival times, with the curve of each leaf in it.

# points
PANEL = (104.0, 72.0)
TICK_SIZE = 0.7 * FONT_SIZE
# Causes that have a line in a leaf, and letters of their names.
MOST_CAUSES, MOST_IN_LEAF = 4, 24


@dataclass(frozen=True, eq=False)
class CurvesInLeaves:
    """What the leaves of a drawn tree show: rows, events, relative hazard and a curve.

    The curve is the Kaplan–Meier estimate of survival, or the Aalen–Johansen estimate of the
    incidence of a `cause`.  `count`, `events`, `relative`, `by_cause` (m,): of each node.
    `subjects` (m,): where these have several rows each; else empty.
    """

    count: NDArray[np.int32]
    events: NDArray[np.float64]
    relative: NDArray[np.float64]
    curves: LeafCurves
    event_times: NDArray[np.float64]
    digits: int
    by_cause: Mapping[str, NDArray[np.float64]]
    cause: str | None = None
    code: int = 0
    subjects: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, dtype=np.int64))

    def box(self, node: int, hidden: int) -> Box:
        """Return the box of a node."""
        lines = (
            f"relative hazard {number(float(self.relative[node]), self.digits)}",
            *([f"{self.subjects[node]} subjects"] if len(self.subjects) else []),
            *self._counted(node),
            *hidden_leaves(hidden),
        )
        return box_of(lines, self._colour(node), hidden, 1, PANEL)

    def _counted(self, node: int) -> list[str]:
        """Return lines with the numbers of rows and events, of several causes with one for each."""
        n, events = f"n = {self.count[node]}", number(float(self.events[node]))
        if self.cause is not None:
            counted = self.by_cause.get(self.cause, self.events)[node]
            return [f"{n}, {shortened(self.cause, MOST_IN_LEAF)}: {number(float(counted))}"]
        lines = [
            f"{shortened(cause, MOST_IN_LEAF)}: {number(float(counted[node]))}"
            for cause, counted in self.by_cause.items()
        ]
        more = len(lines) - MOST_CAUSES
        further = [f"{more} more causes"] if more > 0 else []
        return [f"{n}, events = {events}", *lines[:MOST_CAUSES], *further]

    def _colour(self, node: int) -> tuple[float, float, float]:
        logs = np.log(self.relative[self.relative > 0])
        if self.relative[node] <= 0 or np.ptp(logs) == 0:
            return style.value_colour(0.0 if self.relative[node] <= 0 else 0.5)
        return style.value_colour(float((np.log(self.relative[node]) - logs.min()) / np.ptp(logs)))

    def draw(self, panel: Axes, node: int, scale: float) -> None:
        """Draw the curve of a node, and that of the root behind it."""
        last = float(self.event_times[-1]) or 1.0  # where all events are at 0
        for which, colour, width in ((0, style.MUTED, 0.7), (node, style.ACCENT, 1.4)):
            panel.step(*self._steps(which), where="post", color=colour, linewidth=width * scale)
        panel.set(xlim=(0.0, last), ylim=(0.0, 1.03))
        panel.set_xticks([0.0, last], ["0", number(last, self.digits)])
        panel.set_yticks([0.0, 0.5, 1.0], ["0", "", "1"])
        panel.tick_params(
            labelsize=TICK_SIZE * scale, length=2 * scale, width=0.6 * scale, pad=1.5 * scale,
            colors=style.MUTED, labelcolor=style.MUTED,
        )  # fmt: skip
        first, end = panel.get_xticklabels()
        first.set_horizontalalignment("left")
        end.set_horizontalalignment("right")
        for spine in panel.spines.values():
            spine.set(linewidth=0.6 * scale, color=style.MUTED)

    def _steps(self, node: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return times and values of a node's curve, from 0 to the last event time."""
        entries = slice(self.curves.start[node], self.curves.start[node + 1])
        times = self.event_times[self.curves.rank[entries] - 1]
        if self.cause is None:
            first, values = 1.0, np.cumprod(1.0 - self.curves.hazard[entries])
        else:
            first, values = 0.0, incidence_steps(self.curves, self.code, node)
        values = np.concatenate([[first], values])
        return (
            np.concatenate([[0.0], times, self.event_times[-1:]]),
            np.concatenate([values, values[-1:]]),
        )


def plot_survival_tree(
    tree: Forest, design: Design, curves: CurvesInLeaves, *, ax: Axes | None = None,
    max_depth: int | None = None, max_terms: int = 3,
) -> Axes:  # fmt: skip
    """Plot a tree with curves in its leaves; the arguments are those of `plot_tree`."""
    of_leaves = "" if curves.cause is None else f"incidence of {curves.cause}"
    return plot_tree(
        tree, design, ax=ax, max_depth=max_depth, max_terms=max_terms, digits=curves.digits,
        ends=curves, of_leaves=of_leaves,
    )  # fmt: skip


# points: from the axis to the heading, whose space the label of the axis leaves, and between lines
HEADING, LINE = 38.0, 12.0
# points: from the names of groups to the first number
BESIDE = 16.0
SIZE = 9.0
STEPS = 5


def time_axis(ax: Axes, until: float, probability: str) -> NDArray[np.float64]:
    """Let time go from 0 to `until`, or 1, and a probability from 0 to 1; return times of ticks."""
    until = until if until > 0 else 1.0
    ax.set_xlim(0, until)
    locator = MaxNLocator(STEPS)
    ax.xaxis.set_major_locator(locator)
    ax.xaxis.set_major_formatter(style.PlainNumbers())
    ax.set_ylim(0, 1.02)
    style.finish(ax, "time", probability)
    ticks = np.asarray(locator.tick_values(0.0, until), dtype=np.float64)
    return ticks[(ticks >= 0) & (ticks <= until)]


def draw_numbers_at_risk(
    ax: Axes, times: NDArray[np.float64], counts: Sequence[NDArray[np.float64]],
    colours: Sequence[str], names: Sequence[str] = ("",),
) -> None:  # fmt: skip
    """Write below the axis how many rows are at risk, a line for each group in its colour."""
    place: dict[str, Any] = {
        "xycoords": ax.get_xaxis_transform(),
        "textcoords": "offset points",
        "fontsize": SIZE,
    }
    ax.annotate(
        "at risk", (0.0, 0.0), xytext=(0, -HEADING), ha="left", va="top", color=style.ink(ax),
        **place,
    )  # fmt: skip
    lines = zip(counts, colours, names, strict=True)
    for line, (of_group, colour, name) in enumerate(lines, start=1):
        if name:
            ax.annotate(
                name, (0.0, 0.0), xytext=(-BESIDE, -HEADING - LINE * line),
                ha="right", va="top", color=colour, **place,
            )  # fmt: skip
        for time, count in zip(times, of_group, strict=True):
            ax.annotate(
                f"{count:.0f}", (float(time), 0.0), xytext=(0, -HEADING - LINE * line),
                ha="center", va="top", color=colour, **place,
            )  # fmt: skip


# Bands of more curves hide each other: then there are lines alone.
MOST_BANDS = 4
MOST_CHARACTERS = 24
# Between the last time and the end of the axis.
BEYOND = 1.03


def plot_survival_bands(
    times: NDArray[np.float64], curves: Mapping[str, Sequence[NDArray[np.float64]]],
    ax: Axes | None = None, cause: str | None = None,
) -> Axes:  # fmt: skip
    """Plot survival curves, or incidences of a `cause`, as steps.

    `curves` (G,): by label of the row: estimate, ends of the intervals, ends of the band.
    """
    ax = style.one_panel(ax)
    names = shortened_names(list(curves), MOST_CHARACTERS)
    last = float(times[-1]) * BEYOND
    at = np.array([0.0, *times, last])
    begin = 1.0 if cause is None else 0.0
    for k, (name, values) in enumerate(zip(names, curves.values(), strict=True)):
        colour, dash = style.line_of(k)
        estimate, *ends = (np.array([begin, *value, value[-1]]) for value in values)
        if len(curves) <= MOST_BANDS:
            for low, high, alpha in ((ends[2], ends[3], 0.13), (ends[0], ends[1], 0.22)):
                ax.fill_between(at, low, high, step="post", color=colour, alpha=alpha, linewidth=0)
        ax.plot(
            at, estimate, drawstyle="steps-post", color=colour, linestyle=dash, linewidth=1.8,
            label=style.in_legend(name),
        )  # fmt: skip
    of = "" if cause is None else shortened_names([cause], MOST_CHARACTERS)[0]
    time_axis(ax, last, "predicted survival" if cause is None else f"predicted incidence of {of}")
    style.legend_over(ax, "row")
    return ax


# Observed against predicted probabilities of an event by a time.


def plot_survival_calibration(
    table: pd.DataFrame, time: float, estimate: str, ax: Axes | None = None
) -> Axes:
    """Plot the observed probability of each group of rows, with its limits."""
    ax = style.one_panel(ax)
    style.unit_square(ax)
    ax.vlines(table["predicted"], table["conf_low"], table["conf_high"], color=style.ACCENT)
    ax.plot(table["predicted"], table["observed"], "o", color=style.ACCENT, markersize=5)
    heading = f"Event by time {number(time)}"
    style.finish(ax, "mean predicted probability", f"observed ({estimate})", heading)
    return ax


LOWEST, HIGHEST = "lowest", "highest"


def plot_risk_groups(
    groups: Sequence[RiskGroup], curves: NDArray[np.float64], times: NDArray[np.float64],
    source: str, ax: Axes | None = None, cause: str | None = None,
) -> Axes:  # fmt: skip
    """Plot the predicted and the observed curve of each group, numbers at risk below.

    `curves` (n, m): of all rows at the `times`.  The first time is 0, or where rows enter late
    that since when they are evaluated.  `source`: which rows they are, in words.
    """
    ax = style.one_panel(ax)
    colours = [style.CLASSES[g % len(style.CLASSES)] for g in range(len(groups))]
    names = _names(len(groups))
    for name, group, colour in zip(names, groups, colours, strict=True):
        at = np.insert(group.observed.times, 0, 0.0)
        observed, low, high = (
            np.insert(curve, 0, 1.0 if cause is None else 0.0) for curve in group.steps()
        )
        ax.fill_between(at, low, high, step="post", color=colour, alpha=0.13, linewidth=0)
        ax.plot(at, observed, drawstyle="steps-post", color=colour, linewidth=0.8, alpha=0.8)
        ax.plot(
            times, group.predicted(curves), drawstyle="steps-post", color=colour, linewidth=1.8,
            label=name,
        )  # fmt: skip
    since = f", given no event by {number(float(times[0]))}" if times[0] > 0 else ""
    of = "survival" if cause is None else f"incidence of {cause}"
    ticks = time_axis(ax, float(times[-1]), f"{of}{since}")
    draw_numbers_at_risk(ax, ticks, [group.at_risk(ticks) for group in groups], colours, names)
    estimate = "Kaplan–Meier" if cause is None else "Aalen–Johansen"
    style.title(ax, f"Predicted ({source}); thin: {estimate}, 95% limits")
    style.legend_over(ax, "risk")
    return ax


def _names(count: int) -> list[str]:
    if count == 1:
        return ["all rows"]
    return [LOWEST, *(str(g) for g in range(2, count)), HIGHEST]


# More curves have no names, and even more are not drawn.
NAMED, MOST = 8, 100


def plot_predicted_curves(
    curves: pd.DataFrame, at_risk: Callable[[NDArray], NDArray], ax: Axes | None = None,
    cause: str | None = None,
) -> Axes:  # fmt: skip
    """Plot the predicted curve of each row, numbers of training rows at risk below."""
    ax = style.one_panel(ax)
    shown, first = curves.head(MOST), 1.0 if cause is None else 0.0
    named = 0 < len(shown) <= NAMED
    names = shortened_names([str(label) for label in shown.index], MOST_CHARACTERS)
    times = [0.0, *shown.columns]
    pale: dict[str, Any] = {"color": style.ACCENT, "linewidth": 0.8, "alpha": 0.3}
    for k, (name, row) in enumerate(zip(names, shown.to_numpy(), strict=True)):
        bold = {
            "color": style.CLASSES[k % len(style.CLASSES)],
            "label": style.in_legend(name),
            "linewidth": 1.6,
        }
        look = bold if named else pale
        ax.plot(times, [first, *row], drawstyle="steps-post", **look)
    of = "survival" if cause is None else f"incidence of {cause}"
    ticks = time_axis(ax, float(times[-1]), f"predicted {of}")
    draw_numbers_at_risk(ax, ticks, [at_risk(ticks)], [style.ink(ax)])
    if named:
        style.legend_over(ax, "row")
    else:
        of = f" (first {MOST} of {len(curves)})" if len(curves) > MOST else ""
        ax.set_title(f"{quantity(len(shown), 'row')}{of}", fontsize="medium", color=style.ink(ax))
    return ax


def plot_roc_at(curve: pd.DataFrame, time: float, words: str, ax: Axes | None = None) -> Axes:
    """Plot sensitivity against 1 - specificity; `words`: the area, for the legend."""
    ax = style.one_panel(ax)
    style.unit_square(ax)
    ax.plot(
        1 - curve["specificity"], curve["sensitivity"], color=style.ACCENT, linewidth=1.6,
        label=words,
    )  # fmt: skip
    style.finish(ax, "1 - specificity", "sensitivity", f"Event by time {number(time)}")
    ax.legend(frameon=False, loc="lower right")
    return ax


def plot_areas_along_time(table: pd.DataFrame, time: float, ax: Axes | None = None) -> Axes:
    """Plot the area under the ROC curve at each time, with its interval; one `time` is marked."""
    ax = style.one_panel(ax)
    at = table.index.to_numpy()
    style.reference(ax, y=0.5, zorder=1)
    style.draw_band(ax, at, table["conf_low"], table["conf_high"], style.ACCENT)
    ax.plot(at, table["auc"], "o-", color=style.ACCENT, markersize=3, linewidth=1.6)
    ax.plot([time], [table["auc"].loc[time]], "o", color=style.ACCENT, markersize=7)
    lowest = float(np.nanmin(table[["auc", "conf_low"]].to_numpy()))
    ax.set_ylim(min(0.45, lowest - 0.02), 1.01)
    style.finish(ax, "time", "area under ROC curve")
    return ax
