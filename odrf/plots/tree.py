"""Plot of a tree: splits in the names and units of the data, leaves in colour."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import zip_longest
from typing import Protocol

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.patches import FancyBboxPatch
from numpy.typing import NDArray

from odrf.design import Design
from odrf.engine.trees.forest import Forest
from odrf.plots import style
from odrf.text.layouts import quantity
from odrf.text.lines import line_text
from odrf.text.names import in_one_line, shortened
from odrf.text.splits import SplitWriter, predicted_code, split_lines, value_lines

# points
FONT_SIZE = 9.0
LINE_HEIGHT = 12.0
PADDING = 6.0
# of a name or a level
MOST_OF_A_NAME = 20


@dataclass(frozen=True)
class Box:
    """A box of the drawing: a split or a leaf; sizes are in points.

    `colour` (3,): None for a split.  `below`: number of leaves below it, not drawn.  `bold`:
    number of its first lines that are bold.  `panel`: the height, below the text, of a drawing.
    """

    lines: tuple[str, ...]
    colour: tuple[float, float, float] | None
    below: int
    width: float
    height: float
    bold: int
    panel: float = 0.0


class Ends(Protocol):
    """What the boxes at the ends of a drawn tree show."""

    def box(self, node: int, hidden: int) -> Box:
        """Return the box of a node below which so many leaves are `hidden`, 0 for a leaf."""

    def draw(self, panel: Axes, node: int, scale: float) -> None:
        """Draw into the panel of a node; letters and lines are smaller by the `scale`."""


def boxes(
    tree: Forest, design: Design, depth: NDArray[np.int64], max_depth: int, max_terms: int,
    digits: int, ends: Ends | None = None,
) -> dict[int, Box]:  # fmt: skip
    """Return the boxes, by node, of a forest of one tree down to level `max_depth`."""
    writer = SplitWriter(
        tree, design, digits=digits, max_terms=max_terms, max_characters=MOST_OF_A_NAME
    )
    below = _leaves_below(tree, depth)
    drawn = np.flatnonzero((depth >= 0) & (depth <= max_depth))
    out = {}
    for node in drawn.tolist():
        if tree.left[node] >= 0 and depth[node] < max_depth:
            out[node] = box_of(split_lines(writer.split(node)), None, 0, 0)
            continue
        hidden = int(below[node]) if tree.left[node] >= 0 else 0
        if ends is not None:
            out[node] = ends.box(node, hidden)
            continue
        prediction, lines = value_lines(tree, design, node, digits)
        colour = _colour(tree, design, node)
        if tree.lines is not None and not hidden:
            terms = line_text(tree, design, node, digits, max_terms, MOST_OF_A_NAME)
            lines = (*lines, *terms)
        lines = (*prediction, *lines, *hidden_leaves(hidden))
        out[node] = box_of(lines, colour, hidden, len(prediction))
    return out


def hidden_leaves(hidden: int) -> tuple[str, ...]:
    """Return the line that says how many leaves are not drawn, if any are not."""
    return (f"+ {quantity(hidden, 'leaf', 'leaves')}",) if hidden else ()


def box_of(
    lines: tuple[str, ...], colour: tuple[float, float, float] | None, below: int, bold: int,
    panel: tuple[float, float] = (0.0, 0.0),
) -> Box:  # fmt: skip
    """Return a box of these lines, with room for a panel of this width and height."""
    lines = tuple(map(in_one_line, lines))
    widest = max(style.text_width(line, FONT_SIZE, at < bold) for at, line in enumerate(lines))
    width, height = widest + 2 * PADDING, len(lines) * LINE_HEIGHT + PADDING
    return Box(lines, colour, below, max(width, panel[0]), height + panel[1], bold, panel[1])


def _colour(tree: Forest, design: Design, node: int) -> tuple[float, float, float]:
    value = tree.value[node]
    if design.response.classes is None:
        low, high = tree.value.min(), tree.value.max()
        return style.value_colour(float((value[0] - low) / (high - low)) if high > low else 0.5)
    K = len(value)
    code = predicted_code(tree, node)
    certainty = max(0.0, (value[code] - 1 / K) / (1 - 1 / K))
    return style.class_colour(code, float(certainty))


def _leaves_below(tree: Forest, depth: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the number of leaves under each node (m,), 1 for a leaf."""
    count = np.ones(tree.n_nodes, dtype=np.int64)
    for level in range(int(depth.max()) - 1, -1, -1):
        split = np.flatnonzero((depth == level) & (tree.left >= 0))
        count[split] = count[tree.left[split]] + count[tree.left[split] + 1]
    return count


# Positions of the boxes of a drawn tree: subtrees as close as their boxes allow.


