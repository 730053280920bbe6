"""Progress bars that Ctrl-C and threads cannot lock: tqdm's, with a lock of their own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from threading import RLock
from typing import Any

from tqdm import tqdm


class ProgressBar(tqdm):  # type: ignore[misc]
    """A bar of tqdm that leaves its lock free whatever happens while it is drawn.

    tqdm draws between `acquire` and `release`: an interruption there keeps the lock for ever, and
    with it every later bar of another thread.  Its monitor, a thread that redraws slow bars, would
    wait for the lock too; each step looks at the clock instead.
    """

    monitor_interval = 0
    _lock = RLock()

    def display(self, msg: str | None = None, pos: int | None = None) -> Any:
        """Write the bar; that nobody reads it, or that stderr is closed, does not end the work."""
        with suppress(OSError, ValueError):
            return super().display(msg, pos)

    def close(self) -> None:
        """Leave the bar as it is."""
        if not hasattr(self, "start_t"):  # an interruption ended it while it was made
            return
        with suppress(OSError, ValueError):
            super().close()

    def refresh(self, nolock: bool = False, lock_args: Any = None) -> bool:
        """Draw the bar."""
        with self._lock:
            self.display()
        return True


class NoBar:
    """The silent bar: it counts, shows nothing, and needs no lock."""

    def __init__(self, steps: Iterable[Any] | None, total: int | None, initial: int) -> None:
        self.steps = () if steps is None else steps
        self.total = total
        self.n = initial

    def __iter__(self) -> Iterator[Any]:
        return iter(self.steps)

    def __enter__(self) -> NoBar:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def update(self, n: int = 1) -> None:
        """Count `n` more."""
        self.n += n

    def refresh(self) -> None:
        """Show nothing."""

    def set_postfix_str(self, s: str) -> None:
        """Show nothing."""


def progress_bar(
    steps: Iterable[Any] | None = None,
    *,
    progress: bool,
    unit: str,
    total: int | None = None,
    initial: int = 0,
    **drawing: Any,
) -> Any:
    """Return a bar over `steps`, or one of `total` units that its `update` counts.

    Without `progress` it is silent.  `drawing` are other options of tqdm.
    """
    if not progress:
        return NoBar(steps, total, initial)
    return ProgressBar(steps, unit=unit, total=total, initial=initial, miniters=1, **drawing)
