"""Coverage and width of prediction and confidence intervals of forests.

    python -m benchmarks.inference.intervals --out intervals.csv [--data DIR] [--repeats 20]
                                             [--trees 500]
    python -m benchmarks.inference.intervals --report intervals.csv

95 % prediction intervals of forests, by out-of-bag residuals and by quantiles, are evaluated on new
rows of three simulated regressions and on test rows of two tables.  Those of stacks are also
evaluated on the third of the rows with the narrowest, and with the widest intervals.

95 % confidence intervals are evaluated by whether they cover the expectation of the forest, which
is the mean prediction of the forests of all repeats, and whether they cover the regression
function, from which the expectation differs by the bias.  They are evaluated with 500 trees, and
with as many as the warning advises.  The csv has one line for each repeat and method.  A run with
an existing csv adds the missing problems.
"""

from __future__ import annotations

import argparse
import re
import sys
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmarks.shared.markdown import table as markdown_table
from benchmarks.shared.runs import go_on, parser
from benchmarks.shared.tables import read_table
from odrf import auto, odrf
from odrf.results import ODRFResults

TABLES = ("abalone", "concrete")
TEST_SHARE = 1 / 3
PREDICTION: tuple[Literal["conformal", "quantile"], ...] = ("conformal", "quantile")
# Training rows, trees before any are advised, and points of confidence intervals.
MEAN_ROWS, MEAN_TREES, MEAN_POINTS = 200, 500, 100
ADVICE = re.compile(r"grow\((\d+)\)")
MEAN_OPTIONS: dict[str, dict[str, Any]] = {
    "bootstrap": {"blend": False},
    "subsample": {"blend": False, "resample": "subsample", "sample_fraction": 0.5},
    "blend": {"blend": True},
}
COLUMNS = ["problem", "repeat", "method", "covered", "width", "missing"]


