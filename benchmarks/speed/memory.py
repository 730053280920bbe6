"""Peak memory of training, each method in a separate process.

The process builds the problem, warms up, converts the rows to the format of the library, returns
free memory to the system and then resets the kernel's record of its largest resident set.  So
imports, compilation and data do not count, only what training adds to them.  (``ru_maxrss`` cannot
be reset, and starts at the value of the parent process.)  Memory that the libraries or R had in
reserve is not counted, so results are accurate to tens of megabytes.  Needs Linux (``/proc``).
"""

from __future__ import annotations

import ctypes
import gc
import re
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

from benchmarks.methods.methods import Setting
from benchmarks.speed.speed_methods import SPEED_METHODS
from benchmarks.speed.speed_problems import Source
from benchmarks.speed.timing import warm_up

__all__ = ["can_measure", "peak_here", "peak_of_fit", "reset_peak_here"]

RESET_PEAK = "5"
HERE = Path("/proc/self")


def can_measure() -> bool:
    """Return whether this system records peak memory and allows to reset it."""
    return Path("/proc/self/clear_refs").exists()


def peak_of_fit(source: Source, method: str, setting: Setting) -> float:
    """Megabytes (2^20 bytes) that training adds to the process at its peak."""
    with ProcessPoolExecutor(max_workers=1, mp_context=get_context("spawn")) as pool:
        return pool.submit(_measure, source, method, setting).result()


def reset_peak_here() -> float:
    """Begin to record the peak of this process anew; return its megabytes now (0 if unknown)."""
    if not can_measure():
        return 0.0
    _return_free_memory()
    (HERE / "clear_refs").write_text(RESET_PEAK)
    return _resident(HERE, "VmRSS")


def peak_here(now: bool = False) -> float:
    """Return the megabytes of this process at its peak, or `now` (0 if unknown)."""
    if not can_measure():
        return 0.0
    return _resident(HERE, "VmRSS" if now else "VmHWM")


def _measure(source: Source, name: str, setting: Setting) -> float:
    problem, method = source.problem(), SPEED_METHODS[name]
    warm_up(problem, method, setting)
    train = method.arrange(problem.X, problem.y)
    task = problem.task
    del problem
    _return_free_memory()
    process = Path(f"/proc/{method.pid()}")
    (process / "clear_refs").write_text(RESET_PEAK)
    before = _resident(process, "VmRSS")
    model = method.fit(train, task, setting)
    peak = _resident(process, "VmHWM")
    del model
    return peak - before


def _return_free_memory() -> None:
    gc.collect()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # glibc alone has it
    if trim is not None:
        trim(0)


def _resident(process: Path, field: str) -> float:
    found = re.search(rf"{field}:\s+(\d+) kB", (process / "status").read_text())
    if found is None:
        raise RuntimeError(f"{process}/status has no line {field}")
    return int(found[1]) / 1024
