"""Forests and boosters on tables with empty cells.

    python -m benchmarks.columns.missing --out missing.csv [--data DIR] [--tables a,b]
                                         [--methods a,b] [--shares 0.1,0.3,0.5] [--repeats 2]
                                         [--rows 600] [--trees 200]
    python -m benchmarks.columns.missing --report missing.csv

Some tables have empty cells of their own.  In the others cells are emptied by four mechanisms
(``holes.py``), in all rows, so that training and test rows have the same kind of holes.  Every
repeat draws rows of the table, their holes, and a partition of two thirds and one third.
``raw_methods.py`` and ``methods.py`` say what each method does with empty cells; all other options
are defaults, except for the number of trees of forests.

The csv has one line for each table, mechanism, share, partition and method.  A run with an existing
csv adds the missing lines.  The report has mean ranks, and the ratio of the loss of `odrf_split` to
that of every other method: the geometric mean over tables, after that over shares of each, and the
p-value of a one-sided Wilcoxon test over tables that the loss of `odrf_split` is smaller.
"""

from __future__ import annotations

import argparse
import sys
from functools import lru_cache
from pathlib import Path
from zlib import crc32

import numpy as np
import pandas as pd

from benchmarks.columns.comparison import (
    Comparison,
    case_losses,
    failures,
    in_order,
    partition_of,
    rank_table,
    seconds_table,
)
from benchmarks.columns.holes import MECHANISMS, with_holes
from benchmarks.methods.methods import Setting
from benchmarks.shared.markdown import table as markdown_table
from benchmarks.shared.protocol import Partition
from benchmarks.shared.ranks import relative_differences, wilcoxon_against
from benchmarks.shared.runs import parser, run_or_report, with_tables
from benchmarks.shared.tables import Table, names_there, read_table, read_with_holes

OWN = "own"
"""Mechanism of tables that have empty cells of their own."""
WITH_HOLES = (
    "auto_mpg",
    "pbc",
    "adult",
    "arrhythmia",
    "heart_cleveland",
    "mice_protein",
    "ozone",
    "soybean",
)
COMPLETE = (
    "abalone",
    "body_fat",
    "california_housing",
    "concrete",
    "cpu_act",
    "kin8nm",
    "breast_cancer",
    "german_credit",
    "magic",
    "satimage",
    "vehicle",
    "wine_quality_white",
)
METHODS = (
    "odrf_split",
    "odrf_median",
    "odrf_drop",
    "odrf_iterative",
    "rf",
    "hgb",
    "lightgbm_raw",
    "catboost",
    "xgboost_raw",
)
BASE, FOREST = "odrf_split", "rf"
CASE = ["table", "mechanism", "share"]


def run(options: argparse.Namespace) -> pd.DataFrame:
    """Run the methods on all cases."""

    @lru_cache(maxsize=1)  # tasks come case by case
    def of_case(name: str, mechanism: str, share: float, number: int) -> tuple[str, Partition]:
        seed = [options.seed, crc32(name.encode()), number]
        table = (read_with_holes if mechanism == OWN else read_table)(options.data, name)
        n = min(len(table.data), 3 * options.rows // 2)
        rows = np.random.default_rng(seed).permutation(len(table.data))[:n]
        data = table.data.iloc[np.sort(rows)].reset_index(drop=True)
        if mechanism != OWN:
            data = with_holes(data, mechanism, share, [*seed, list(MECHANISMS).index(mechanism)])
        return table.task, partition_of(Table(name, table.task, data), options.seed + number)

    setting = Setting(options.trees, options.seed, 1)
    comparison = Comparison(options.methods.split(","), setting, options.limit)
    return comparison.run(options.out, [*CASE, "partition"], _cases(options), of_case)


def _cases(options: argparse.Namespace) -> list[tuple[str, str, float, int]]:
    there = names_there(options.data, options.tables.split(","))
    shares = [float(share) for share in options.shares.split(",")]
    return [
        (name, mechanism, share, number)
        for number in range(options.repeats)
        for name in there
        for mechanism in ((OWN,) if name in WITH_HOLES else MECHANISMS)
        for share in (share_of_own(options.data, name) if mechanism == OWN else shares)
    ]


def share_of_own(folder: Path, name: str) -> list[float]:
    """Return the share of empty cells of a table, in a list of one."""
    predictors = read_with_holes(folder, name).data.drop(columns="y")
    return [round(float(predictors.isna().to_numpy().mean()), 4)]


def report(lines: pd.DataFrame) -> str:
    """Write mean ranks, comparisons of `odrf_split`, seconds and failures, as markdown."""
    lines = in_order(lines, METHODS)
    shares = lines["share"].map(" {:.0%}".format).where(lines["mechanism"] != OWN, "")
    shown = lines.assign(holes=lines["mechanism"] + shares)
    losses = case_losses(shown, [*CASE, "holes"])
    parts = [
        f"Mean ranks of the loss over tables (most: {losses.shape[1]}):",
        rank_table(losses, ["holes"], "mechanism, share"),
        rank_table(losses, ["mechanism"], "mechanism"),
    ]
    if (lines["classes"] > 1).any():
        log_losses = case_losses(shown, [*CASE, "holes"], "log_loss")
        parts += ["Mean ranks of the log loss:", rank_table(log_losses, ["mechanism"], "mechanism")]
    if BASE in losses:
        parts += [
            f"Loss of {BASE} relative to that of other methods (ratio, tables won and lost, p):",
            against_others(losses),
        ]
    parts += [
        "Training:",
        seconds_table(lines, CASE, FOREST),
        failures(lines, CASE),
    ]
    return "\n\n".join(parts)


def against_others(losses: pd.DataFrame) -> str:
    """Compare `odrf_split` with every other method, by mechanism."""
    rows = {}
    for mechanism, of in losses.groupby("mechanism", sort=False):
        logs = of.where(of > 0).map(np.log).groupby("table").mean()
        ratios = np.exp(logs.rsub(logs[BASE], axis=0).mean())
        differences = relative_differences(of, BASE).groupby("table").mean()
        tests = wilcoxon_against(differences)
        rows[str(mechanism)] = {
            name: f"{ratios[name]:.3f} ({test['wins']:.0f}:{test['losses']:.0f}, {test['p']:.2g})"
            for name, test in tests.iterrows()
        }
    return markdown_table(pd.DataFrame(rows).T, "mechanism")


def main() -> int:
    """Run the methods, or report an existing csv."""
    asked = with_tables(parser(__doc__ or "", "missing.csv", repeats=2, trees=200), rows=600)
    add = asked.add_argument
    add("--tables", default=",".join((*WITH_HOLES, *COMPLETE)), help="names with commas between")
    add("--methods", default=",".join(METHODS), help="names with commas between them")
    add("--shares", default="0.1,0.3,0.5", help="of empty cells")
    add("--limit", type=float, default=120.0, help="seconds that one fit may take")
    options = asked.parse_args()
    return run_or_report(options, run, report)


if __name__ == "__main__":
    sys.exit(main())
