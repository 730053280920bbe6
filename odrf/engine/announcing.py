"""What is said before the first compilation on a machine, which takes about half a minute."""

from __future__ import annotations

import os
import sys
from typing import Any

__all__ = ["QUIET", "announce_compilation"]

QUIET = "ODRF_QUIET"
MESSAGE = (
    "odrf: compiling functions for the first fit on this machine, about half a minute; "
    f"`odrf --warm` does it beforehand, {QUIET}=1 hides this line"
)


def announce_compilation(kernel: Any) -> None:
    """Write a line to stderr, unless machine code of the kernel is on disk.

    The environment variable ``ODRF_QUIET`` silences it, with any value but an empty one.
    """
    if os.environ.get(QUIET) or sys.stderr is None or kernel._cache.is_kept():
        return
    print(MESSAGE, file=sys.stderr, flush=True)
