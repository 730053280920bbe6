"""Where trees grow: in threads, in processes of joblib, on the workers of Dask.

A tree follows from its stream and the rows: it is the same wherever it grows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from typing import Any, Generic, NamedTuple, Protocol, TypeAlias, TypeVar, cast
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from odrf.engine.running import in_order
from odrf.engine.trees.forest import Forest

# Growing the trees of a forest on rows in memory: in threads, or in other processes.

Grower: TypeAlias = "Callable[[NDArray[np.uint64]], Forest]"
# A tree: the number of its grower, and its random stream (4,).
TreeTask: TypeAlias = "tuple[int, NDArray[np.uint64]]"

# Numbers that a thread reads for trees that it grows one after the other: some milliseconds.
TOGETHER = 2**17
# Groups that each thread or worker takes one after the other, if there are trees enough.
GROUPS = 4


class Backend(Protocol):
    """Where groups of trees are grown that are not grown in threads of this process."""

    def __call__(
        self, growers: Sequence[Grower], tasks: Sequence[TreeTask]
    ) -> Iterator[list[Forest]]:
        """Yield the trees of all tasks, in their order, some after the other."""


_elsewhere: ContextVar[Backend | None] = ContextVar("where trees grow", default=None)


@contextmanager
def grown_by_backend(place: Backend | None) -> Iterator[None]:
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

    `growers`: can be pickled. `n_jobs`: threads, if trees grow in threads. `size`: see `in_order`.
    """
    place = _elsewhere.get()
    if place is None:
        groups = groups_for_threads(tasks, n_jobs, size)
        for trees in in_order(partial(grow_group, growers), groups, n_jobs, size):
            yield from trees
        return
    for trees in place(growers, tasks):
        yield from trees


def grow_group(growers: Sequence[Grower], tasks: Sequence[TreeTask]) -> list[Forest]:
    """Return the trees of some tasks: what a thread or another process does at once."""
    trees = []
    for g, stream in tasks:
        trees.append(growers[g](stream))
    return trees


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


# Trees of rows in memory, grown in processes that joblib starts or knows of.


class JoblibTrees(NamedTuple):
    """Grows trees by `joblib.Parallel`, with the backend that `joblib.parallel_config` names.

    `n_jobs`: processes; None: as many as `joblib.parallel_config` says, or as there are cores.
    """

    joblib: Any
    n_jobs: int | None

    def __call__(
        self, growers: Sequence[Grower], tasks: Sequence[TreeTask]
    ) -> Iterator[list[Forest]]:
        """Yield the trees of all tasks, in their order, some after the other."""
        backend, configured = self.joblib.parallel.get_active_backend()
        n_jobs = self.n_jobs or (-1 if configured is None else configured)
        as_they_come = getattr(backend, "supports_return_generator", False)
        parallel = self.joblib.Parallel(
            n_jobs=n_jobs,
            return_as="generator" if as_they_come else "list",
            mmap_mode="c",  # copied on write: kernels are not compiled for arrays to be read only
        )
        groups = groups_of_tasks(tasks, self.joblib.effective_n_jobs(n_jobs))
        grow = self.joblib.delayed(grow_group)
        yield from parallel(grow(growers, group) for group in groups)


# Dask does again what a lost worker has computed, but it cannot know what this process had sent to
# that worker.  Then the tasks that are left are submitted anew.

Result = TypeVar("Result")

# So many times tasks are submitted anew before the cluster is given up.
ATTEMPTS = 5


def prefixed(what: str) -> str:
    """Return a name for the keys of tasks, as which the dashboard shows `what`."""
    return f"{what}-{uuid4().hex}"


def scattered(client: Any, value: Any) -> Any:
    """Return the future of a value that is copied to all workers that there are now.

    Raises `RuntimeError`: the cluster has no worker.
    """
    import asyncio  # noqa: PLC0415 - Dask has loaded it

    try:
        with _scheduler_of(client):
            return client.scatter([value], broadcast=True, hash=False)[0]
    except asyncio.TimeoutError as error:  # another error than TimeoutError in Python 3.10
        raise RuntimeError(
            "the cluster of Dask has no worker: start one, or wait for it with "
            "client.wait_for_workers(1)"
        ) from error


