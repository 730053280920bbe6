"""Whether trees like those grown so far will all fit into memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from odrf.engine.memory import is_available, require_memory, times_available

__all__ = ["require_memory_for_all", "within_memory"]

# The first trees may be up to twice as large as the others.
FIRST, LARGER = 4, 2
# What is said to fit leaves a little room.
SURE = 0.95


class _Stored(Protocol):
    @property
    def nbytes(self) -> int: ...

    @property
    def left(self) -> NDArray[np.integer]: ...


Tree = TypeVar("Tree", bound=_Stored)


def within_memory(trees: Iterable[Tree], n_trees: int) -> Iterator[Tree]:
    """Yield trees until those so far show that memory does not suffice for all `n_trees`."""
    size = nodes = 0
    for number, tree in enumerate(trees, 1):
        size, nodes = size + tree.nbytes, nodes + len(tree.left)
        if number.bit_count() == 1:  # 1, 2, 4, 8, … trees
            require_memory_for_all(size, number, n_trees, nodes)
        yield tree


def require_memory_for_all(
    size: int, number: int, n_trees: int, nodes: int = 0, what: str = "the first"
) -> None:
    """Raise `MemoryError` if trees like those so far do not fit; it says which would.

    Parameters
    ----------
    size, number : int
        The bytes of the trees so far, and how many they are.
    n_trees : int
        How many there are to be.
    nodes : int, optional
        The nodes of the trees so far, if it is known.
    what : str
        Which trees so far were taken as an example.
    """
    of_tree = size / number
    rest = of_tree * (n_trees - number)
    needed = rest / LARGER if number < FIRST else rest
    if is_available(needed):
        return
    share = min(1.0, max(1e-9, SURE * times_available(of_tree * n_trees)))
    fewer = max(1, min(n_trees - 1, number + int(SURE * times_available(of_tree))))
    leaves = f"{max(2, int(share * (nodes / number + 1) / 2))}" if nodes else ""
    require_memory(
        needed,
        f"{n_trees} trees like {what}",
        f"use fewer trees (n_trees={fewer}), fewer leaves (max_leaves={leaves}), "
        f"larger ones (min_leaf= about {1 / share:.1f} times as large), or fewer rows "
        f"for each tree (sample_fraction= times {share:.2g})",
    )
