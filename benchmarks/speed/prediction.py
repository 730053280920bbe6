"""Time of predictions: batches beside ydf and scikit-learn, single rows beside XGBoost.

    python -m benchmarks.speed.prediction --out prediction.csv [--largest 10000] [--turns 9]
                                          [--seed 0]
    python -m benchmarks.speed.prediction --report prediction.csv

All methods predict with one thread, in turns within one process; the seconds are those of the
processor, so that other work on the machine counts less.  A turn repeats a call until it has lasted
a few milliseconds, and the figures are medians over turns, in microseconds per row.  The problems
are those of ``speed_problems.py``, the methods and what they are given those of
``speed_methods.py``.

* Batches of 10,000, 1,000 and 100 rows by forests of 100 trees, after training on 200 to 100,000
  rows.  This package and scikit-learn are given a data frame, ydf a dictionary of float32 columns;
  under the name ending in ``_frame`` ydf is given the data frame, too, and scikit-learn's forest
  under its own name a float32 array.  This package returns a Series of numbers or labels, as
  always.
* Single rows by 500 trees.  This package is given the p values as a float64 array, by its
  ``row_predictor()``, and under the name ending in ``_frame`` a data frame of one row by
  ``predict()``.  XGBoost, at its defaults, is given a float32 array (1, p): by
  ``Booster.inplace_predict``, which makes no DMatrix, by ``predict`` of its estimator, and by
  ``Booster.predict`` of a new DMatrix.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from itertools import cycle
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any

import pandas as pd
from numpy.typing import NDArray

from benchmarks.methods.methods import Setting
from benchmarks.shared.markdown import table
from benchmarks.shared.runs import go_on
from benchmarks.speed.speed_methods import (
    SPEED_METHODS,
    arrays,
    columns,
    frame,
    missing,
    values,
    version,
)
from benchmarks.speed.speed_problems import Problem, Simulation

COLUMNS = [
    "rows",
    "n",
    "p",
    "classes",
    "size",
    "trees",
    "method",
    "version",
    "microseconds",
]
BATCHES, MOST_ROWS = (10_000, 1_000, 100), 10_000
BATCH_TREES, ROW_TREES, SINGLE_ROWS = 100, 500, 500
TARGETS = {"ydf_oblique": 2.0, "ydf_axis": 2.0, "xgboost_inplace": 10.0, "xgboost_estimator": 10.0}
# Of a turn, in seconds.
SHORTEST = 0.004

BATCH_METHODS = {
    "odrf": ("odrf", frame),
    "odrf_sparse": ("odrf_sparse", frame),
    "ydf_oblique": ("ydf_oblique", columns),
    "ydf_axis": ("ydf_axis", columns),
    "ydf_oblique_frame": ("ydf_oblique", frame),
    "rf": ("rf", arrays),
}
"""By name the method that is fitted, and how batches are arranged."""

Calls = dict[str, tuple[Callable[[Any], Any], list[Any]]]
"""By method what predicts, and the rows of each call, which are taken in turns."""


def tasks(largest: int) -> list[tuple[str, int, int, int]]:
    """Return what is measured: batches or single rows, training rows, predictors, classes."""
    few = [(n, 10, K) for n in (200, 1_000, 10_000) for K in (2, 10, 26, 1)]
    wide = [(n, 100, K) for n in (200, 1_000) for K in (2, 10, 26, 1)]
    batches = [*few, *wide, (10_000, 100, 2), (100_000, 10, 2), (100_000, 10, 1)]
    rows = [(n, 10, K) for n in (200, 1_000, 10_000) for K in (2, 1)]
    rows += [(1_000, 10, 10), (1_000, 10, 26), (1_000, 100, 2), (1_000, 100, 1), (100_000, 10, 2)]
    found = [("batches", *each) for each in batches] + [("single", *each) for each in rows]
    return sorted((task for task in found if task[1] <= largest), key=lambda task: task[1])


def lines_of(
    turns: int, seed: int, rows: str, n: int, p: int, classes: int
) -> Iterator[tuple[int, int, str, str, float]]:
    """Yield the number of rows of a call, of trees, the method, its version, the microseconds."""
    problem = Simulation(n, p, classes, MOST_ROWS, seed).problem()
    trees = BATCH_TREES if rows == "batches" else ROW_TREES
    predicting = (of_batches if rows == "batches" else of_single_rows)(problem, seed)
    for m, calls in predicting:
        for method, seconds in in_turns(calls, turns).items():
            yield m, trees, method, _version(method), 1e6 * seconds / m


def _version(method: str) -> str:
    return version("xgboost" if method.startswith("xgboost") else method.removesuffix("_frame"))


def of_batches(problem: Problem, seed: int) -> Iterator[tuple[int, Calls]]:
    """Yield the calls of forests, with batches of each size."""
    setting = Setting(BATCH_TREES, seed, 1)
    models = {}
    for name in dict.fromkeys(fitted for fitted, _ in BATCH_METHODS.values()):
        method = SPEED_METHODS[name]
        if missing(name) is None:
            train = method.arrange(problem.X, problem.y)
            models[name] = method.fit(train, problem.task, setting).predict
    for m in BATCHES:
        batches = [problem.X_test.iloc[lo : lo + m] for lo in range(0, min(5 * m, MOST_ROWS), m)]
        yield (
            m,
            {
                name: (models[fitted], [arrange(batch, None) for batch in batches])
                for name, (fitted, arrange) in BATCH_METHODS.items()
                if fitted in models
            },
        )


def of_single_rows(problem: Problem, seed: int) -> Iterator[tuple[int, Calls]]:
    """Yield the calls with single rows."""
    setting = Setting(ROW_TREES, seed, 1)
    singles = [problem.X_test.iloc[[i]] for i in range(SINGLE_ROWS)]
    plain = [values(row) for row in singles]
    calls: Calls = {}
    for name in ("odrf", "odrf_sparse", "odrf_axis"):
        model = SPEED_METHODS[name].fit(frame(problem.X, problem.y), problem.task, setting)
        calls[name] = model.predict_row, plain
        if name == "odrf":
            calls["odrf_frame"] = model.predict, singles[:50]
    if missing("xgboost") is None:
        calls |= of_xgboost(problem, setting, [arrays(row) for row in singles])
    yield 1, calls


def of_xgboost(problem: Problem, setting: Setting, rows: list[NDArray]) -> Calls:
    """Return the three ways of XGBoost to predict rows, each (1, p) float32."""
    xgboost = import_module("xgboost")
    ending = "XGBRegressor" if problem.task == "regression" else "XGBClassifier"
    model = getattr(xgboost, ending)(n_estimators=setting.trees, n_jobs=1)
    model.fit(*arrays(problem.X, problem.y))
    booster = model.get_booster()
    booster.set_param({"nthread": 1})
    return {
        "xgboost_inplace": (booster.inplace_predict, rows),
        "xgboost_estimator": (model.predict, rows),
        "xgboost_dmatrix": (lambda row: booster.predict(xgboost.DMatrix(row)), rows),
    }


def in_turns(calls: Calls, turns: int) -> dict[str, float]:
    """Return the seconds of a call of each method, the median over turns."""
    endless = {name: cycle(rows) for name, (_, rows) in calls.items()}
    repeated = {}
    for name, (predict, _) in calls.items():
        predict(next(endless[name]))
        once = median(_seconds(predict, endless[name], 1) for _ in range(3))
        repeated[name] = max(1, int(SHORTEST / max(once, 1e-6)))
    seconds: dict[str, list[float]] = {name: [] for name in calls}
    names = list(calls)
    for turn in range(turns):
        start = turn % len(names)
        for name in names[start:] + names[:start]:
            seconds[name].append(_seconds(calls[name][0], endless[name], repeated[name]))
    return {name: median(each) for name, each in seconds.items()}


def _seconds(predict: Callable[[Any], Any], rows: Iterator[Any], times: int) -> float:
    start = process_time()
    for _ in range(times):
        predict(next(rows))
    return (process_time() - start) / times


def report(lines: pd.DataFrame) -> str:
    """Return tables in markdown: microseconds per row, and how many times as long others take."""
    parts = [table(ratios(lines), "rows")]
    for m in sorted(lines["size"].unique(), reverse=True):
        chosen = lines[lines["size"] == m]
        wide = chosen.pivot_table(
            index=["n", "p", "classes"], columns="method", values="microseconds", sort=False
        )
        wide.index = [", ".join(map(str, key)) for key in wide.index]
        cells = wide.map("{:.2f}".format)
        for name in wide:
            if not str(name).startswith("odrf"):
                cells[f"{name} ÷ odrf"] = (wide[name] / wide["odrf"]).map("{:.1f}".format)
        what = f"Batches of {m:,} rows" if m > 1 else "Single rows"
        sentences = [
            f"{rival} takes at least {target:g} times as long as odrf in "
            f"{int((wide[rival] >= target * wide['odrf']).sum())} of {len(wide)} cases"
            for rival, target in TARGETS.items()
            if rival in wide
        ]
        parts += ["; ".join([f"{what}, microseconds per row", *sentences])]
        parts += [table(cells, "n, p, classes")]
    return "\n\n".join(parts)


def ratios(lines: pd.DataFrame) -> pd.DataFrame:
    """Return how many times as long as odrf others take: least, median, most; by size of batch."""
    by = ["rows", "n", "p", "classes", "size"]
    own = lines[lines["method"] == "odrf"].set_index(by)["microseconds"]
    others = lines[~lines["method"].str.startswith("odrf")].set_index([*by, "method"])
    ratio = others["microseconds"].div(own).groupby(["size", "method"], sort=False)
    found = ratio.agg(["min", "median", "max", "size"])
    cells = found["min"].map("{:.1f}".format) + " to " + found["max"].map("{:.1f}".format)
    text = pd.DataFrame(
        {
            "others": found.index.get_level_values("method"),
            "cases": found["size"].map(str),
            "median": found["median"].map("{:.1f}".format),
            "range": cells,
        }
    )
    text.index = [f"{size:,}" for size in found.index.get_level_values("size")]
    return text


def main() -> None:
    """Measure, or report an earlier run."""
    asked = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    add = asked.add_argument
    add("--out", type=Path, default=Path("prediction.csv"), help="csv, which a later run continues")
    add("--report", type=Path, help="csv to be reported, instead of a run")
    add("--largest", type=int, default=100_000, help="most training rows")
    add("--turns", type=int, default=9, help="turns of each method")
    add("--seed", type=int, default=0, help="of the problems and the forests")
    options = asked.parse_args()
    if options.report is None:
        lines = partial(lines_of, options.turns, options.seed)
        done = go_on(options.out, COLUMNS, tasks(options.largest), lines, 4)
    else:
        done = pd.read_csv(options.report)
    print(report(done))


if __name__ == "__main__":
    main()
