"""Seconds of training and prediction, side by side with the error; prints tables and exponents.

    python -m benchmarks.speed.speed [--rows 1000,10000] [--columns 20] [--classes 2,10,26,1]
                                     [--tables letter,adult] [--data DIR] [--methods odrf,rf]
                                     [--trees 20] [--threads 1,2] [--repetitions 3] [--memory]
                                     [--base rf] [--seed 0] [--out timings.csv]
    python -m benchmarks.speed.speed --methods odt,obliquetree --base odt --trees 1
    python -m benchmarks.speed.speed --report timings.csv [--base rf]

``speed_problems.py`` defines the problems, ``speed_methods.py`` the methods, ``timing.py`` and
``memory.py`` the measurements, ``speed_report.py`` the report.  Lists are separated by commas, or
``none``; all combinations are run, and each line of ``--out`` is written at once.  Methods whose
library is not installed are left out.
Needs ``pip install ".[bench]"``; R's ranger, obliquetree and treeple (which needs scikit-learn 1.6,
so a separate environment) are run if installed.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from dataclasses import asdict
from itertools import product
from pathlib import Path
from typing import Any

import pandas as pd

from benchmarks.methods.methods import Setting
from benchmarks.shared.tables import table_names
from benchmarks.speed.memory import can_measure, peak_of_fit
from benchmarks.speed.speed_methods import SINGLE_TREES, SPEED_METHODS, missing
from benchmarks.speed.speed_problems import OpenTable, Simulation, Source
from benchmarks.speed.speed_report import report
from benchmarks.speed.timing import compare

LARGE_TABLES = "letter,pendigits,adult,magic,california_housing,company_bankruptcy"
FORESTS = ",".join(name for name in SPEED_METHODS if name not in SINGLE_TREES)


def main() -> None:
    """Run the methods, or report an earlier run."""
    options = _parser().parse_args()
    if options.report is not None:
        print(report(pd.read_csv(options.report), options.base))
        return
    timings = []
    for timing in _run(options):
        timings.append(timing)
        if options.out is not None:
            pd.DataFrame([timing]).to_csv(
                options.out,
                mode="w" if len(timings) == 1 else "a",
                header=len(timings) == 1,
                index=False,
            )
    if timings:
        print(report(pd.DataFrame(timings), options.base))


def _run(options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    methods = _methods(options.methods)
    if options.memory and not can_measure():
        _warn("peak memory left out: it needs Linux's /proc")
        options.memory = False
    for source in _sources(options):
        for trees, threads in product(options.trees, options.threads):
            setting = Setting(trees, options.seed, threads)
            peaks = {
                method: peak_of_fit(source, method, setting) if options.memory else float("nan")
                for method in methods
            }
            problem = source.problem()
            for timing in compare(
                problem, methods, setting, options.repetitions, options.single_rows
            ):
                yield {**asdict(timing), "peak_mb": peaks[timing.method]}


def _methods(chosen: list[str]) -> list[str]:
    unknown = [name for name in chosen if name not in SPEED_METHODS]
    if unknown:
        raise SystemExit(f"unknown method {', '.join(unknown)}; known: {', '.join(SPEED_METHODS)}")
    reasons = {name: missing(name) for name in chosen}
    for name, reason in reasons.items():
        if reason is not None:
            _warn(f"{name} left out: {reason}")
    return [name for name in chosen if reasons[name] is None]


def _sources(options: argparse.Namespace) -> Iterator[Source]:
    for classes, p, n in product(options.classes, options.columns, options.rows):
        if n * p > options.largest:
            _warn(f"{n:,} rows × {p:,} columns left out: above --largest {options.largest:,}")
        else:
            yield Simulation(n, p, classes, options.test_rows, options.seed)
    if not options.tables:
        return
    if not (options.data / "index.csv").exists():
        _warn(f"tables left out: {options.data} holds no index.csv")
        return
    known = table_names(options.data)
    for name in options.tables:
        if name in known:
            yield OpenTable(options.data, name, options.seed)
        else:
            _warn(f"table {name} left out: {options.data} does not hold it")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=(__doc__ or "").splitlines()[0],
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    add = parser.add_argument
    add("--rows", type=_numbers, default="1000,10000", help="training rows n, simulated")
    add("--columns", type=_numbers, default="20", help="predictors p, simulated")
    add("--classes", type=_numbers, default="2", help="classes K, simulated; 1 is a regression")
    add("--test-rows", type=int, default=20_000, help="test rows, simulated")
    add("--largest", type=int, default=100_000_000, help="most n × p that is run")
    add("--tables", type=_words, default="none", help=f"open tables, such as {LARGE_TABLES}")
    add("--data", type=Path, default=Path("../shared/data"), help="folder with index.csv")
    add("--methods", type=_words, default=FORESTS, help=f"of {', '.join(SPEED_METHODS)}")
    add("--trees", type=_numbers, default="20", help="trees of each forest")
    add("--threads", type=_numbers, default="1", help="threads of each method")
    add("--repetitions", type=int, default=3, help="turns of each method")
    add("--single-rows", type=int, default=100, help="test rows predicted one by one")
    add("--memory", action="store_true", help="also peak memory, in separate processes")
    add("--seed", type=int, default=0, help="of the problems and the methods")
    add("--base", default="rf", help="method that ratios refer to")
    add("--out", type=Path, help="csv of every repetition")
    add("--report", type=Path, help="print the tables of such a csv; run nothing")
    return parser


def _words(text: str) -> list[str]:
    return [] if text == "none" else text.split(",")


def _numbers(text: str) -> list[int]:
    return [int(float(word)) for word in _words(text)]


def _warn(message: str) -> None:
    print(message, file=sys.stderr)


if __name__ == "__main__":
    main()
