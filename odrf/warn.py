"""Warnings that point to the line of the user's code, and places where nothing warns."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from threading import RLock

__all__ = ["warn_user", "without_warnings"]

PACKAGE = __name__.partition(".")[0]
_one_at_a_time = RLock()


def warn_user(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn, and name the last line outside this package as the place.

    The number of functions between that line and the warning may then change freely.
    """
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and _is_ours(frame.f_globals.get("__name__", "")):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


@contextmanager
def without_warnings() -> Iterator[None]:
    """Within this context nothing warns.  One thread after the other enters it.

    Python has one list of filters for all threads.  If two were here at once, the second to leave
    would bring back the filters of the first, and nothing would ever warn again.
    """
    with _one_at_a_time, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def _is_ours(module: str) -> bool:
    return module == PACKAGE or module.startswith(f"{PACKAGE}.")
