"""Linear algebra in one thread."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from threading import Lock
from typing import Any

from threadpoolctl import ThreadpoolController

__all__ = ["one_thread"]


@contextmanager
def one_thread() -> Iterator[None]:
    """Compute products of matrices in one thread: their last bits depend on the number of threads.

    So a fit has the same bits whatever the settings of a machine or of a pool of workers are.  Also
    a decorator: ``@one_thread()``.
    """
    limit = _limit()
    limit.enter()
    try:
        yield
    finally:
        limit.leave()


class _Limit:
    """One thread for the libraries as long as any thread of Python needs it.

    Libraries have one setting for the whole process.  If each thread set back what it had found,
    the first to end would take the limit from the others, and the last would leave it for ever.
    """

    def __init__(self) -> None:
        self._libraries = ThreadpoolController()
        self._lock, self._within = Lock(), 0
        self._before: Any = None

    def enter(self) -> None:
        """Set the limit; note what was set before the first who needs it."""
        with self._lock:
            limited = self._libraries.limit(limits=1, user_api="blas")
            if self._within == 0:
                self._before = limited
            self._within += 1

    def leave(self) -> None:
        """Set back what was there, if nobody needs the limit any more."""
        with self._lock:
            self._within -= 1
            if self._within == 0:
                self._before.restore_original_limits()


@cache
def _limit() -> _Limit:
    return _Limit()
