"""Large and degenerate loads, each in a process of its own, with its time and memory.

    python -m benchmarks.reliability.load --out load.csv
    python -m benchmarks.reliability.load --out load.csv --quick --only "wide forest" "no rows"

A line is written when its load has ended; a later run with the same file does what is missing.
``seconds`` is the time of the work, ``mb`` what it adds to the memory of the process at its peak,
the table not included (2^20 bytes; Linux only), ``found`` a figure that says what was made.  Every
load has a warm-up on a few rows, so that no time is that of the compiler.
"""

from __future__ import annotations

import argparse
import csv
import gc
import json
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
import pandas as pd

import odrf
from benchmarks.speed.memory import peak_here, reset_peak_here

matplotlib.use("agg")
THIS = "benchmarks.reliability.load"
COLUMNS = ["load", "size", "seconds", "mb", "found"]
Table = pd.DataFrame


@dataclass(frozen=True)
class Load:
    """A table of some size, and work on it.

    Attributes
    ----------
    full, quick : int
        The size for the csv, and for tests.
    table : callable
        Makes the table of a size; what it makes does not count.
    work : callable
        Takes the table, and returns a figure or words.
    warm : int
        The size of the warm-up.
    """

    full: int
    quick: int
    table: Callable[[int], Any]
    work: Callable[[Any], Any]
    warm: int = 60


