"""Memory: how much the process may still take, and a refusal of work that needs more.

Without it, the system would end the process instead: it hands out memory that it does not have, and
notices when the memory is written to.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from odrf.engine.control_groups import group_folders

if sys.platform != "win32":
    import resource

__all__ = [
    "available_memory",
    "in_bytes",
    "is_available",
    "require_memory",
    "resident_memory",
    "times_available",
]

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
    """Raise `MemoryError` with the figures if work takes more memory than there is.

    Parameters
    ----------
    needed : float
        Bytes that the work is certain to take, in addition to what the process has.
    what : str
        The work, as the subject of a sentence.
    instead : str
        What to do instead.
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
    found = [*_machine(root), *_groups(root), *_addresses(root)]
    return max(0.0, min(found, default=float("inf")))


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
