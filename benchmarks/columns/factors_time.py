"""How long does a forest take on factors, and how much memory?

    python -m benchmarks.columns.factors_time --data DIR --out factors_time.csv [--repeats 1]
                                              [--trees 50]
    python -m benchmarks.columns.factors_time --report factors_time.csv

Two parts.  A factor of 5,000 levels beside five numbers, on more and more rows: processor seconds
of the fit, of predicting as many new rows, of the out-of-bag error and the importance, and the peak
memory that they add.  And real tables with factors, against the random forest of scikit-learn on
one indicator for each level, both with their defaults and in one thread: processor seconds of the
fit, and the Brier score of held-out rows (for a regression their mean squared error).  Each line is
measured in a process of its own, after a first fit that compiles.  Needs Linux (``/proc``).  A run
with an existing csv adds the missing tasks.
"""

from __future__ import annotations

import argparse
import re
import sys
import time
import warnings
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

from benchmarks.shared.markdown import table as markdown_table
from benchmarks.shared.runs import go_on, parser, run_or_report
from benchmarks.shared.tables import read_table, table_names
from odrf import odrf

TABLES = ("adult", "german_credit", "splice", "soybean", "insurance", "servo", "auto_mpg", "strike")
ROWS, LEVELS, NUMBERS = (25_000, 50_000, 100_000, 200_000), 5000, 5
TEST = 0.3
ODRF, SKLEARN = "odrf", "scikit-learn"
MEASURES = ["fit", "predict", "oob", "importance", "megabytes", "error"]
COLUMNS = ["part", "n", "method", "repeat", *MEASURES]
FEW_ROWS = 300


def many_levels(n: int, seed: int) -> pd.DataFrame:
    """Draw rows whose response depends on a factor of 5,000 levels and on two of five numbers."""
    rng = np.random.default_rng(seed)
    level, effect = rng.integers(0, LEVELS, n), np.random.default_rng(1).normal(size=LEVELS)
    data = pd.DataFrame({f"x{j}": rng.normal(size=n) for j in range(NUMBERS)})
    labels = pd.Index([f"level {k}" for k in range(LEVELS)], dtype=object)
    data["factor"] = pd.Categorical(labels[level], categories=labels)
    return data.assign(y=data["x0"] + 0.5 * data["x1"] + effect[level] + rng.normal(size=n))


def _seconds(function: Callable[[], Any]) -> tuple[float, Any]:
    begin = time.process_time()
    value = function()
    return time.process_time() - begin, value


def _resident(field: str) -> float:
    """Return megabytes (2^20 bytes) of this process."""
    found = re.search(rf"{field}:\s+(\d+) kB", Path("/proc/self/status").read_text())
    return int(found[1]) / 1024 if found else float("nan")


def measured_on_rows(n: int, trees: int, seed: int) -> tuple[float, ...]:
    """Measure a fit to n rows of the drawn table."""
    warnings.simplefilter("ignore")
    odrf("y ~ .", many_levels(FEW_ROWS, seed), n_trees=2, seed=seed, n_jobs=1)
    data, new = many_levels(n, seed), many_levels(n, seed + 1)
    Path("/proc/self/clear_refs").write_text("5")
    before = _resident("VmRSS")
    fit_seconds, fit = _seconds(lambda: odrf("y ~ .", data, n_trees=trees, seed=seed, n_jobs=1))
    predicting, predicted = _seconds(lambda: fit.predict(new))
    out_of_bag, _ = _seconds(lambda: fit.oob_error)
    importance, _ = _seconds(fit.importance)
    peak = _resident("VmHWM") - before
    error = float(np.mean((predicted - new["y"]) ** 2))
    return fit_seconds, predicting, out_of_bag, importance, peak, error


