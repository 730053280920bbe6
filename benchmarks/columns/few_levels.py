"""Should a factor of three to six levels enter directions by indicators or by scores of its levels?

    python -m benchmarks.columns.few_levels --out few_levels.csv [--data DIR] [--tables a,b]
                                            [--repeats 20] [--trees 500]
    python -m benchmarks.columns.few_levels --report few_levels.csv

Forests and boosted trees of the training rows of a partition (``protocol.py``, Z) are evaluated on
its test rows, with indicators of the levels, as by default for numbers (``indicators``), and with
scores of the levels, as for classes (``scores``).  The tables are those of numbers with such
factors; once as they are, and once with `NOISE` more factors of `LEVELS` levels, which tell
nothing.  Seconds are those of the processor, in one thread.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd

from benchmarks.shared.markdown import table as markdown_table
from benchmarks.shared.measures import measures
from benchmarks.shared.on_tables import partition_of, tables_parser, tasks_on
from benchmarks.shared.protocol import Partition
from benchmarks.shared.runs import go_on, run_or_report
from odrf import odbt, odrf
from odrf.engine.directions.candidates import FEW_LEVELS, TWO_LEVELS

TABLES = "abalone,auto_mpg,low_birth_weight,pbc,servo"
FEW = 2
"""Partitions of tables with the most training rows: these vary less."""
NOISE, LEVELS = 3, 5
INDICATORS, SCORES = "indicators", "scores"
WAYS = {INDICATORS: FEW_LEVELS, SCORES: TWO_LEVELS}
FUNCTIONS: dict[str, Any] = {"odrf": odrf, "odbt": odbt}
DECIDED = "odrf.options.{}.indicator_levels"
COLUMNS = ["table", "place", "partition", "noise", "function", "way", "rpe", "seconds"]


def with_noise(rows: Partition, number: int, seed: int) -> Partition:
    """Return the rows with so many more factors, of random levels."""
    rng, levels = np.random.default_rng(seed), np.array(list("abcdefghij"[:LEVELS]))

    def widened(data: pd.DataFrame) -> pd.DataFrame:
        drawn = {f"noise{j}": rng.choice(levels, len(data)) for j in range(number)}
        return data.assign(**drawn)

    return Partition(widened(rows.train), widened(rows.test))


def fits(
    rows: Partition, function: str, options: argparse.Namespace, seed: int
) -> Iterator[tuple[str, float, float]]:
    """Yield each way with its error and processor seconds."""
    how: dict[str, Any] = {"seed": seed, "n_jobs": 1}
    if function == "odrf":
        how["n_trees"] = options.trees
    call = FUNCTIONS[function]
    for way, most in WAYS.items():
        with (
            patch(DECIDED.format("tree"), return_value=most),
            patch(DECIDED.format("boosting"), return_value=most),
        ):
            call("y ~ .", rows.train, **how | {"n_trees": 2})  # compiled before it is timed
            begin = time.process_time()
            fit = call("y ~ .", rows.train, **how)
            seconds = time.process_time() - begin
        predicted = fit.predict(rows.test).to_numpy()
        scores = measures("regression", predicted, rows.train["y"], rows.test["y"])
        yield way, scores["rpe"], seconds


def run(options: argparse.Namespace) -> pd.DataFrame:
    """Return a line for each table, partition, function and way, continuing the csv."""
    if options.tables == "all":
        options.tables = TABLES

    def lines(name: str, place: int, number: int) -> Iterator[tuple]:
        _, rows = partition_of(options, name, number)
        seed = options.seed + number
        for noise in (0, NOISE):
            for function in FUNCTIONS:
                for found in fits(with_noise(rows, noise, seed), function, options, seed):
                    yield noise, function, *found

    return go_on(options.out, COLUMNS, tasks_on(options, "regression", few=FEW), lines)


def report(lines: pd.DataFrame) -> str:
    """Write errors and seconds of both ways, table by table, as markdown."""
    parts = []
    for (function, noise), some in lines.groupby(["function", "noise"], sort=False):
        of_way = some.pivot_table(index=["table", "partition"], columns="way", values="rpe")
        seconds = some.pivot_table(index="table", columns="way", values="seconds")
        by_table, apart = of_way.groupby("table"), of_way[INDICATORS] - of_way[SCORES]
        means, of_apart = by_table.mean(), apart.groupby("table")
        shown = pd.DataFrame(
            {
                "partitions": by_table.size().astype(str),
                INDICATORS: means[INDICATORS].map("{:.4f}".format),
                SCORES: means[SCORES].map("{:.4f}".format),
                "difference": of_apart.mean().map("{:+.4f}".format),
                "standard error": of_apart.sem().map("{:.4f}".format),
                "time, ratio": (seconds[INDICATORS] / seconds[SCORES]).map("{:.2f}".format),
            }
        )
        ratio = np.exp(np.log(means[INDICATORS] / means[SCORES]).mean()) - 1
        title = (
            f"`{function}`, {noise} factors of noise added; mean difference {100 * ratio:+.1f} %:"
        )
        parts += [title, markdown_table(shown, "table")]
    return "\n\n".join(parts)


def main() -> int:
    """Fit the models, or report an existing csv."""
    options = tables_parser(__doc__ or "", "few_levels.csv", repeats=20, trees=500).parse_args()
    return run_or_report(options, run, report, options.data)


if __name__ == "__main__":
    sys.exit(main())
