"""What is gained and lost by a factor whose levels differ not at all, somewhat or a lot?

    python -m benchmarks.columns.level_effects --out level_effects.csv [--repeats 1] [--trees 100]
    python -m benchmarks.columns.level_effects --report level_effects.csv

Simulated rows have `NUMBERS` normal numbers, three of which matter, and a factor whose levels have
normal effects, of standard deviation 0, 0.7 or 2 beside noise of 0.5.  The response is a number, or
two or three classes.  This package's forest (``odrf``) and scikit-learn's with a column of 0 and 1
for each level (``rf``) are fitted with the factor and without it.  Errors are those of new rows:
mean squares relative to the variance, or Brier scores.  Samples of few rows are drawn more often.
The report has the error with the factor, divided by the least of the three other ones.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

from benchmarks.shared.markdown import table as markdown_table
from benchmarks.shared.runs import go_on, parser, run_or_report
from odrf import odrf

CLASSES = {"number": 0, "two classes": 2, "three classes": 3}
EFFECTS = {"none": 0.0, "medium": 0.7, "strong": 2.0}
LEVELS, ROWS = (5, 30, 100), (60, 250, 2000)
NUMBERS, NOISE, TEST_ROWS = 5, 0.5, 1000
# Samples of up to so many rows are drawn so many times as often.
OFTEN = {60: 6, 250: 3}
CASE = ["response", "levels", "n", "effect"]
COLUMNS = [*CASE, "repeat", "method", "error", "seconds"]


def sample(
    response: str, levels: int, n: int, effect: str, rng: np.random.Generator
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Draw n training rows and the test rows."""
    of_level, rows = EFFECTS[effect] * rng.normal(size=levels), n + TEST_ROWS
    X, level = rng.normal(size=(rows, NUMBERS)), rng.integers(0, levels, rows)
    y = X[:, 0] + 0.7 * X[:, 1] + 0.5 * X[:, 2] ** 2 + of_level[level]
    y += NOISE * rng.normal(size=rows)
    data = pd.DataFrame(X, columns=[f"x{j + 1}" for j in range(NUMBERS)])
    data["level"] = pd.Categorical([f"level {k}" for k in level])
    if CLASSES[response]:
        ends = np.quantile(y, np.arange(1, CLASSES[response]) / CLASSES[response])
        names = np.array(["a", "b", "c"])
        data["y"] = pd.Categorical(names[np.searchsorted(ends, y)])
    else:
        data["y"] = y
    return data[:n].reset_index(drop=True), data[n:].reset_index(drop=True)


def brier(prob: NDArray[np.float64], y: pd.Series) -> float:
    """Return the Brier score of class probabilities, columns in the order of the classes."""
    observed = pd.get_dummies(y).to_numpy(float)
    return float(np.mean(np.sum((prob - observed) ** 2, axis=1)))


def relative(predicted: NDArray[np.float64], y: pd.Series) -> float:
    """Return the mean squared error, relative to the variance."""
    return float(np.mean((predicted - y) ** 2) / np.var(y))


def error_of_odrf(train: pd.DataFrame, test: pd.DataFrame, trees: int, seed: int) -> float:
    """Return the error of this package's forest."""
    fit = odrf("y ~ .", train, n_trees=trees, seed=seed, n_jobs=1)
    if fit.kind == "regression":
        return relative(fit.predict(test).to_numpy(), test["y"])
    return brier(fit.predict(test, type="prob").to_numpy(), test["y"])


def error_of_rf(train: pd.DataFrame, test: pd.DataFrame, trees: int, seed: int) -> float:
    """Return the error of scikit-learn's forest, with an indicator of each level."""
    X, Z = (pd.get_dummies(rows.drop(columns="y"), dtype=float) for rows in (train, test))
    how: dict[str, Any] = {"n_estimators": trees, "random_state": seed, "n_jobs": 1}
    if isinstance(train["y"].dtype, pd.CategoricalDtype):
        forest = RandomForestClassifier(**how).fit(X, train["y"])
        return brier(forest.predict_proba(Z), test["y"])
    return relative(RandomForestRegressor(**how).fit(X, train["y"]).predict(Z), test["y"])


METHODS: dict[str, Any] = {"odrf": error_of_odrf, "rf": error_of_rf}


def lines_of(
    options: argparse.Namespace, response: str, levels: int, n: int, effect: str
) -> Iterator[tuple[Any, ...]]:
    """Yield the error and the processor seconds of each forest, with and without the factor."""
    for repeat in range(options.repeats * OFTEN.get(n, 1)):
        case = [CLASSES[response], levels, n, list(EFFECTS).index(effect)]
        rng = np.random.default_rng([options.seed, *case, repeat])
        train, test = sample(response, levels, n, effect, rng)
        for name, method in METHODS.items():
            for without in (False, True):
                left_out = ["level"] if without else []
                rows = train.drop(columns=left_out), test.drop(columns=left_out)
                begin = time.process_time()
                error = method(*rows, options.trees, options.seed + repeat)
                yield (
                    repeat, f"{name} without" if without else name,
                    error, time.process_time() - begin,
                )  # fmt: skip


def report(lines: pd.DataFrame) -> str:
    """Write the errors relative to the best of the others, as markdown."""
    errors = lines.pivot_table(index=CASE, columns="method", values="error", sort=False)
    others = errors.drop(columns="odrf")
    ratio = errors["odrf"] / others.min(axis=1)
    shown = ratio.unstack("effect").map("{:.3f}".format).reset_index()
    shown.index = pd.Index(
        [f"{r}, {levels} levels, {n} rows" for r, levels, n in shown[CASE[:3]].to_numpy()]
    )
    behind = f"{(ratio > 1.05).sum()} of {len(ratio)} are more than 5 % behind."
    return "\n\n".join([markdown_table(shown[list(EFFECTS)], "response, factor, effect"), behind])


def run(options: argparse.Namespace) -> pd.DataFrame:
    """Continue the csv, and return its lines."""
    tasks = list(product(CLASSES, LEVELS, ROWS, EFFECTS))
    return go_on(options.out, COLUMNS, tasks, lambda *task: lines_of(options, *task))


def main() -> int:
    """Fit the forests, or report an existing csv."""
    options = parser(__doc__ or "", "level_effects.csv", repeats=1, trees=100).parse_args()
    return run_or_report(options, run, report)


if __name__ == "__main__":
    sys.exit(main())
