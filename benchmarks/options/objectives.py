"""What the trees of a blend are chosen for: few wrong labels, Brier score or log loss.

    python -m benchmarks.options.objectives --out objectives.csv [--data DIR] [--tables a,b]
                                            [--repeats 1] [--trees 100]
    python -m benchmarks.options.objectives --report objectives.csv

The kinds of the default forest are grown once on the training rows of a partition (``protocol.py``,
Z).  Each objective gives them weights, by the same pilot trees, and the weighted mean of their
predictions is evaluated on the test rows.  The report compares the objectives with the default and
with the Brier score, for the tables in odd and in even places of the index: what one half suggests,
the other can confirm.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator

import numpy as np
import pandas as pd

from benchmarks.options.kinds import grown_kinds
from benchmarks.shared.markdown import table as markdown_table
from benchmarks.shared.measures import measures
from benchmarks.shared.on_tables import in_odd_places, partition_of, tables_parser, tasks_on
from benchmarks.shared.ratios import beside_default
from benchmarks.shared.runs import go_on, run_or_report
from odrf.options.blend import BRIER, ERROR, LOG_LOSS, kinds_of_trees

MEASURED = {"error_percent": 0.5, "log_loss": 0.01, "brier": 0.005}
"""The measures, and what is added to both losses of a ratio (``ratios.py``)."""
CLASSES = "classification"


def run(options: argparse.Namespace) -> pd.DataFrame:
    """Return a line for each table of classes, partition and objective, continuing the csv."""

    def lines(name: str, place: int, number: int) -> Iterator[tuple]:
        rows = partition_of(options, name, number)[1]
        grown = grown_kinds(rows, CLASSES, options.trees, options.seed + number, kinds_of_trees)
        for objective in (ERROR, BRIER, LOG_LOSS):
            predicted = np.tensordot(grown.evidence.weights(objective), grown.predicted, 1)
            scores = measures(CLASSES, predicted, rows.train["y"], rows.test["y"])
            yield objective, *(scores[measure] for measure in MEASURED)

    columns = ["table", "place", "partition", "objective", *MEASURED]
    return go_on(options.out, columns, tasks_on(options, CLASSES), lines)


def report(lines: pd.DataFrame) -> str:
    """Compare the objectives with two of them, in per cent of each loss, as markdown."""
    parts = []
    for measure, small in MEASURED.items():
        means = lines.pivot_table(index=["place", "table"], columns="objective", values=measure)
        for base in (ERROR, BRIER):
            figures = beside_default(means, base, small, in_odd_places(means))
            title = f"{measure} beside {base}, {len(means)} tables:"
            parts.append(f"{title}\n\n{markdown_table(figures, 'objective')}")
    return "\n\n".join(parts)


def main() -> int:
    """Try the objectives, or report an existing csv."""
    options = tables_parser(__doc__ or "", "objectives.csv", repeats=1, trees=100).parse_args()
    return run_or_report(options, run, report, options.data)


if __name__ == "__main__":
    sys.exit(main())
