"""Positions of the boxes of a drawn tree: subtrees as close as their boxes allow."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import zip_longest

__all__ = ["centres"]


def centres(
    children: Mapping[int, tuple[int, int]], width: Mapping[int, float], gap: float
) -> dict[int, float]:
    """Return the horizontal centre of each box.

    A parent is centred above its two children; two boxes on a level are at least `gap` apart.
    This is Reingold and Tilford's (1981) tidy drawing, for boxes of unequal width.

    Parameters
    ----------
    children : mapping of int to (int, int)
        Left and right child of each box that has any; a child's number is above its parent's.
    width : mapping of int to float
        Width of every box; box 0 is the root.
    gap : float

    Returns
    -------
    dict of int to float
        From 0 at the left edge of the leftmost box.
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
