"""The boxes of a drawn tree: their text, size and colour."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from odrf.design import Design
from odrf.engine.trees.forest import Forest
from odrf.plots.elements.lettering import text_width
from odrf.plots.elements.style import class_colour, value_colour
from odrf.text.layouts import quantity
from odrf.text.names import in_one_line
from odrf.text.splits import SplitWriter, predicted_code, split_lines, value_lines

__all__ = ["FONT_SIZE", "LINE_HEIGHT", "Box", "Ends", "box_of", "boxes", "hidden_leaves"]

# points
FONT_SIZE = 9.0
LINE_HEIGHT = 12.0
PADDING = 6.0
# of a name or a level
MOST_CHARACTERS = 20


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
    bold : int
        Number of its first lines that are bold: the prediction.
    width, height : float
        In points, at the font size `FONT_SIZE`.
    panel : float
        How much of the height, below the text, is for a drawing.
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
    tree: Forest,
    design: Design,
    depth: NDArray[np.int64],
    max_depth: int,
    max_terms: int,
    digits: int,
    ends: Ends | None = None,
) -> dict[int, Box]:
    """Return the boxes, by node, of a forest of one tree down to level `max_depth`.

    By default those at the ends tell what the node predicts.
    """
    writer = SplitWriter(
        tree, design, digits=digits, max_terms=max_terms, max_characters=MOST_CHARACTERS
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
        lines = (*prediction, *lines, *hidden_leaves(hidden))
        out[node] = box_of(lines, colour, hidden, len(prediction))
    return out


def hidden_leaves(hidden: int) -> tuple[str, ...]:
    """Return the line that says how many leaves are not drawn, if any are not."""
    return (f"+ {quantity(hidden, 'leaf', 'leaves')}",) if hidden else ()


def box_of(
    lines: tuple[str, ...],
    colour: tuple[float, float, float] | None,
    below: int,
    bold: int,
    panel: tuple[float, float] = (0.0, 0.0),
) -> Box:
    """Return a box of these lines, with room for a panel of this width and height."""
    lines = tuple(map(in_one_line, lines))
    widest = max(text_width(line, FONT_SIZE, at < bold) for at, line in enumerate(lines))
    width, height = widest + 2 * PADDING, len(lines) * LINE_HEIGHT + PADDING
    return Box(lines, colour, below, max(width, panel[0]), height + panel[1], bold, panel[1])


def _colour(tree: Forest, design: Design, node: int) -> tuple[float, float, float]:
    value = tree.value[node]
    if design.response.classes is None:
        low, high = tree.value.min(), tree.value.max()
        return value_colour(float((value[0] - low) / (high - low)) if high > low else 0.5)
    K = len(value)
    code = predicted_code(tree, node)
    certainty = max(0.0, (value[code] - 1 / K) / (1 - 1 / K))
    return class_colour(code, float(certainty))


def _leaves_below(tree: Forest, depth: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the number of leaves under each node (m,), 1 for a leaf."""
    count = np.ones(tree.n_nodes, dtype=np.int64)
    for level in range(int(depth.max()) - 1, -1, -1):
        split = np.flatnonzero((depth == level) & (tree.left >= 0))
        count[split] = count[tree.left[split]] + count[tree.left[split] + 1]
    return count
