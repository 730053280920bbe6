"""Parts of fits that nearly fit together are refused, each for the first number that is wrong."""

from __future__ import annotations

import sys
import typing
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, TypeVar

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

import odrf
from odrf.engine.factors import EncodedColumns, Layout
from odrf.errors import InputError
from odrf.fits.files.validation import (
    is_as_annotated,
    require_sound_fit,
    require_sound_forest,
    require_sound_guided,
)
from odrf.fits.fit import without_rows

FORMULA = "y ~ a + b + f + f:g:a"


@cache
def table() -> pd.DataFrame:
    rng = np.random.default_rng(3)
    data = pd.DataFrame(rng.random((60, 2)), columns=["a", "b"])
    data["f"], data["g"] = np.arange(60) % 3, np.arange(60) % 2
    data = data.astype({"f": str, "g": str})
    data = data[(data.f != "1") | (data.g != "1")].reset_index(drop=True)
    return data.assign(y=data.a + data.b)


@cache
def fitted():
    return odrf.odrf(FORMULA, table(), n_trees=3, min_leaf=4, blend=False, seed=1).fit


@cache
def guided():
    return odrf.graf("y ~ a + b + f", table(), n_trees=2, seed=1).fit


def changed(array, at, value):
    copy = np.array(array)
    copy[at] = value
    return copy


def check_forest(**parts):
    fit = fitted()
    forest = replace(fit.forest, **parts)
    require_sound_forest(forest, len(fit.design.columns), 1, 3)


def check_recipe(**parts):
    fit = fitted()
    require_sound_fit(
        replace(fit, design=replace(fit.design, recipe=replace(fit.design.recipe, **parts)))
    )


def splits(forest):
    return np.flatnonzero(forest.left >= 0)


def first_leaf(forest):
    return int(np.flatnonzero(forest.left < 0)[0])


def test_they_are_sound_as_they_are():
    check_forest()
    check_recipe()
    assert list(fitted().design.recipe.kept) == [3], "a product without all combinations"


FORESTS = {
    "a column too many": lambda f: {"index": changed(f.index, 0, len(fitted().design.columns))},
    "a column before the first": lambda f: {"index": changed(f.index, 0, -1)},
    "a child of two nodes": lambda f: {"left": changed(f.left, splits(f)[1], f.left[splits(f)[2]])},
    "children that overlap": lambda f: {
        "left": changed(f.left, splits(f)[1], f.left[splits(f)[2]] - 1)
    },
    "a child before its parent": lambda f: {"left": changed(f.left, splits(f)[1], splits(f)[1])},
    "a child in another tree": lambda f: {"left": changed(f.left, splits(f)[0], f.root[1])},
    "a right child in another tree": lambda f: {
        "left": changed(f.left, splits(f)[0], f.root[1] - 1)
    },
    "a mark that is no child": lambda f: {"left": changed(f.left, first_leaf(f), -2)},
    "trees that begin before the first": lambda f: {"root": changed(f.root, 0, -1)},
    "trees that begin after the first node": lambda f: {"root": changed(f.root, 0, 1)},
    "trees that end too late": lambda f: {"root": changed(f.root, -1, len(f.left) + 1)},
    "a tree without nodes": lambda f: {"root": changed(f.root, 1, 0)},
    "a tree too few": lambda f: {"root": np.delete(f.root, 1)},
    "terms that fall": lambda f: {"start": changed(f.start, 1, f.start[2] + 1)},
    "terms that end too early": lambda f: {"start": changed(f.start, -1, f.start[-1] - 1)},
    "a value too many": lambda f: {"value": np.repeat(f.value, 2, axis=1)},
    "a threshold too few": lambda f: {"threshold": f.threshold[1:]},
    "a coefficient too few": lambda f: {"coef": f.coef[1:]},
    "a number of rows below 0": lambda f: {"count": changed(f.count, 0, -1)},
    "an order below 0": lambda f: {"order": changed(f.order, 0, -1)},
    "an order beyond the nodes": lambda f: {"order": changed(f.order, 0, len(f.left) + 1)},
}


@pytest.mark.parametrize("words", FORESTS)
def test_a_forest_is_refused_with(words):
    with pytest.raises(InputError, match="do not fit together"):
        check_forest(**FORESTS[words](fitted().forest))


