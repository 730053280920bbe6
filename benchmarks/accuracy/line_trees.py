"""Single trees for numbers, with constants and with lines in their leaves, beside other packages.

    python -m benchmarks.accuracy.line_trees --out line_trees.csv [--data DIR] [--tables a,b]
                                             [--partitions 3] [--methods a,b] [--limit 60]
    python -m benchmarks.accuracy.line_trees --report line_trees.csv

On each partition of a table (``protocol.py``, Z) every method grows one tree.  The csv holds its
relative error on the test rows, its leaves, and seconds of processor of fit and prediction, those
of cross-validation included.  A run with an existing csv adds what is missing, so that methods of
packages that live in another environment can be added by its interpreter.

The trees of this package are pruned by their default, 10-fold cross-validation.  The size of those
of others is chosen by 5-fold cross-validation; what is not named here is their default.

* cart: scikit-learn, cost-complexity pruning.
* obliquetree: oblique splits on two predictors, constants; its depth is chosen.
* linear_tree: linear-tree, least squares in leaves; its depth is chosen.
* lightgbm: one tree of LightGBM with linear_tree; its leaves are chosen.  LightGBM never gives its
  first tree lines, so a tree with a learning rate of nearly 0 comes before.
"""

from __future__ import annotations

import argparse
import math
import signal
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import RegressorMixin
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV
from sklearn.tree import DecisionTreeRegressor

from benchmarks.shared.markdown import in_bold
from benchmarks.shared.markdown import table as markdown_table
from benchmarks.shared.protocol import PROTOCOLS, Partition, partitions
from benchmarks.shared.ranks import mean_ranks
from benchmarks.shared.ratios import error_of_excess, excess
from benchmarks.shared.runs import go_on, run_or_report
from benchmarks.shared.tables import read_table, table_names
from odrf import odt

Fitted = tuple[Callable[[pd.DataFrame], Any], int]
"""The predictions of a tree, and its leaves."""

COLUMNS = ["table", "partition", "method", "error", "leaves", "seconds"]
CONSTANT, LINEAR = "odt", "odt_lines"
FOLDS = 5
SIZES = 30
"""Sizes of pruned trees that cross-validation compares, at most."""
WARM_UP_ROWS, WARM_UP_PREDICTORS = 100, 4
SMALL = 1e-3
"""Added to both errors of a ratio."""


def ours(train: pd.DataFrame, seed: int, **options: Any) -> Fitted:
    """Fit a tree of this package."""
    tree = odt("y ~ .", train, seed=seed, **options)
    return tree.predict, tree.n_leaves


def cart(train: pd.DataFrame, seed: int) -> Fitted:
    """Fit scikit-learn's tree."""
    X, y = _numbers(train), train["y"]
    grown = DecisionTreeRegressor(random_state=seed)
    alphas = np.unique(grown.cost_complexity_pruning_path(X, y).ccp_alphas.clip(0))
    places = np.linspace(0, len(alphas) - 1, min(SIZES, len(alphas))).round().astype(int)
    tree = _chosen(grown, X, y, ccp_alpha=alphas[places])
    return _of_numbers(tree, X.columns), int(tree.get_n_leaves())


def obliquetree(train: pd.DataFrame, seed: int) -> Fitted:
    """Fit a tree of obliquetree, which has no estimator of scikit-learn."""
    X, y = _numbers(train), train["y"]
    values, response = np.array(X), np.array(y, dtype=float)  # copies that may be written to
    fold = np.random.default_rng(seed).permutation(len(y)) % FOLDS

    def fitted(rows: NDArray, depth: int) -> Any:
        tree = import_module("obliquetree").Regressor(max_depth=depth, random_state=seed)
        tree.fit(values[rows], response[rows])
        return tree

    def error(depth: int) -> float:
        parts = [(fitted(fold != k, depth), fold == k) for k in range(FOLDS)]
        return sum(((tree.predict(values[k]) - response[k]) ** 2).sum() for tree, k in parts)

    tree = fitted(np.full(len(y), True), min(range(1, 9), key=error))
    leaves = len(np.unique(tree.apply(values)))
    return lambda new: tree.predict(np.array(_numbers(new, X.columns))), leaves