def additive_mean(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """A sum of smooth functions."""
    return 2 * np.sin(np.pi * x[:, 0]) + 4 * (x[:, 1] - 0.5) ** 2 + 2 * x[:, 2] + x[:, 3]


def additive(x: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.float64]:
    """A sum of smooth functions; noise of standard deviation 0.5."""
    return additive_mean(x) + 0.5 * rng.normal(size=len(x))


def radial(x: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.float64]:
    """A radial hill; no direction is preferred."""
    distance = np.sum((x[:, :3] - 0.5) ** 2, axis=1)
    return 3 * np.exp(-4 * distance) + 0.3 * rng.normal(size=len(x))


def ridge(x: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.float64]:
    """A function of one oblique direction, along which the noise grows up to eightfold."""
    along = (x[:, 0] + x[:, 1] - x[:, 2] + 1) / 3
    return 5 * along**2 + (0.1 + 0.7 * along) * rng.normal(size=len(x))


Evaluate = Callable[
    [pd.DataFrame, pd.DataFrame, int, int], Iterator[tuple[str, float, float, float]]
]
Truth = Callable[[NDArray[np.float64], np.random.Generator], NDArray[np.float64]]
SIMULATED: dict[str, Truth] = {"additive": additive, "radial": radial, "ridge": ridge}


def simulate(truth: Truth, n: int, rng: np.random.Generator) -> pd.DataFrame:
    """Draw n rows with eight predictors, uniform on [0, 1]."""
    x = rng.random((n, 8))
    return pd.DataFrame(x).add_prefix("x").assign(y=truth(x, rng))


def evaluate(
    train: pd.DataFrame, test: pd.DataFrame, trees: int, seed: int
) -> Iterator[tuple[str, float, float, float]]:
    """Yield for each method the shares of test rows covered and missing, and the mean width."""
    forest = odrf("y ~ .", train, kind="regression", n_trees=trees, seed=seed)
    for method in PREDICTION:
        ends = forest.predict(test, interval="prediction", method=method)
        width = ends["conf_high"] - ends["conf_low"]
        covered = test["y"].between(ends["conf_low"], ends["conf_high"])
        yield method, float(covered.mean()), float(width.mean()), float(width.isna().mean())


def evaluate_stack(
    train: pd.DataFrame, test: pd.DataFrame, trees: int, seed: int
) -> Iterator[tuple[str, float, float, float]]:
    """Yield the same of a stack: for all test rows, and for thirds of them by the width."""
    stack = auto("y ~ .", train, kind="regression", n_trees=trees, seed=seed)
    ends = stack.predict(test, interval="prediction")
    width = ends["conf_high"] - ends["conf_low"]
    covered = test["y"].between(ends["conf_low"], ends["conf_high"]).to_numpy()
    order = np.argsort(width.to_numpy(), kind="stable")
    narrow, _, wide = np.array_split(order, 3)
    for method, at in (("stack", order), ("stack, narrow", narrow), ("stack, wide", wide)):
        values = width.iloc[at]
        yield method, float(covered[at].mean()), float(values.mean()), float(values.isna().mean())


def prediction_lines(
    evaluate: Evaluate, name: str, options: argparse.Namespace
) -> list[tuple[Any, ...]]:
    """Evaluate prediction intervals on a problem, repeat by repeat."""
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
        evaluated = evaluate(train, test, options.trees, options.seed + repeat)
        lines += [(repeat, *line) for line in evaluated]
    return lines


def mean_lines(name: str, options: argparse.Namespace) -> list[tuple[Any, ...]]:
    """Evaluate confidence intervals of forests of this kind, repeat by repeat."""
    points = simulate(additive, MEAN_POINTS, np.random.default_rng([options.seed]))
    truth = additive_mean(points.drop(columns="y").to_numpy())
    found = [
        _confidence_intervals(name, points, repeat, options) for repeat in range(options.repeats)
    ]
    lines: list[tuple[Any, ...]] = []
    for trees in found[0]:
        intervals = [ends[trees] for ends in found]
        expected = np.mean([ends["estimate"] for ends in intervals], axis=0)
        # deviations from the mean of R forests, their own among them, are too small by this factor
        factor = (len(found) / (len(found) - 1)) ** 0.5
        for repeat, ends in enumerate(intervals):
            half = (ends["conf_high"] - ends["conf_low"]) / 2
            missing, width = float(half.isna().mean()), float(2 * half.mean())
            off = {"": factor * (ends["estimate"] - expected), ", truth": ends["estimate"] - truth}
            lines += [
                (repeat, f"{trees}{of}", float((by.abs() <= half).mean()), width, missing)
                for of, by in off.items()
            ]
    return lines


def _confidence_intervals(
    name: str, points: pd.DataFrame, repeat: int, options: argparse.Namespace
) -> dict[str, pd.DataFrame]:
    """Return the intervals at the points with MEAN_TREES trees, and with as many as advised."""
    rng, seed = np.random.default_rng([options.seed, repeat]), options.seed + repeat
    train = simulate(additive, MEAN_ROWS, rng)
    forest = odrf("y ~ .", train, n_trees=MEAN_TREES, seed=seed, **MEAN_OPTIONS[name])
    few, advised = _intervals_and_advice(forest, points)
    enough = forest.grow(advised) if advised else forest
    many, further = _intervals_and_advice(enough, points)
    if further:
        print(f"{name}, repeat {repeat}: {further} trees more are advised again", file=sys.stderr)
    return {f"jackknife, {MEAN_TREES} trees": few, "jackknife, as advised": many}


def _intervals_and_advice(forest: ODRFResults, points: pd.DataFrame) -> tuple[pd.DataFrame, int]:
    """Return confidence intervals, and how many trees more their warning advises."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        ends = pd.DataFrame(forest.predict(points, interval="confidence"))
    advice = [match[1] for each in caught if (match := ADVICE.search(str(each.message)))]
    return ends, int(advice[0]) if advice else 0


def run(options: argparse.Namespace) -> pd.DataFrame:
    """Return the lines of every problem, COLUMNS, continuing the csv."""
    tables = [name for name in TABLES if (options.data / f"{name}.csv.gz").exists()]
    if not tables:
        print(f"no tables: {options.data} holds none of {', '.join(TABLES)}", file=sys.stderr)
    problems = [*SIMULATED, *tables]
    lines_of = {name: partial(prediction_lines, evaluate, name) for name in problems}
    lines_of |= {
        f"stack, {name}": partial(prediction_lines, evaluate_stack, name) for name in problems
    }
    lines_of |= {f"mean, {name}": partial(mean_lines, name) for name in MEAN_OPTIONS}
    tasks = [(problem,) for problem in lines_of]
    return go_on(
        options.out, COLUMNS, tasks, lambda problem: lines_of[problem](options), digits=None
    )


def report(lines: pd.DataFrame) -> str:
    """Write coverage in per cent, its standard error over repeats, and widths, as markdown."""
    named = lines["problem"] + ": " + lines["method"]
    groups = lines.groupby(named, sort=False)
    covered, se = 100 * groups["covered"].mean(), 100 * groups["covered"].sem()
    shown = pd.DataFrame(
        {
            "covered, %": [f"{mean:.1f} ± {by:.1f}" for mean, by in zip(covered, se, strict=True)],
            "mean width": [f"{width:.3g}" for width in groups["width"].mean()],
            "missing, %": [f"{100 * share:.1f}" for share in groups["missing"].mean()],
        },
        index=covered.index,
    )
    return markdown_table(shown, "problem: method")


def main() -> int:
    """Evaluate the intervals, or report an existing csv."""
    asked = parser(__doc__ or "", "intervals.csv", repeats=20, trees=500)
    add = asked.add_argument
    add("--data", type=Path, default=Path("../shared/data"), help="folder with the tables")
    add("--rows", type=int, default=500, help="rows of a simulated training sample")
    options = asked.parse_args()
    print(report(run(options) if options.report is None else pd.read_csv(options.report)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