def measured_on_table(
    folder: Path, name: str, method: str, trees: int, seed: int
) -> tuple[float, ...]:
    """Measure a method on a table."""
    warnings.simplefilter("ignore")
    table = read_table(folder, name)
    data, rng = table.data, np.random.default_rng(seed)
    held = rng.random(len(data)) < TEST
    if method == ODRF:
        odrf("y ~ .", data.sample(min(FEW_ROWS, len(data)), random_state=0), n_trees=2, n_jobs=1)
        fit_seconds, fit = _seconds(
            lambda: odrf("y ~ .", data[~held], n_trees=trees, seed=seed, n_jobs=1)
        )
        kind = {} if table.task == "regression" else {"type": "prob"}
        predicting, predicted = _seconds(lambda: fit.predict(data[held], **kind))
    else:
        forest = RandomForestRegressor if table.task == "regression" else RandomForestClassifier
        X = pd.get_dummies(data.drop(columns="y")).to_numpy(np.float32)
        model = forest(trees, n_jobs=1, random_state=seed)
        fit_seconds, model = _seconds(lambda: model.fit(X[~held], data["y"][~held]))
        if table.task == "regression":
            predicting, predicted = _seconds(lambda: model.predict(X[held]))
        else:
            predicting, prob = _seconds(lambda: model.predict_proba(X[held]))
            predicted = pd.DataFrame(prob, columns=model.classes_)
    y = data["y"][held].to_numpy()
    if table.task != "regression":
        y = (y[:, None] == predicted.columns.to_numpy()).astype(float)
    squares = np.square(np.asarray(predicted) - y).reshape(len(y), -1).sum(axis=1)
    return fit_seconds, predicting, np.nan, np.nan, np.nan, float(squares.mean())


def _alone(function: Callable[..., tuple[float, ...]], *arguments: Any) -> tuple[float, ...]:
    context = get_context("forkserver")
    context.set_forkserver_preload(["odrf", "sklearn.ensemble"])  # loaded once, not in each process
    with ProcessPoolExecutor(max_workers=1, mp_context=context) as pool:
        return pool.submit(function, *arguments).result()


def lines_of(options: argparse.Namespace, part: str, n: int, method: str) -> list[tuple[Any, ...]]:
    """Return the measures of each repeat."""
    lines: list[tuple[Any, ...]] = []
    for repeat in range(options.repeats):
        seed = options.seed + repeat
        if n > 0:
            measures = _alone(measured_on_rows, n, options.trees, seed)
        else:
            table = options.data, part, method
            measures = _alone(measured_on_table, *table, options.trees, seed)
        lines.append((repeat, *measures))
    return lines


def report(lines: pd.DataFrame) -> str:
    """Write the means over the repeats, as markdown; those of tables as ratios to scikit-learn."""
    means = lines.groupby(["part", "n", "method"], sort=False)[MEASURES].mean()
    many, shown = means.xs(ODRF, level="method").reset_index().query("n > 0"), {}
    for row in many.to_dict("records"):
        shown[f"{row['n']:,} rows"] = {
            **{f"{name}, s": f"{row[name]:.2f}" for name in MEASURES[:4]},
            "peak, MB": f"{row['megabytes']:.0f}",
        }
    ratios = {}
    tables = means[means.index.get_level_values("n") == 0]
    for name, group in tables.groupby("part", sort=False):
        own, other = group.xs(ODRF, level="method"), group.xs(SKLEARN, level="method")
        ratios[name] = {
            "fit, s": f"{own['fit'].item():.2f}",
            "time": f"{own['fit'].item() / other['fit'].item():.2f}",
            "error": f"{own['error'].item() / other['error'].item():.3f}",
        }
    parts = [markdown_table(pd.DataFrame(shown).T, "a factor of 5,000 levels")] if shown else []
    if ratios:
        parts.append(markdown_table(pd.DataFrame(ratios).T, "table (ratios to scikit-learn)"))
    return "\n".join(parts)


def run(options: argparse.Namespace) -> pd.DataFrame:
    """Continue the csv, and return its lines."""
    held = table_names(options.data) if (options.data / "index.csv").exists() else []
    tasks = [("5,000 levels", n, ODRF) for n in options.rows]
    tasks += [(name, 0, method) for name in TABLES if name in held for method in (ODRF, SKLEARN)]
    return go_on(options.out, COLUMNS, tasks, partial(lines_of, options))


def main() -> int:
    """Measure, or report an existing csv."""
    arguments = parser(__doc__ or "", "factors_time.csv", repeats=1, trees=50)
    arguments.add_argument("--data", type=Path, default=Path("../shared/data"))
    arguments.add_argument("--rows", type=int, nargs="*", default=ROWS)
    options = arguments.parse_args()
    return run_or_report(options, run, report)


if __name__ == "__main__":
    sys.exit(main())
