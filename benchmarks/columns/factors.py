"""Forests and boosters on tables with factors.

    python -m benchmarks.columns.factors --out factors.csv [--data DIR] [--tables a,b]
                                         [--methods a,b] [--repeats 2] [--rows 1000] [--trees 300]
    python -m benchmarks.columns.factors --report factors.csv

This package's forest, CatBoost and LightGBM get factors as factors.  `odrf_indicators` and
scikit-learn's random forest, `rf`, get one column of 0 and 1 per level.  All options are defaults,
and every fit runs on one thread.  A repeat is a partition by ``protocol.py``, Z.  Rows with empty
cells are left out; ``missing.py`` is about those.  In the table of the insurance two columns of
codes, which type of customer somebody is, are taken as factors.

The csv has one line for each table, partition and method.  A run with an existing csv adds the
missing lines.  The report has mean losses, mean ranks, and seconds beside those of `rf`.
"""

from __future__ import annotations

import argparse
import sys
from functools import lru_cache

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
from benchmarks.methods.methods import Setting
from benchmarks.shared.markdown import in_bold
from benchmarks.shared.markdown import table as markdown_table
from benchmarks.shared.protocol import Partition
from benchmarks.shared.runs import parser, run_or_report, with_tables
from benchmarks.shared.tables import Table, names_there, read_table

TABLES = (
    "adult",
    "german_credit",
    "splice",
    "soybean",
    "insurance",
    "servo",
    "strike",
    "auto_mpg",
    "heart_cleveland",
    "pbc",
    "low_birth_weight",
    "abalone",
)
CODES = {"insurance": ["MOSTYPE", "MOSHOOFD"]}
METHODS = ("odrf", "odrf_indicators", "rf", "catboost", "lightgbm_raw")
CASE = ["table"]
FOREST = "rf"


def run(options: argparse.Namespace) -> pd.DataFrame:
    """Run the methods on all tables."""

    @lru_cache(maxsize=1)  # tasks come table by table
    def of_table(name: str, number: int) -> tuple[str, Partition]:
        table = read_table(options.data, name)
        codes = {column: table.data[column].astype(str) for column in CODES.get(name, [])}
        data = table.data.assign(**codes).astype(dict.fromkeys(codes, "category"))
        rows = partition_of(Table(name, table.task, data), options.seed + number)
        return table.task, Partition(rows.train.iloc[: options.rows], rows.test)

    there = names_there(options.data, options.tables.split(","))
    cases = [(name, number) for number in range(options.repeats) for name in there]
    setting = Setting(options.trees, options.seed, 1)
    comparison = Comparison(options.methods.split(","), setting, options.limit)
    return comparison.run(options.out, [*CASE, "partition"], cases, of_table)


def report(lines: pd.DataFrame) -> str:
    """Write losses, mean ranks and seconds, as markdown."""
    lines = in_order(lines, METHODS)
    parts = []
    for measure, words in {"loss": "Loss", "log_loss": "Log loss"}.items():
        losses = case_losses(lines, CASE, measure)
        if not losses.empty:
            parts += [
                f"{words} (best in bold):",
                losses_table(losses),
                "Mean ranks:",
                rank_table(losses.assign(among="tables").set_index("among"), ["among"], "among"),
            ]
    parts += ["Training, seconds on one thread:"]
    parts += [seconds_table(lines, CASE, FOREST), seconds_of_tables(lines)]
    parts += [failures(lines, CASE)]
    return "\n\n".join(parts)


def losses_table(losses: pd.DataFrame) -> str:
    """Write the mean loss of each method on each table, the best in bold."""
    text = losses.map(lambda loss: "–" if pd.isna(loss) else f"{loss:.4f}")
    return markdown_table(in_bold(text, losses.eq(losses.min(axis=1), axis=0)), "table")


def seconds_of_tables(lines: pd.DataFrame) -> str:
    """Write the median seconds of training of each method on each table."""
    medians = lines.groupby(["table", "method"], sort=False)["fit_s"].median()
    wide = medians.unstack("method").reindex(
        index=medians.index.unique("table"), columns=medians.index.unique("method")
    )
    return markdown_table(wide.map("{:.2f}".format), "table")


def main() -> int:
    """Run the methods, or report an existing csv."""
    asked = with_tables(parser(__doc__ or "", "factors.csv", repeats=2, trees=300), rows=1000)
    add = asked.add_argument
    add("--tables", default=",".join(TABLES), help="names with commas between them")
    add("--methods", default=",".join(METHODS), help="names with commas between them")
    add("--limit", type=float, default=300.0, help="seconds that one fit may take")
    options = asked.parse_args()
    return run_or_report(options, run, report)


if __name__ == "__main__":
    sys.exit(main())
