"""Seconds to import the package and to fit a small table for the first time in a new process.

    python -m benchmarks.speed.startup [--repetitions 3] [--against FOLDER]

Each repetition starts with an empty folder for Numba's compiled kernels ("cold") and runs the same
again in another new process ("warm").  The start of the interpreter is not counted.  ``--against``
is a folder with another version of the package, whose processes alternate with those of this one.
Prints a table of medians, for a tree and for a forest: seconds of the clock of the import, of the
fit and of both, by how much both are more than ``import numpy, pandas``, and processor seconds.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pandas as pd

FIRST_FIT = """
import time
start = time.perf_counter()
{imported}
end_of_import = time.perf_counter()
{call}
print(end_of_import - start, time.perf_counter() - end_of_import, time.process_time())
"""
CALLS = {
    "odt": 'odrf.odt("diagnosis ~ .", odrf.load_data("breast_cancer"), alpha=None, seed=1)',
    "odrf": 'odrf.odrf("diagnosis ~ .", odrf.load_data("breast_cancer"), seed=1)',
}
THIS = Path(__file__).parents[2]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--against", type=Path, metavar="FOLDER")
    options = parser.parse_args()
    versions = {"this": THIS}
    if options.against is not None:
        versions["other"] = options.against
    rows = [
        {"call": call, "version": version, "kernels": kernels, **seconds}
        for _ in range(options.repetitions)
        for call in CALLS
        for version, folder in versions.items()
        for kernels, seconds in cold_and_warm(call, folder).items()
    ]
    with TemporaryDirectory() as cache:
        bare = [
            seconds_of("import numpy, pandas", "", cache, THIS)["import"]
            for _ in range(options.repetitions)
        ]
    print(medians(pd.DataFrame(rows), float(pd.Series(bare).median())).round(2).to_string())


def medians(measured: pd.DataFrame, bare: float) -> pd.DataFrame:
    """Return medians by call, version and kernels; `bare` are the seconds of the bare import."""
    table = measured.groupby(["call", "kernels", "version"]).median()
    table.insert(2, "both", table["import"] + table["fit"])
    table.insert(3, "more_than_pandas", table["both"] - bare)
    return table


def cold_and_warm(call: str, folder: Path) -> dict[str, dict[str, float]]:
    """Time a call in a process without compiled kernels, then in one that finds them."""
    with TemporaryDirectory() as cache:
        return {
            kernels: seconds_of("import odrf", CALLS[call], cache, folder)
            for kernels in ("cold", "warm")
        }


def seconds_of(imported: str, call: str, cache: str, folder: Path) -> dict[str, float]:
    """Time an import and a call in a new process that finds the package in `folder`."""
    done = subprocess.run(
        [sys.executable, "-c", FIRST_FIT.format(imported=imported, call=call)],
        env={
            **os.environ,
            "NUMBA_CACHE_DIR": cache,
            "ODRF_QUIET": "1",
            "PYTHONPATH": str(folder.resolve()),
            "PYTHONDONTWRITEBYTECODE": "",  # an installed package has its bytecode on disk
        },
        cwd=folder,  # the first place where a process looks for packages
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return dict(zip(("import", "fit", "processor"), map(float, done.stdout.split()), strict=True))


if __name__ == "__main__":
    main()
