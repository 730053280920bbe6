"""Warnings that point to the line of the user's code."""

from __future__ import annotations

import sys
import warnings

__all__ = ["warn_user"]

PACKAGE = __name__.partition(".")[0]


def warn_user(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn, and name the last line outside this package as the place.

    The number of functions between that line and the warning may then change freely.
    """
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and _is_ours(frame.f_globals.get("__name__", "")):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


def _is_ours(module: str) -> bool:
    return module == PACKAGE or module.startswith(f"{PACKAGE}.")