RECIPES = {
    "a variable beyond the last": lambda r: {"terms": (*r.terms[:-1], (len(r.variables),))},
    "a variable before the first": lambda r: {"terms": (*r.terms[:-1], (-1,))},
    "a product of nothing": lambda r: {"terms": (*r.terms[:-1], ())},
    "a name too few": lambda r: {"names": r.names[1:]},
    "a type beyond the last": lambda r: {"types": changed(r.types, 0, 3)},
    "a type before the first": lambda r: {"types": changed(r.types, 0, -1)},
    "columns that end too early": lambda r: {"first": changed(r.first, -1, r.first[-1] - 1)},
    "columns of another predictor": lambda r: {"first": changed(r.first, 1, r.first[1] + 1)},
    "a hole that has no column": lambda r: {"holes": changed(r.holes, 0, True)},
    "products of no predictor": lambda r: {"kept": {len(r.terms): r.kept[3]}},
    "products before the first predictor": lambda r: {"kept": {-1: r.kept[3]}},
    "a product before the first": lambda r: {"kept": {3: changed(r.kept[3], 0, -1)}},
    "a product twice": lambda r: {"kept": {3: changed(r.kept[3], 1, r.kept[3][0])}},
    "a product beyond the last": lambda r: {"kept": {3: changed(r.kept[3], -1, 6)}},
    "products in a table": lambda r: {"kept": {3: r.kept[3][None]}},
    "no product": lambda r: {"kept": {3: r.kept[3][:0]}},
}


@pytest.mark.parametrize("words", RECIPES)
def test_a_design_is_refused_with(words):
    with pytest.raises(InputError, match="do not fit together"):
        check_recipe(**RECIPES[words](fitted().design.recipe))


ROWS = {
    "a response too few": lambda d: {"y": d.y[1:]},
    "a weight too few": lambda d: {"weights": d.weights[1:]},
    "a response that is no number": lambda d: {"y": changed(d.y, 0, np.nan)},
    "a row too few": lambda d: {"X": d.X[:, 1:]},
    "a column too few": lambda d: {"X": d.X[1:]},
    "a complete row too many": lambda d: {"complete": np.append(d.complete, True)},
    "rows kept too few": lambda d: {"kept": np.zeros(3, dtype=np.int64)},
}


@pytest.mark.parametrize("words", ROWS)
def test_training_rows_are_refused_with(words):
    fit = fitted()
    with pytest.raises(InputError, match="do not fit together"):
        require_sound_fit(replace(fit, training=replace(fit.data, **ROWS[words](fit.data))))


@pytest.mark.parametrize("name", ["n_rows", "n_dropped"])
def test_numbers_of_rows_below_0_are_refused(name):
    fit = without_rows(fitted())
    require_sound_fit(fit)
    with pytest.raises(InputError, match="do not fit together"):
        require_sound_fit(replace(fit, training=replace(fit.training, **{name: -1})))


GUIDED = {
    "a plane beyond the last": lambda g: {"plane": changed(g.plane, 0, len(g.threshold))},
    "a plane of another tree": lambda g: {"plane": changed(g.plane, 0, g.first_plane[1])},
    "a column beyond the last": lambda g: {
        "columns": changed(g.columns, 0, len(guided().design.columns))
    },
    "a coefficient too few": lambda g: {"coef": g.coef[1:]},
    "planes that begin after the first": lambda g: {"first_plane": changed(g.first_plane, 0, 1)},
    "an impurity too few": lambda g: {"impurity": g.impurity[1:]},
    "a value too many": lambda g: {"value": np.repeat(g.value, 2, axis=1)},
}


@pytest.mark.parametrize("words", GUIDED)
def test_guided_trees_are_refused_with(words):
    fit = guided()
    forest = replace(fit.guided, **GUIDED[words](fit.guided))
    with pytest.raises(InputError, match="do not fit together"):
        require_sound_guided(forest, len(fit.design.columns), 1, 2)


@cache
def boosted():
    return odrf.odbt("y ~ a + b", table(), n_trees=4, n_runs=2, seed=1).fit


BOOSTED = {
    "a run too many": lambda b: {"drawn": (*b.drawn, b.drawn[0])},
    "a run too few": lambda b: {"drawn": b.drawn[1:]},
    "starts of one run": lambda b: {"starts": b.starts[:1]},
    "two outputs": lambda b: {"starts": np.repeat(b.starts, 2, axis=1)},
    "rows too few": lambda b: {"drawn": (b.drawn[0]._replace(counts=b.drawn[0].counts[1:]),) * 2},
    "a predictor beyond the last": lambda b: {
        "drawn": (b.drawn[0]._replace(predictors=np.array([0, 2])),) * 2
    },
    "a predictor before the first": lambda b: {
        "drawn": (b.drawn[0]._replace(predictors=np.array([-1, 1])),) * 2
    },
}


@pytest.mark.parametrize("words", BOOSTED)
def test_boosted_trees_are_refused_with(words):
    fit = boosted()
    require_sound_fit(fit)
    with pytest.raises(InputError, match="do not fit together"):
        require_sound_fit(replace(fit, boosted=fit.boosted._replace(**BOOSTED[words](fit.boosted))))


LAYOUTS = {
    "a place before the first": lambda place, level, n: (changed(place, 0, -1), level, n),
    "a place beyond the last": lambda place, level, n: (changed(place, -1, n + 9), level, n),
    "a level before the first": lambda place, level, n: (place, changed(level, -1, -1), n),
    "a number that is a level": lambda place, level, n: (place, changed(level, 0, 1), n),
    "numbers beyond the rows": lambda place, level, n: (place, level, n + 9),
    "a column too few": lambda place, level, n: (place[1:], level, n),
}