def computed_by_workers(client: Any, graph: dict[Any, Any], keys: Sequence[Any]) -> Sequence[Any]:
    """Submit the tasks of a graph of Dask that are needed for the keys; return their futures.

    Raises `ConnectionError`: the scheduler is lost.
    """
    with _scheduler_of(client):
        return cast("Sequence[Any]", client.get(graph, list(keys), sync=False))


@contextmanager
def _scheduler_of(client: Any) -> Iterator[None]:
    """Raise `ConnectionError` within this context if the scheduler is lost."""
    try:
        yield
    except Exception as error:
        if client.status == "running" and type(error).__name__ != "CommClosedError":
            raise
        raise ConnectionError(
            "the scheduler of the Dask cluster was lost, and with it all that its workers had "
            "computed: start a new cluster and a new Client, and fit again"
        ) from error


class TasksOnWorkers(Generic[Result]):
    """Tasks that were submitted, and their results.

    `submit`: submits the tasks of these numbers, and returns their futures in this order.  `n`:
    how many tasks there are: all are submitted at once.
    """

    def __init__(
        self, client: Any, submit: Callable[[Sequence[int]], Sequence[Any]], n: int
    ) -> None:
        self._client, self._submit = client, submit
        self._left: dict[int, Any] = {}
        self._submit_all(range(n))

    def results(self) -> Iterator[Result]:
        """Yield the results in the order of the tasks; each once.

        If the caller ends early, the tasks that are left are cancelled. Raises `ConnectionError`:
        the scheduler is lost. Raises `RuntimeError`: workers died again and again.
        """
        try:
            for number in list(self._left):
                yield self._result(number)
        finally:
            self.cancel()

    def cancel(self) -> None:
        """Cancel the tasks whose results nobody waits for."""
        left = list(self._left.values())
        self._left = {}
        if left and self._client.status == "running":
            self._client.cancel(left, force=True)

    def _submit_all(self, numbers: Sequence[int]) -> None:
        self._left = dict(zip(numbers, self._submit(numbers), strict=True))

    def _result(self, number: int) -> Result:
        for _ in range(ATTEMPTS):
            try:
                with _scheduler_of(self._client):
                    result: Result = self._left[number].result()
            except CancelledError:
                self._submit_all(list(self._left))
            except Exception as error:
                if type(error).__name__ == "KilledWorker":
                    raise RuntimeError(_died(error)) from error
                raise
            else:
                del self._left[number]
                return result
        raise RuntimeError(_died("what was sent to the workers was lost again and again"))


def _died(what: object) -> str:
    return (
        f"workers of the Dask cluster died, mostly for want of memory ({what}): give them more, or "
        "use a smaller sample_fraction=, Chunks(frame, memory=), or partitions of fewer rows"
    )


# Trees of rows in memory, grown on the workers of a cluster of Dask.


class DaskTrees(NamedTuple):
    """Grows trees on the workers of a client, to all of which the rows are sent."""

    client: Any

    def __call__(
        self, growers: Sequence[Grower], tasks: Sequence[TreeTask]
    ) -> Iterator[list[Forest]]:
        """Yield the trees of all tasks, in their order, some after the other."""
        groups = groups_of_tasks(tasks, sum(self.client.nthreads().values()))

        def submit(numbers: Sequence[int]) -> Sequence[Any]:
            sent, name = scattered(self.client, growers), prefixed("grow trees")
            graph = {(name, i): (partial(grow_group, tasks=groups[i]), sent) for i in numbers}
            return computed_by_workers(self.client, graph, [(name, i) for i in numbers])

        yield from TasksOnWorkers[list[Forest]](self.client, submit, len(groups)).results()
