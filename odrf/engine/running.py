"""Kernels in threads, how many cores there are, and linear algebra in one thread.

Python handles an interrupt by Ctrl-C between two of its own steps in the main thread.  A kernel in
that thread would delay it to the kernel's end.  So the main thread only waits while other threads
work; if it is interrupted, it does not wait for them.  They stop at the next `end_if_stopped`.

It waits for a queue that is written in C.  Locks and conditions that are written in Python can be
interrupted between two of their steps: they then stay locked for ever, or raise another error.
"""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar, copy_context
from functools import cache, partial
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Lock
from typing import Any, Generic, NamedTuple, TypeAlias, TypeVar

from threadpoolctl import ThreadpoolController

from odrf.engine.memory import group_folders

# Run kernels, which release the interpreter lock, in threads that stop when nobody waits for them.

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
    finished, pool = False, _ThreadPool(function, max(1, workers))
    results: _Results[Result] = _Results(pool.ended)
    ahead = AHEAD * pool.size
    try:
        pool.start()
        for number, task in enumerate(tasks):
            pool.submit(number, task)
            if number + 1 >= ahead:
                yield results.wait_for(number + 1 - ahead)
        for number in range(max(0, len(tasks) - ahead + 1), len(tasks)):
            yield results.wait_for(number)
        finished = True
    finally:
        pool.close(finished)


def interruptibly(function: Callable[[], Result]) -> Result:
    """Return ``function()``, done by a thread: if the main thread is interrupted, it goes on."""
    (result,) = in_order(lambda _: function(), [None], 1, LARGE + 1)
    return result


def with_all_that_follow(
    function: Callable[[Task], tuple[Result, Sequence[Task]]], first: Task, n_jobs: int
) -> Iterator[Result]:
    """Yield the results of the first task, and of all tasks that follow from it, in any order.

    `function` returns the result of a task and the tasks that follow from it, for `n_jobs` threads.
    """
    if n_jobs <= 1:
        left = [first]
        while left:
            end_if_stopped()
            result, following = function(left.pop())
            left += following
            yield result
        return
    finished, pool, unfinished = False, _ThreadPool(function, n_jobs), 1
    try:
        pool.start()
        pool.submit(0, first)
        while unfinished > 0:
            end = _any_end(pool.ended)
            if end is not None:
                result, following = end.known()
                for task in following:
                    pool.submit(0, task)
                unfinished += len(following) - 1
                yield result
        finished = True
    finally:
        pool.close(finished)


_Waiting: TypeAlias = "SimpleQueue[Callable[[], object] | None]"


def _started(waiting: _Waiting) -> threading.Thread:
    """Return a new thread, which does what waits until it is told None.

    The process does not wait for it at its end: an interrupt during its start may leave it locked,
    and may come as an error of a lock.
    """
    thread = threading.Thread(target=_do_all, name="odrf worker", args=(waiting,), daemon=True)
    try:
        thread.start()
    except RuntimeError as error:
        if isinstance(error.__context__, KeyboardInterrupt):
            raise KeyboardInterrupt from error
        raise
    return thread


def _do_all(waiting: _Waiting) -> None:
    while (work := waiting.get()) is not None:
        work()


class _End(NamedTuple):
    """How a task has ended."""

    number: int
    result: Any
    error: BaseException | None

    def known(self) -> Any:
        """Return the result of the task, or raise what it raised."""
        if self.error is not None:
            raise self.error
        return self.result


def _any_end(ended: SimpleQueue[_End]) -> _End | None:
    """Return how the next task has ended; None if none has for a while."""
    with suppress(Empty):
        return ended.get(timeout=PATIENCE)
    return None