def linear_tree(train: pd.DataFrame, seed: int) -> Fitted:
    """Fit a tree of linear-tree."""
    X, y = _numbers(train), train["y"]
    grown = import_module("lineartree").LinearTreeRegressor(LinearRegression())
    tree = _chosen(grown, X, y, max_depth=[1, 2, 3, 5])
    leaves = sum(1 for node in tree.summary().values() if "children" not in node)
    return _of_numbers(tree, X.columns), leaves


def lightgbm(train: pd.DataFrame, seed: int) -> Fitted:
    """Fit a tree of LightGBM."""
    package = import_module("lightgbm")
    X, y = _numbers(train), train["y"]
    options = {"n_estimators": 2, "linear_tree": True, "random_state": seed, "n_jobs": 1}
    search = GridSearchCV(
        package.LGBMRegressor(verbose=-1, **options),
        {"num_leaves": [2, 4, 8, 16, 32, 64]},
        cv=FOLDS,
        scoring="neg_mean_squared_error",
    )
    steps = package.reset_parameter(learning_rate=[1e-9, 1.0])
    tree = search.fit(X, y, callbacks=[steps]).best_estimator_
    last = tree.booster_.dump_model()["tree_info"][-1]
    return _of_numbers(tree, X.columns), int(last["num_leaves"])


METHODS: dict[str, Callable[..., Fitted]] = {
    CONSTANT: ours,
    LINEAR: partial(ours, leaves="linear"),
    "cart": cart,
    "obliquetree": obliquetree,
    "linear_tree": linear_tree,
    "lightgbm": lightgbm,
}
_warm: set[str] = set()


def _numbers(rows: pd.DataFrame, columns: pd.Index | None = None) -> pd.DataFrame:
    """Return the predictors, factors as indicators."""
    X = pd.get_dummies(rows.drop(columns="y", errors="ignore"), dtype=float)
    return X if columns is None else X.reindex(columns=columns, fill_value=0.0)


def _chosen(estimator: Any, X: pd.DataFrame, y: pd.Series, **grid: Any) -> Any:
    """Return the estimator with the least squared error of cross-validation, fitted to all rows."""
    search = GridSearchCV(estimator, grid, cv=FOLDS, scoring="neg_mean_squared_error")
    return search.fit(X, y).best_estimator_


def _of_numbers(tree: RegressorMixin, columns: pd.Index) -> Callable[[pd.DataFrame], NDArray]:
    return lambda new: tree.predict(_numbers(new, columns))


def measured(method: str, rows: Partition, seed: int, limit: int) -> tuple[float, float, float]:
    """Return relative error, leaves and seconds; no error if the limit of seconds passes first."""
    _warm_up(method, rows)
    start = time.process_time()
    try:
        with_alarm = signal.signal(signal.SIGALRM, _too_long)
        signal.alarm(limit)
        predict, leaves = METHODS[method](rows.train, seed)
        predicted = np.asarray(predict(rows.test.drop(columns="y")), dtype=float)
    except TimeoutError:
        return math.nan, math.nan, time.process_time() - start
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, with_alarm)
    seconds = time.process_time() - start
    if seconds > limit:  # compiled code may swallow the alarm
        return math.nan, math.nan, seconds
    y = rows.test["y"].to_numpy(float)
    of_mean = np.mean((rows.train["y"].mean() - y) ** 2)
    return float(np.mean((predicted - y) ** 2) / of_mean), leaves, seconds


def _warm_up(method: str, rows: Partition) -> None:
    """Compile and import, once, before time is measured."""
    if method not in _warm:
        _warm.add(method)
        few = rows.train.head(WARM_UP_ROWS)
        METHODS[method](pd.concat([few.iloc[:, :WARM_UP_PREDICTORS], few["y"]], axis=1), seed=0)


def _too_long(number: int, frame: object) -> None:
    raise TimeoutError


