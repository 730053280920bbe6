"""Is a fit that is updated by the second half of its rows as good as one made on all at once?

    python benchmarks/updating.py --out updating.csv [--data DIR] [--repeats 10] [--trees 100]
    python benchmarks/updating.py --report updating.csv

On random partitions of six tables, two thirds for training and at most ``--rows`` of them, trees
and forests are fitted to the first half of the training rows and updated with the second, and
fitted to all training rows at once.  Judged are the errors on the test rows, mean squared error or
share of misclassified rows, and the seconds of the update and of both fits, in turn first one and
then the other, on one thread.

An update is as good where its mean error exceeds that of the one fit by no more than one standard
error of the test error: that of its mean loss over the test rows of a partition.  Beside it stands
the difference with its standard error over partitions, of which trees have four times as many.

The csv has one line for each table, partition and method.  A run goes on with what a csv lacks.
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

from markdown import table as markdown_table
from odrf import odrf, odt
from runs import go_on, parser, with_tables
from tables import Table, read_table

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
    """Return the loss of each test row: its squared error, or whether its class is another."""
    said = fit.predict(test)
    wrong = said != test["y"] if fit.kind == "classification" else (said - test["y"]) ** 2
    return wrong.to_numpy(dtype=np.float64)


def timed(make: Callable[[], Any]) -> tuple[Any, float]:
    """Return what is made, and the seconds that it took."""
    began = time.perf_counter()
    made = make()
    return made, time.perf_counter() - began


def judge(
    name: str, table: Table, train: pd.DataFrame, test: pd.DataFrame, trees: int, number: int
) -> tuple[float, ...]:
    """Return errors, standard error and seconds of a method, as `COLUMNS` has them."""
    given: dict[str, Any] = {"kind": table.task, "seed": number}
    middle = len(train) // 2

    def fit(rows: pd.DataFrame) -> Any:
        if name == TREE:
            return odt("y ~ .", rows, **given)
        return odrf("y ~ .", rows, n_trees=trees, blend=name == BLEND, n_jobs=1, **given)

    def in_halves() -> tuple[Any, float, Any, float]:
        half, half_s = timed(lambda: fit(train[:middle]))
        return half, half_s, *timed(lambda: half.update(train[middle:]))

    if number % 2:
        once, once_s = timed(lambda: fit(train))
        half, half_s, updated, update_s = in_halves()
    else:
        half, half_s, updated, update_s = in_halves()
        once, once_s = timed(lambda: fit(train))
    lost = losses(once, test)
    errors = [float(losses(made, test).mean()) for made in (half, updated)]
    se = float(lost.std(ddof=1) / np.sqrt(len(lost)))
    return *errors, float(lost.mean()), se, half_s, update_s, once_s


def parts(table: Table, number: int, rows: int, seed: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return training and test rows of a partition, in random order."""
    rng = np.random.default_rng([seed, number, crc32(table.name.encode())])
    order = rng.permutation(len(table.data))
    n = min(int(TRAINING_SHARE * len(order)), rows)
    return table.data.iloc[order[:n]], table.data.iloc[order[n:]]


def run(options: argparse.Namespace) -> pd.DataFrame:
    """Return the lines of every partition, COLUMNS, going on with the csv."""
    names = [name for name in TABLES if (options.data / f"{name}.csv.gz").exists()]
    if not names:
        sys.exit(f"no tables: {options.data} holds none of {', '.join(TABLES)}")
    numbers = range(TREE_REPEATS * options.repeats)
    tasks = [(name, number) for name in names for number in numbers]
    read = lru_cache(maxsize=1)(read_table)  # tasks come table by table
    compiled: set[str] = set()

    def lines(name: str, number: int) -> Iterator[tuple]:
        table = read(options.data, name)
        train, test = parts(table, number, options.rows, options.seed)
        for method in METHODS if number < options.repeats else (TREE,):
            if method + table.task not in compiled:  # the first calls wait for the compiler
                judge(method, table, train[:200], test, options.trees, number)
                compiled.add(method + table.task)
            yield len(train), method, *judge(method, table, train, test, options.trees, number)

    return go_on(options.out, COLUMNS, tasks, lines)


def summarised(lines: pd.DataFrame) -> pd.DataFrame:
    """Return a row for each method and table: means over partitions, and whether it is as good."""
    lines = lines.assign(difference=lines["updated"] - lines["once"])
    of_each = lines.groupby(["method", "table"], sort=False)
    found = of_each[["n", *COLUMNS[4:], "difference"]].mean()
    found["difference_se"] = of_each["difference"].sem()
    return found.assign(as_good=found["difference"] <= found["se"])


def report(lines: pd.DataFrame) -> str:
    """Show errors and seconds by method and table, as markdown."""
    texts = []
    for method, found in summarised(lines).groupby(level="method", sort=False):
        own = found.droplevel("method")
        shown = pd.DataFrame(index=own.index)
        shown["rows"] = [f"{n:.0f}" for n in own["n"]]
        for name, words in (("half", "first half"), ("updated", "updated"), ("once", "at once")):
            shown[words] = [f"{error:.4g}" for error in own[name]]
        shown["SE"] = [f"{se:.2g}" for se in own["se"]]
        pairs = zip(own["difference"], own["difference_se"], strict=True)
        shown["updated - at once"] = [f"{mean:.2g} ± {se:.2g}" for mean, se in pairs]
        for name, words in (
            ("half_s", "half, s"),
            ("update_s", "update, s"),
            ("once_s", "once, s"),
        ):
            shown[words] = [f"{seconds:.3g}" for seconds in own[name]]
        good, fast = int(own["as_good"].sum()), int((own["update_s"] < own["once_s"]).sum())
        both = int((own["half_s"] + own["update_s"] < own["once_s"]).sum())
        texts.append(
            f"**{method}**: as good on {good} of {len(own)} tables; the update takes less time on "
            f"{fast}, with the fit before it on {both}\n\n{markdown_table(shown, 'table')}"
        )
    return "\n\n".join(texts)


def main() -> int:
    """Judge the updates, or report what a csv holds."""
    asked = parser(__doc__ or "", "updating.csv", repeats=10, trees=100)
    options = with_tables(asked, rows=4000).parse_args()
    lines = run(options) if options.report is None else pd.read_csv(options.report)
    print(report(lines))
    return 0


if __name__ == "__main__":
    sys.exit(main())
