"""What the trees of a blend are chosen for: few wrong labels, Brier score or log loss.

    python benchmarks/objectives.py --out objectives.csv [--data DIR] [--tables a,b]
                                    [--repeats 1] [--trees 100]
    python benchmarks/objectives.py --report objectives.csv

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
from functools import lru_cache
from pathlib import Path

import numpy as np
import pandas as pd

from kinds import beside_default, grown_kinds
from markdown import table as markdown_table
from measures import measures
from odrf.options.kinds import BRIER, ERROR, OBJECTIVES, kinds_of_trees
from protocol import PROTOCOLS, Partition, partitions
from runs import go_on, parser
from tables import read_table, table_names

MEASURED = {"error_percent": 0.5, "log_loss": 0.01, "brier": 0.005}
"""The measures, and what is added to each before its logarithm: tables of tiny losses would
dominate."""
CLASSES = "classification"


def run(options: argparse.Namespace) -> pd.DataFrame:
    """Return a line for each table of classes, partition and objective, continuing the csv."""
    names = table_names(options.data) if options.tables == "all" else options.tables.split(",")
    tasks = [
        (name, place, number)
        for place, name in enumerate(names, 1)
        if read_table(options.data, name).task == CLASSES
        for number in range(options.repeats)
    ]

    @lru_cache(maxsize=1)  # tasks come table by table
    def of_table(name: str) -> list[Partition]:
        table = read_table(options.data, name)
        return list(partitions(table, PROTOCOLS["Z"], options.repeats, options.seed))

    def lines(name: str, place: int, number: int) -> Iterator[tuple]:
        rows = of_table(name)[number]
        grown = grown_kinds(rows, CLASSES, options.trees, options.seed + number, kinds_of_trees)
        for objective in OBJECTIVES:
            predicted = np.tensordot(grown.evidence.weights(objective), grown.predicted, 1)
            scores = measures(CLASSES, predicted, rows.train["y"], rows.test["y"])
            yield objective, *(scores[measure] for measure in MEASURED)

    return go_on(options.out, ["table", "place", "partition", "objective", *MEASURED], tasks, lines)


def report(lines: pd.DataFrame) -> str:
    """Compare the objectives with two of them, in per cent of each loss, as markdown."""
    parts = []
    for measure, small in MEASURED.items():
        means = lines.pivot_table(index=["place", "table"], columns="objective", values=measure)
        odd = np.asarray(means.index.get_level_values("place") % 2 == 1)
        for base in (ERROR, BRIER):
            figures = markdown_table(beside_default(means, base, small, odd), "objective")
            parts.append(f"{measure} beside {base}, {len(means)} tables:\n\n{figures}")
    return "\n\n".join(parts)


def main() -> int:
    """Try the objectives, or report an existing csv."""
    asked = parser(__doc__ or "", "objectives.csv", repeats=1, trees=100)
    asked.add_argument("--data", type=Path, default=Path("../shared/data"), help="folder of tables")
    asked.add_argument("--tables", default="all", help="names with commas between them")
    options = asked.parse_args()
    if options.report is None and not (options.data / "index.csv").exists():
        print(f"nothing to do: {options.data} holds no index.csv", file=sys.stderr)
        return 0
    print(report(run(options) if options.report is None else pd.read_csv(options.report)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
