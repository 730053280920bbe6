"""Should a single tree be pruned by default?  Trees as grown, and pruned by two rules.

    python -m benchmarks.options.sizes --out sizes.csv [--data DIR] [--partitions 2] [--rows 5000]
    python -m benchmarks.options.sizes --report sizes.csv

On every partition of the tables with at most `--rows` rows (``protocol.py``, Z) one oblique tree is
grown, and evaluated as grown, pruned at the smallest error of ten-fold cross-validation ("min"),
and pruned by the 1-SE rule.  The csv holds test loss, leaves and seconds of these three.  A run
with an existing csv adds the missing tables.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from time import perf_counter

import numpy as np
import pandas as pd

from benchmarks.options.pruning import test_loss
from benchmarks.shared.markdown import table as markdown_table
from benchmarks.shared.protocol import PROTOCOLS, Partition, partitions
from benchmarks.shared.runs import go_on, run_or_report
from benchmarks.shared.tables import read_table, table_names
from odrf import odt
from odrf.options import words

GROWN, RULES = "grown", ("min", "1se")
SIZES = (GROWN, *RULES)
COLUMNS = ["table", "task", "partition", "size", "loss", "leaves", "seconds"]


def fits(rows: Partition, task: words.Kind, seed: int) -> Iterator[tuple[str, float, int, float]]:
    """Yield name, test loss, leaves and seconds of the tree of each size."""
    start = perf_counter()
    grown = odt("y ~ .", rows.train, kind=task, seed=seed, alpha=None, n_jobs=1)
    seconds = perf_counter() - start
    yield GROWN, test_loss(grown, rows, task)[0], grown.n_leaves, seconds
    for rule in RULES:
        start = perf_counter()
        tree = grown.prune(rule=rule)
        both = seconds + perf_counter() - start
        yield rule, test_loss(tree, rows, task)[0], tree.n_leaves, both


def lines_of(
    options: argparse.Namespace, name: str
) -> list[tuple[str, int, str, float, int, float]]:
    """Return the lines of a table."""
    table = read_table(options.data, name)
    splits = partitions(table, PROTOCOLS["Z"], options.partitions, options.seed)
    return [
        (table.task, number, *fit)
        for number, rows in enumerate(splits)
        for fit in fits(rows, table.task, options.seed + number)
    ]


def run(options: argparse.Namespace) -> pd.DataFrame:
    """Continue the csv, and return its lines."""
    rows = pd.read_csv(options.data / "index.csv", index_col="name")["n"]
    tasks = [(name,) for name in table_names(options.data) if rows[name] <= options.rows]
    return go_on(options.out, COLUMNS, tasks, partial(lines_of, options))


def report(lines: pd.DataFrame) -> str:
    """Compare the sizes, as markdown: over all tables, then table by table."""
    means = lines.pivot_table(
        index=["task", "table"], columns="size", values=["loss", "leaves", "seconds"]
    )
    summary = {}
    for task, of_task in [("all", means), *means.groupby("task")]:
        loss = of_task["loss"]
        known = (loss > 0).all(axis=1)
        for size in SIZES:
            ratio = np.exp(np.log(loss[size] / loss[GROWN])[known].mean())
            summary[f"{task}, {size}"] = {
                "tables": str(len(loss)),
                "mean loss ratio to grown": f"{ratio:.3f}",
                "better than grown": str(int((loss[size] < loss[GROWN]).sum())),
                "worse": str(int((loss[size] > loss[GROWN]).sum())),
                "mean rank": f"{loss.rank(axis=1)[size].mean():.2f}",
                "median leaves": f"{of_task['leaves', size].median():.1f}",
                "median seconds": f"{of_task['seconds', size].median():.2f}",
            }
    of_table = means.droplevel("task")
    shown = pd.DataFrame(
        {
            size: [
                f"{loss:.3g} ({leaves:.1f})"
                for loss, leaves in zip(
                    of_table["loss", size], of_table["leaves", size], strict=True
                )
            ]
            for size in SIZES
        },
        index=of_table.index,
    )
    first = markdown_table(pd.DataFrame(summary).T, "task, size")
    return f"{first}\n\n{markdown_table(shown, 'table: loss (leaves)')}"


def main() -> int:
    """Evaluate the trees, or report an existing csv."""
    options = _parser().parse_args()
    return run_or_report(options, run, report, options.data)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=(__doc__ or "").splitlines()[0],
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    add = parser.add_argument
    add("--out", type=Path, default=Path("sizes.csv"), help="csv that is written, or continued")
    add("--report", type=Path, help="csv to be reported, instead of a run")
    add("--data", type=Path, default=Path("../shared/data"), help="folder with index.csv")
    add("--rows", type=int, default=5000, help="rows of a table at most")
    add("--partitions", type=int, default=2, help="random partitions")
    add("--seed", type=int, default=0, help="of the partitions and the trees")
    return parser


if __name__ == "__main__":
    sys.exit(main())
