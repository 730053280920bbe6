"""Seconds that an update with few rows takes, along the number of rows before it.

    python -m benchmarks.many_rows.updating_rows --out updating_rows.csv [--repeats 5] [--trees 20]
    python -m benchmarks.many_rows.updating_rows --report updating_rows.csv

Trees and forests are fitted to 1,000 to 1,000,000 rows of Friedman's first problem with ten
predictors, and updated with batches of 1, 10 and 100 rows, one after the other:

* tree: ``odt(alpha=None)``, which is not pruned;
* pruned tree: ``odt()``, whose α is kept by ``update(alpha="same")``;
* forest: ``odrf(blend=False)`` of `--trees` trees.

"path" computes the nodes that new rows reach, as `update` does where few rows are new; "all"
computes every node from all rows, and is left out at 1,000,000 rows.  Seconds are those of the
processor.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.shared.markdown import table as markdown_table
from benchmarks.shared.runs import go_on, parser
from odrf import odrf, odt, simulate
from odrf.engine.growth import tree_update
from odrf.fits import updating

SIZES = (1_000, 10_000, 100_000, 1_000_000)
MOST_FOR_ALL = 100_000
BATCHES = (1, 10, 100)
NODES = {"path": (updating.FEW, tree_update.FEW), "all": (10**12, 10**12)}
COLUMNS = ["rows", "method", "nodes", "batch", "seconds", "least", "most"]


def methods(trees: int) -> dict[str, tuple[Any, dict[str, Any]]]:
    """Return how each method is fitted, and the options of its updates."""
    common: dict[str, Any] = {"seed": 1, "n_jobs": 1}
    return {
        "tree": (partial(odt, "y ~ .", alpha=None, **common), {}),
        "pruned tree": (partial(odt, "y ~ .", **common), {"alpha": "same"}),
        "forest": (partial(odrf, "y ~ .", n_trees=trees, blend=False, **common), {}),
    }


def lines_of(
    rows: int, method: str, *, trees: int, repeats: int, seed: int
) -> Iterator[tuple[str, int, float, float, float]]:
    """Yield for both ways and each batch the mean, least and largest seconds of an update."""
    data = simulate.friedman1(10).sample(rows + sum(BATCHES) * (repeats + 1), seed=seed)
    fitted, options = methods(trees)[method]
    first = fitted(data[:rows])
    for nodes, few in NODES.items():
        if nodes == "all" and rows > MOST_FOR_ALL:
            continue
        updating.FEW, tree_update.FEW = few
        fit, end = first, rows
        for batch in BATCHES:
            seconds = []
            for number in range(repeats + 1):
                began = time.process_time()
                fit = fit.update(data[end : end + batch], **options)
                if number > 0:  # the first one may wait for the compiler
                    seconds.append(time.process_time() - began)
                end += batch
            yield nodes, batch, float(np.mean(seconds)), min(seconds), max(seconds)
    updating.FEW, tree_update.FEW = NODES["path"]


def report(lines: pd.DataFrame) -> str:
    """Write milliseconds of an update and rows per second, as markdown."""
    texts = []
    for method, of_method in lines.groupby("method", sort=False):
        wide = of_method.pivot(index=["batch", "rows"], columns="nodes", values="seconds")
        shown = pd.DataFrame(index=wide.index)
        shown["path, ms"] = [f"{1000 * value:.1f}" for value in wide["path"]]
        every = wide.get("all", pd.Series(np.nan, wide.index))
        shown["all, ms"] = ["" if np.isnan(value) else f"{1000 * value:.1f}" for value in every]
        batch = wide.index.get_level_values("batch")
        shown["rows per second, path"] = [f"{v:.0f}" for v in batch / wide["path"]]
        shown = shown.rename(index=str)
        shown.index = pd.Index([f"{b}, {n}" for b, n in shown.index])
        texts.append(f"**{method}**\n\n{markdown_table(shown, 'new rows, rows before')}")
    return "\n\n".join(texts)


def main() -> int:
    """Measure, or report an existing csv."""
    options = parser(__doc__ or "", "updating_rows.csv", repeats=5, trees=20).parse_args()
    if options.report is not None:
        print(report(pd.read_csv(options.report)))
        return 0
    tasks = [(rows, method) for rows in SIZES for method in methods(options.trees)]
    lines = go_on(
        options.out, COLUMNS, tasks,
        partial(lines_of, trees=options.trees, repeats=options.repeats, seed=options.seed),
    )  # fmt: skip
    print(report(lines))
    return 0


if __name__ == "__main__":
    sys.exit(main())
