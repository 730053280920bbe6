"""Growing the trees of a forest on rows in memory: in threads, or in other processes.

A tree follows from its stream and the rows: it is the same wherever it grows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from odrf.engine.parallel import in_order
from odrf.engine.trees.forest_arrays import Forest

__all__ = [
    "GroupsElsewhere",
    "Grower",
    "TreeTask",
    "groups_for_threads",
    "groups_of_tasks",
    "growing_elsewhere",
    "grown_together",
    "trees_in_order",
]

Grower: TypeAlias = "Callable[[NDArray[np.uint64]], Forest]"
# A tree: the number of its grower, and its random stream (4,).
TreeTask: TypeAlias = "tuple[int, NDArray[np.uint64]]"

# Numbers that a thread reads for trees that it grows one after the other: some milliseconds.
TOGETHER = 2**17
# Groups that each thread or worker takes one after the other, if there are trees enough.
GROUPS = 4


class GroupsElsewhere(Protocol):
    """Where groups of trees are grown that are not grown in threads of this process."""

    def __call__(
        self, growers: Sequence[Grower], tasks: Sequence[TreeTask]
    ) -> Iterator[list[Forest]]:
        """Yield the trees of all tasks, in their order, some after the other."""


_elsewhere: ContextVar[GroupsElsewhere | None] = ContextVar("where trees grow", default=None)


@contextmanager
def growing_elsewhere(place: GroupsElsewhere | None) -> Iterator[None]:
    """Within this context, grow the trees of forests at a place; None: in threads."""
    token = _elsewhere.set(place)
    try:
        yield
    finally:
        _elsewhere.reset(token)


def trees_in_order(
    growers: Sequence[Grower], tasks: Sequence[TreeTask], n_jobs: int, size: int
) -> Iterator[Forest]:
    """Yield the trees of all tasks, in their order.

    Parameters
    ----------
    growers : sequence of callable
        Each returns the tree of a stream.  They can be pickled.
    tasks : sequence of (int, (4,) uint64)
        Which of the growers a tree needs, and its stream.
    n_jobs : int
        Threads, if trees grow in threads.
    size : int
        As in `odrf.engine.parallel.in_order`.
    """
    place = _elsewhere.get()
    if place is None:
        groups = groups_for_threads(tasks, n_jobs, size)
        for trees in in_order(lambda group: grown_together(growers, group), groups, n_jobs, size):
            yield from trees
        return
    for trees in place(growers, tasks):
        yield from trees


def grown_together(growers: Sequence[Grower], tasks: Sequence[TreeTask]) -> list[Forest]:
    """Return the trees of some tasks: what a thread or another process does at once."""
    return [growers[g](stream) for g, stream in tasks]


def groups_for_threads(
    tasks: Sequence[TreeTask], n_jobs: int, size: int
) -> list[Sequence[TreeTask]]:
    """Cut tasks into groups of consecutive ones, for threads that read `size` numbers for a tree.

    A small tree takes hardly longer to grow than to hand over to another thread, which has to wake
    up.  The last groups are single trees, so that all threads end at about the same time.
    """
    most = max(1, TOGETHER // max(size, 1)) if n_jobs > 1 else 1
    groups, begin = [], 0
    while begin < len(tasks):
        end = begin + max(1, min(most, (len(tasks) - begin) // (GROUPS * n_jobs)))
        groups.append(tasks[begin:end])
        begin = end
    return groups


def groups_of_tasks(tasks: Sequence[Any], n_workers: int) -> list[Sequence[Any]]:
    """Cut tasks into groups of consecutive ones, `GROUPS` for each worker if there are so many.

    Then what is the same for all tasks is sent seldom, and no worker waits long for another one.
    """
    size = max(1, -(-len(tasks) // (GROUPS * max(1, n_workers))))
    return [tasks[lo : lo + size] for lo in range(0, len(tasks), size)]