def run(options: argparse.Namespace) -> pd.DataFrame:
    """Fit what the csv lacks, and write to it tree by tree."""
    kept: dict[str, list[Partition]] = {}

    def lines(name: str, number: int, method: str) -> Iterator[tuple[float, float, float]]:
        if name not in kept:
            kept.clear()
            table = read_table(options.data, name)
            split = partitions(table, PROTOCOLS["Z"], options.partitions, options.seed)
            kept[name] = list(split)
        yield measured(method, kept[name][number], options.seed + number, options.limit)

    tasks = [
        (name, number, method)
        for number in range(options.partitions)
        for name in _regressions(options)
        for method in options.methods.split(",")
    ]
    return go_on(options.out, COLUMNS, tasks, lines)


def _regressions(options: argparse.Namespace) -> list[str]:
    index = pd.read_csv(options.data / "index.csv", index_col="name")
    names = table_names(options.data) if options.tables == "all" else options.tables.split(",")
    return [name for name in names if index["task"][name] == "regression"]


def report(lines: pd.DataFrame) -> str:
    """Compare the trees, as markdown, on the partitions that all methods of the csv have."""
    methods = lines["method"].nunique()
    whole = lines.groupby(["table", "partition"])["method"].transform("nunique") == methods
    means = lines[whole].groupby(["table", "method"]).agg(_mean_of_all)
    errors, leaves, seconds = (
        means[what].unstack("method").reindex(columns=list(METHODS)).dropna(axis=1, how="all")
        for what in ("error", "leaves", "seconds")
    )
    text = errors.map(_digits)
    best = errors.eq(errors.min(axis=1), axis=0)
    shown = in_bold(text, best) + leaves.map(_in_brackets)
    return "\n\n".join(
        [
            "Relative errors, means over partitions; leaves in brackets:",
            markdown_table(shown, "table"),
            markdown_table(summary(errors, leaves, seconds), "method"),
        ]
    )


def _mean_of_all(values: pd.Series) -> float:
    return float(values.mean(skipna=False))


def _digits(error: float) -> str:
    return "–" if math.isnan(error) else f"{error:#.3g}"


def _in_brackets(leaves: float) -> str:
    return "" if math.isnan(leaves) else f" ({leaves:.0f})"


def summary(errors: pd.DataFrame, leaves: pd.DataFrame, seconds: pd.DataFrame) -> pd.DataFrame:
    """Return a row for each method: rank, error beside a tree of constants, leaves and time."""
    logs = (errors + SMALL).div(errors[CONSTANT] + SMALL, axis=0).apply(np.log)
    differs = errors.sub(errors[CONSTANT], axis=0)
    times = seconds.div(seconds[CONSTANT], axis=0).apply(np.log)
    return pd.DataFrame(
        {
            "mean rank": mean_ranks(errors).map("{:.2f}".format),
            "error, %": excess(logs).map("{:+.0f}".format),
            "standard error": error_of_excess(logs).map("{:.0f}".format),
            "better, worse": [
                f"{(differs[m] < 0).sum()}, {(differs[m] > 0).sum()}" for m in errors
            ],
            "median leaves": leaves.median().map("{:.0f}".format),
            "median seconds": seconds.median().map("{:.2f}".format),
            "time": np.exp(times.mean()).map("{:.2f}".format),
        }
    )


def main() -> int:
    """Fit the trees, or report an existing csv."""
    options = _parser().parse_args()
    return run_or_report(options, run, report, options.data)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=(__doc__ or "").splitlines()[0],
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    add = parser.add_argument
    add("--out", type=Path, default=Path("line_trees.csv"), help="csv that is written or continued")
    add("--report", type=Path, help="csv to be reported, instead of a run")
    add("--data", type=Path, default=Path("../shared/data"), help="folder with index.csv")
    add("--tables", default="all", help="names with commas between them")
    add("--methods", default=",".join(METHODS), help="see the top of the script")
    add("--partitions", type=int, default=3, help="random partitions")
    add("--limit", type=int, default=60, help="most seconds of one fit")
    add("--seed", type=int, default=0, help="of the partitions and the trees")
    return parser


if __name__ == "__main__":
    sys.exit(main())