@pytest.mark.parametrize("words", LAYOUTS)
def test_codes_of_factors_are_refused_with(words):
    data = table().assign(h=[f"level {i % 9}" for i in range(len(table()))])
    fit = odrf.odt("y ~ a + h", data, seed=1).fit
    require_sound_fit(fit)
    assert isinstance(fit.data.X, EncodedColumns)
    X = EncodedColumns(fit.data.X.stored, Layout(*LAYOUTS[words](*fit.data.X.layout)))
    with pytest.raises(InputError, match="do not fit together"):
        require_sound_fit(replace(fit, training=replace(fit.data, X=X)))


SUMS = {
    "an error of too few trees": {"error_path": np.zeros(2)},
    "fewer than no rows": {"n_evaluated": -1},
    "a confusion of numbers": {"confusion": np.zeros((1, 1))},
    "too few means of columns": {"column_means": np.zeros(1)},
    "too few importances": {"importance": np.zeros(1)},
}


@pytest.mark.parametrize("words", SUMS)
def test_sums_over_rows_in_chunks_are_refused_with(words):
    fit = odrf.odrf(FORMULA, [table()], n_trees=3, seed=1).fit
    require_sound_fit(fit)
    with pytest.raises(InputError):
        require_sound_fit(replace(fit, sums=replace(fit.sums, **SUMS[words])))


@pytest.mark.parametrize("confusion", [None, np.zeros((3, 3))])
def test_a_confusion_of_other_classes_is_refused(confusion):
    fit = odrf.odrf("g ~ a + b", [table()], n_trees=2, seed=1).fit
    with pytest.raises(InputError):
        require_sound_fit(replace(fit, sums=replace(fit.sums, confusion=confusion)))


# ------------------------------------------------------------------------------------------------
# Loaded objects hold what their annotations say, also where an alias stands for a type.
# ------------------------------------------------------------------------------------------------

Scalar = TypeVar("Scalar", bound=np.generic)


@dataclass
class Arrays:
    """Arrays of a known and of any type."""

    numbers: NDArray[np.float64]
    some: NDArray | None
    many: tuple[NDArray[np.int64], ...]


def check_arrays():
    assert is_as_annotated(Arrays, "numbers", np.zeros(2))
    assert not is_as_annotated(Arrays, "numbers", np.zeros(2, dtype=np.int64))
    assert not is_as_annotated(Arrays, "numbers", [0.0])
    assert is_as_annotated(Arrays, "some", np.zeros(2, dtype=np.int8))
    assert is_as_annotated(Arrays, "some", None)
    assert not is_as_annotated(Arrays, "some", 1)
    assert is_as_annotated(Arrays, "many", (np.arange(2), np.arange(3)))
    assert not is_as_annotated(Arrays, "many", (np.arange(2), np.zeros(3)))


def test_arrays_are_of_their_type():
    check_arrays()


@pytest.mark.skipif(sys.version_info < (3, 12), reason="aliases by `type` came with Python 3.12")
def test_an_alias_by_type_stands_for_its_value(monkeypatch):
    """NDArray is one from NumPy 2.5 on; no fit could be loaded then."""
    alias: Any = typing.TypeAliasType(
        "NDArray", np.ndarray[Any, np.dtype[Scalar]], type_params=(Scalar,)
    )
    hints = {
        "numbers": alias[np.float64],
        "some": alias | None,
        "many": tuple[alias[np.int64], ...],
    }
    monkeypatch.setattr("odrf.fits.files.validation._annotations", lambda kind: hints)
    check_arrays()


# Trees whose leaves are lines.


@cache
def of_lines():
    return odrf.odt("y ~ a + b", table(), leaves="linear", min_leaf=3, alpha=None, seed=1).fit


def check_lines(**parts):
    forest, p = of_lines().forest, len(of_lines().design.columns)
    lines = replace(forest.lines, **parts)
    require_sound_forest(replace(forest, lines=lines), p, 1, 1)


WRONG_LINES = {
    "start": lambda start: changed(start, -1, start[-1] + 1),
    "column": lambda column: changed(column, 0, 2),
    "coef": lambda coef: coef.astype(np.float32),
    "intercept": lambda intercept: intercept[1:],
    "low": lambda low: low + 1e9,
    "high": lambda high: changed(high, 0, np.nan),
    "n_parameters": lambda n: n[:, np.newaxis],
}


@pytest.mark.parametrize("name", WRONG_LINES)
def test_lines_of_leaves(name):
    check_lines()
    lines = of_lines().forest.lines
    with pytest.raises(InputError, match="do not fit together"):
        check_lines(**{name: WRONG_LINES[name](getattr(lines, name))})


def test_lines_are_of_one_tree():
    with pytest.raises(InputError, match="do not fit together"):
        check_forest(lines=of_lines().forest.lines)
