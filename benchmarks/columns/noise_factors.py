"""What does a factor of noise, with many levels, cost a forest?

    python -m benchmarks.columns.noise_factors --data DIR --out noise_factors.csv [--repeats 3]
                                               [--rows 400]
    python -m benchmarks.columns.noise_factors --report noise_factors.csv

A column of random labels, or of normal numbers (``levels`` 0), is added to real tables.  For every
repeat the csv has the mean squared error of five folds (for classes the Brier score) without and
with the column, its share of the importance shown first, and the processor time and the size of
the saved fit.  A run with an existing csv adds the missing tasks.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from benchmarks.shared.markdown import table as markdown_table
from benchmarks.shared.runs import go_on, parser, run_or_report
from benchmarks.shared.tables import read_table, table_names
from odrf import odrf

TABLES = ("auto_mpg", "california_housing", "magic", "satimage")
ROWS, FOLDS = (400, 4000), 5
LEVELS = (0, 10, 30, 100, 300)
ADDED = "added"
MEASURES = ("error", "seconds", "size")
COLUMNS = ["table", "n", "levels", "repeat", *MEASURES, *(f"{m}_with" for m in MEASURES), "share"]


class Cost(NamedTuple):
    """Error, processor seconds and bytes of a fit, and the share of the added column."""

    error: float
    seconds: float
    size: float
    share: float


def with_noise(data: pd.DataFrame, levels: int, rng: np.random.Generator) -> pd.DataFrame:
    """Add random labels, or normal numbers if there are no levels."""
    if levels == 0:
        return data.assign(**{ADDED: rng.normal(size=len(data))})
    labels = [f"label {k}" for k in rng.integers(0, levels, len(data))]
    return data.assign(**{ADDED: pd.Categorical(labels)})


def cost_of(data: pd.DataFrame, seed: int, trees: int) -> Cost:
    """Fit each of the folds' complements."""
    fold = np.random.default_rng(seed).permutation(len(data)) % FOLDS
    errors, shares, seconds, size = [], [], 0.0, 0
    for k in range(FOLDS):
        test = data[fold == k]
        begin = time.process_time()
        fit = odrf("y ~ .", data[fold != k], n_trees=trees, seed=seed, n_jobs=1)
        seconds += time.process_time() - begin
        errors.append(_error(fit, test))
        shares.append(fit.importance()["share"].get(ADDED, np.nan))
        with tempfile.TemporaryDirectory() as folder:
            fit.save(Path(folder) / "fit")
            size += (Path(folder) / "fit").stat().st_size
    return Cost(float(np.mean(errors)), seconds, size, float(np.mean(shares)))


def _error(fit: Any, test: pd.DataFrame) -> float:
    if fit.kind == "regression":
        return float(np.mean((fit.predict(test) - test["y"]) ** 2))
    prob = fit.predict(test, type="prob")
    observed = test["y"].to_numpy()[:, None] == prob.columns.to_numpy()
    return float(np.mean(np.sum((prob.to_numpy() - observed) ** 2, axis=1)))


def lines_of(options: argparse.Namespace, name: str, n: int, levels: int) -> list[tuple[Any, ...]]:
    """Return the costs of each repeat on n rows of a table."""
    lines: list[tuple[Any, ...]] = []
    for repeat in range(options.repeats):
        rng, seed = np.random.default_rng([options.seed, levels, repeat]), options.seed + repeat
        without = cost_without(options.data, name, n, options.seed, seed, options.trees)
        data = rows_of(options.data, name, n, options.seed)
        added = cost_of(with_noise(data, levels, rng), seed, options.trees)
        lines.append((repeat, *without[:-1], *added))
    return lines


def rows_of(folder: Path, name: str, n: int, seed: int) -> pd.DataFrame:
    """Draw n rows of a table, or take all if there are fewer."""
    data = read_table(folder, name).data
    if len(data) <= n:
        return data
    return data.sample(n, random_state=seed).reset_index(drop=True)


@cache
def cost_without(folder: Path, name: str, n: int, sample: int, seed: int, trees: int) -> Cost:
    """Fit without the column, once for all numbers of levels."""
    return cost_of(rows_of(folder, name, n, sample), seed, trees)


def report(lines: pd.DataFrame) -> str:
    """Write the ratios with and without the column, as markdown."""
    shown = {}
    shares = lines.groupby(["table", "n", "levels"])["share"].mean().to_dict()
    for (table, n, levels), group in lines.groupby(["table", "n", "levels"], sort=False):
        ratio = {m: group[f"{m}_with"].mean() / group[m].mean() for m in MEASURES}
        number = shares.get((table, n, 0), np.nan)
        kind = f"{levels} levels" if levels else "numbers"
        shown[f"{table}, {n}, {kind}"] = {
            "error": f"{ratio['error']:.3f}",
            "share of importance": f"{100 * shares[table, n, levels]:.2f} %",
            "share of a column of numbers": f"{100 * number:.2f} %",
            "time": f"{ratio['seconds']:.2f}",
            "size": f"{ratio['size']:.2f}",
        }
    return markdown_table(pd.DataFrame(shown).T, "table, rows, column (ratios to without it)")


def run(options: argparse.Namespace) -> pd.DataFrame:
    """Continue the csv, and return its lines."""
    held = table_names(options.data) if (options.data / "index.csv").exists() else []
    tasks = [
        (name, n, levels)
        for name in TABLES
        for n in options.rows
        for levels in LEVELS
        if name in held and not (name == "auto_mpg" and n > min(ROWS))
    ]
    return go_on(options.out, COLUMNS, tasks, partial(lines_of, options))


def main() -> int:
    """Evaluate the costs, or report an existing csv."""
    arguments = parser(__doc__ or "", "noise_factors.csv", repeats=3, trees=100)
    arguments.add_argument("--data", type=Path, default=Path("../shared/data"))
    arguments.add_argument("--rows", type=int, nargs="+", default=ROWS)
    options = arguments.parse_args()
    return run_or_report(options, run, report)


if __name__ == "__main__":
    sys.exit(main())
