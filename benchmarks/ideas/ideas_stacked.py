"""Ideas for further models of `odrf.auto` that were tried and not kept, on open tables.

    python -m benchmarks.ideas.ideas_stacked --out ideas_stacked.csv [--data DIR] [--tables a,b]
                                             [--repeats 1] [--trees 150]
    python -m benchmarks.ideas.ideas_stacked --report ideas_stacked.csv

The models of the stack are fitted on the training rows of a partition (``protocol.py``, Z), and
evaluated on at most 1,000 of its test rows.  Then one more model joins them: for numbers the forest
with local lines (``ideas_of_leaves.py``), for numbers and classes a forest on squares and products
of predictors, too (``ideas.py``).  The weights are found again.  Losses are compared with those of
the stack.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

import odrf
from benchmarks.accuracy.stacks import TASKS
from benchmarks.ideas.ideas import with_squares
from benchmarks.ideas.ideas_of_leaves import Leaves, local_lines, plain_columns
from benchmarks.shared.markdown import table as markdown_table
from benchmarks.shared.measures import measures
from benchmarks.shared.on_tables import in_odd_places, partition_of, tables_parser, tasks_on
from benchmarks.shared.protocol import Partition
from benchmarks.shared.ratios import beside_default
from benchmarks.shared.runs import go_on, run_or_report
from odrf.engine.rows.coded import Matrix
from odrf.engine.trees.routing import leaf_nodes
from odrf.fits.boosted_fit import BoostedFit
from odrf.fits.fit import Fit
from odrf.fits.out_of_bag_values import boosted_out_of_bag, forest_out_of_bag
from odrf.fits.stacked.kernel_smoother import KernelSmoother
from odrf.fits.stacked.stacked_fit import StackedPart
from odrf.fits.stacked.weighing import put_together, stack_rows, stacking_weights

STACK, LINES, SQUARES = "stack", "local lines", "squares and products"
FORESTS = "forest", f"forest with {LINES}"
MEASURED = [name for measured in TASKS.values() for name in measured]
TEST_ROWS = 1000


def losses(rows: Partition, task: str, trees: int, seed: int) -> Iterator[tuple[str, NDArray]]:
    """Yield the predictions of the forest, of the stack, and of the stack with one more model."""
    how: dict[str, Any] = {"kind": task, "n_trees": trees, "seed": seed, "n_jobs": 1}
    stack = odrf.auto("y ~ .", rows.train, **how)
    parts, data, new = stack.fit.parts, stack.fit.data, stack.design.matrix(rows.test)[0]
    values = [_out_of_bag(part, data.y) for part in parts]
    predicted = [_predicted(stack, part, rows.test, new, task) for part in parts]
    yield FORESTS[0], predicted[0]

    def together(more: list[tuple[NDArray, NDArray]], first: int = 0) -> NDArray:
        known = [*values[first:], *(left_out for left_out, _ in more)]
        weights, power = stacking_weights(stack_rows(known, data))
        return put_together(
            [*predicted[first:], *(of_new for _, of_new in more)], list(weights), power
        )

    yield STACK, together([])
    fit = parts[0].fit
    if task == "regression" and isinstance(fit, Fit):
        unseen = fit.draws.all_unseen().T
        leaves = Leaves(leaf_nodes(fit.forest, data.X, 1), leaf_nodes(fit.forest, new, 1), unseen)
        known, of_new = local_lines(leaves, data.y, *plain_columns(rows.train, rows.test))
        best = int(np.nanmean((known - data.y) ** 2, axis=1).argmin())
        lines = known[best][:, None], of_new[best][:, None]
        yield FORESTS[1], lines[1]
        yield f"{STACK} with {LINES}", together([lines])
    more = with_squares(rows)
    if more is not None:
        forest = odrf.odrf("y ~ .", more.train, blend=True, **how)
        left_out = forest_out_of_bag(forest.fit).value
        of_new = forest.predict(more.test, _type(task)).to_numpy().reshape(len(rows.test), -1)
        yield f"{STACK} with {SQUARES}", together([(left_out, of_new)])


def _type(task: str) -> str:
    return "response" if task == "regression" else "prob"


def _out_of_bag(part: StackedPart, y: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the out-of-bag prediction (n, K) of each row, as the stack has it."""
    if part.left_out is not None:
        return part.left_out
    if isinstance(part.fit, KernelSmoother):
        return part.fit.left_out
    if isinstance(part.fit, BoostedFit):
        return part.fit.loss.means(boosted_out_of_bag(part.fit))
    value = forest_out_of_bag(part.fit).value
    return value if part.base is None else value + (y - part.fit.data.y)[:, None]


def _predicted(
    stack: odrf.AutoResults, part: StackedPart, test: pd.DataFrame, new: Matrix, task: str
) -> NDArray[np.float64]:
    """Return the prediction (m, K) of each test row by one model."""
    if isinstance(part.fit, KernelSmoother):
        value = part.fit.values(new)
    else:
        value = stack.part(part.name).predict(test, _type(task)).to_numpy()
    value = value.reshape(len(test), -1)
    return value if part.base is None else value + part.base.values(new).reshape(len(test), -1)


def run(options: argparse.Namespace) -> pd.DataFrame:
    """Return a line for each table, partition and model, continuing the csv."""

    def lines(name: str, place: int, number: int) -> Iterator[tuple]:
        task, rows = partition_of(options, name, number)
        rows = Partition(rows.train, rows.test.iloc[:TEST_ROWS])
        for model, value in losses(rows, task, options.trees, options.seed + number):
            prediction = value[:, 0] if task == "regression" else value
            scores = measures(task, prediction, rows.train["y"], rows.test["y"])
            yield model, *(scores.get(measure) for measure in MEASURED)

    columns = ["table", "place", "partition", "model", *MEASURED]
    return go_on(options.out, columns, tasks_on(options), lines)


def report(lines: pd.DataFrame) -> str:
    """Compare the models with the stack, in per cent of the loss, as markdown."""
    parts = []
    for measured in TASKS.values():
        for measure, small in measured.items():
            known = lines[lines[measure].notna()]
            means = known.pivot_table(index=["place", "table"], columns="model", values=measure)
            figures = beside_default(means, STACK, small, in_odd_places(means))
            title = f"{measure}, {len(means)} tables:"
            parts.append(f"{title}\n\n{markdown_table(figures, 'model')}")
    return "\n\n".join(parts)


def main() -> int:
    """Fit the models, or report an existing csv."""
    options = tables_parser(__doc__ or "", "ideas_stacked.csv", repeats=1, trees=150).parse_args()
    return run_or_report(options, run, report, options.data)


if __name__ == "__main__":
    sys.exit(main())
