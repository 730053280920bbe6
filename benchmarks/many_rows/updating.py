"""Fits that are updated with the second half of the rows, against fits of all rows at once.

    python -m benchmarks.many_rows.updating --out updating.csv [--data DIR] [--repeats 10]
                                            [--trees 100]
    python -m benchmarks.many_rows.updating --report updating.csv

On random partitions of six tables, with two thirds of the rows and at most ``--rows`` rows for
training, trees and forests are fitted to the first half of the training rows and updated with the
second half; they are also fitted to all training rows at once.  Measured are the errors on the test
rows, mean squared error or misclassification rate, and the seconds of the update and of both fits
on one thread; the two ways take turns at being first.

An update counts as good as the fit of all rows if its mean error is larger by at most one standard
error of the test error, which is the standard error of the mean loss over the test rows of a
partition.  The report also has the difference with its standard error over partitions.  Trees have
four times as many partitions.

The csv has one line for each table, partition and method.  A run with an existing csv adds the
missing lines.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any
from zlib import crc32

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmarks.shared.markdown import table as markdown_table
from benchmarks.shared.runs import go_on, parser, with_tables
from benchmarks.shared.tables import Table, read_table
from odrf import odrf, odt

TABLES = ("abalone", "concrete", "kin8nm", "magic", "pendigits", "satimage")
TRAINING_SHARE = 2 / 3
TREE, FOREST, BLEND = "tree", "forest", "blend"
METHODS = (TREE, FOREST, BLEND)
# Trees vary more from partition to partition than forests, and take less time.
TREE_REPEATS = 4
COLUMNS = [
    "table", "partition", "n", "method",
    "half", "updated", "once", "se", "half_s", "update_s", "once_s",
]  # fmt: skip


def losses(fit: Any, test: pd.DataFrame) -> NDArray[np.float64]:
    """Return the loss of each test row: squared error, or whether the class is wrong."""
    predicted, y = fit.predict(test), test["y"]
    loss = predicted != y if fit.kind == "classification" else (predicted - y) ** 2
    return loss.to_numpy(dtype=np.float64)


def timed(make: Callable[[], Any]) -> tuple[Any, float]:
    """Return the result of `make`, and the seconds that it took."""
    began = time.perf_counter()
    result = make()
    return result, time.perf_counter() - began


def evaluate(
    name: str, table: Table, train: pd.DataFrame, test: pd.DataFrame, trees: int, number: int
) -> tuple[float, ...]:
    """Return errors, standard error and seconds of a method, in the order of `COLUMNS`."""
    common: dict[str, Any] = {"kind": table.task, "seed": number}
    middle = len(train) // 2

    def fit(rows: pd.DataFrame) -> Any:
        if name == TREE:
            return odt("y ~ .", rows, alpha=None, **common)
        return odrf("y ~ .", rows, n_trees=trees, blend=name == BLEND, n_jobs=1, **common)

    def in_halves() -> tuple[Any, float, Any, float]:
        half, half_s = timed(lambda: fit(train[:middle]))
        return half, half_s, *timed(lambda: half.update(train[middle:]))

    if number % 2:
        once, once_s = timed(lambda: fit(train))
        half, half_s, updated, update_s = in_halves()
    else:
        half, half_s, updated, update_s = in_halves()
        once, once_s = timed(lambda: fit(train))
    errors = [float(losses(each, test).mean()) for each in (half, updated)]
    of_once = losses(once, test)
    se = float(of_once.std(ddof=1) / np.sqrt(len(of_once)))
    return *errors, float(of_once.mean()), se, half_s, update_s, once_s


def split(table: Table, number: int, rows: int, seed: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return training and test rows of a partition, in random order."""
    rng = np.random.default_rng([seed, number, crc32(table.name.encode())])
    order = rng.permutation(len(table.data))
    n = min(int(TRAINING_SHARE * len(order)), rows)
    return table.data.iloc[order[:n]], table.data.iloc[order[n:]]


def run(options: argparse.Namespace) -> pd.DataFrame:
    """Return the lines of every partition, COLUMNS, continuing the csv."""
    names = [name for name in TABLES if (options.data / f"{name}.csv.gz").exists()]
    if not names:
        sys.exit(f"no tables: {options.data} holds none of {', '.join(TABLES)}")
    numbers = range(TREE_REPEATS * options.repeats)
    tasks = [(name, number) for name in names for number in numbers]
    read = lru_cache(maxsize=1)(read_table)  # tasks come table by table
    compiled: set[str] = set()

    def lines(name: str, number: int) -> Iterator[tuple]:
        table = read(options.data, name)
        train, test = split(table, number, options.rows, options.seed)
        for method in METHODS if number < options.repeats else (TREE,):
            if method + table.task not in compiled:  # the first calls wait for the compiler
                evaluate(method, table, train[:200], test, options.trees, number)
                compiled.add(method + table.task)
            yield len(train), method, *evaluate(method, table, train, test, options.trees, number)

    return go_on(options.out, COLUMNS, tasks, lines)


def summarised(lines: pd.DataFrame) -> pd.DataFrame:
    """Return a row for each method and table: means over partitions, and whether it is as good."""
    lines = lines.assign(difference=lines["updated"] - lines["once"])
    groups = lines.groupby(["method", "table"], sort=False)
    means = groups[["n", *COLUMNS[4:], "difference"]].mean()
    means["difference_se"] = groups["difference"].sem()
    return means.assign(as_good=means["difference"] <= means["se"])


def report(lines: pd.DataFrame) -> str:
    """Write errors and seconds by method and table, as markdown."""
    texts = []
    for method, of_method in summarised(lines).groupby(level="method", sort=False):
        means = of_method.droplevel("method")
        shown = pd.DataFrame(index=means.index)
        shown["rows"] = [f"{n:.0f}" for n in means["n"]]
        for name, words in (("half", "first half"), ("updated", "updated"), ("once", "at once")):
            shown[words] = [f"{error:.4g}" for error in means[name]]
        shown["SE"] = [f"{se:.2g}" for se in means["se"]]
        pairs = zip(means["difference"], means["difference_se"], strict=True)
        shown["updated - at once"] = [f"{mean:.2g} ± {se:.2g}" for mean, se in pairs]
        for name, words in (
            ("half_s", "half, s"),
            ("update_s", "update, s"),
            ("once_s", "once, s"),
        ):
            shown[words] = [f"{seconds:.3g}" for seconds in means[name]]
        good, fast = int(means["as_good"].sum()), int((means["update_s"] < means["once_s"]).sum())
        both = int((means["half_s"] + means["update_s"] < means["once_s"]).sum())
        texts.append(
            f"**{method}**: as good on {good} of {len(means)} tables; the update takes less time "
            f"on {fast}, with the fit before it on {both}\n\n{markdown_table(shown, 'table')}"
        )
    return "\n\n".join(texts)


def main() -> int:
    """Evaluate the updates, or report an existing csv."""
    asked = parser(__doc__ or "", "updating.csv", repeats=10, trees=100)
    options = with_tables(asked, rows=4000).parse_args()
    lines = run(options) if options.report is None else pd.read_csv(options.report)
    print(report(lines))
    return 0


if __name__ == "__main__":
    sys.exit(main())
