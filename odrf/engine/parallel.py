"""Run kernels, which release the interpreter lock, in threads that stop when nobody waits for them.

Python handles an interrupt by Ctrl-C between two of its own steps in the main thread.  A kernel in
that thread would delay it to the kernel's end.  So the main thread only waits while other threads
work; if it is interrupted, it does not wait for them.  They stop at the next `end_if_stopped`.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextvars import ContextVar, copy_context
from typing import TypeVar

__all__ = ["Stopped", "available_cores", "end_if_stopped", "in_blocks", "in_order", "row_blocks"]

Task = TypeVar("Task")
Result = TypeVar("Result")
ROWS_PER_BLOCK = 4096
# A task that reads so many numbers again and again may take longer than a tenth of a second.
LARGE = 2**20
# So many tasks for each thread are handed out at once: if nobody waits any more, no others begin.
AHEAD = 16
# Where a wait without a limit cannot be interrupted (Windows), the interrupt is seen after seconds:
PATIENCE = 0.2


class Stopped(BaseException):
    """Raised in a thread that nobody waits for any more."""


class _Stop:
    """Whether the tasks of a call of `in_order` are to stop, or those of a call around it."""

    def __init__(self, outer: _Stop | None) -> None:
        self.outer, self.here = outer, False

    def is_set(self) -> bool:
        return self.here or (self.outer is not None and self.outer.is_set())


_current: ContextVar[_Stop | None] = ContextVar("stop", default=None)


def end_if_stopped() -> None:
    """Raise `Stopped` in a thread that nobody waits for any more."""
    stop = _current.get()
    if stop is not None and stop.is_set():
        raise Stopped


def available_cores() -> int:
    """Return the number of cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def in_order(
    function: Callable[[Task], Result], tasks: Iterable[Task], n_jobs: int, size: int = 0
) -> Iterator[Result]:
    """Yield ``function(task)`` for every task, in the tasks' order, from `n_jobs` threads.

    With one thread or one task the calling thread does the work, unless it is the main thread and
    `size`, how many numbers a task reads, is large.  If the caller ends early, or is interrupted,
    it does not wait for tasks that have begun.
    """
    tasks = list(tasks)
    workers = min(n_jobs, len(tasks))
    main = threading.current_thread() is threading.main_thread()
    if workers <= 1 and not (main and size > LARGE):
        for task in tasks:
            end_if_stopped()
            yield function(task)
        return
    stop, finished = _Stop(_current.get()), False

    def run(task: Task) -> Result:
        _current.set(stop)
        end_if_stopped()
        return function(task)

    pool = ThreadPoolExecutor(max(1, workers))
    try:
        waiting: deque[Future[Result]] = deque()
        for task in tasks:
            waiting.append(pool.submit(copy_context().run, run, task))
            if len(waiting) >= AHEAD * workers:
                yield _result(waiting.popleft())
        while waiting:
            yield _result(waiting.popleft())
        finished = True
    finally:
        stop.here = True
        pool.shutdown(wait=finished, cancel_futures=True)


def _result(future: Future[Result]) -> Result:
    while not future.done():
        wait([future], PATIENCE)
    return future.result()


def in_blocks(
    function: Callable[[slice], Result],
    blocks: Iterable[slice],
    n_jobs: int,
    advance: Callable[[int], object] = lambda n: None,
) -> Iterator[Result]:
    """Yield the results for blocks of rows, in their order; tell `advance` the rows of each."""
    blocks = list(blocks)
    for block, result in zip(blocks, in_order(function, blocks, n_jobs), strict=True):
        yield result
        advance(block.stop - block.start)


def row_blocks(n: int, size: int = ROWS_PER_BLOCK) -> list[slice]:
    """Cut n rows into blocks of `size`.

    The size must not depend on the number of threads: then sums over blocks do not either.
    """
    return [slice(lo, min(lo + size, n)) for lo in range(0, n, size)]
