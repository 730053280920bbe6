"""Seconds to import the package and to fit a small table for the first time in a new process.

    python benchmarks/startup.py [--repetitions 3]

Each repetition starts with an empty folder for Numba's compiled kernels ("cold") and runs the same
again in another new process ("warm").  The start of the interpreter is not counted.  Prints a table
of medians, for a tree and for a forest.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from statistics import median
from tempfile import TemporaryDirectory

FIRST_FIT = """
import time
start = time.perf_counter()
import odrf
imported = time.perf_counter()
odrf.{call}
print(imported - start, time.perf_counter() - imported)
"""
CALLS = {
    "odt": 'odt("diagnosis ~ .", odrf.load_data("breast_cancer"), alpha=None, seed=1)',
    "odrf": 'odrf("diagnosis ~ .", odrf.load_data("breast_cancer"), seed=1)',
}


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--repetitions", type=int, default=3)
    repetitions = parser.parse_args().repetitions
    print(f"seconds, medians of {repetitions}{'import':>12}{'fit':>10}{'both':>10}")
    for name, call in CALLS.items():
        times = [cold_and_warm(call) for _ in range(repetitions)]
        for cache, runs in zip(("cold", "warm"), zip(*times, strict=True), strict=True):
            columns = [*zip(*runs, strict=True), [sum(run) for run in runs]]
            print(f"{name:6}{cache:17}" + "".join(f"{median(column):10.2f}" for column in columns))


def cold_and_warm(call: str) -> tuple[tuple[float, float], tuple[float, float]]:
    """Time the call in a process without compiled kernels, then in one that finds them."""
    with TemporaryDirectory() as cache:
        return import_and_fit(call, cache), import_and_fit(call, cache)


def import_and_fit(call: str, cache: str) -> tuple[float, float]:
    """Time the import and the call in a new process."""
    done = subprocess.run(
        [sys.executable, "-c", FIRST_FIT.format(call=call)],
        env={**os.environ, "NUMBA_CACHE_DIR": cache},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    imported, fitted = map(float, done.stdout.split())
    return imported, fitted


if __name__ == "__main__":
    main()