def numbers(n: int, p: int, classes: int = 0) -> Table:
    """Return n rows of p predictors and a response, a number or one of some classes."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(n, p)).astype(np.float32)
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(p)])
    y = X[:, 0] + np.abs(X[:, 1]) + rng.normal(size=n)
    if classes:
        return frame.assign(y=[f"c{k}" for k in np.arange(n) % classes])
    return frame.assign(y=y)


def levels(n: int) -> Table:
    """Return ten times n rows of a factor of n levels and two numbers."""
    rng = np.random.default_rng(2)
    code = rng.permutation(np.arange(10 * n) % n)
    frame = numbers(10 * n, 2)
    effect = rng.normal(size=n)
    return frame.assign(f=pd.Series(code).map("level{}".format), y=frame["y"] + effect[code])


def chain(n: int) -> Table:
    """Return n rows of two classes in turn: each split of a tree cuts off the outermost row."""
    at = np.arange(n)
    return pd.DataFrame({"x": at / n, "y": np.where(at % 2, "a", "b")})


def terms(p: int) -> tuple[str, Table]:
    """Return a formula of p terms, numbers, logarithms and products, and its table."""
    frame = numbers(300, p)
    frame.iloc[:, :-1] = frame.iloc[:, :-1].abs() + 1
    forms = ("{a}", "log({a})", "{a}:{b}", "I({a} + {b})")
    right = [forms[j % 4].format(a=f"x{j}", b=f"x{(j + 1) % p}") for j in range(p)]
    return "y ~ " + " + ".join(right), frame


def fit_predict_plot(data: tuple[int, Table]) -> str:
    """Fit, predict and plot many times; say by how much memory grew in the second half."""
    times, frame = data
    fits = (odrf.odt, partial(odrf.odrf, n_trees=5), partial(odrf.odbt, n_trees=5))
    resident = []
    for i in range(times):
        fit = fits[i % 3]("y ~ .", frame, seed=i)
        fit.predict(frame)
        axes = fit.plot("importance") if i % 3 == 1 else fit.plot()
        matplotlib.pyplot.close("all")
        del fit, axes
        if i in (times // 2, times - 1):
            gc.collect()
            resident.append(peak_here(now=True))
    return f"{resident[1] - resident[0]:+.0f} MB in the second half"


def many_predictions(frame: Table) -> str:
    """Predict all rows by a small forest."""
    forest = odrf.odrf("y ~ .", frame[:2000], n_trees=20, seed=1)
    start = time.perf_counter()
    predicted = forest.predict(frame)
    seconds = time.perf_counter() - start
    if not np.isfinite(predicted).all():
        raise AssertionError("a prediction is not finite")
    return f"{len(predicted)} predictions, {seconds:.1f} s without the fit"


def of_chain(frame: Table) -> str:
    """Grow the chain, and do with it what walks down trees."""
    tree = odrf.odt(
        "y ~ x", frame, min_leaf=1, projection="axis", split_search="exact", alpha=None, seed=1
    )
    tree.predict(frame)
    str(tree.summary())
    tree.plot()
    tree.rules()
    str(tree.pruning_path(cv=5).table)
    tree.to_c()
    tree.to_sql("duckdb")
    tree.to_dot()
    exec(compile(tree.to_python(), "tree", "exec"), {})
    return f"depth {tree.fit.forest.depth().max()}, {tree.n_leaves} leaves"


def leaves(fit: Any) -> str:
    """Return the number of leaves of a fit, predicted on its training rows first."""
    fit.predict()
    fit.importance()
    return f"{int(np.sum(fit.n_leaves))} leaves"


def fitted(function: Callable[..., Any], **options: Any) -> Callable[[Table], str]:
    """Return work: a fit of all columns, its predictions and importances."""
    return lambda frame: leaves(function("y ~ .", frame, seed=1, **options))


def of_formula(data: tuple[str, Table]) -> str:
    """Fit a formula and predict."""
    fit = odrf.odrf(data[0], data[1], n_trees=20, seed=1)
    fit.predict(data[1])
    str(fit.summary())
    return f"{len(fit.fit.design.predictors)} predictors"


LOADS: dict[str, Load] = {
    "fits, predictions and plots": Load(
        5000, 16, lambda n: (n, numbers(60, 3)), fit_predict_plot, warm=6
    ),
    "wide tree": Load(20_000, 300, lambda p: numbers(200, p), fitted(odrf.odt)),
    "wide forest": Load(
        20_000, 30, lambda p: numbers(200, p), fitted(odrf.odrf, n_trees=100), warm=4
    ),
    "wide boosted trees": Load(
        20_000, 100, lambda p: numbers(200, p), fitted(odrf.odbt, n_trees=100), warm=10
    ),
    "wide guided forest": Load(
        20_000, 300, lambda p: numbers(200, p), fitted(odrf.graf, n_trees=10)
    ),
    "long tree": Load(5_000_000, 3000, lambda n: numbers(n, 10), fitted(odrf.odt, alpha=None)),
    "long forest": Load(5_000_000, 3000, lambda n: numbers(n, 10), fitted(odrf.odrf, n_trees=5)),
    "long boosted trees": Load(
        5_000_000, 3000, lambda n: numbers(n, 10), fitted(odrf.odbt, n_trees=20)
    ),
    "tree of many classes": Load(
        1000, 60, lambda k: numbers(20 * k, 5, k), fitted(odrf.odt, alpha=None), warm=5
    ),
    "forest of many classes": Load(
        1000, 60, lambda k: numbers(20 * k, 5, k), fitted(odrf.odrf, n_trees=20), warm=5
    ),
    "boosted trees of many classes": Load(
        1000, 60, lambda k: numbers(20 * k, 5, k), fitted(odrf.odbt, n_trees=2), warm=5
    ),
    "tree of many levels": Load(5000, 100, levels, fitted(odrf.odt), warm=20),
    "forest of many levels": Load(5000, 60, levels, fitted(odrf.odrf, n_trees=100), warm=40),
    "many trees": Load(
        20_000, 60, lambda b: (b, numbers(500, 5)),
        lambda data: leaves(odrf.odrf("y ~ .", data[1], n_trees=data[0], seed=1)), warm=20,
    ),
    "chain": Load(10_000, 800, chain, of_chain, warm=30),
    "no rows": Load(
        0, 0, lambda n: numbers(60, 3),
        lambda frame: len(odrf.odrf("y ~ .", frame, n_trees=20, seed=1).predict(frame[:0])),
    ),
    "one row": Load(
        1, 1, lambda n: numbers(60, 3),
        lambda frame: len(odrf.odrf("y ~ .", frame, n_trees=20, seed=1).predict(frame[:1])),
    ),
    "many rows": Load(10_000_000, 20_000, lambda n: numbers(n, 5), many_predictions, warm=100),
    "formula of many terms": Load(2000, 40, terms, of_formula, warm=8),
}  # fmt: skip


def main() -> int:
    """Measure what the csv does not have, each load in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("load.csv"))
    parser.add_argument("--quick", action="store_true", help="small sizes, as in tests")
    parser.add_argument("--only", nargs="*", choices=LOADS, default=list(LOADS))
    parser.add_argument("--limit", type=float, default=600.0, metavar="SECONDS")
    parser.add_argument("--measure", choices=LOADS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        print(json.dumps(measured(options.measure, options.quick)))
        return 0
    if not options.out.exists():
        options.out.write_text(",".join(COLUMNS) + "\n", encoding="utf-8")
    for name in options.only:
        load = LOADS[name]
        size = load.quick if options.quick else load.full
        with options.out.open(newline="", encoding="utf-8") as file:
            done = {(line["load"], line["size"]) for line in csv.DictReader(file)}
        if (name, str(size)) not in done:
            line = [name, size, *apart(name, options.quick, options.limit)]
            with options.out.open("a", newline="", encoding="utf-8") as file:
                csv.writer(file, lineterminator="\n").writerow(line)
            print(*line, sep="  ", flush=True)
    return 0


def apart(name: str, quick: bool, limit: float) -> list[Any]:
    """Return seconds, megabytes and what was found, measured in a new process."""
    command = [sys.executable, "-m", THIS, "--measure", name, *["--quick"] * quick]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=limit)
    except subprocess.TimeoutExpired:
        return ["", "", f"not done in {limit:.0f} s"]
    if done.returncode:
        lines = done.stderr.splitlines() or [""]
        return ["", "", f"status {done.returncode}: {lines[-1]}"]
    return json.loads(done.stdout.splitlines()[-1])


def measured(name: str, quick: bool) -> list[Any]:
    """Return seconds, megabytes and what was found, measured in this process."""
    warnings.simplefilter("ignore")
    load = LOADS[name]
    load.work(load.table(load.warm))
    data = load.table(load.quick if quick else load.full)
    gc.collect()
    before = reset_peak_here()
    start = time.perf_counter()
    found = load.work(data)
    seconds = time.perf_counter() - start
    return [round(seconds, 2), round(peak_here() - before), str(found)]


if __name__ == "__main__":
    sys.exit(main())
