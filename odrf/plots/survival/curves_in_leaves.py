"""Plot of a tree for times to an event, with the curve of each leaf in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from odrf.design import Design
from odrf.engine.survival.curve_numbers import incidence_steps
from odrf.engine.survival.curves import LeafCurves
from odrf.engine.trees.forest import Forest
from odrf.plots.elements.boxes import FONT_SIZE, Box, box_of, hidden_leaves
from odrf.plots.elements.style import ACCENT, MUTED, value_colour
from odrf.plots.tree import plot_tree
from odrf.text.names import shortened
from odrf.text.splits import number

__all__ = ["CurvesInLeaves", "plot_survival_tree"]

# points
PANEL = (104.0, 72.0)
TICK_SIZE = 0.7 * FONT_SIZE
# Causes that have a line in a leaf, and letters of their names.
MOST_CAUSES, MOST_CHARACTERS = 4, 24


@dataclass(frozen=True, eq=False)
class CurvesInLeaves:
    """What the leaves of a drawn tree show: rows, events, relative hazard and a curve.

    The curve is the Kaplan–Meier estimate of survival, or the Aalen–Johansen estimate of the
    incidence of a cause.

    Attributes
    ----------
    count, events, relative : (m,) arrays
        Numbers of rows and of events of each node, and its relative hazard.
    curves : LeafCurves
        The curve of each node.
    event_times : (R,) float64
    digits : int
        Significant digits.
    by_cause : dict of str to (m,) float64
        The numbers of events of each cause, if there are several.
    cause : str, optional
        The one of them whose incidence is drawn.
    code : int, default 0
        Its number.
    subjects : (m,) int64
        The numbers of subjects, where these have several rows each; else empty.
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
            return [f"{n}, {shortened(self.cause, MOST_CHARACTERS)}: {number(float(counted))}"]
        lines = [
            f"{shortened(cause, MOST_CHARACTERS)}: {number(float(counted[node]))}"
            for cause, counted in self.by_cause.items()
        ]
        more = len(lines) - MOST_CAUSES
        further = [f"{more} more causes"] if more > 0 else []
        return [f"{n}, events = {events}", *lines[:MOST_CAUSES], *further]

    def _colour(self, node: int) -> tuple[float, float, float]:
        logs = np.log(self.relative[self.relative > 0])
        if self.relative[node] <= 0 or np.ptp(logs) == 0:
            return value_colour(0.0 if self.relative[node] <= 0 else 0.5)
        return value_colour(float((np.log(self.relative[node]) - logs.min()) / np.ptp(logs)))

    def draw(self, panel: Axes, node: int, scale: float) -> None:
        """Draw the curve of a node, and that of the root behind it."""
        last = float(self.event_times[-1]) or 1.0  # where all events are at 0
        for which, colour, width in ((0, MUTED, 0.7), (node, ACCENT, 1.4)):
            panel.step(*self._steps(which), where="post", color=colour, linewidth=width * scale)
        panel.set(xlim=(0.0, last), ylim=(0.0, 1.03))
        panel.set_xticks([0.0, last], ["0", number(last, self.digits)])
        panel.set_yticks([0.0, 0.5, 1.0], ["0", "", "1"])
        panel.tick_params(
            labelsize=TICK_SIZE * scale, length=2 * scale, width=0.6 * scale, pad=1.5 * scale,
            colors=MUTED, labelcolor=MUTED,
        )  # fmt: skip
        first, end = panel.get_xticklabels()
        first.set_horizontalalignment("left")
        end.set_horizontalalignment("right")
        for spine in panel.spines.values():
            spine.set(linewidth=0.6 * scale, color=MUTED)

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
    tree: Forest,
    design: Design,
    curves: CurvesInLeaves,
    *,
    ax: Axes | None = None,
    max_depth: int | None = None,
    max_terms: int = 3,
) -> Axes:
    """Plot a tree with curves in its leaves; the arguments are those of `plot_tree`."""
    of_leaves = "" if curves.cause is None else f"incidence of {curves.cause}"
    return plot_tree(
        tree, design, ax=ax, max_depth=max_depth, max_terms=max_terms, digits=curves.digits,
        ends=curves, of_leaves=of_leaves,
    )  # fmt: skip
