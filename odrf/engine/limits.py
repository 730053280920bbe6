"""How many rows, nodes and levels can be numbered: more are refused, not counted wrongly."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from odrf.errors import InputError

__all__ = ["MOST_LEVELS", "MOST_PLACES", "MOST_ROWS", "in_fewer_bits", "require_numbers"]

# Bins of a node count its rows in 28 bits.
MOST_ROWS = 2**28 - 1
# Nodes of a forest, and distances in the records of a tree, have 31 bits and a sign.
MOST_PLACES = 2**31 - 1
# Levels are codes in float32.
MOST_LEVELS = 2**24


def require_numbers(n: int, most: int, what: str, instead: str) -> None:
    """Raise `InputError` if `what` are more than can be numbered; it says what to do instead."""
    if n > most:
        raise InputError(f"{n} {what} are more than {most}, which can be numbered: {instead}")


def in_fewer_bits(numbers: NDArray[np.integer]) -> NDArray[np.integer]:
    """Return numbers from -1 on in 32 bits if these suffice."""
    if numbers.dtype == np.int32 or (numbers.size and numbers.max() > MOST_PLACES):
        return numbers
    return numbers.astype(np.int32)
