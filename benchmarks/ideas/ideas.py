"""Ideas for the forest that were tried and not kept, on open tables.

    python -m benchmarks.ideas.ideas --out ideas.csv [--data DIR] [--tables a,b] [--repeats 1]
                                     [--trees 100]
    python -m benchmarks.ideas.ideas --report ideas.csv [--first 1]

The kinds of trees of the default forest are grown on the training rows of a partition
(``protocol.py``, Z), as many pilot trees of each as the package grows, and evaluated on at most
5,000 of its test rows.  For classes, ``ideas_of_weights.py`` weighs them in other ways.  For
numbers, further kinds with other leaves (``ideas_of_leaves.py``) or another response join them.
For both, further kinds have squares and products of predictors among the columns, or greedy splits
on many sparse directions.  The report compares losses with those of the default set, for the tables
in odd and in even places: what one half suggests, the other can confirm.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from patsy import EvalEnvironment

from benchmarks.ideas.ideas_of_leaves import Leaves, lines_in_leaves, medians, plain_columns
from benchmarks.ideas.ideas_of_weights import Pilots, stacked_again, weights_by_idea
from benchmarks.options.kinds import FORESTS_TREES, SMALL, default_options
from benchmarks.shared.markdown import table as markdown_table
from benchmarks.shared.measures import measures
from benchmarks.shared.on_tables import in_odd_places, partition_of, tables_parser, tasks_on
from benchmarks.shared.protocol import Partition
from benchmarks.shared.ratios import beside_default
from benchmarks.shared.runs import go_on, run_or_report
from odrf.design import build_design
from odrf.engine.growth.forest_growth import grow_forest
from odrf.engine.randomness import streams
from odrf.engine.rows.draws import Draws
from odrf.engine.trees.forest_arrays import Forest
from odrf.engine.trees.routing import leaf_nodes, predict
from odrf.fits.blending import pilot_trees
from odrf.fits.stacking import held_weights, mean_products, products_of_rows
from odrf.options.control import resolve
from odrf.options.kinds import kinds_of_trees
from odrf.options.request import Request

DEFAULT = "default"
TEST_ROWS = 5000
MOST_PRODUCTS, MOST_COLUMNS = 15, 160
"""With more numeric predictors there are squares only; with more columns neither is tried."""
LINES = (20, 60)
"""Rows of the smallest leaves that have lines."""
MANY_DIRECTIONS = 300
"""So many sparse directions are tried at a node."""
CLIPPED = 0.025
"""The share of responses at each end that is drawn in."""


class Grown(NamedTuple):
    """Trees of one kind.

    Attributes
    ----------
    values : (n, b, K) float64
        What each pilot tree says of the training rows.
    unseen : (n, b) bool
        Which of these it did not draw.
    predicted : (m, K) float64
        What all trees say of the test rows.
    leaves : Leaves
    """

    values: NDArray[np.float64]
    unseen: NDArray[np.bool_]
    predicted: NDArray[np.float64]
    leaves: Leaves


class Grower:
    """Grows kinds of trees on the rows of a partition, with the same streams for each."""

    def __init__(self, rows: Partition, task: str, trees: int, seed: int, n_pilot: int = 0) -> None:
        self.task, self.options = task, default_options(trees, seed)
        env = EvalEnvironment.capture()
        self.design, self.data = build_design("y ~ .", rows.train, kind=task, env=env)
        classes = self.design.response.classes
        self.K = 1 if classes is None else len(classes)
        self.sizes = len(self.data.y), len(self.design.predictors), len(self.design.columns)
        self.kinds = kinds_of_trees(self.options, *self.sizes, self.K > 1)
        self.n_pilot = n_pilot or pilot_trees(self.sizes[0], len(self.kinds), FORESTS_TREES)
        self.streams = streams(seed, 0, max(trees, self.n_pilot))
        self.new = self.design.matrix(rows.test)[0]

    def grown(
        self,
        kind: Request,
        y: NDArray[np.float64] | None = None,
        grow: Callable[..., Forest] = grow_forest,
    ) -> Grown:
        """Grow trees with the options of a kind, of another response `y` if it is given."""
        n, P, p = self.sizes
        control = resolve(kind, kind=self.task, n=n, P=P, p=p, n_classes=self.K)
        data, b = self.data, self.n_pilot
        forest = grow(
            *(data.X, data.y if y is None else y, data.weights, self.design.feature_groups),
            *(control.sampling, control.settings, control.mixture),
            *(self.streams, 1, lambda: None),
        )
        nodes = leaf_nodes(forest, data.X, 1)[:, :b]
        draws = Draws(data.weights, [control.sampling] * b, self.streams[:b], 1)
        unseen = draws.all_unseen().T
        leaves = Leaves(nodes, leaf_nodes(forest, self.new, 1)[:, :b], unseen)
        values = forest.value[nodes].astype(np.float64)
        return Grown(values, unseen, predict(forest, self.new, 1), leaves)


def losses(rows: Partition, task: str, trees: int, seed: int) -> Iterator[tuple[str, float]]:
    """Yield each idea with its loss on the test rows."""
    rows = replace(rows, test=rows.test.iloc[:TEST_ROWS])
    grower = Grower(rows, task, trees, seed)
    kinds = {name: grower.grown(kind) for name, kind in grower.kinds.items()}

    default = list(kinds.values())
    weights = stacked(grower, default)
    yield DEFAULT, loss_of(rows, task, default, weights)
    if task == "classification":
        pilots = pilots_of(grower, kinds)
        for idea, others in weights_by_idea(pilots, weights).items():
            yield idea, loss_of(rows, task, default, others)
    for idea, further in further_kinds(rows, grower, trees, seed):
        both = [*default, *further]
        yield idea, loss_of(rows, task, both, stacked(grower, both))


def loss_of(rows: Partition, task: str, kinds: list[Grown], weights: NDArray[np.float64]) -> float:
    """Return the loss on the test rows of the weighted mean of the kinds."""
    predicted = np.tensordot(weights, np.array([kind.predicted for kind in kinds]), 1)
    return loss_of_prediction(rows, task, predicted[:, 0] if task == "regression" else predicted)


def loss_of_prediction(rows: Partition, task: str, prediction: NDArray[np.float64]) -> float:
    """Return the loss of numbers (m,), or of probabilities (m, K), on the test rows."""
    scores = measures(task, prediction, rows.train["y"], rows.test["y"])
    return scores["rpe" if task == "regression" else "error_percent"]


def further_kinds(
    rows: Partition, grower: Grower, trees: int, seed: int
) -> Iterator[tuple[str, list[Grown]]]:
    """Yield the ideas that are further kinds of trees, with these."""
    sparse: dict[str, Any] = {"projection": "sparse", "n_projections": MANY_DIRECTIONS}
    sparse |= {"min_leaf": 1, "resample": "subsample", "sample_fraction": 0.8}
    yield (
        "greedy splits on many sparse directions",
        [grower.grown(replace(grower.options, **sparse))],
    )
    more = with_squares(rows)
    if more is not None:
        squares = Grower(more, grower.task, trees, seed, grower.n_pilot)
        yield "squares and products", [squares.grown(squares.kinds["random"])]
    if grower.task == "classification":
        return
    y, smooth = grower.data.y, grower.kinds["smooth"]
    for size in (size for size in LINES if 3 * size <= len(y)):
        large = grower.grown(replace(smooth, min_leaf=size))
        yield f"lines in leaves of {size} rows", [_with_lines(large, y, rows)]
    plain = grower.grown(smooth)
    known, new = medians(plain.leaves, y)
    middle = plain._replace(values=known[:, :, None], predicted=new[:, None])
    yield "medians of leaves", [middle]
    drawn_in = np.clip(y, *np.quantile(y, (CLIPPED, 1 - CLIPPED)))
    yield (
        "extreme responses drawn in",
        [grower.grown(grower.kinds[name], drawn_in) for name in ("best", "random")],
    )


def _with_lines(grown: Grown, y: NDArray[np.float64], rows: Partition) -> Grown:
    """Return the trees with lines in their leaves, with the penalty that is best out of bag."""
    known, new = lines_in_leaves(grown.leaves, y, *plain_columns(rows.train, rows.test))
    errors = [_products(y, [grown._replace(values=of[:, :, None])])[0][0, 0] for of in known]
    best = int(np.argmin(errors))
    return grown._replace(values=known[best][:, :, None], predicted=new[best][:, None])


def with_squares(rows: Partition) -> Partition | None:
    """Return the rows with squares and products of numeric predictors less their means."""
    train = rows.train.drop(columns="y")
    names = [name for name in train.select_dtypes("number") if train[name].nunique() > 2]
    pairs = [(name, name) for name in names]
    if len(names) <= MOST_PRODUCTS:
        pairs += [(a, b) for i, a in enumerate(names) for b in names[i + 1 :]]
    if not names or len(names) + len(pairs) > MOST_COLUMNS:
        return None

    def larger(frame: pd.DataFrame) -> pd.DataFrame:
        off = frame[names] - train[names].mean()
        products = {f"{a}_{b}": off[a] * off[b] for a, b in pairs}
        return pd.concat([frame.drop(columns="y"), pd.DataFrame(products), frame[["y"]]], axis=1)

    return Partition(larger(rows.train), larger(rows.test))


def stacked(grower: Grower, kinds: list[Grown]) -> NDArray[np.float64]:
    """Return the weights of the kinds as the package finds them."""
    if grower.K == 1:
        return held_weights(*_products(grower.data.y, kinds))
    named = {str(number): kind for number, kind in enumerate(kinds)}
    return stacked_again(pilots_of(grower, named), 1.0)


def pilots_of(grower: Grower, kinds: dict[str, Grown]) -> Pilots:
    """Return what the pilot trees of the kinds say of the training rows."""
    values = [kind.values for kind in kinds.values()]
    unseen = [kind.unseen for kind in kinds.values()]
    data = grower.data
    return Pilots(list(kinds), values, unseen, data.y.astype(np.int64), data.weights)


def _products(y: NDArray[np.float64], kinds: list[Grown]) -> tuple[NDArray[np.float64], int]:
    """Return mean products of the errors of different trees, and the rows they are from."""
    unseen = [kind.unseen for kind in kinds]
    errors = [kind.values - y[:, None, None] for kind in kinds]
    products = [
        products_of_rows([of[at : at + 200] for of in errors], [of[at : at + 200] for of in unseen])
        for at in range(0, len(y), 200)
    ]
    return mean_products(np.concatenate(products, axis=2), unseen, np.ones(len(y)))


Losses: TypeAlias = Callable[[Partition, str, int, int], Iterator[tuple[str, float]]]
"""What yields ideas with their losses: of a partition, its task, a number of trees and a seed."""


def run(options: argparse.Namespace, losses_of: Losses = losses) -> pd.DataFrame:
    """Return a line for each table, partition and idea, continuing the csv."""

    def lines(name: str, place: int, number: int) -> Iterator[tuple]:
        task, rows = partition_of(options, name, number)
        for idea, loss in losses_of(rows, task, options.trees, options.seed + number):
            yield task, idea, loss

    columns = ["table", "place", "partition", "task", "idea", "loss"]
    return go_on(options.out, columns, tasks_on(options), lines)


def report(lines: pd.DataFrame) -> str:
    """Compare the ideas with the default, in per cent of the loss, as markdown."""
    parts = []
    for task, of_task in lines.groupby("task", sort=True):
        order = of_task["idea"].unique()
        means = of_task.pivot_table(index=["place", "table"], columns="idea", values="loss")
        small = SMALL["rpe" if task == "regression" else "error_percent"]
        figures = beside_default(means[order], DEFAULT, small, in_odd_places(means))
        parts.append(f"{task}, {len(means)} tables:\n\n{markdown_table(figures, 'idea')}")
    return "\n\n".join(parts)


def ideas_parser(doc: str, out: str) -> argparse.ArgumentParser:
    """Return the parser of the options of such a run, and of the partitions of a report."""
    asked = tables_parser(doc, out, repeats=1, trees=100)
    asked.add_argument("--first", type=int, default=0, help="first partition of a report")
    return asked


def try_or_report(options: argparse.Namespace, losses_of: Losses = losses) -> int:
    """Try the ideas, or report an existing csv; return the exit status."""

    def of_partitions(lines: pd.DataFrame) -> str:
        return report(lines[lines["partition"] >= options.first])

    return run_or_report(options, lambda asked: run(asked, losses_of), of_partitions, options.data)


def main() -> int:
    """Try the ideas, or report an existing csv."""
    return try_or_report(ideas_parser(__doc__ or "", "ideas.csv").parse_args())


if __name__ == "__main__":
    sys.exit(main())
