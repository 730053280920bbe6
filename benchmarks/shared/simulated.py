"""Forests, their tuning, samples and losses for benchmarks on simulated problems.

[T] is Tomita et al., *Sparse projection oblique randomer forests*, JMLR 21 (2020).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import pandas as pd
from numpy.random import SeedSequence

from odrf import odrf, tune
from odrf.projections import Family, RandomCombination, Sparse
from odrf.results import ODRFResults
from odrf.simulate import Problem

__all__ = [
    "FORESTS",
    "GRIDS",
    "TO_PURITY",
    "Method",
    "draw",
    "fitted",
    "in_words",
    "loss",
    "with_tuned",
]

Options = Mapping[str, Any]
Grid = Mapping[str, Sequence[Any]]
Method = tuple[Options, Grid]
"""Fixed options, and a grid of other options that is tuned by out-of-bag error, if not empty."""

FORESTS: dict[str, Options] = {
    "RF": {"projection": "axis", "blend": False},
    "SPORF": {"projection": "sparse", "blend": False},
    "F-RC": {"projection": "rc", "blend": False},
    "ODRF": {"blend": False},
}
TO_PURITY = {"min_leaf": 1}
"""Size of the trees in [T]."""

TEST_ROWS, TEST_SEED = 10_000, 2020
TUNING_TREES = 30
MOST_PROJECTIONS = 100


def _singles(p: int) -> Grid:
    return {"n_singles": sorted({math.ceil(p**power) for power in (1 / 4, 1 / 2, 3 / 4, 1)})}


def _numbers(p: int) -> list[int]:
    return [p, min(p**2, MOST_PROJECTIONS)]


def _sparse(p: int) -> Grid:
    families = [Sparse(nonzeros / p) for nonzeros in range(2, min(5, p) + 1)]
    return {"n_projections": _numbers(p), "projection": families}


def _combinations(p: int) -> Grid:
    families = [RandomCombination(size) for size in range(2, min(5, p) + 1)]
    return {"n_projections": _numbers(p), "projection": families}


GRIDS: dict[str, Callable[[int], Grid]] = {
    "RF": _singles,
    "SPORF": _sparse,
    "F-RC": _combinations,
}
"""Grid of each method for p predictors: that of [T], section 3.2, without its largest values."""


def with_tuned(forests: Mapping[str, Options], p: int) -> dict[str, Method]:
    """Return the forests for p predictors, and for those with a grid the tuned forests, too.

    The trees are grown to purity.
    """
    methods: dict[str, Method] = {}
    for name, options in forests.items():
        methods[name] = {**options, **TO_PURITY}, {}
        if name in GRIDS:
            methods[f"{name}, tuned"] = {**options, **TO_PURITY}, GRIDS[name](p)
    return methods


def draw(problem: Problem, n: int, repeat: int, seed: int) -> tuple[pd.DataFrame, int]:
    """Return a training sample, and the seed of the fit."""
    rows, forest = SeedSequence([seed, n, repeat]).generate_state(2)
    return problem.sample(n, seed=int(rows)), int(forest)


def fitted(
    train: pd.DataFrame, method: Method, trees: int, seed: int
) -> tuple[ODRFResults, dict[str, Any]]:
    """Return a forest, and those of its options that were tuned by out-of-bag error."""
    options, grid = method
    chosen: dict[str, Any] = {}
    if grid:
        fixed = {**options, "n_trees": min(trees, TUNING_TREES), "n_jobs": 1}
        fixed = {name: value for name, value in fixed.items() if name not in grid}
        chosen = tune("y ~ .", train, grid, seed=seed, **fixed).best_options
    options = {**options, **chosen}
    return odrf("y ~ .", train, n_trees=trees, seed=seed, n_jobs=1, **options), chosen


def in_words(chosen: Mapping[str, Any]) -> str:
    """Write the tuned options; families are written by their parameters."""
    values: dict[str, Any] = {}
    for option, value in chosen.items():
        values |= asdict(value) if isinstance(value, Family) else {option: value}
    return " ".join(f"{option}={value:.3g}" for option, value in values.items())


def loss(fit: ODRFResults, problem: Problem) -> float:
    """Return the misclassification rate, or for a regression the mean squared distance from m(x).

    The test rows of a problem are always the same.
    """
    test = problem.sample(TEST_ROWS, seed=TEST_SEED)
    predicted = fit.predict(test).to_numpy()
    if problem.classes is None:
        return float(((predicted - problem.truth(test)) ** 2).mean())
    return float((predicted != test["y"].to_numpy()).mean())
