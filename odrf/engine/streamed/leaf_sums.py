"""Sums of responses over the rows that reach each leaf and were not drawn by its tree.

They are sums of whole numbers, which are the same in any order: so parts of them can be added up
anywhere.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from odrf.engine.compiling import kernel

__all__ = ["LeafScale", "add_to_leaves", "leaf_scale", "sums_in_units"]

# No sum is larger: one bit below that of the sign is left free.
MOST_BITS = 61


class LeafScale(NamedTuple):
    """What the whole numbers stand for.

    Attributes
    ----------
    centre : float
        What is subtracted from responses; 0 for classes.
    response, weight : float
        By what weighted responses, and weights, are multiplied before they are rounded.
    """

    centre: float
    response: float
    weight: float


def leaf_scale(n: int, span: tuple[float, float], heaviest: float, classes: bool) -> LeafScale:
    """Return the scale for the sums of at most n rows.

    A number is rounded by less than 2⁻⁶⁰ n times the largest one.

    Parameters
    ----------
    n : int
        Rows.
    span : (float, float)
        The smallest and the largest response.
    heaviest : float
        No row has a larger weight.
    classes : bool
        Whether responses are class codes, whose weights are summed.
    """
    low, high = span
    centre = 0.0 if classes else low + (high - low) / 2
    widest = heaviest * max(high - centre, centre - low)
    weight = _power(n, heaviest)
    return LeafScale(centre, weight if classes else _power(n, widest), weight)


def _power(n: int, largest: float) -> float:
    """Return the power of two by which n numbers up to the largest may be multiplied."""
    if largest == 0:
        return 1.0
    bits = MOST_BITS - n.bit_length() - math.frexp(largest)[1]
    return math.ldexp(1.0, min(bits, 1000))


@kernel
def add_to_leaves(leaves, unseen, begin, y, weights, classes, scale, sums):
    """Add rows to the sums (nodes, K + 1) of the leaves that they reach, whole numbers of `scale`.

    leaves (B, m) are those of the rows from `begin` on, valid where unseen (B, n) is true.  The
    first K sums of a leaf are those of weights times centred responses, or of the weights of each
    class if `classes`; the last one is that of the weights.
    """
    last = sums.shape[1] - 1
    for i in range(leaves.shape[1]):
        row = begin + i
        of_weight = np.int64(np.rint(weights[row] * scale.weight))
        k, of_response = 0, of_weight
        if classes:
            k = int(y[row])
        else:
            centred = weights[row] * (y[row] - scale.centre)
            of_response = np.int64(np.rint(centred * scale.response))
        for b in range(leaves.shape[0]):
            if unseen[b, row]:
                leaf = leaves[b, i]
                sums[leaf, k] += of_response
                sums[leaf, last] += of_weight


def sums_in_units(sums: NDArray[np.int64], scale: LeafScale) -> NDArray[np.float64]:
    """Return the sums (nodes, K + 1) as numbers, of centred responses."""
    found: NDArray[np.float64] = sums.astype(np.float64)
    found[:, :-1] /= scale.response
    found[:, -1] /= scale.weight
    return found
