"""Tasks on the workers of a cluster of Dask: handed out together, and done again if a worker dies.

Dask does again what a lost worker has computed, but it cannot know what this process had sent to
that worker.  Then the tasks that are left are handed out anew.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager
from typing import Any, Generic, TypeVar, cast
from uuid import uuid4

__all__ = ["TasksOnWorkers", "handed_out", "prefixed", "sent"]

Result = TypeVar("Result")

# So many times tasks are handed out anew before the cluster is given up.
ATTEMPTS = 5


def prefixed(what: str) -> str:
    """Return a name for the keys of tasks, as which the dashboard shows `what`."""
    return f"{what}-{uuid4().hex}"


def sent(client: Any, value: Any) -> Any:
    """Return the future of a value that is copied to all workers that there are now.

    Raises
    ------
    RuntimeError
        The cluster has no worker.
    """
    try:
        with _scheduler_of(client):
            return client.scatter([value], broadcast=True, hash=False)[0]
    except asyncio.TimeoutError as error:  # another error than TimeoutError in Python 3.10
        raise RuntimeError(
            "the cluster of Dask has no worker: start one, or wait for it with "
            "client.wait_for_workers(1)"
        ) from error


def handed_out(client: Any, graph: dict[Any, Any], keys: Sequence[Any]) -> Sequence[Any]:
    """Hand out the tasks of a graph of Dask that are needed for the keys; return their futures.

    Raises
    ------
    ConnectionError
        The scheduler is lost.
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
    """Tasks that were handed out, and their results.

    Parameters
    ----------
    client : distributed.Client
    hand_out : callable
        Hands out the tasks of these numbers, and returns their futures in this order.
    n : int
        How many tasks there are: all are handed out at once.
    """

    def __init__(
        self, client: Any, hand_out: Callable[[Sequence[int]], Sequence[Any]], n: int
    ) -> None:
        self._client, self._hand_out = client, hand_out
        self._left: dict[int, Any] = {}
        self._hand_out_all(range(n))

    def results(self) -> Iterator[Result]:
        """Yield the results in the order of the tasks; each once.

        If the caller ends early, or is interrupted, the tasks that are left are cancelled.

        Raises
        ------
        ConnectionError
            The scheduler is lost.
        RuntimeError
            Workers died again and again.
        Exception
            A task has raised it.
        """
        try:
            for number in list(self._left):
                yield self._result(number)
        finally:
            self.cancel()

    def cancel(self) -> None:
        """Cancel the tasks whose results were not asked for."""
        left = list(self._left.values())
        self._left = {}
        if left and self._client.status == "running":
            self._client.cancel(left, force=True)

    def _hand_out_all(self, numbers: Sequence[int]) -> None:
        self._left = dict(zip(numbers, self._hand_out(numbers), strict=True))

    def _result(self, number: int) -> Result:
        for _ in range(ATTEMPTS):
            try:
                with _scheduler_of(self._client):
                    found: Result = self._left[number].result()
            except CancelledError:
                self._hand_out_all(list(self._left))
            except Exception as error:
                if type(error).__name__ == "KilledWorker":
                    raise RuntimeError(_died(error)) from error
                raise
            else:
                del self._left[number]
                return found
        raise RuntimeError(_died("what was sent to the workers was lost again and again"))


def _died(what: object) -> str:
    return (
        f"workers of the Dask cluster died, mostly for want of memory ({what}): give them more, or "
        "use a smaller sample_fraction=, Chunks(frame, memory=), or partitions of fewer rows"
    )
