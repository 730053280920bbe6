"""Splits that few responses cannot decide, and directions within three columns."""

from __future__ import annotations

import math
from collections.abc import Callable
from types import FunctionType
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
from numba import njit
from numpy.typing import NDArray

from odrf.engine.compiling import OPTIONS
from odrf.engine.growth import growing_on, tree_growth, tree_kernel
from odrf.engine.trees.forest_arrays import PLAIN, Forest
from odrf.projections import below, uniform

__all__ = ["BOUND", "robust_forest", "within_three_columns"]

BOUND = 1.345
"""Responses count up to so many robust standard deviations off the median (Huber 1964)."""
OF_NORMAL = 1.4826
"""The standard deviation of a normal distribution, for a median absolute deviation of 1."""
THREE = 3


class Bounded(NamedTuple):
    """What a node's responses are drawn in from: those of all rows (n,), and the bound."""

    y: NDArray[np.float64]
    bound: float


@njit(**OPTIONS)
def select(y: NDArray[np.float64], lo: int, m: int, place: int) -> float:
    """Return the value at this place of the m sorted ones from `lo` on; their order changes."""
    first, last, place = lo, lo + m - 1, lo + place
    while first < last:
        pivot, i, j = y[(first + last) // 2], first, last
        while i <= j:
            while y[i] < pivot:
                i += 1
            while y[j] > pivot:
                j -= 1
            if i <= j:
                y[i], y[j] = y[j], y[i]
                i, j = i + 1, j - 1
        if place <= j:
            last = j
        elif place >= i:
            first = i
        else:
            break
    return y[place]


@njit(**OPTIONS)
def draw_in(state: Any, rows: Any, lo: int, m: int, given: Any, keys: Any, sums: Any) -> None:
    """Write to rows.y what Huber's psi makes of the responses of the m rows from `lo` on.

    If more than half of the responses are equal, all stay as they are.
    """
    for i in range(lo, lo + m):
        rows.y[i] = given.y[rows.at[i]]
    middle = select(rows.y, lo, m, m // 2)
    for i in range(lo, lo + m):
        rows.y[i] = abs(given.y[rows.at[i]] - middle)
    spread = OF_NORMAL * select(rows.y, lo, m, m // 2)
    most = given.bound * spread if spread > 0.0 else np.inf
    for i in range(lo, lo + m):
        rows.y[i] = min(max(given.y[rows.at[i]] - middle, -most), most)


def _with(function: Any, **others: Any) -> Any:
    """Return the Python function of a kernel that finds others by these names."""
    plain = function.py_func
    return FunctionType(plain.__code__, plain.__globals__ | others, plain.__name__)


_begin_leaf = njit(inline="always", **OPTIONS)(_with(tree_kernel.begin_leaf, score_node=draw_in))
_grow_tree = njit(**OPTIONS)(_with(tree_kernel.grow_tree, begin_leaf=_begin_leaf))


def robust_forest(bound: float = BOUND) -> Callable[..., Forest]:
    """Return what `grow_forest` is called like, and draws responses in before it searches a node.

    The leaves keep the means of the responses.
    """

    def grow(
        X: Any,
        y: NDArray[np.float64],
        weights: NDArray[np.float64],
        feature_groups: Any,
        sampling: Any,
        settings: Any,
        mixture: Any,
        streams: NDArray[np.uint64],
        n_jobs: int,
        advance: Callable[[], object],
    ) -> Forest:
        bounded: Any = Bounded(y, bound)  # growth hands it on to `draw_in`
        with patch.object(growing_on, "grow_tree", _grow_tree):
            trees = [
                tree_growth.grow_one(
                    *(X, y, weights, feature_groups, sampling, settings, mixture, stream.copy()),
                    copied=False,
                    splitting=y,
                    ranks=bounded,
                )
                for stream in streams
            ]
        return PLAIN.join(iter(trees), len(trees))

    return grow


@njit
def within_three_columns(X: Any, y: Any, weights: Any, rng: Any) -> tuple[Any, Any]:
    """Propose a row of a random rotation of three random columns."""
    p = X.shape[1]
    q = min(THREE, p)
    index, coef = np.empty(q, dtype=np.int64), np.empty(q)
    for i in range(q):
        index[i] = below(rng, p - i)
        for k in range(i):  # the others, in their order
            index[i] += index[i] >= np.sort(index[:i])[k]
        radius = math.sqrt(-2.0 * math.log(1.0 - uniform(rng)))
        coef[i] = radius * math.cos(2.0 * math.pi * uniform(rng))
    return index, coef
