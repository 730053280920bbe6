"""The lines of text in the boxes of a drawn tree."""

from __future__ import annotations

import textwrap

from odrf.design import Design
from odrf.engine.trees.forest import Forest, predicted_classes
from odrf.text.wording import SplitText, number

__all__ = ["predicted_code", "split_lines", "value_lines", "visible"]

# characters of a split on one line before its next term starts a new one
LINE_LENGTH = 26
SIGNS = {"<=": "≤", ">=": "≥"}


def split_lines(split: SplitText) -> tuple[str, ...]:
    """Break a split into lines between its terms."""
    lines = [split.terms[0]]
    comparison = split.left
    if comparison.startswith(tuple(SIGNS)):  # not the name of a level, such as <=30
        comparison = SIGNS[comparison[:2]] + comparison[2:]
    pieces = [f"{comparison}, missing {split.missing}" if split.missing else comparison]
    if comparison.startswith(("in {", "not in {")):
        *levels, last = comparison.split(", ")
        pieces = [*(f"{level}," for level in levels), last]
    for piece in (*split.terms[1:], *pieces):
        if len(lines[-1]) + 1 + len(piece) <= LINE_LENGTH:
            lines[-1] += f" {piece}"
        else:
            lines.append(piece)
    return tuple(lines)


def value_lines(
    tree: Forest, design: Design, node: int, digits: int
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the lines of a node's prediction, and those of its share and number of rows."""
    value = tree.value[node]
    size = f"n = {tree.count[node]}"
    if design.response.classes is None:
        return (number(float(value[0]), digits),), (size,)
    code = predicted_code(tree, node)
    label = textwrap.wrap(visible(str(design.response.classes[code])), LINE_LENGTH) or [""]
    return tuple(label), (f"{value[code]:.2f}", size)


def visible(text: str) -> str:
    r"""Return a text on one line, characters that cannot be seen as Python writes them: ``\n``."""
    return "".join(each if each.isprintable() else repr(each)[1:-1] for each in text)


def predicted_code(tree: Forest, node: int) -> int:
    """Return the code of the class predicted at a node."""
    return int(predicted_classes(tree.value[node : node + 1], bool(tree.ordered))[0])
