"""Do boosted trees gain from smaller or larger trees?

    python -m benchmarks.options.boosted_sizes --out boosted_sizes.csv [--data DIR] [--tables a,b]
                                               [--repeats 2]
    python -m benchmarks.options.boosted_sizes --report boosted_sizes.csv

Fits of the training rows of a partition (``protocol.py``, Z) are evaluated on its test rows: the
default of `odbt`, and others that differ from it in one limit of the size of their trees, as
`LIMITS` has them.  Least sums of second derivatives are tried for classes alone: for numbers they
are numbers of rows.  Losses are compared with those of the default, for the tables in odd and in
even places of the index: what one half suggests, the other can confirm.  The last column has the
processor seconds, in one thread, as a multiple of the default's: a geometric mean over the tables.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.shared.markdown import table as markdown_table
from benchmarks.shared.measures import measures
from benchmarks.shared.on_tables import in_odd_places, partition_of, tables_parser, tasks_on
from benchmarks.shared.ratios import beside_default
from benchmarks.shared.runs import go_on, run_or_report
from odrf import odbt

DEFAULT = "default"
LIMITS: dict[str, dict[str, Any]] = {
    DEFAULT: {},
    "depth 3": {"max_depth": 3},
    "depth 4": {"max_depth": 4},
    "depth 6": {"max_depth": 6},
    "16 leaves": {"max_leaves": 16, "max_depth": 100},
    "leaves of 2 rows": {"min_leaf": 2},
    "leaves of 10 rows": {"min_leaf": 10},
    "leaves of 20 rows": {"min_leaf": 20},
}
LIMITS_FOR_CLASSES: dict[str, dict[str, Any]] = {
    "second derivatives 0.3": {"min_hessian": 0.3},
    "second derivatives 1": {"min_hessian": 1.0},
}
"""What `odbt` is given; a tree of 16 leaves has any depth."""
MEASURED = {"rpe": 0.005, "error_percent": 0.5, "log_loss": 0.01}
"""The measures, and what is added to both losses of a ratio (``ratios.py``)."""
COLUMNS = ["table", "place", "partition", "limit", "classes", "seconds", *MEASURED]
# Of an image each pixel is a predictor: minutes for each fit.
LEFT_OUT = ("mnist",)


def run(options: argparse.Namespace) -> pd.DataFrame:
    """Return a line for each table, partition and limit, continuing the csv."""

    def lines(name: str, place: int, number: int) -> Iterator[tuple]:
        task, rows = partition_of(options, name, number)
        numbers = task == "regression"
        classes = 1 if numbers else rows.train["y"].nunique()
        fixed = {"kind": task, "seed": options.seed + number, "n_jobs": 1}
        for limit, given in (LIMITS if numbers else LIMITS | LIMITS_FOR_CLASSES).items():
            odbt("y ~ .", rows.train, n_trees=1, **given, **fixed)  # compiled before it is timed
            begin = time.process_time()
            fit = odbt("y ~ .", rows.train, **given, **fixed)
            seconds = time.process_time() - begin
            predicted = fit.predict(rows.test, "response" if numbers else "prob").to_numpy()
            scores = measures(task, predicted, rows.train["y"], rows.test["y"])
            yield limit, classes, seconds, *(scores.get(measure) for measure in MEASURED)

    tasks = [task for task in tasks_on(options) if task[0] not in LEFT_OUT]
    return go_on(options.out, COLUMNS, tasks, lines)


def report(lines: pd.DataFrame) -> str:
    """Compare losses and seconds with those of the default, as markdown."""
    classes = lines["classes"]
    groups = {"numbers": classes == 1, "two classes": classes == 2, "more classes": classes > 2}
    parts = []
    for group, chosen in groups.items():
        for measure, small in MEASURED.items():
            known = lines[chosen & lines[measure].notna()]
            if known.empty:
                continue
            means = _means(known, measure)
            figures = beside_default(means, DEFAULT, small, in_odd_places(means))
            logs = _means(known, "seconds").apply(np.log)
            ratios = np.exp(logs.sub(logs[DEFAULT], axis=0).mean())
            figures["time"] = ratios.map("{:.2f}".format)
            title = f"{group}, {measure}, {len(means)} tables:"
            parts.append(f"{title}\n\n{markdown_table(figures, 'limit')}")
    return "\n\n".join(parts)


def _means(lines: pd.DataFrame, column: str) -> pd.DataFrame:
    """Return the means over partitions, a row for each table and a column for each limit."""
    means = lines.pivot_table(index=["place", "table"], columns="limit", values=column)
    return means[lines["limit"].unique()]


def main() -> int:
    """Try the limits, or report an existing csv."""
    options = tables_parser(__doc__ or "", "boosted_sizes.csv", repeats=2, trees=0).parse_args()
    return run_or_report(options, run, report, options.data)


if __name__ == "__main__":
    sys.exit(main())
