"""Error and leaves of pruned oblique trees, beside unpruned ones and pruned CART.

    python -m benchmarks.options.pruning --out pruning.csv [--data DIR] [--tables a,b]
                                         [--partitions 5]
    python -m benchmarks.options.pruning --report pruning.csv

On every partition of a table (``protocol.py``, Z) one oblique tree and one axis-parallel tree are
grown; each is evaluated as grown, and pruned by the 1-SE rule of 10-fold cross-validation.  The csv
holds test error and leaves of these four.  A run with an existing csv adds the missing tables.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.shared.markdown import table as markdown_table
from benchmarks.shared.protocol import PROTOCOLS, Partition, partitions
from benchmarks.shared.runs import go_on, run_or_report
from benchmarks.shared.tables import read_table, table_names
from odrf import odt
from odrf.options import words
from odrf.results import ODTResults

TREES: dict[str, dict[str, Any]] = {"odt": {}, "CART": {"projection": "axis"}}
PRUNED, GROWN = "1-SE", "grown"
COLUMNS = ["table", "task", "partition", "tree", "size", "loss", "se", "leaves"]


def fits(
    rows: Partition, task: words.Kind, seed: int
) -> Iterator[tuple[str, str, float, float, int]]:
    """Yield name, "grown" or "1-SE", test loss, its standard error, and leaves of each tree."""
    for name, options in TREES.items():
        grown = odt("y ~ .", rows.train, kind=task, alpha=None, seed=seed, **options)
        for size, tree in ((GROWN, grown), (PRUNED, grown.prune(rule="1se"))):
            yield name, size, *test_loss(tree, rows, task), tree.n_leaves


def test_loss(tree: ODTResults, rows: Partition, task: words.Kind) -> tuple[float, float]:
    """Return the loss on the test rows and its standard error.

    It is the relative prediction error, or the misclassification rate in per cent.
    """
    y, predicted = rows.test["y"], tree.predict(rows.test)
    if task == "regression":
        loss = (predicted.to_numpy() - y.to_numpy(float)) ** 2
        loss /= np.mean((rows.train["y"].mean() - y.to_numpy(float)) ** 2)
    else:
        loss = 100.0 * (predicted.to_numpy(object) != y.to_numpy(object))
    return float(loss.mean()), float(loss.std() / len(loss) ** 0.5)


def run(options: argparse.Namespace) -> pd.DataFrame:
    """Evaluate the trees on every table that the csv lacks, and write to it table by table."""

    def lines(name: str) -> Iterator[tuple]:
        table = read_table(options.data, name)
        splits = partitions(table, PROTOCOLS["Z"], options.partitions, options.seed)
        for number, rows in enumerate(splits):
            for fit in fits(rows, table.task, options.seed + number):
                yield table.task, number, *fit

    names = table_names(options.data) if options.tables == "all" else options.tables.split(",")
    return go_on(options.out, COLUMNS, [(name,) for name in names], lines, digits=None)


def report(lines: pd.DataFrame) -> str:
    """Compare the trees, as markdown."""
    means = lines.pivot_table(index="table", columns=["tree", "size"], values=["loss", "leaves"])
    texts = [_cost_of_pruning(lines, means), _ranks(means)]
    shown = pd.DataFrame(
        {
            f"{tree}, {size}": [
                f"{loss:.3g} ({leaves:.1f})"
                for loss, leaves in zip(
                    means["loss", tree, size], means["leaves", tree, size], strict=True
                )
            ]
            for tree in TREES
            for size in (GROWN, PRUNED)
        },
        index=means.index,
    )
    return "\n\n".join([*texts, markdown_table(shown, "table")])


def _cost_of_pruning(lines: pd.DataFrame, means: pd.DataFrame) -> str:
    """Write on how many tables pruning costs at most one standard error, with fewer leaves."""
    texts = []
    for tree in TREES:
        loss = lines[lines["tree"] == tree].pivot_table(
            index=["table", "partition"], columns="size", values="loss"
        )
        rise = (loss[PRUNED] - loss[GROWN]).groupby("table")
        of_pruned = lines[(lines["tree"] == tree) & (lines["size"] == PRUNED)]
        of_partition = of_pruned.groupby("table")["se"].mean()
        smaller = means["leaves", tree, PRUNED] < means["leaves", tree, GROWN]
        within = [
            int((smaller & (rise.mean() <= se)).sum())
            for se in (loss[PRUNED].groupby("table").sem(), of_partition)
        ]
        texts.append(
            f"{tree}: pruned trees are smaller, and at most one standard error worse, on "
            f"{within[0]} of {len(means)} tables, if it is that of the mean over partitions, on "
            f"{within[1]}, if it is that of one partition's test rows; better or equal on "
            f"{int((rise.mean() <= 0).sum())}; median leaves "
            f"{means['leaves', tree, GROWN].median():.1f} grown, "
            f"{means['leaves', tree, PRUNED].median():.1f} pruned."
        )
    return "\n\n".join(texts)


def _ranks(means: pd.DataFrame) -> str:
    """Compare the pruned trees of both kinds."""
    loss, leaves = (
        pd.DataFrame({tree: means[what, tree, PRUNED] for tree in TREES})
        for what in ("loss", "leaves")
    )
    ranks = loss.rank(axis=1).mean()
    return (
        f"Pruned odt against pruned CART: mean rank {ranks['odt']:.2f} and {ranks['CART']:.2f}, "
        f"lower loss on {int((loss['odt'] < loss['CART']).sum())} tables, higher on "
        f"{int((loss['odt'] > loss['CART']).sum())}; mean leaves {leaves['odt'].mean():.1f} and "
        f"{leaves['CART'].mean():.1f}, fewer on {int((leaves['odt'] < leaves['CART']).sum())} "
        f"tables, more on {int((leaves['odt'] > leaves['CART']).sum())}."
    )


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
    add("--out", type=Path, default=Path("pruning.csv"), help="csv that is written, or continued")
    add("--report", type=Path, help="csv to be reported, instead of a run")
    add("--data", type=Path, default=Path("../shared/data"), help="folder with index.csv")
    add("--tables", default="all", help="names with commas between them")
    add("--partitions", type=int, default=5, help="random partitions")
    add("--seed", type=int, default=0, help="of the partitions and the trees")
    return parser


if __name__ == "__main__":
    sys.exit(main())
