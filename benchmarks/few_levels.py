"""Should a factor of three to six levels enter directions by indicators or by scores of its levels?

    python benchmarks/few_levels.py --out few_levels.csv [--data DIR] [--tables a,b] [--repeats 5]
                                    [--trees 500]
    python benchmarks/few_levels.py --report few_levels.csv

Forests and boosted trees of the training rows of a partition (``protocol.py``, Z) are evaluated on
its test rows, with indicators of the levels (``indicators``) and with their mean targets as scores
(``scores``) in directions of several predictors.  The errors are relative squared errors, or per
cent of wrong classes; seconds are those of the processor, in one thread.  The tables are those with
such factors.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from unittest.mock import patch

import numpy as np
import pandas as pd

from markdown import table as markdown_table
from measures import measures
from odrf import odbt, odrf
from odrf.engine.directions.candidates import FEW_LEVELS, TWO_LEVELS
from on_tables import partition_of, tables_parser, tasks_on
from protocol import Partition
from runs import go_on, run_or_report

TABLES = (
    "abalone,auto_mpg,low_birth_weight,pbc,servo,adult,german_credit,heart_cleveland,soybean,splice"
)
FEW = 2
"""Partitions of tables with the most training rows: these vary less."""
INDICATORS, SCORES = "indicators", "scores"
WAYS = {INDICATORS: FEW_LEVELS, SCORES: TWO_LEVELS}
FUNCTIONS = {"odrf": odrf, "odbt": odbt}
DECIDED = "odrf.options.{}.most_indicators"
COLUMNS = ["table", "place", "partition", "function", "way", "task", "error", "seconds"]


def fits(
    rows: Partition, task: str, function: str, options: argparse.Namespace, seed: int
) -> Iterator[tuple[str, float, float]]:
    """Yield each way with its error and processor seconds."""
    kind = "response" if task == "regression" else "prob"
    how = {"kind": task, "seed": seed, "n_jobs": 1}
    if function == "odrf":
        how["n_trees"] = options.trees
    call = FUNCTIONS[function]
    for way, most in WAYS.items():
        with (
            patch(DECIDED.format("control"), return_value=most),
            patch(DECIDED.format("boosting_control"), return_value=most),
        ):
            call("y ~ .", rows.train, **how | {"n_trees": 2})  # compiled before it is timed
            begin = time.process_time()
            fit = call("y ~ .", rows.train, **how)
            seconds = time.process_time() - begin
        predicted = fit.predict(rows.test, kind).to_numpy()
        scores = measures(task, predicted, rows.train["y"], rows.test["y"])
        yield way, scores["rpe" if task == "regression" else "error_percent"], seconds


def run(options: argparse.Namespace) -> pd.DataFrame:
    """Return a line for each table, partition, function and way, continuing the csv."""
    if options.tables == "all":
        options.tables = TABLES

    def lines(name: str, place: int, number: int) -> Iterator[tuple]:
        task, rows = partition_of(options, name, number)
        for function in FUNCTIONS:
            for way, *found in fits(rows, task, function, options, options.seed + number):
                yield function, way, task, *found

    return go_on(options.out, COLUMNS, tasks_on(options, few=FEW), lines)


def report(lines: pd.DataFrame) -> str:
    """Write errors and seconds of both ways, table by table, as markdown."""
    parts = []
    for function, of_function in lines.groupby("function", sort=False):
        of_way = of_function.pivot_table(
            index=["task", "table", "partition"], columns="way", values=["error", "seconds"]
        )
        apart = of_way["error"][INDICATORS] - of_way["error"][SCORES]
        by_table = of_way.groupby(["task", "table"])
        means, of_apart = by_table.mean(), apart.groupby(["task", "table"])
        shown = pd.DataFrame(
            {
                "partitions": by_table.size().astype(str),
                INDICATORS: means["error", INDICATORS].map("{:.4g}".format),
                SCORES: means["error", SCORES].map("{:.4g}".format),
                "difference": of_apart.mean().map("{:+.2g}".format),
                "standard error": of_apart.sem().map("{:.2g}".format),
                "seconds, ratio": (
                    means["seconds", INDICATORS] / means["seconds", SCORES]
                ).map("{:.2f}".format),
            }
        )  # fmt: skip
        shown = shown.droplevel("task")
        ratio = np.log(means["error", INDICATORS] / means["error", SCORES]).groupby("task").mean()
        told = ", ".join(f"{task} {100 * np.expm1(r):+.1f} %" for task, r in ratio.items())
        parts.append(f"`{function}`; errors with indicators beside those with scores: {told}")
        parts.append(markdown_table(shown, "table"))
    return "\n\n".join(parts)


def main() -> int:
    """Fit the models, or report an existing csv."""
    options = tables_parser(__doc__ or "", "few_levels.csv", repeats=5, trees=500).parse_args()
    return run_or_report(options, run, report, options.data)


if __name__ == "__main__":
    sys.exit(main())
