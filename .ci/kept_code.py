"""Link the folders in which Numba keeps machine code to those of an earlier run of the same code.

The code is the same if the engine, the families of directions, Python, Numba, llvmlite and the
processor are.  Numba names a folder by its path, which is another one in each clone.

    python .ci/kept_code.py FOLDER
"""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
import sys
from pathlib import Path

import llvmlite
import numba

KEPT = 3  # so many versions of the code, the latest ones


def key() -> str:
    """Return a hash of what machine code is made of."""
    found = hashlib.sha256()
    for room in ("engine", "projections"):
        for path in sorted(Path("odrf", room).rglob("*.py")):
            found.update(path.as_posix().encode() + path.read_bytes())
    cpu = Path("/proc/cpuinfo")
    flags = [line for line in cpu.read_text().splitlines() if line.startswith(("flags", "model"))]
    versions = (sys.version, numba.__version__, llvmlite.__version__, platform.machine())
    found.update(repr((versions, sorted(set(flags)))).encode())
    return found.hexdigest()[:16]


def main(folder: Path) -> None:
    """Make a link in `folder` for each folder of the package; forget old versions of the code."""
    caches = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "odrf-tests")
    kept = caches / key()
    for room in {path.parent for path in Path("odrf").rglob("*.py")}:
        path = room.resolve()
        name = f"{path.name}_{hashlib.sha1(str(path).encode()).hexdigest()}"
        (kept / room).mkdir(parents=True, exist_ok=True)
        (folder / name).symlink_to(kept / room)
    kept.touch()
    others = sorted(caches.iterdir(), key=lambda path: path.stat().st_mtime, reverse=True)
    for old in others[KEPT:]:
        shutil.rmtree(old, ignore_errors=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
