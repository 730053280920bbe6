"""Where the default forest is behind a random forest: which of its kinds of trees is, and why.

    python -m benchmarks.ideas.ideas_behind --out behind.csv [--data DIR] [--tables glass,splice]
                                            [--repeats 20] [--trees 200]
    python -m benchmarks.ideas.ideas_behind --report behind.csv

On each partition (``protocol.py``, Z) the kinds of trees of the default forest are grown
(``ideas.py``).  The report compares with the default weights: each kind alone, other weights, four
times as many pilot trees, further kinds, and scikit-learn's random forest with as many trees as the
default forest has.  It says how the weights are distributed, too.  Differences are paired over the
partitions.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmarks.ideas.ideas import (
    DEFAULT,
    TEST_ROWS,
    Grower,
    Grown,
    loss_of,
    loss_of_prediction,
    pilots_of,
    stacked,
)
from benchmarks.ideas.ideas_of_weights import stacked_again
from benchmarks.methods.methods import METHODS, Setting, indicators, is_factor
from benchmarks.options.kinds import FORESTS_TREES
from benchmarks.shared.markdown import table as markdown_table
from benchmarks.shared.on_tables import partition_of, tables_parser
from benchmarks.shared.protocol import Partition
from benchmarks.shared.runs import go_on, run_or_report

OTHER = "random forest of scikit-learn"
STRENGTHS = (0.0, 0.3, 3.0)
"""How strongly weights are pulled to equal ones, beside the default."""
MORE = 4
"""So many times more pilot trees are tried."""


def compared(
    rows: Partition, task: str, trees: int, seed: int
) -> Iterator[tuple[str, float, float]]:
    """Yield the loss on the test rows of each forest, and the default's weight of each kind."""
    rows = replace(rows, test=rows.test.iloc[:TEST_ROWS])
    usual = Grower(rows, task, trees, seed).n_pilot
    grower = Grower(rows, task, trees, seed, MORE * usual)
    many = {name: grower.grown(kind) for name, kind in grower.kinds.items()}
    kinds = {name: with_first(kind, usual) for name, kind in many.items()}
    default = list(kinds.values())
    weights = stacked(grower, default)

    def loss(of_kinds: list[Grown], of_weights: NDArray[np.float64]) -> float:
        return loss_of(rows, task, of_kinds, of_weights)

    yield DEFAULT, loss(default, weights), np.nan
    for number, name in enumerate(kinds):
        yield f"{name} alone", loss(default, np.eye(len(kinds))[number]), weights[number]
    yield "equal weights", loss(default, np.full(len(kinds), 1 / len(kinds))), np.nan
    if task == "classification":
        pilots = pilots_of(grower, kinds)
        for strength in STRENGTHS:
            loss_then = loss(default, stacked_again(pilots, strength))
            yield f"pulled to equal weights {strength:g} times as much", loss_then, np.nan
    better = stacked(grower, list(many.values()))
    yield f"{MORE} times as many pilot trees", loss(default, better), np.nan
    for name, further in further_kinds(rows, grower, trees, seed):
        few = with_first(further, usual)
        both = [*default, few]
        yield f"{name} alone", loss([few], np.ones(1)), stacked(grower, both)[-1]
        yield f"default with {name}", loss(both, stacked(grower, both)), np.nan
    predict = METHODS["rf"].fit(rows.train, task, Setting(FORESTS_TREES, seed, 1))
    yield OTHER, loss_of_prediction(rows, task, predict(rows.test.drop(columns="y"))), np.nan


def with_first(kind: Grown, n: int) -> Grown:
    """Return the kind with its first n pilot trees only."""
    leaves = kind.leaves._replace(
        train=kind.leaves.train[:, :n],
        test=kind.leaves.test[:, :n],
        unseen=kind.leaves.unseen[:, :n],
    )
    return kind._replace(values=kind.values[:, :n], unseen=kind.unseen[:, :n], leaves=leaves)


def further_kinds(
    rows: Partition, grower: Grower, trees: int, seed: int
) -> Iterator[tuple[str, Grown]]:
    """Yield further kinds of trees, which may be what the default lacks."""
    axis, pilots = grower.kinds["axis"], grower.n_pilot
    yield "axis on bootstrap samples", grower.grown(replace(axis, resample="bootstrap"))
    if not any(is_factor(rows.train[name]) for name in rows.train.drop(columns="y")):
        return
    plain = Grower(with_indicators(rows), grower.task, trees, seed, pilots)
    for name in ("axis", "extra"):
        yield f"{name} on indicators", plain.grown(plain.kinds[name])


def with_indicators(rows: Partition) -> Partition:
    """Return the rows with a number, 0 or 1, for each level of a factor."""

    def plain(frame: pd.DataFrame) -> pd.DataFrame:
        columns = indicators(frame.drop(columns="y")).astype(float)
        numbered = columns.set_axis([f"x{j}" for j in range(1, columns.shape[1] + 1)], axis=1)
        return numbered.assign(y=frame["y"])

    return Partition(plain(rows.train), plain(rows.test))


def run(options: argparse.Namespace) -> pd.DataFrame:
    """Return a line for each table, partition and forest, continuing the csv."""
    tasks = [
        (name, number) for name in options.tables.split(",") for number in range(options.repeats)
    ]

    def lines(name: str, number: int) -> Iterator[tuple[str, float, float]]:
        task, rows = partition_of(options, name, number)
        yield from compared(rows, task, options.trees, options.seed + number)

    return go_on(options.out, ["table", "partition", "forest", "loss", "weight"], tasks, lines)


def report(lines: pd.DataFrame) -> str:
    """Return mean losses, their paired differences from the default's, and weights, as markdown."""
    parts = []
    for table, of_table in lines.groupby("table", sort=True):
        order = of_table["forest"].unique()
        losses = of_table.pivot_table(index="partition", columns="forest", values="loss")[order]
        differs = losses.sub(losses[DEFAULT], axis=0)
        weights = of_table.groupby("forest", sort=False)["weight"].mean()[order]
        figures = pd.DataFrame(
            {
                "loss": losses.mean().map("{:.2f}".format),
                "less the default's": differs.mean().map("{:+.2f}".format),
                "standard error": differs.sem().map("{:.2f}".format),
                "mean weight": weights.map(lambda w: "" if np.isnan(w) else f"{w:.2f}"),
            }
        )
        parts.append(f"{table}, {len(losses)} partitions:\n\n{markdown_table(figures, 'forest')}")
    return "\n\n".join(parts)


def main() -> int:
    """Compare the forests, or report an existing csv."""
    asked = tables_parser(__doc__ or "", "behind.csv", repeats=20, trees=200)
    asked.set_defaults(tables="glass,splice")
    options = asked.parse_args()
    return run_or_report(options, run, report, options.data)


if __name__ == "__main__":
    sys.exit(main())
