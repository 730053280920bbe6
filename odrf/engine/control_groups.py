"""Control groups of Linux, in which containers and batch systems keep processes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

__all__ = ["group_folders"]


def group_folders(controller: str, root: Path) -> Iterator[Path]:
    """Yield the folders of the groups that the process is in, each followed by those around it.

    Parameters
    ----------
    controller : str
        What the groups limit, as version 1 names it, such as ``"memory"``; ``""`` for the groups of
        version 2, which limit everything.
    root : Path
        The root of the file system.
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
