"""Run kernels, which release the interpreter lock, in several threads."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

__all__ = ["available_cores", "in_order", "row_blocks"]

Task = TypeVar("Task")
Result = TypeVar("Result")
ROWS_PER_BLOCK = 4096


def available_cores() -> int:
    """Return the number of cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def in_order(
    function: Callable[[Task], Result], tasks: Iterable[Task], n_jobs: int
) -> Iterator[Result]:
    """Yield ``function(task)`` for every task, in the tasks' order, from `n_jobs` threads."""
    tasks = list(tasks)
    if min(n_jobs, len(tasks)) <= 1:
        yield from map(function, tasks)
        return
    with ThreadPoolExecutor(n_jobs) as pool:
        yield from pool.map(function, tasks)


def row_blocks(n: int, size: int = ROWS_PER_BLOCK) -> list[slice]:
    """Cut n rows into blocks of `size`.

    The size must not depend on the number of threads: then sums over blocks do not either.
    """
    return [slice(lo, min(lo + size, n)) for lo in range(0, n, size)]
