"""The boxes of a drawn tree: their text, size and colour."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import text_to_path
from numpy.typing import NDArray

from odrf.design import Design
from odrf.engine.trees.forest_arrays import Forest
from odrf.engine.trees.prediction_rule import predicted_classes
from odrf.plots.elements.style import class_colour, value_colour
from odrf.text.wording import SplitText, SplitWriter, number

__all__ = ["FONT_SIZE", "LINE_HEIGHT", "Box", "boxes", "text_width"]

# points
FONT_SIZE = 9.0
LINE_HEIGHT = 12.0
PADDING = 6.0
# characters of a split on one line before its next term starts a new one
LINE_LENGTH = 26


@dataclass(frozen=True)
class Box:
    """A box of the drawing: a split or a leaf.

    Attributes
    ----------
    lines : tuple of str
        Its text.
    colour : (3,) tuple of float, or None
        Red, green and blue; None for a split.
    below : int
        Number of leaves below the box that are not drawn.
    width, height : float
        In points, at the font size `FONT_SIZE`.
    """

    lines: tuple[str, ...]
    colour: tuple[float, float, float] | None
    below: int
    width: float
    height: float


def boxes(
    tree: Forest,
    design: Design,
    depth: NDArray[np.int64],
    max_depth: int,
    max_terms: int,
    digits: int,
) -> dict[int, Box]:
    """Return the boxes, by node, of a forest of one tree down to level `max_depth`."""
    writer = SplitWriter(tree, design, digits=digits, max_terms=max_terms)
    below = _leaves_below(tree, depth)
    drawn = np.flatnonzero((depth >= 0) & (depth <= max_depth))
    out = {}
    for node in drawn.tolist():
        if tree.left[node] >= 0 and depth[node] < max_depth:
            out[node] = _box(_split_lines(writer.split(node)), None, 0)
            continue
        lines = _value_lines(tree, design, node, digits)
        hidden = int(below[node]) if tree.left[node] >= 0 else 0
        if hidden:
            lines = (*lines, f"+ {hidden} leaves")
        out[node] = _box(lines, _colour(tree, design, node), hidden)
    return out


def text_width(line: str, bold: bool = False) -> float:
    """Return the width of a line of text in points, at the font size `FONT_SIZE`."""
    font = FontProperties(size=FONT_SIZE, weight="bold" if bold else "normal")
    return float(text_to_path.get_text_width_height_descent(line, font, ismath=False)[0])


def _box(lines: tuple[str, ...], colour: tuple[float, float, float] | None, below: int) -> Box:
    widest = max(text_width(line, bold=colour is not None) for line in lines)
    return Box(lines, colour, below, widest + 2 * PADDING, len(lines) * LINE_HEIGHT + PADDING)


def _split_lines(split: SplitText) -> tuple[str, ...]:
    """Break a split into lines between its terms."""
    lines = [split.terms[0]]
    comparison = split.left.replace("<=", "≤", 1).replace(">=", "≥", 1)
    for piece in (*split.terms[1:], comparison):
        if len(lines[-1]) + 1 + len(piece) <= LINE_LENGTH:
            lines[-1] += f" {piece}"
        else:
            lines.append(piece)
    return tuple(lines)


def _value_lines(tree: Forest, design: Design, node: int, digits: int) -> tuple[str, ...]:
    value = tree.value[node]
    size = f"n = {tree.count[node]}"
    if design.response.classes is None:
        return number(float(value[0]), digits), size
    code = _predicted_class(tree, node)
    return str(design.response.classes[code]), f"{value[code]:.2f}", size


def _colour(tree: Forest, design: Design, node: int) -> tuple[float, float, float]:
    value = tree.value[node]
    if design.response.classes is None:
        low, high = tree.value.min(), tree.value.max()
        return value_colour(float((value[0] - low) / (high - low)) if high > low else 0.5)
    K = len(value)
    code = _predicted_class(tree, node)
    certainty = max(0.0, (value[code] - 1 / K) / (1 - 1 / K))
    return class_colour(code, float(certainty))


def _predicted_class(tree: Forest, node: int) -> int:
    """Return the code of the class predicted at a node."""
    return int(predicted_classes(tree.value[node : node + 1], bool(tree.ordered))[0])


def _leaves_below(tree: Forest, depth: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the number of leaves under each node (m,), 1 for a leaf."""
    count = np.ones(tree.n_nodes, dtype=np.int64)
    for level in range(int(depth.max()) - 1, -1, -1):
        split = np.flatnonzero((depth == level) & (tree.left >= 0))
        count[split] = count[tree.left[split]] + count[tree.left[split] + 1]
    return count
