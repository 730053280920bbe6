"""A packed tree, walked record by record."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from odrf.engine.trees.packing import HEAD, Packed


def end(packed: Packed, at: int, x: NDArray[np.float32]) -> int:
    """The leaf in which the row x (p,) ends that stands at the record `at`."""
    while at >= 0:
        left, right, _, size = packed.words[at : at + HEAD].tolist()
        projected = np.float32(0.0)
        for term in range(at + HEAD, at + HEAD + 2 * size, 2):
            projected += packed.floats[term + 1] * x[packed.words[term]]
        child = left if projected <= packed.floats[at + 2] else right
        at = child if child < 0 else at + child
    return -1 - at


def records(packed: Packed, at: int) -> list[int]:
    """Where the records of the tree begin whose first begins at `at`."""
    if at < 0:
        return []
    below = [at + child for child in packed.words[at : at + 2].tolist() if child >= 0]
    return [at, *(place for child in below for place in records(packed, child))]