def centres(
    children: Mapping[int, tuple[int, int]], width: Mapping[int, float], gap: float
) -> dict[int, float]:
    """Return the horizontal centre of each box, from 0 at the left edge of the leftmost.

    A parent is centred above its two children; two boxes on a level are at least `gap` apart.  This
    is Reingold and Tilford's (1981) tidy drawing, for boxes of unequal width.
    """
    half: dict[int, float] = {}
    contour: dict[int, list[tuple[float, float]]] = {}
    for box in sorted(width, reverse=True):
        ends = (-width[box] / 2, width[box] / 2)
        if box not in children:
            contour[box] = [ends]
            continue
        left, right = (contour.pop(child) for child in children[box])
        half[box] = _half_distance(left, right, gap)
        contour[box] = [ends, *_joined(left, right, half[box])]
    at = {0: -min(low for low, _ in contour[0])}
    for box in sorted(children):
        left_child, right_child = children[box]
        at[left_child] = at[box] - half[box]
        at[right_child] = at[box] + half[box]
    return at


def _half_distance(
    left: list[tuple[float, float]], right: list[tuple[float, float]], gap: float
) -> float:
    """Return half of the least distance between the roots of two subtrees."""
    return max(a[1] - b[0] + gap for a, b in zip(left, right, strict=False)) / 2


def _joined(
    left: list[tuple[float, float]], right: list[tuple[float, float]], half: float
) -> list[tuple[float, float]]:
    """Return the contour, level by level, of two subtrees moved by `half` to either side."""
    moved_left = [(low - half, high - half) for low, high in left]
    moved_right = [(low + half, high + half) for low, high in right]
    return [
        (min(a[0], b[0]), max(a[1], b[1])) if a and b else a or b
        for a, b in zip_longest(moved_left, moved_right)
    ]


# points
BOX_GAP = 12.0
LEVEL_GAP = 34.0
MARGIN = 12.0
# Room for the ticks of a panel, to the left and below, and for nothing on the other sides.
TICKS, BESIDE = (18.0, 13.0), 8.0
TITLE = 26.0
TITLE_SIZE = 1.1
MOST_CHARACTERS = 40
WIDEST = 1440.0
READABLE_LEAVES = 32
# Least scale of a drawing on given axes, if fewer levels make it larger.
SMALLEST = 0.6
# Letters, fitted to pixels, shrink less than the font size; this compensates.
SHRUNK = 0.95


def plot_tree(
    tree: Forest, design: Design, *, ax: Axes | None = None, max_depth: int | None = None,
    max_terms: int = 3, digits: int = 3, ends: Ends | None = None, of_leaves: str = "",
) -> Axes:  # fmt: skip
    """Plot a tree, its root on top.

    `max_depth`: levels of splits drawn; by default as many as stay readable: at most 32 boxes at
    the ends, a figure of at most 20 inches, letters of at least 5 points on given axes.
    """
    depth = tree.depth()
    levels = _readable_levels(tree, depth) if max_depth is None else max_depth
    while True:
        content = boxes(tree, design, depth, levels, max_terms, digits, ends)
        title = _title(tree, design, int(depth.max()), levels)
        title += f", {of_leaves}" if of_leaves else ""
        drawing = _arranged(tree, depth, content, style.text_width(title, TITLE_SIZE * FONT_SIZE))
        if levels == 1 or max_depth is not None or _is_readable(drawing, ax):
            break
        levels -= 1
    if ax is None:
        size = (drawing.width / 72, drawing.height / 72)
        ax = plt.figure(figsize=size).add_axes((0.0, 0.0, 1.0, 1.0))
    scale = _fit(ax, drawing)
    for node in drawing.children:
        _draw_branches(ax, drawing, node, scale)
    for node, box in drawing.boxes.items():
        _draw_box(ax, box, drawing.x[node], drawing.y[node], scale)
        if ends is not None and box.panel:
            ends.draw(_panel(ax, box, drawing.x[node], drawing.y[node]), node, scale)
    ax.text(
        drawing.width / 2,
        drawing.height - MARGIN,
        title,
        ha="center", va="top", fontsize=TITLE_SIZE * FONT_SIZE * scale, color=style.ink(ax),
        parse_math=False,
    )  # fmt: skip
    return ax


@dataclass(frozen=True)
class _Drawing:
    """Boxes with their positions, in points from the lower left corner."""

    boxes: dict[int, Box]
    children: dict[int, tuple[int, int]]
    x: dict[int, float]
    y: dict[int, float]
    fork: dict[int, float]
    width: float
    height: float


def _readable_levels(tree: Forest, depth: NDArray[np.int64]) -> int:
    """Return how many levels of splits can be drawn with at most `READABLE_LEAVES` end boxes."""
    ends, level = 1, 0
    while level < depth.max():
        ends += int(np.count_nonzero((depth == level) & (tree.left >= 0)))
        if ends > READABLE_LEAVES:
            break
        level += 1
    return max(level, 1)


def _is_readable(drawing: _Drawing, ax: Axes | None) -> bool:
    """Return whether a drawing is not too wide for a page, or not too small on given axes."""
    if ax is None:
        return drawing.width <= WIDEST
    frame, point = ax.get_window_extent(), ax.figure.dpi / 72
    return SMALLEST * max(drawing.width / frame.width, drawing.height / frame.height) <= 1 / point


