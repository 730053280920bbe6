"""What a wheel and a source archive hold: the package and its tables, and nothing else.

    python .ci/contents.py dist/*

Without it, a folder of the checkout that no one meant to publish could go with the source.
"""

from __future__ import annotations

import re
import sys
import tarfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
# Beside the package and its tables: how to build it, and what it says of itself.
OF_SOURCE = (
    r"\.gitignore|PKG-INFO|pyproject\.toml|(README|CHANGELOG)\.md|CITATION\.cff|LICENSE"
    r"|odrf/.*|data/.*"
)
OF_WHEEL = (
    r"odrf/.*|odrf-[^/]*\.dist-info/(METADATA|WHEEL|RECORD|entry_points\.txt|licenses/LICENSE)"
)


def faults(archive: Path) -> list[str]:
    """Return what an archive lacks, and what it should not hold."""
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as file:
            names = set(file.namelist())
        allowed, tables = OF_WHEEL, "odrf/_data"
    else:
        with tarfile.open(archive) as tar:
            names = {name.partition("/")[2] for name in tar.getnames()}
        allowed, tables = OF_SOURCE, "data"
    modules = {path.relative_to(ROOT).as_posix() for path in ROOT.glob("odrf/**/*.py")}
    wanted = {f"{tables}/{path.name}" for path in ROOT.glob("data/*.csv")}
    missing = (modules | wanted | {"odrf/py.typed"}) - names
    more = {name for name in names if not re.fullmatch(allowed, name) or "__pycache__" in name}
    lines = [f"{archive.name} lacks {name}" for name in sorted(missing)]
    return lines + [f"{archive.name} holds {name}" for name in sorted(more)]


if __name__ == "__main__":
    found = [line for name in sys.argv[1:] for line in faults(Path(name))]
    print("\n".join(found) or f"{len(sys.argv) - 1} archives hold what they should")
    sys.exit(bool(found) or len(sys.argv) < 3)
