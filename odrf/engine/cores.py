"""How many cores the process may use, and how many threads it is to use by default."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from odrf.engine.control_groups import group_folders

__all__ = ["available_cores", "usual_threads"]

# The variable by which users, batch systems, joblib and Dask tell libraries how many threads to use
THREADS_VARIABLE = "OMP_NUM_THREADS"


def available_cores(root: Path = Path("/")) -> int:
    """Return the number of cores that this process may use.

    It is the least of those that it is bound to and of what its control groups allow; a part of a
    core counts as one.
    """
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
