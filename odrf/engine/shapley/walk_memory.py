"""Memory of the walks that Shapley values are computed from."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["MOST_PLAYERS", "WalkMemory", "walk_memory"]

# Coalitions are bits of a word.
MOST_PLAYERS = 64


class WalkMemory(NamedTuple):
    """Arrays that walks write to.

    Attributes
    ----------
    number : (P,) int64
        The number of each term among the players of a walk; -1 where it is none.
    player : (P,) int64
        The terms that are players.
    read : (P,) int64
        The last node that had the term undecided.
    change, met : (P,) float64 and int64
        By how much terms that are undecided at a node change its projection; which terms these are.
    clock : (1,) int64
        Counts the nodes that are read.
    waiting : (P + 66,) int64
        Nodes that wait, in a stack.
    ins, outs : (P + 66,) uint64
        Which players are in the coalitions that wait there, and which are not; of an order its
        first and last prefix.
    leaf : (L,) int64
        Leaves that were reached: by a box of coalitions, or by a run of prefixes.  There is room
        for boxes, and for the runs of one order behind them.
    inside, outside : (L,) uint64
        The players in every coalition of the box, and those in none; of a run its first and last
        prefix.
    order, rank : (P,) int64
        The terms in a random order; the place of each term in it.
    state : (4,) uint64
        A stream of random numbers.
    share, total, square : (P, K) float64
        What terms get from one order, from all orders, and the sum of its squares.
    """

    number: NDArray[np.int64]
    player: NDArray[np.int64]
    read: NDArray[np.int64]
    change: NDArray[np.float64]
    met: NDArray[np.int64]
    clock: NDArray[np.int64]
    waiting: NDArray[np.int64]
    ins: NDArray[np.uint64]
    outs: NDArray[np.uint64]
    leaf: NDArray[np.int64]
    inside: NDArray[np.uint64]
    outside: NDArray[np.uint64]
    order: NDArray[np.int64]
    rank: NDArray[np.int64]
    state: NDArray[np.uint64]
    share: NDArray[np.float64]
    total: NDArray[np.float64]
    square: NDArray[np.float64]


def walk_memory(P: int, K: int, most_boxes: int) -> WalkMemory:
    """Return the memory for P terms, K outputs and boxes up to so many in a tree."""
    room, leaves = P + MOST_PLAYERS + 2, most_boxes + P + 2
    whole, words = np.int64, np.uint64
    return WalkMemory(
        np.full(P, -1, dtype=whole),
        np.empty(P, dtype=whole),
        np.zeros(P, dtype=whole),
        np.empty(P),
        np.empty(P, dtype=whole),
        np.zeros(1, dtype=whole),
        np.empty(room, dtype=whole),
        np.empty(room, dtype=words),
        np.empty(room, dtype=words),
        np.empty(leaves, dtype=whole),
        np.empty(leaves, dtype=words),
        np.empty(leaves, dtype=words),
        np.empty(P, dtype=whole),
        np.empty(P, dtype=whole),
        np.empty(4, dtype=words),
        np.empty((P, K)),
        np.empty((P, K)),
        np.empty((P, K)),
    )
