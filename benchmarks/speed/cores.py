"""How much faster are fits with two threads than with one?

    python -m benchmarks.speed.cores --out cores.csv [--repetitions 3] [--threads 1,2]
    python -m benchmarks.speed.cores --report cores.csv

Trees of all rows and forests of 100 trees, on the simulated tables of ``speed_problems.py`` with 20
predictors.  One and two threads take turns with the same seed, because the speed of a machine
drifts; the ratio is the median over the turns.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pandas as pd

from benchmarks.methods.methods import Setting
from benchmarks.shared.markdown import table as markdown_table
from benchmarks.speed.speed_methods import SPEED_METHODS
from benchmarks.speed.speed_problems import Simulation

CASES = [
    *(("odt", 1, n, classes) for n in (200_000, 1_000_000) for classes in (1, 2)),
    *(("odrf", 100, n, classes) for n in (2_000, 10_000) for classes in (1, 2, 10, 26)),
]
"""Method, trees, rows and classes; one class is a regression."""
PREDICTORS, WARM_UP_ROWS = 20, 1000


def main() -> None:
    """Run the fits, or report an earlier run."""
    options = _parser().parse_args()
    if options.report is None:
        found = pd.DataFrame(_timings(options.threads, options.repetitions, options.largest))
        found.to_csv(options.out, index=False)
    print(report(pd.read_csv(options.report or options.out)))


def _timings(threads: list[int], repetitions: int, largest: int) -> Iterator[dict[str, Any]]:
    for method, trees, n, classes in CASES:
        if n > largest:
            continue
        for repetition, jobs in product(range(-1, repetitions), threads):
            rows = WARM_UP_ROWS if repetition < 0 else n
            problem = Simulation(rows, PREDICTORS, classes, 1, max(repetition, 0)).problem()
            data = SPEED_METHODS[method].arrange(problem.X, problem.y)
            began, used = time.perf_counter(), time.process_time()
            SPEED_METHODS[method].fit(data, problem.task, Setting(trees, repetition + 1, jobs))
            if repetition >= 0:
                yield {
                    "method": method,
                    "trees": trees,
                    "n": n,
                    "classes": classes,
                    "threads": jobs,
                    "repetition": repetition,
                    "seconds": time.perf_counter() - began,
                    "processor_seconds": time.process_time() - used,
                }


def report(timings: pd.DataFrame) -> str:
    """Return the medians of the seconds, and of the ratios of a turn to that with one thread."""
    case = ["method", "trees", "n", "classes"]
    seconds = timings.pivot(index=[*case, "repetition"], columns="threads", values="seconds")
    ratios = seconds.rdiv(seconds.iloc[:, 0], axis=0).iloc[:, 1:].add_prefix("ratio with ")
    medians = seconds.join(ratios).groupby(level=case, sort=False).median().round(2)
    return markdown_table(medians.reset_index())


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    add = parser.add_argument
    add("--out", type=Path, help="csv of every fit")
    add("--repetitions", type=int, default=3, help="turns")
    add("--threads", type=lambda text: [int(word) for word in text.split(",")], default=[1, 2])
    add("--largest", type=int, default=1_000_000, help="most rows of a table")
    add("--report", type=Path, help="print the table of such a csv; run nothing")
    return parser


if __name__ == "__main__":
    main()
