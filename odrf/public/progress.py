"""Progress bars that Ctrl-C and threads cannot lock: tqdm's, with a lock of their own."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import cache
from threading import RLock
from typing import Any


@cache
def kind_of_bar() -> Any:
    """Return the class of bars: of text, or in a notebook a widget.

    It is made for the first bar, because tqdm takes time to import what both need.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # in a notebook without widgets text will do
        from tqdm.auto import tqdm  # noqa: PLC0415

    class ProgressBar(tqdm):  # type: ignore[misc]
        """A bar of tqdm that leaves its lock free whatever happens while it is drawn.

        tqdm draws between `acquire` and `release`: an interruption there keeps the lock for ever,
        and with it every later bar of another thread.  Its monitor, a thread that redraws slow
        bars, would wait for the lock too; each step looks at the clock instead.
        """

        monitor_interval = 0
        _lock = RLock()

        def display(self, *args: Any, **drawing: Any) -> Any:
            """Write the bar; that nobody reads it, or stderr is closed, does not end the work."""
            with suppress(OSError, ValueError):
                return super().display(*args, **drawing)

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

    return ProgressBar


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
    desc: str | None = None,
    **drawing: Any,
) -> Any:
    """Return a bar over `steps`, or one of `total` units that its `update` counts.

    Before it stands what is counted: `desc`, by default "trees" for the `unit` "tree".
    Without `progress` it is silent.  `drawing` are other options of tqdm.
    """
    if not progress:
        return NoBar(steps, total, initial)
    words = f"{unit}s" if desc is None else desc
    return kind_of_bar()(
        steps, desc=words, unit=unit, total=total, initial=initial, miniters=1, **drawing
    )
