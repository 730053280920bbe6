"""The kinds of trees that a blended forest chooses from: sets of kinds, tried on open tables.

    python -m benchmarks.options.kinds --out kinds.csv [--data DIR] [--tables a,b] [--repeats 1]
                                       [--trees 100]
    python -m benchmarks.options.kinds --report kinds.csv

Every kind is grown once on the training rows of a partition (``protocol.py``, Z) and evaluated on
out-of-bag rows as `odrf.fits.blending` does.  Then the kinds of each set get weights, and the
weighted mean of their predictions is evaluated on the test rows.  The report compares the losses of
the sets with those of the default's kinds, for the tables in odd and in even places of the index:
what one half suggests, the other can confirm.  A run with an existing csv adds the missing lines.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from patsy import EvalEnvironment

from benchmarks.shared.markdown import table as markdown_table
from benchmarks.shared.measures import measures
from benchmarks.shared.on_tables import in_odd_places, partition_of, tables_parser, tasks_on
from benchmarks.shared.protocol import Partition
from benchmarks.shared.ratios import beside_default
from benchmarks.shared.runs import go_on, run_or_report
from odrf.design import build_design
from odrf.engine.growth.forest_builder import grow_forest
from odrf.engine.numeric import streams
from odrf.engine.trees.routing import predict
from odrf.fits.blending import Kind, Pilots, pilot_evidence, pilot_trees
from odrf.fits.stacking import Evidence
from odrf.options.blend import FEWEST_TREES, kinds_of_trees
from odrf.options.options import Options
from odrf.options.tree import resolve

PLAIN = ("best 0.8", "random 0.8", "extra 0.8", "smooth 0.8")
"""Kinds that all draw the same share of the rows."""
FORESTS_TREES = 500
"""Number of trees of the forest that determines the number of pilot trees."""
SMALL = {"rpe": 0.002, "error_percent": 0.5}
"""Added to both losses of a ratio, so that tables with tiny losses do not dominate."""


def default_options(trees: int, seed: int) -> Options:
    """Return the options of `odrf`, at their defaults."""
    return Options(n_trees=trees, seed=seed, n_jobs=1)


def kinds_to_try(options: Options, n: int, P: int, p: int, classes: bool) -> dict[str, Options]:
    """Return the options of each kind: those of the default, and others."""
    kinds = kinds_of_trees(options, n, P, p, classes)
    default = dict(kinds)
    for name in PLAIN:
        kind, share = name.split()
        kinds[name] = replace(default[kind], sample_fraction=float(share))
    few = math.ceil(math.sqrt(P)) if classes else math.ceil(P / 3)
    axis = replace(options, projection="axis", min_leaf=1, n_singles=few)
    kinds["random forest"] = replace(axis, resample="bootstrap")
    kinds["axis extra"] = replace(
        axis,
        resample="subsample",
        sample_fraction=default["extra"].sample_fraction,
        n_thresholds=1,
        n_singles=few if classes else P,
    )
    kinds["SPORF"] = replace(options, projection="sparse", min_leaf=1, resample="bootstrap")
    return kinds


def sets_to_try(kinds: Mapping[str, Any], default: list[str]) -> dict[str, list[str]]:
    """Return sets of kinds by their names."""
    sets = {"default": default, "best alone": ["best"], "all on 80 % of the rows": list(PLAIN)}
    sets |= {
        f"default without {name}": [kind for kind in default if kind != name] for name in default
    }
    others = [name for name in kinds if name not in default and name not in PLAIN]
    return sets | {f"default with {name}": [*default, name] for name in others}


def with_sum_of_one(evidence: Evidence) -> Evidence:
    """Turn evidence on classes into that on errors, for which the weights add up to 1."""
    if evidence.relations is None:
        return evidence
    relations = evidence.relations
    variance = evidence.errors[0] - evidence.products[0, 0] + 2 * relations[0]
    products = evidence.products - relations[:, None] - relations + variance
    return Evidence(products, None, evidence.errors, evidence.rows, None)


class Grown(NamedTuple):
    """Kinds of trees, grown on the training rows of a partition.

    Attributes
    ----------
    names : list of G str
    evidence : Evidence
        What pilot trees of each kind say out of bag.
    predicted : (G, m, K) float64
        The predictions of all trees of each kind for the test rows.
    default : list of str
        The kinds that a forest has by default.
    """

    names: list[str]
    evidence: Evidence
    predicted: NDArray[np.float64]
    default: list[str]


def grown_kinds(
    rows: Partition,
    task: str,
    trees: int,
    seed: int,
    kinds_of: Callable[[Options, int, int, int, bool], dict[str, Options]],
) -> Grown:
    """Grow so many trees of each of the kinds that `kinds_of` returns the options of."""
    options = default_options(max(trees, FEWEST_TREES), seed)
    design, data = build_design("y ~ .", rows.train, kind=task, env=EvalEnvironment.capture())
    classes = design.response.classes
    P, p, n = len(design.predictors), len(design.columns), len(data.y)
    K = 1 if classes is None else len(classes)
    tried = kinds_of(options, n, P, p, K > 1)
    controls = [resolve(kind, kind=task, n=n, P=P, p=p, n_classes=K) for kind in tried.values()]
    kinds = [Kind(control.settings, control.mixture, control.sampling) for control in controls]
    tree_streams, feature_groups = streams(seed, 0, trees), design.feature_groups
    grown = [
        grow_forest(
            *(data.X, data.y, data.weights, feature_groups),
            *(kind.sampling, kind.settings, kind.mixture),
            *(tree_streams, 1, lambda: None),
        )
        for kind in kinds
    ]
    default = list(kinds_of_trees(options, n, P, p, K > 1))
    n_pilot = min(trees, pilot_trees(n, len(default), FORESTS_TREES))
    pilots = [[forest.tree(i) for i in range(n_pilot)] for forest in grown]
    samplings = [kind.sampling for kind in kinds]
    of_kinds = Pilots(pilots, data.X, data.weights, samplings, tree_streams[:n_pilot], 1)
    evidence = pilot_evidence(of_kinds, data.y)
    new, _ = design.matrix(rows.test)
    predicted = np.array([predict(forest, new, 1) for forest in grown])
    return Grown(list(tried), evidence, predicted, default)


def losses(rows: Partition, task: str, trees: int, seed: int) -> Iterator[tuple[str, float]]:
    """Yield each set of kinds with its loss on the test rows."""
    names, evidence, predicted, default = grown_kinds(rows, task, trees, seed, kinds_to_try)
    for name, chosen in sets_to_try(dict.fromkeys(names), default).items():
        numbers = [names.index(kind) for kind in chosen]
        of_set, weights = predicted[numbers], evidence.of(numbers).weights()
        yield name, _loss(task, np.tensordot(weights, of_set, 1), rows)
        if name == "default" and task == "classification":
            weights = with_sum_of_one(evidence.of(numbers)).weights()
            loss = _loss(task, np.tensordot(weights, of_set, 1), rows)
            yield "default, sum of weights held", loss


def _loss(task: str, prediction: NDArray, rows: Partition) -> float:
    regression = task == "regression"
    values = prediction[:, 0] if regression else prediction
    scores = measures(task, values, rows.train["y"], rows.test["y"])
    return scores["rpe" if regression else "error_percent"]


def run(options: argparse.Namespace) -> pd.DataFrame:
    """Return a line for each table, partition and set, continuing the csv."""

    def lines(name: str, place: int, number: int) -> Iterator[tuple[str, str, float]]:
        task, rows = partition_of(options, name, number)
        for kinds, loss in losses(rows, task, options.trees, options.seed + number):
            yield task, kinds, loss

    columns = ["table", "place", "partition", "task", "set", "loss"]
    return go_on(options.out, columns, tasks_on(options), lines, digits=None)


def report(lines: pd.DataFrame) -> str:
    """Compare the sets with the default, in per cent of the loss, as markdown."""
    parts = []
    for task, of_task in lines.groupby("task", sort=False):
        order = of_task["set"].unique()
        means = of_task.pivot_table(index=["place", "table"], columns="set", values="loss")
        small = SMALL["rpe" if task == "regression" else "error_percent"]
        figures = beside_default(means[order], "default", small, in_odd_places(means))
        parts.append(f"{task}, {len(means)} tables:\n\n{markdown_table(figures, 'set')}")
    return "\n\n".join(parts)


def main() -> int:
    """Try the sets, or report an existing csv."""
    options = tables_parser(__doc__ or "", "kinds.csv", repeats=1, trees=100).parse_args()
    return run_or_report(options, run, report, options.data)


if __name__ == "__main__":
    sys.exit(main())