def _arranged(
    tree: Forest, depth: NDArray[np.int64], content: dict[int, Box], least_width: float
) -> _Drawing:
    """Return the boxes with their positions: horizontally by `centres`, vertically by level."""
    children = {
        node: (int(tree.left[node]), int(tree.left[node]) + 1)
        for node, box in content.items()
        if box.colour is None
    }
    x = centres(children, {node: box.width for node, box in content.items()}, BOX_GAP)
    tallest: dict[int, float] = {}
    for node, box in content.items():
        level = int(depth[node])
        tallest[level] = max(tallest.get(level, 0.0), box.height)
    middle, bottom = {}, {}
    at = 0.0
    for level in range(max(tallest), -1, -1):
        bottom[level] = at
        middle[level] = at + tallest[level] / 2
        at += tallest[level] + LEVEL_GAP
    right = max(x[node] + box.width / 2 for node, box in content.items())
    spare = max(least_width - right, 0.0)
    return _Drawing(
        boxes=content, children=children,
        x={node: place + spare / 2 + MARGIN for node, place in x.items()},
        y={node: middle[int(depth[node])] + MARGIN for node in content},
        fork={node: bottom[int(depth[node])] - 0.4 * LEVEL_GAP + MARGIN for node in children},
        width=right + spare + 2 * MARGIN, height=at - LEVEL_GAP + TITLE + 2 * MARGIN,
    )  # fmt: skip


def _fit(ax: Axes, drawing: _Drawing) -> float:
    """Set the limits so that the drawing fits the axes; return its scale, at most 1."""
    ax.set_axis_off()
    frame, point = ax.get_window_extent(), ax.figure.dpi / 72
    width, height = frame.width / point, frame.height / point
    scale = min(width / drawing.width, height / drawing.height, 1.0)
    spare_x, spare_y = width / scale - drawing.width, height / scale - drawing.height
    ax.set_xlim(-spare_x / 2, drawing.width + spare_x / 2)
    ax.set_ylim(-spare_y / 2, drawing.height + spare_y / 2)
    return scale


def _draw_branches(ax: Axes, drawing: _Drawing, node: int, scale: float) -> None:
    """Draw the branches below a split, labelled "yes" (left) and "no"."""
    x, y, fork = drawing.x[node], drawing.y[node], drawing.fork[node]
    lines = [[(x, y), (x, fork)]]
    for child, word in zip(drawing.children[node], ("yes", "no"), strict=True):
        end = drawing.x[child]
        lines.append([(x, fork), (end, fork), (end, drawing.y[child])])
        ax.text(
            end, fork + 2, word,
            ha="left" if word == "yes" else "right", va="bottom",
            fontsize=0.8 * FONT_SIZE * scale, color=style.MUTED,
        )  # fmt: skip
    ax.add_collection(LineCollection(lines, colors=style.MUTED, linewidths=0.9 * scale, zorder=1))


def _draw_box(ax: Axes, box: Box, x: float, y: float, scale: float) -> None:
    leaf = box.colour is not None
    ax.add_patch(
        FancyBboxPatch(
            (x - box.width / 2, y - box.height / 2),
            box.width,
            box.height,
            boxstyle=f"round,pad=0,rounding_size={6 if leaf else 2}",
            facecolor=box.colour or "white",
            edgecolor=style.MUTED,
            linewidth=0.8 * scale,
            linestyle="--" if box.below else "-",
            zorder=2,
        )
    )
    top = y + (LINE_HEIGHT * (len(box.lines) - 1) + box.panel) / 2
    size = FONT_SIZE * (scale if scale == 1.0 else SHRUNK * scale)
    for at, line in enumerate(box.lines):
        ax.text(
            x, top - at * LINE_HEIGHT, line,
            ha="center", va="center_baseline", fontsize=size, color=style.INK,
            weight="bold" if at < box.bold else "normal", parse_math=False, zorder=3,
        )  # fmt: skip


def _panel(ax: Axes, box: Box, x: float, y: float) -> Axes:
    """Return axes in the lower part of a box, with room for the labels of their ticks."""
    left, bottom = x - box.width / 2 + TICKS[0], y - box.height / 2 + TICKS[1]
    size = box.width - TICKS[0] - BESIDE, box.panel - TICKS[1] - BESIDE / 2
    panel = ax.inset_axes((left, bottom, *size), transform=ax.transData, zorder=3)
    panel.patch.set_facecolor("white")
    return panel


def _title(tree: Forest, design: Design, deepest: int, drawn: int) -> str:
    leaves = int(tree.leaves()[0])
    name = shortened(design.response.name, MOST_CHARACTERS)
    title = f"{name}: {leaves} leaves" if leaves > 1 else name
    if drawn < deepest:
        title += f", first {drawn} of {deepest} levels drawn"
    return title
