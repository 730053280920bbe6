"""Do intervals cover what they are to cover, and how wide are they?

    python benchmarks/intervals.py --out intervals.csv [--data DIR] [--repeats 20] [--trees 500]
    python benchmarks/intervals.py --report intervals.csv

95 % prediction intervals of forests, by out-of-bag residuals and by quantiles, are judged on new
rows of three simulated regressions and on test rows of two tables.  95 % confidence intervals are
judged by whether they cover what the forests of all repeats predict on average: the forest's own
expectation, not the regression function, from which it is biased.  The csv has one line for each
repeat and method.  A run goes on with the problems that a csv lacks.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from markdown import table as markdown_table
from odrf import odrf
from runs import go_on, parser
from tables import read_table

TABLES = ("abalone", "concrete")
TEST_SHARE = 1 / 3
PREDICTION = ("conformal", "quantile")
# The infinitesimal jackknife takes more trees than predictions do: so many times the rows.
MEAN_ROWS, MEAN_TREES_PER_ROW, MEAN_POINTS = 200, 5, 100
MEAN_OPTIONS: dict[str, dict[str, Any]] = {
    "bootstrap": {"blend": False},
    "subsample": {"blend": False, "resample": "subsample", "sample_fraction": 0.5},
    "blend": {"blend": True},
}
COLUMNS = ["problem", "repeat", "method", "covered", "width", "missing"]


def additive(x: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.float64]:
    """A sum of smooth functions, with noise as large as half of their spread."""
    mean = 2 * np.sin(np.pi * x[:, 0]) + 4 * (x[:, 1] - 0.5) ** 2 + 2 * x[:, 2] + x[:, 3]
    return mean + 0.5 * rng.normal(size=len(x))


def radial(x: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.float64]:
    """A hill, which no direction shows."""
    distance = np.sum((x[:, :3] - 0.5) ** 2, axis=1)
    return 3 * np.exp(-4 * distance) + 0.3 * rng.normal(size=len(x))


def ridge(x: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.float64]:
    """A function of one oblique direction, along which the noise grows eightfold."""
    along = (x[:, 0] + x[:, 1] - x[:, 2] + 1) / 3
    return 5 * along**2 + (0.1 + 0.7 * along) * rng.normal(size=len(x))


Truth = Callable[[NDArray[np.float64], np.random.Generator], NDArray[np.float64]]
SIMULATED: dict[str, Truth] = {"additive": additive, "radial": radial, "ridge": ridge}


def simulate(truth: Truth, n: int, rng: np.random.Generator) -> pd.DataFrame:
    """Draw n rows with eight predictors, uniform on [0, 1]."""
    x = rng.random((n, 8))
    return pd.DataFrame(x).add_prefix("x").assign(y=truth(x, rng))


def judge(
    train: pd.DataFrame, test: pd.DataFrame, trees: int, seed: int
) -> Iterator[tuple[str, float, float, float]]:
    """Yield for each method the share of test rows covered, the mean width, and what is missing."""
    forest = odrf("y ~ .", train, kind="regression", n_trees=trees, seed=seed)
    for method in PREDICTION:
        ends = forest.predict(test, interval="prediction", method=method)
        width = ends["conf_high"] - ends["conf_low"]
        covered = test["y"].between(ends["conf_low"], ends["conf_high"])
        yield method, float(covered.mean()), float(width.mean()), float(width.isna().mean())


def prediction_lines(name: str, options: argparse.Namespace) -> list[tuple[Any, ...]]:
    """Judge prediction intervals on a problem, repeat by repeat."""
    lines: list[tuple[Any, ...]] = []
    for repeat in range(options.repeats):
        rng = np.random.default_rng([options.seed, repeat])
        if name in SIMULATED:
            train, test = (simulate(SIMULATED[name], n, rng) for n in (options.rows, 1000))
        else:
            data = read_table(options.data, name).data
            order = rng.permutation(len(data))
            cut = round(TEST_SHARE * len(data))
            train, test = data.iloc[order[cut:]], data.iloc[order[:cut]]
        found = judge(train, test, options.trees, options.seed + repeat)
        lines += [(repeat, *line) for line in found]
    return lines


def mean_lines(name: str, options: argparse.Namespace) -> list[tuple[Any, ...]]:
    """Judge confidence intervals of forests of this kind, repeat by repeat."""
    points = simulate(additive, MEAN_POINTS, np.random.default_rng([options.seed]))
    found = []
    for repeat in range(options.repeats):
        rng = np.random.default_rng([options.seed, repeat])
        train, trees = simulate(additive, MEAN_ROWS, rng), MEAN_TREES_PER_ROW * MEAN_ROWS
        seed, changes = options.seed + repeat, MEAN_OPTIONS[name]
        forest = odrf("y ~ .", train, n_trees=trees, seed=seed, **changes)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found.append(forest.predict(points, interval="confidence"))
    expected = np.mean([ends["estimate"] for ends in found], axis=0)
    # the mean of R repeats varies with its own forest, by 1/√R of a standard deviation
    return [
        (
            repeat,
            "jackknife",
            float((ends["conf_low"].le(expected) & ends["conf_high"].ge(expected))[known].mean()),
            float((ends["conf_high"] - ends["conf_low"]).mean()),
            float(1 - known.mean()),
        )
        for repeat, ends in enumerate(found)
        for known in [ends["std_error"].notna()]
    ]


def run(options: argparse.Namespace) -> pd.DataFrame:
    """Return what is said of every problem, COLUMNS, going on with the csv."""
    tables = [name for name in TABLES if (options.data / f"{name}.csv.gz").exists()]
    if not tables:
        print(f"no tables: {options.data} holds none of {', '.join(TABLES)}", file=sys.stderr)
    judged = {name: partial(prediction_lines, name) for name in [*SIMULATED, *tables]}
    judged |= {f"mean, {name}": partial(mean_lines, name) for name in MEAN_OPTIONS}
    tasks = [(problem,) for problem in judged]
    return go_on(options.out, COLUMNS, tasks, lambda problem: judged[problem](options), digits=None)


def report(lines: pd.DataFrame) -> str:
    """Show coverage in per cent, its standard error over repeats, and widths, as markdown."""
    named = lines["problem"] + ": " + lines["method"]
    groups = lines.groupby(named, sort=False)
    covered, se = 100 * groups["covered"].mean(), 100 * groups["covered"].sem()
    shown = pd.DataFrame(
        {
            "covered, %": [f"{at:.1f} ± {by:.1f}" for at, by in zip(covered, se, strict=True)],
            "mean width": [f"{width:.3g}" for width in groups["width"].mean()],
            "missing, %": [f"{100 * part:.1f}" for part in groups["missing"].mean()],
        },
        index=covered.index,
    )
    return markdown_table(shown, "problem: method")


def main() -> int:
    """Judge the intervals, or report what a csv holds."""
    asked = parser(__doc__ or "", "intervals.csv", repeats=20, trees=500)
    add = asked.add_argument
    add("--data", type=Path, default=Path("../shared/data"), help="folder with the tables")
    add("--rows", type=int, default=500, help="rows of a simulated training sample")
    options = asked.parse_args()
    print(report(run(options) if options.report is None else pd.read_csv(options.report)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
