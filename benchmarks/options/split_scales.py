"""The scale of the response on which a forest chooses its splits: given, and chosen out of bag.

    python -m benchmarks.options.split_scales --out split_scales.csv [--data DIR] [--tables a,b]
                                              [--repeats 6] [--trees 300]
    python -m benchmarks.options.split_scales --report split_scales.csv

On the training rows of a partition (``protocol.py``, Z) the default forest is grown for each
``split_scale=`` in turn, and predicts the test rows; of tables with the most training rows only
`FEW` partitions are taken.  The report compares relative prediction errors and processor seconds
with those of ``"response"``, for the tables in odd and in even places of the index: what one half
suggests, the other can confirm.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator

import numpy as np
import pandas as pd

from benchmarks.options.kinds import SMALL
from benchmarks.shared.markdown import table as markdown_table
from benchmarks.shared.measures import measures
from benchmarks.shared.on_tables import in_odd_places, partition_of, tables_parser, tasks_on
from benchmarks.shared.ratios import beside_default
from benchmarks.shared.runs import go_on, run_or_report
from odrf import odrf
from odrf.checks import AUTO
from odrf.options import words
from odrf.options.criteria import RESPONSE, SPLIT_SCALES

SCALES: list[words.SplitScale] = [*SPLIT_SCALES, "auto"]
NUMBERS: words.Kind = "regression"
FEW = 2
"""Partitions of tables with the most training rows: these vary less."""
COLUMNS = ["table", "place", "partition", "scale", "chosen", "rpe", "oob_mse", "seconds"]


def run(options: argparse.Namespace) -> pd.DataFrame:
    """Return a line for each regression table, partition and scale, continuing the csv."""

    def lines(name: str, place: int, number: int) -> Iterator[tuple]:
        rows, seed = partition_of(options, name, number)[1], options.seed + number
        # compiled, and loaded, before the first is timed
        odrf(
            "y ~ .", rows.train, kind=NUMBERS, n_trees=20, blend=True, split_scale="auto", seed=seed
        )
        for scale in SCALES:
            begun = time.process_time()
            fit = odrf(
                "y ~ .", rows.train, kind=NUMBERS, n_trees=options.trees, blend=True,
                split_scale=scale, seed=seed, n_jobs=1,
            )  # fmt: skip
            seconds = time.process_time() - begun
            predicted = fit.predict(rows.test).to_numpy()
            rpe = measures(NUMBERS, predicted, rows.train["y"], rows.test["y"])["rpe"]
            yield scale, fit.control.split_scale, rpe, fit.oob_error, seconds

    return go_on(options.out, COLUMNS, tasks_on(options, NUMBERS, FEW), lines)


def report(lines: pd.DataFrame) -> str:
    """Compare the scales with the response, as markdown: errors, choices and seconds."""
    index = ["place", "table"]
    logs = lines.assign(log=np.log(lines["rpe"] + SMALL["rpe"]))
    means = logs.pivot_table(index=index, columns="scale", values="log")[SCALES].map(np.exp)
    figures = beside_default(means, RESPONSE, 0.0, in_odd_places(means))
    by_fit = lines.pivot_table(index=[*index, "partition"], columns="scale", values="seconds")
    longer = by_fit.div(by_fit[RESPONSE], axis=0).groupby(level=index).median().median() - 1
    figures["more time"] = [f"{100 * longer[scale]:+.1f}" for scale in figures.index]
    chosen = lines[lines["scale"] == AUTO]["chosen"].value_counts(normalize=True)
    words = ", ".join(f"{name} in {100 * share:.0f} %" for name, share in chosen.items())
    table = markdown_table(figures, "split_scale")
    return f'{len(means)} tables, in per cent:\n\n{table}\n\n"auto" chose {words} of the fits.'


def main() -> int:
    """Try the scales, or report an existing csv."""
    options = tables_parser(__doc__ or "", "split_scales.csv", repeats=6, trees=300).parse_args()
    return run_or_report(options, run, report, options.data)


if __name__ == "__main__":
    sys.exit(main())
