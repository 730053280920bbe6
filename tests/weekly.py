"""Which tests run once a week only (``.ci/weekly``): what takes long, and most of large grids.

The marker ``weekly`` at a test or a case says the same.
"""

from __future__ import annotations

import re

__all__ = ["SOME", "WEEKLY", "is_weekly"]

# Folders, files and tests.
WEEKLY = [
    "tests/benchmarks",
    "tests/faults",
]
# Of the cases of a file or a test, those run every time in whose name this pattern is found.
SOME = {
    "tests/test_vignettes.py": "getting-started|classes|there_are",
}


def starts(test: str, name: str) -> bool:
    """Return whether a test is, or is in, what is named: a folder, a file, or a test."""
    return test == name or test.startswith((f"{name}/", f"{name}::", f"{name}["))


def is_weekly(test: str) -> bool:
    """Return whether a test runs once a week only."""
    if any(starts(test, name) for name in WEEKLY):
        return True
    kept = [pattern for name, pattern in SOME.items() if starts(test, name)]
    return any(not re.search(pattern, test.partition("::")[2]) for pattern in kept)
