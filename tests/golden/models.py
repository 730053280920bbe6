"""Small models of every kind that the package fits, for the golden table.

Each is a function without arguments that returns a fit, by a name that says what is special in it.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache, partial, wraps
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from odrf import Patch, graf, load, load_data, odbt, odrf, odt, simulate

__all__ = ["MODELS", "in_other_units"]

SEED = 7
TREES = 6
FAMILIES = (
    "axis", "extra", "rc", "sparse", "sphere", "rotation", "cca", "lda", "ridge", "logistic",
    "least_squares", "ppr", "pda", "pca",
)  # fmt: skip


Table = Callable[[], pd.DataFrame]
_units: ContextVar[int] = ContextVar("units", default=0)


@contextmanager
def in_other_units(number: int) -> Iterator[None]:
    """Give the tables other units, which only rounding sees: those of this number; 0 for none."""
    before = _units.set(number)
    try:
        yield
    finally:
        _units.reset(before)


def _table(make: Table) -> Table:
    """Return the table of a function in the units of the moment, each made once."""

    @cache
    def made(units: int) -> pd.DataFrame:
        data = make()
        if units == 0:
            return data
        rng = np.random.default_rng(units)
        for name in data.columns.drop("w", errors="ignore"):
            # Responses stay what losses and rates expect; predictors may be of any size.
            by = rng.uniform(0.5, 2) if name != "mpg" else 1 + 1e-9 * rng.normal()
            if pd.api.types.is_numeric_dtype(data[name]):
                data = data.assign(**{name: data[name] * by})
        return data

    @wraps(make)
    def table() -> pd.DataFrame:
        return made(_units.get())

    return table


@_table
def numbers() -> pd.DataFrame:
    """Return 150 rows with a numeric response, a factor, and whole case weights."""
    data = load_data("auto_mpg").dropna().iloc[:150].reset_index(drop=True)
    return data.assign(w=1 + np.arange(len(data)) % 3)


@_table
def two_classes() -> pd.DataFrame:
    """Return 160 rows of two classes and eight numeric predictors."""
    data = load_data("breast_cancer")
    return data[["diagnosis", *data.columns[1:9]]].iloc[:160]


@_table
def three_classes() -> pd.DataFrame:
    """Return rows of three classes, two factors and some missing cells."""
    return load_data("penguins").iloc[::2].reset_index(drop=True)


@_table
def ordered_classes() -> pd.DataFrame:
    """Return 160 rows of four ordered classes."""
    data = load_data("diabetes").iloc[:160]
    levels = pd.qcut(data["progression"], 4, labels=["low", "fair", "high", "top"])
    return data.drop(columns="progression").assign(level=levels)


@_table
def series() -> pd.DataFrame:
    """Return 80 short series of two classes."""
    return simulate.impulse(height=4.0).sample(80, seed=SEED)


def _tree(formula: str, table: Table, **options: Any) -> Any:
    return odt(formula, table(), seed=SEED, **{"alpha": None, **options})


def _forest(formula: str, table: Table, **options: Any) -> Any:
    return odrf(formula, table(), seed=SEED, **{"n_trees": TREES, **options})


def _boosted(formula: str, table: Table, **options: Any) -> Any:
    return odbt(formula, table(), seed=SEED, **{"n_trees": TREES, **options})


def _guided(formula: str, table: Table, **options: Any) -> Any:
    return graf(formula, table(), seed=SEED, **{"n_trees": TREES, **options})


def _updated(
    function: Callable[..., Any],
    formula: str,
    table: Table,
    **options: Any,
) -> Any:
    data, some = table(), slice(0, None, 4)
    fit = function(formula, data.drop(data.index[some]), seed=SEED, **options)
    return fit.update(data.iloc[some])


def _combined(function: Callable[..., Any], **options: Any) -> Any:
    one, other = (
        function("mpg ~ . - w", numbers(), n_trees=TREES, seed=seed, **options) for seed in (1, 2)
    )
    return one.combine(other)


def _saved(make: Callable[[], Any]) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "fit.odrf"
        make().save(file)
        return load(file)


def _root(n: int) -> float:
    return n**0.5


def _falling(n: int) -> float:
    return n**-0.3


MPG, LEVEL, SPECIES, DIAGNOSIS = "mpg ~ . - w", "level ~ .", "species ~ .", "diagnosis ~ ."
DROP = {"missing": "drop"}

MODELS: dict[str, Callable[[], Any]] = {
    **{
        f"tree, {name}": partial(_tree, MPG, numbers, projection=name)
        for name in FAMILIES
        if name not in ("cca", "lda", "pda")
    },
    **{
        f"tree of classes, {name}": partial(_tree, SPECIES, three_classes, projection=name, **DROP)
        for name in FAMILIES
    },
    **{
        f"forest, {name}": partial(_forest, DIAGNOSIS, two_classes, projection=name)
        for name in FAMILIES
    },
    "tree, mixture": partial(_tree, MPG, numbers, projection={"sparse": 0.5, "logistic": 0.5}),
    "tree, patch": partial(_tree, "y ~ .", series, projection=Patch(width=(2, 5))),
    "tree, by default": partial(_tree, MPG, numbers, alpha="auto"),
    "tree, formula": partial(
        _tree, "np.log(mpg) ~ weight + bs(horsepower, 4) + origin:year", numbers
    ),
    "tree, weights": partial(_tree, "mpg ~ .", numbers, weights="w"),
    "tree, class weights": partial(_tree, SPECIES, three_classes, class_weights="balanced", **DROP),
    "tree, entropy": partial(_tree, SPECIES, three_classes, criterion="entropy", **DROP),
    "tree, penalty": partial(_tree, MPG, numbers, penalty="bic"),
    "tree, exact": partial(_tree, MPG, numbers, split_search="exact"),
    "tree, honest": partial(_tree, MPG, numbers, honest=True),
    "tree, ordered": partial(_tree, LEVEL, ordered_classes),
    "tree, ordered as nominal": partial(_tree, LEVEL, ordered_classes, criterion="gini"),
    "tree, few leaves": partial(_tree, MPG, numbers, max_leaves=_root),
    "tree, leaves by rate": partial(_tree, MPG, numbers, max_leaves="sqrt"),
    "tree, alpha": partial(_tree, MPG, numbers, alpha=0.5),
    "tree, alpha by rule": partial(_tree, MPG, numbers, alpha=_falling),
    "tree, alpha by cv": partial(_tree, MPG, numbers, alpha="cv"),
    "tree, alpha by 1se": partial(_tree, SPECIES, three_classes, alpha="1se", **DROP),
    "tree, alpha by rate": partial(_tree, MPG, numbers, alpha="1/sqrt(n)", pruning="growth"),
    "tree, pruned": lambda: _tree(MPG, numbers).prune(rule="1se"),
    "tree, leaves kept": lambda: _tree(MPG, numbers).prune(leaves=5),
    "tree, updated": partial(_updated, odt, MPG, numbers, alpha=None),
    "tree, updated by rule": partial(_updated, odt, MPG, numbers, max_leaves=_root, alpha=_falling),
    "tree, ordered, updated": partial(_updated, odt, LEVEL, ordered_classes, alpha=None),
    "tree, saved": lambda: _saved(partial(_tree, LEVEL, ordered_classes)),
    "forest, regression": partial(_forest, MPG, numbers),
    "forest, classes": partial(_forest, SPECIES, three_classes, **DROP),
    "forest, weights": partial(_forest, "mpg ~ .", numbers, weights="w"),
    "forest, class weights": partial(
        _forest, DIAGNOSIS, two_classes, class_weights={"benign": 2.0}
    ),
    "forest, honest": partial(
        _forest,
        SPECIES,
        three_classes,
        honest=True,
        resample="subsample",
        sample_fraction=_falling,
        **DROP,
    ),
    "forest, ordered": partial(_forest, LEVEL, ordered_classes),
    "forest, all rows": partial(_forest, MPG, numbers, resample="none"),
    "forest, alpha": partial(_forest, MPG, numbers, alpha=0.5),
    "forest, alpha out of bag": partial(_forest, MPG, numbers, alpha="oob"),
    "forest, alpha by rate": partial(_forest, MPG, numbers, alpha="log6/n"),
    "forest, pruned": lambda: _forest(MPG, numbers).prune(rule="oob"),
    "forest, its tree": lambda: _forest(MPG, numbers).tree(3),
    "forest, grown": lambda: _forest(MPG, numbers).grow(4),
    "forest, grown and pruned": lambda: _forest(MPG, numbers, alpha="oob").grow(4),
    "forest, combined": partial(_combined, odrf),
    "forest, updated": partial(_updated, odrf, MPG, numbers, n_trees=TREES),
    "forest, updated classes": partial(
        _updated, odrf, DIAGNOSIS, two_classes, n_trees=TREES, honest=True
    ),
    "forest, ordered, updated": partial(_updated, odrf, LEVEL, ordered_classes, n_trees=TREES),
    "forest, saved": lambda: _saved(
        partial(_forest, SPECIES, three_classes, alpha=_falling, **DROP)
    ),
    "blend, regression": partial(_forest, MPG, numbers, n_trees=24, blend=True),
    "blend, classes": partial(_forest, SPECIES, three_classes, n_trees=24, blend=True, **DROP),
    "blend, ordered": partial(_forest, LEVEL, ordered_classes, n_trees=24, blend=True),
    "blend, grown": lambda: _forest(MPG, numbers, n_trees=24, blend=True).grow(6),
    "blend, combined": partial(
        lambda: _forest(MPG, numbers, n_trees=24, blend=True).combine(
            odrf(MPG, numbers(), n_trees=24, blend=True, seed=8)
        )
    ),
    "blend, updated": partial(_updated, odrf, MPG, numbers, n_trees=24, blend=True),
    "boosted, regression": partial(_boosted, MPG, numbers),
    "boosted, two classes": partial(_boosted, DIAGNOSIS, two_classes),
    "boosted, three classes": partial(_boosted, SPECIES, three_classes, **DROP),
    "boosted, ordered": partial(_boosted, LEVEL, ordered_classes),
    "boosted, absolute": partial(_boosted, MPG, numbers, loss="absolute"),
    "boosted, huber": partial(_boosted, MPG, numbers, loss="huber"),
    "boosted, poisson": partial(
        _boosted, "mpg ~ . - w - year", numbers, loss="poisson", offset=np.log(np.arange(1, 151))
    ),
    "boosted, refitted": partial(_boosted, MPG, numbers, leaf_values="refit", max_depth=3),
    "boosted, runs": partial(
        _boosted, "mpg ~ .", numbers, n_runs=3, run_predictors=0.7, validation="oob", weights="w"
    ),
    "boosted, best-first": partial(
        _boosted, MPG, numbers, max_leaves=6, max_depth=20, min_hessian=8
    ),
    "boosted, validation": partial(_boosted, MPG, numbers, validation=0.2, sample_fraction=0.7),
    "boosted, grown": lambda: _boosted(MPG, numbers, predictor_fraction=0.6).grow(4),
    "boosted, saved": lambda: _saved(partial(_boosted, DIAGNOSIS, two_classes)),
    "guided, regression": partial(_guided, MPG, numbers),
    "guided, classes": partial(_guided, SPECIES, three_classes, **DROP),
    "guided, batched": partial(
        _guided, DIAGNOSIS, two_classes, subspace="all", origin="region", batched=True
    ),
    "guided, grown": lambda: _guided(MPG, numbers).grow(3),
    "guided, combined": partial(_combined, graf),
    "guided, saved": lambda: _saved(partial(_guided, SPECIES, three_classes, **DROP)),
}
