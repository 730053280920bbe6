"""Memory: how much the process may still take; work that needs more is refused.

Without it, the system would end the process instead: it hands out memory that it does not have, and
notices when the memory is written to.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from odrf.errors import InputError

# Control groups of Linux, in which containers and batch systems keep processes.


def group_folders(controller: str, root: Path) -> Iterator[Path]:
    """Yield the folders of the groups that the process is in, each followed by those around it.

    `controller`: what the groups limit, as version 1 names it, such as ``"memory"``; ``""`` for the
    groups of version 2, which limit everything.  `root`: the root of the file system.
    """
    with suppress(OSError):
        for line in (root / "proc/self/cgroup").read_text().splitlines():
            _, controllers, path = line.split(":", 2)
            if controller in controllers.split(","):
                base = root / "sys/fs/cgroup" / controller
                inner = base / path.lstrip("/")
                for group in (inner, *inner.parents):
                    if group == base.parent:
                        break
                    yield group


# Memory: how much the process may still take, and a refusal of work that needs more.

if sys.platform != "win32":
    import resource


# Less than this is always tried: asking the system takes as long as a small prediction.
SMALL = 2**27
UNITS = ((1e9, "GB"), (1e6, "MB"), (1e3, "kB"))
# The two versions of control groups: the controller, and the names of the limit, of what is used,
# and of what can be given back.
GROUPS = (
    ("", "memory.max", "memory.current", "inactive_file"),
    ("memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
)


def require_memory(needed: float, what: str, instead: str) -> None:
    """Raise `MemoryError` if work takes more memory than there is.

    `needed`: bytes that it is certain to take, in addition to what the process has. `what`: the
    work, as the subject of a sentence. `instead`: what to do instead.
    """
    if not is_available(needed):
        raise MemoryError(
            f"{what} would take {in_bytes(needed)} of memory, and "
            f"{in_bytes(available_memory())} are free: {instead}"
        )


def in_bytes(size: float) -> str:
    """Return a size in words: GB, MB, kB or bytes, by powers of 1000.

    Examples
    --------
    >>> in_bytes(420), in_bytes(24_560), in_bytes(3e9)
    ('420 bytes', '24.6 kB', '3.0 GB')
    """
    if size == float("inf"):
        return "unknown"
    for unit, name in UNITS:
        if size >= unit:
            return f"{size / unit:,.1f} {name}"
    return "1 byte" if size == 1 else f"{size:.0f} bytes"


def is_available(needed: float) -> bool:
    """Return whether the process may still take so many bytes."""
    return needed < SMALL or needed <= available_memory()


def times_available(size: float) -> float:
    """Return how many times the process may still take so many bytes."""
    return available_memory() / max(1.0, size)


def available_memory(root: Path = Path("/")) -> float:
    """Return the bytes that the process may still take; infinity where the system does not tell.

    It is the least of what the machine has free, what the control groups of the process allow, and
    what its limit of addresses (``ulimit -v``) leaves.
    """
    limits = [*_machine(root), *_groups(root), *_addresses(root)]
    return max(0.0, min(limits, default=float("inf")))


def resident_memory(root: Path = Path("/")) -> float:
    """Return the bytes of memory that the process has now; 0 where the system does not tell."""
    with suppress(OSError, KeyError, ValueError):
        return _fields(root / "proc/self/status")["VmRSS:"] * 1024
    return 0.0


def _machine(root: Path) -> Iterator[float]:
    with suppress(OSError, KeyError, ValueError):
        sizes = _fields(root / "proc/meminfo")
        yield (sizes["MemAvailable:"] + sizes.get("SwapFree:", 0.0)) * 1024


def _groups(root: Path) -> Iterator[float]:
    for controller, limit, used, reclaimable in GROUPS:
        for group in group_folders(controller, root):
            yield from _left(group, limit, used, reclaimable)


def _left(group: Path, limit: str, used: str, reclaimable: str) -> Iterator[float]:
    with suppress(OSError, ValueError):  # no such group here, or no limit: "max"
        most, taken = float((group / limit).read_text()), float((group / used).read_text())
        yield most - taken + _fields(group / "memory.stat").get(reclaimable, 0.0)


def _addresses(root: Path) -> Iterator[float]:
    if sys.platform == "win32":
        return
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    if limit != resource.RLIM_INFINITY:
        with suppress(OSError, KeyError, ValueError):
            yield limit - _fields(root / "proc/self/status")["VmSize:"] * 1024


def _fields(path: Path) -> dict[str, float]:
    lines = (line.split() for line in path.read_text().splitlines())
    return {words[0]: float(words[1]) for words in lines if len(words) > 1 and words[1].isdigit()}


# How many rows, nodes and levels can be numbered: more are refused, not counted wrongly.

# Bins of a node count its rows in 28 bits.
MOST_ROWS = 2**28 - 1
# Nodes of a forest, and distances in the records of a tree, have 31 bits and a sign.
MOST_PLACES = 2**31 - 1
# Levels are codes in float32.
MOST_LEVELS = 2**24


def require_numbers(n: int, most: int, what: str, instead: str) -> None:
    """Raise `InputError` if `what` are more than can be numbered; it says what to do instead."""
    if n > most:
        raise InputError(f"{n} {what} are more than {most}, which can be numbered: {instead}")


def in_fewer_bits(numbers: NDArray[np.integer]) -> NDArray[np.integer]:
    """Return numbers from -1 on in 32 bits if these suffice."""
    if numbers.dtype == np.int32 or (numbers.size and numbers.max() > MOST_PLACES):
        return numbers
    return numbers.astype(np.int32)
