"""How many processor seconds do boosted trees take, beside LightGBM's?

    python -m benchmarks.speed.boosting_time --data DIR --out boosting_time.csv [--tables a,b]
    python -m benchmarks.speed.boosting_time --report boosting_time.csv

Both have their defaults, 100 rounds, and one thread, as in ``methods.py``.  They are fitted in
turns in one process, to the training rows of one partition of Zhan, Liu and Xia (``protocol.py``:
two thirds of the rows, at most 2,000), after a first fit of each that is not timed.  The report has
the medians of the turns, and their ratio.  A run with an existing csv adds the missing tables.
"""

from __future__ import annotations

import argparse
import gc
import sys
import time
import warnings
from collections.abc import Iterator
from functools import partial

import numpy as np
import pandas as pd

from benchmarks.methods.methods import METHODS, Setting
from benchmarks.shared.markdown import table as markdown_table
from benchmarks.shared.protocol import PROTOCOLS, partitions
from benchmarks.shared.runs import go_on, parser, with_tables
from benchmarks.shared.tables import read_table, table_names

OWN, OTHER = "odbt", "lightgbm"
COLUMNS = ["table", "rows", "predictors", "outputs", "turn", "method", "seconds"]
# Of an image each pixel is a predictor: minutes for each turn.
LEFT_OUT = ("mnist",)
FEW_ROWS = 200


def lines_of(options: argparse.Namespace, name: str) -> Iterator[tuple[object, ...]]:
    """Return the processor seconds of each turn of a table."""
    table = read_table(options.data, name)
    train = next(partitions(table, PROTOCOLS["Z"], 1, options.seed)).train[: options.rows]
    classes = train["y"].nunique() if table.task == "classification" else 1
    shape = len(train), train.shape[1] - 1, classes if classes > 2 else 1
    few = np.arange(min(FEW_ROWS, len(train)))
    if classes > 1:  # all classes
        few = np.union1d(few, np.unique(train["y"], return_index=True)[1])
    for method in (OWN, OTHER):
        METHODS[method].fit(train.iloc[few], table.task, Setting(0, options.seed, 1))
    for turn in range(options.repeats):
        setting = Setting(0, options.seed + turn, 1)
        for method in (OWN, OTHER) if turn % 2 == 0 else (OTHER, OWN):
            gc.collect()
            begin = time.process_time()
            METHODS[method].fit(train, table.task, setting)
            yield *shape, turn, method, time.process_time() - begin


def report(lines: pd.DataFrame) -> str:
    """Write the medians of the turns and their ratio, as markdown; the largest ratio first."""
    of_table = ["table", "rows", "predictors", "outputs"]
    wide = lines.pivot_table(
        index=of_table, columns="method", values="seconds", aggfunc="median", sort=False
    ).reset_index(of_table[1:])
    wide["ratio"] = wide[OWN] / wide[OTHER]
    wide = wide.sort_values("ratio", ascending=False)
    shown = pd.DataFrame(
        {
            "rows": wide["rows"].map("{:,}".format),
            "predictors": wide["predictors"].map("{:,}".format),
            "trees of a round": wide["outputs"].astype(str),
            "odbt, s": wide[OWN].map("{:.3f}".format),
            "LightGBM, s": wide[OTHER].map("{:.3f}".format),
            "ratio": wide["ratio"].map("{:.1f}".format),
        }
    )
    ratio = wide["ratio"]
    return (
        f"{markdown_table(shown, 'table')}\n\nMedian ratio {ratio.median():.1f}, from "
        f"{ratio.min():.1f} to {ratio.max():.1f}; above 3 on {(ratio > 3).sum()} of "
        f"{len(ratio)} tables."
    )


def main() -> int:
    """Measure, or report an existing csv."""
    arguments = with_tables(parser(__doc__ or "", "boosting_time.csv", repeats=3, trees=0), 2000)
    arguments.add_argument("--tables", help="names of tables; by default all but images")
    options = arguments.parse_args()
    if options.report is None:
        warnings.simplefilter("ignore")
        names = [name for name in table_names(options.data) if name not in LEFT_OUT]
        if options.tables:
            names = options.tables.split(",")
        lines = go_on(options.out, COLUMNS, [(name,) for name in names], partial(lines_of, options))
    else:
        lines = pd.read_csv(options.report)
    print(report(lines))
    return 0


if __name__ == "__main__":
    sys.exit(main())