class _ThreadPool:
    """Threads that do tasks by a function, and tell how each has ended.

    `function`: what is done with a task.  `size`: how many threads.  `ended`: how tasks have ended.
    """

    def __init__(self, function: Callable[[Any], Any], size: int) -> None:
        self.function, self.size = function, size
        self.ended: SimpleQueue[_End] = SimpleQueue()
        self._stop = _Stop(_current.get())
        self._waiting: _Waiting = SimpleQueue()
        self._threads: list[threading.Thread] = []

    def start(self) -> None:
        """Start the threads."""
        for _ in range(self.size):
            self._threads.append(_started(self._waiting))

    def submit(self, number: int, task: Any) -> None:
        """Have a thread do a task."""
        self._waiting.put(partial(copy_context().run, self._run, number, task))

    def close(self, finished: bool) -> None:
        """End the threads; wait for them if all tasks are finished."""
        self._stop.here = True
        for _ in range(self.size):
            self._waiting.put(None)
        if finished:
            for thread in self._threads:
                thread.join()

    def _run(self, number: int, task: Any) -> None:
        _current.set(self._stop)
        try:
            end_if_stopped()
            self.ended.put(_End(number, self.function(task), None))
        except BaseException as error:  # it is raised where the result is awaited
            self.ended.put(_End(number, None, error))


class _Results(Generic[Result]):
    """The results of tasks, which end in any order."""

    def __init__(self, ended: SimpleQueue[_End]) -> None:
        self._ended = ended
        self._early: dict[int, _End] = {}

    def wait_for(self, number: int) -> Result:
        """Return the result of a task; raise what it raised."""
        while number not in self._early:
            end = _any_end(self._ended)
            if end is not None:
                self._early[end.number] = end
        result: Result = self._early.pop(number).known()
        return result


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


# How many cores the process may use, and how many threads it is to use by default.

# The variable by which users, batch systems, joblib and Dask tell libraries how many threads to use
THREADS_VARIABLE = "OMP_NUM_THREADS"


def available_cores(root: Path = Path("/")) -> int:
    """Return how many cores this process may use, by its binding and its control groups."""
    if hasattr(os, "sched_getaffinity"):
        bound = len(os.sched_getaffinity(0))
    else:
        bound = os.cpu_count() or 1
    return max(1, min(bound, *map(math.ceil, _quotas(root)), bound))


def usual_threads(root: Path = Path("/")) -> int:
    """Return the number of threads by default: the cores, or fewer by ``OMP_NUM_THREADS``.

    A list, such as ``4,2``, has the threads of nested loops; the first number counts.  Words that
    are no number of threads are ignored.
    """
    cores = available_cores(root)
    wanted = os.environ.get(THREADS_VARIABLE, "").split(",")[0].strip()
    return min(cores, int(wanted)) if wanted.isdecimal() and int(wanted) > 0 else cores


def _quotas(root: Path) -> Iterator[float]:
    """Yield the processor time in each unit of time that the control groups allow, in cores."""
    for group in group_folders("", root):
        with suppress(OSError, ValueError):  # no such group here, or no limit: "max"
            allowed, period = (group / "cpu.max").read_text().split()
            yield int(allowed) / int(period)
    for group in group_folders("cpu", root):
        with suppress(OSError, ValueError):
            allowed = (group / "cpu.cfs_quota_us").read_text()
            if int(allowed) > 0:  # -1 stands for no limit
                yield int(allowed) / int((group / "cpu.cfs_period_us").read_text())


# Linear algebra in one thread.


@contextmanager
def one_thread() -> Iterator[None]:
    """Compute products of matrices in one thread: their last bits depend on the number of threads.

    So a fit has the same bits whatever the settings of a machine or of a pool of workers are.  Also
    a decorator: ``@one_thread()``.
    """
    limit = _limit()
    with limit.lock:
        before = limit.libraries.limit(limits=1, user_api="blas")
        if limit.within == 0:
            limit.before = before
        limit.within += 1
    try:
        yield
    finally:
        with limit.lock:
            limit.within -= 1
            if limit.within == 0:
                limit.before.restore_original_limits()


class _Limit:
    """How many threads of Python need the limit, and what was set `before` the first of them.

    Libraries have one setting for the whole process.  If each thread set back what it had found,
    the first to end would take the limit from the others, and the last would leave it for ever.
    """

    def __init__(self) -> None:
        self.libraries, self.lock = ThreadpoolController(), Lock()
        self.within = 0
        self.before: Any = None


@cache
def _limit() -> _Limit:
    return _Limit()
