"""Do ordered target statistics of factors make boosted trees better?

    python -m benchmarks.columns.ordered_statistics --data DIR --out ordered_statistics.csv
                                                    [--repeats 6]
    python -m benchmarks.columns.ordered_statistics --report ordered_statistics.csv

The statistics of CatBoost (Prokhorenkova et al. 2018, Section 3): the rows are put in random order,
and a row's value for its level is the mean response of the rows of this level before it, with one
more row that has the mean of all.  New rows get the statistics of all training rows.  With three or
more classes each class has a column.  `odbt` gets factors of three or more levels as they are
(``levels``), as statistics (``statistics``), or both (``both``).  Partitions are those of
``protocol.py``, Z; of tables with the most training rows only `FEW` are taken.  Each line has the
error (relative squared error, or share of wrong classes), the log loss (of numbers the error
again), and processor seconds in one thread.  Partitions in odd and even places are reported apart.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmarks.methods.methods import is_factor
from benchmarks.shared.markdown import table as markdown_table
from benchmarks.shared.protocol import LARGEST_TRAINING_SET, PROTOCOLS, Partition, partitions
from benchmarks.shared.runs import go_on, parser, run_or_report
from benchmarks.shared.tables import names_there, read_table
from odrf import odbt

TABLES = ("adult", "german_credit", "splice", "soybean", "servo", "strike", "heart_cleveland")
LEVELS, STATISTICS, BOTH = WAYS = ("levels", "statistics", "both")
FEW = 3
"""Partitions of tables with the most training rows: these vary less."""
FEWEST_LEVELS = 3
LEAST_SHARE = 1e-6
COLUMNS = ["table", "partition", "way", "error", "log_loss", "seconds"]


def targets(y: pd.Series, task: str) -> NDArray[np.float64]:
    """Return what is averaged (n, q): the numbers, or indicators of the classes but the first."""
    if task == "regression":
        return y.to_numpy(float)[:, None]
    labels = sorted(y.unique())
    return np.column_stack([y == label for label in labels[len(labels) == 2 :]]).astype(float)


def ordered(codes: NDArray[np.integer], target: NDArray, order: NDArray[np.int64]) -> NDArray:
    """Return each row's statistics (n, q): of the rows of its level before it in the order."""
    prior = target.mean(axis=0)
    values = np.empty_like(target)
    sums, counts = np.tile(prior, (codes.max() + 1, 1)), np.ones(codes.max() + 1)
    for row in order:
        level = codes[row]
        values[row] = sums[level] / counts[level]
        sums[level] += target[row]
        counts[level] += 1
    return values


def of_all(codes: NDArray[np.integer], target: NDArray, new: NDArray[np.integer]) -> NDArray:
    """Return the statistics of new rows (m, q)."""
    prior = target.mean(axis=0)
    number = max(codes.max(), new.max()) + 1
    sums, counts = np.tile(prior, (number, 1)), np.ones(number)
    np.add.at(sums, codes, target)
    np.add.at(counts, codes, 1)
    return sums[new] / counts[new, None]


def with_statistics(rows: Partition, task: str, way: str, seed: int) -> Partition:
    """Return the partition with statistics in place of factors, or beside them."""
    if way == LEVELS:
        return rows
    order = np.random.default_rng(seed).permutation(len(rows.train))
    target = targets(rows.train["y"], task)
    train, test = rows.train.copy(), rows.test.copy()
    for name in rows.train.columns[:-1]:
        column = rows.train[name]
        if not is_factor(column) or len(column.cat.categories) < FEWEST_LEVELS:
            continue
        codes = column.cat.codes.to_numpy(np.int64)
        new = rows.test[name].cat.codes.to_numpy(np.int64)
        known, unknown = ordered(codes, target, order), of_all(codes, target, new)
        for k in range(target.shape[1]):
            train[f"{name}_{k}"], test[f"{name}_{k}"] = known[:, k], unknown[:, k]
        if way == STATISTICS:
            train, test = train.drop(columns=name), test.drop(columns=name)
    return Partition(train, test)


def evaluated(task: str, train: pd.DataFrame, test: pd.DataFrame, seed: int) -> tuple[float, ...]:
    """Return error, log loss and processor seconds."""
    begun = time.process_time()
    fit = odbt("y ~ .", train, seed=seed, n_jobs=1)
    seconds = time.process_time() - begun
    y = test["y"].to_numpy()
    if task == "regression":
        error = np.mean((fit.predict(test) - y) ** 2) / np.mean((train["y"].mean() - y) ** 2)
        return float(error), float(error), seconds
    shares = fit.predict(test, type="prob")
    labels = shares.columns.to_numpy(str)
    of_class = shares.to_numpy()
    observed = of_class[np.arange(len(y)), np.searchsorted(labels, y.astype(str))]
    wrong = labels[of_class.argmax(axis=1)] != y
    return float(wrong.mean()), float(-np.log(np.maximum(observed, LEAST_SHARE)).mean()), seconds


def run(options: argparse.Namespace) -> pd.DataFrame:
    """Return a line for each table, partition and way, continuing the csv."""

    @lru_cache(maxsize=1)  # tasks come table by table
    def of_table(name: str) -> tuple[str, list[Partition]]:
        table = read_table(options.data, name)
        cut = partitions(table, PROTOCOLS["Z"], options.repeats, options.seed)
        return table.task, list(cut)

    tasks = []
    for name in names_there(options.data, TABLES):
        large = len(of_table(name)[1][0].train) >= LARGEST_TRAINING_SET
        repeats = min(options.repeats, FEW) if large else options.repeats
        tasks += [(name, number) for number in range(repeats)]

    def lines(name: str, number: int) -> Iterator[tuple]:
        task, cut = of_table(name)
        seed = options.seed + number
        for way in WAYS:
            rows = with_statistics(cut[number], task, way, seed)
            odbt("y ~ .", rows.train, n_trees=1, seed=seed, n_jobs=1)  # compiled before it is timed
            yield way, *evaluated(task, rows.train, rows.test, seed)

    return go_on(options.out, COLUMNS, tasks, lines)


def report(lines: pd.DataFrame) -> str:
    """Compare the ways with levels, as markdown: changes in per cent."""
    half = np.where(lines["partition"] % 2 == 0, "odd", "even")
    parts = [("all", lines), *lines.groupby(half)]
    rows = {}
    for measure in ("error", "log_loss", "seconds"):
        for way in (STATISTICS, BOTH):
            cells: dict[str, str] = {}
            for part, of_part in parts:
                means = of_part.pivot_table(index="table", columns="way", values=measure)
                change = 100 * (means[way] / means[LEVELS] - 1)
                if part == "all":
                    cells |= {str(name): f"{value:+.1f}" for name, value in change.items()}
                cells[f"mean, {part}"] = f"{change.mean():+.1f}"
            rows[f"{measure.replace('_', ' ')}, {way}"] = pd.Series(cells)
    return markdown_table(pd.DataFrame(rows).fillna(""), "table")


def main() -> int:
    """Try the ways, or report an existing csv."""
    asked = parser(__doc__ or "", "ordered_statistics.csv", repeats=6, trees=100)
    asked.add_argument("--data", type=Path, default=Path("../shared/data"), help="folder of tables")
    options = asked.parse_args()
    return run_or_report(options, run, report, options.data)


if __name__ == "__main__":
    sys.exit(main())
