"""The sampler of random rotations, and forests on them."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chisquare, kstest

import odrf
from odrf.engine.numeric import streams
from odrf.engine.rows import gather_rows
from odrf.engine.splits.impurity import GINI
from odrf.errors import InputError
from odrf.projections import ExtraTrees, PrincipalComponents
from odrf.projections.base import Table
from odrf.projections.rotation import Rotation, draw_rotation
from problems import noisy, plain


def rotations(p, number):
    state, drawn = streams(7, 0, 1)[0], np.empty((number, p, p))
    for matrix in drawn:
        draw_rotation(state, matrix)
    return drawn


@pytest.mark.parametrize("p", [1, 2, 5, 40])
def test_the_matrices_are_orthogonal(p):
    drawn = rotations(p, 20)
    np.testing.assert_allclose(drawn @ drawn.transpose(0, 2, 1), [np.eye(p)] * 20, atol=1e-11)


@pytest.mark.parametrize("p", [2, 4])
def test_the_moments_are_those_of_haars_measure(p):
    number = 20_000
    drawn = rotations(p, number)
    cells = drawn.reshape(number, -1)
    squares = cells**2
    std_error = np.sqrt((3 / (p * (p + 2)) - 1 / p**2) / number)
    np.testing.assert_allclose(squares.mean(axis=0), 1 / p, atol=4.5 * std_error)
    np.testing.assert_allclose((squares**2).mean(axis=0), 3 / (p * (p + 2)), rtol=0.05)
    assert np.abs(cells.mean(axis=0)).max() < 4.5 / np.sqrt(p * number)
    related = cells.T @ cells / number - np.eye(p**2) / p
    assert np.abs(related).max() < 5 / (p * np.sqrt(number))
    assert chisquare([np.sum(cells > 0), np.sum(cells < 0)]).pvalue > 0.001
    assert chisquare(np.bincount((np.linalg.det(drawn) > 0).astype(int))).pvalue > 0.001


def test_a_rotated_matrix_has_the_same_distribution():
    fixed = rotations(3, 1)[0]
    drawn = rotations(3, 4_000)
    # a coordinate of a uniform point of the sphere in three dimensions is uniform
    for rotated in (drawn, fixed @ drawn, drawn @ fixed):
        for i in range(3):
            assert kstest(rotated[:, i, i], "uniform", (-1, 2)).pvalue > 0.001


def test_the_numbers_of_the_ordinary_forest():
    table = Table(P=9, p=12, n_classes=3, single_tree=False)
    assert Rotation().n_default(table) == 4
    assert Rotation().n_default(table._replace(n_classes=1)) == 4
    assert Rotation().n_default(table._replace(n_classes=1, p=20)) == 7
    assert Rotation().n_default(table._replace(single_tree=True)) == 12


def test_trees_have_dense_directions_of_a_matrix_each():
    data = odrf.load_data("wine")
    fit = odrf.odrf("cultivar ~ .", data, projection="rotation", n_trees=4, seed=1, n_jobs=2)
    forest = fit.forest
    for b in range(4):
        nodes = np.arange(forest.root[b], forest.root[b + 1])
        nodes = nodes[np.diff(forest.start)[nodes] > 0]
        directions = [forest.coef[forest.start[i] : forest.start[i + 1]] for i in nodes]
        distinct = np.unique(directions, axis=0)
        assert distinct.shape[1] == 13
        np.testing.assert_allclose(distinct @ distinct.T, np.eye(len(distinct)), atol=1e-6)
    again = odrf.odrf("cultivar ~ .", data, projection="rotation", n_trees=4, seed=1, n_jobs=1)
    assert again.forest.coef.tobytes() == forest.coef.tobytes()
    assert "0 single, 4 oblique" in str(fit.summary())


def test_rotating_the_table_changes_nothing():
    X = np.random.default_rng(1).normal(size=(400, 4))
    errors = {}
    for position, table in {"straight": X, "rotated": X @ rotations(4, 1)[0]}.items():
        data = pd.DataFrame(table, columns=list("abcd")).assign(y=X[:, 0] > 0)
        for name in ("axis", "rotation"):
            options = {"projection": name, "n_trees": 60, "seed": 1}
            errors[name, position] = odrf.odrf("y ~ .", data, **options).oob_error
    assert errors["axis", "straight"] < 0.02 < 0.04 < errors["axis", "rotated"]
    assert abs(errors["rotation", "straight"] - errors["rotation", "rotated"]) < 0.04


def test_factors_and_constant_columns_take_part():
    data = odrf.load_data("wine").assign(never=1.0)
    data["grade"] = np.where(data["alcohol"] > 13, "high", "low")
    data["grade"] = data["grade"].astype("category")
    fit = odrf.odrf("cultivar ~ .", data, projection="rotation", n_trees=30, seed=1)
    assert fit.oob_error < 0.08
    assert len(fit.importance()) == 15


@pytest.mark.parametrize("name", ["rotation", "pca"])
def test_it_goes_alone(name):
    data = odrf.load_data("wine")
    with pytest.raises(InputError, match=f'"{name}" rotates the columns of whole trees'):
        odrf.odrf("cultivar ~ .", data, projection={name: 1, "axis": 1}, n_trees=2)
    with pytest.raises(InputError, match=f'n_singles=2 does not go with projection="{name}"'):
        odrf.odrf("cultivar ~ .", data, projection=name, n_singles=2, n_trees=2)
    fit = odrf.odrf("cultivar ~ .", data, projection=name, n_projections=99, n_trees=2, seed=1)
    assert fit.control.mixture.n_directions == 13


def test_single_trees_and_their_pruning():
    data = odrf.load_data("diabetes")
    tree = odrf.odt("progression ~ .", data, projection="rotation", alpha="1se", seed=1)
    assert 1 < tree.n_leaves < 40
    assert tree.control.mixture.n_directions == 10


# ------------------------------------------------------------------------------------------------
# The matrices of rotation forests: principal components of random groups of columns.
# ------------------------------------------------------------------------------------------------


def matrices(family, problem, number, copied=True):
    state, n = streams(3, 0, 1)[0], len(problem.y)
    data = problem.X, problem.y, problem.weights
    rows = gather_rows(state, *data, np.ones(n, dtype=np.int64), copied)
    return [family.rotation(state, rows, problem.settings.settings) for _ in range(number)]


def groups_of(matrix):
    """The columns that each column of the matrix is made of."""
    return {frozenset(np.flatnonzero(column).tolist()) for column in matrix.T}


def test_columns_are_divided_at_random_and_rotated_within_their_groups():
    drawn = matrices(PrincipalComponents(size=2), noisy(60), 1_500)
    for matrix in drawn:
        np.testing.assert_allclose(matrix.T @ matrix, np.eye(5), atol=1e-6)
        assert sorted(map(len, groups_of(matrix))) == [1, 2, 2]
    pairs = Counter(group for matrix in drawn for group in groups_of(matrix) if len(group) == 2)
    assert len(pairs) == 10
    assert chisquare(list(pairs.values())).pvalue > 0.001


def test_the_axes_are_the_principal_components_of_the_rows_drawn():
    rng = np.random.default_rng(4)
    scores = rng.normal(size=(3, 5_000)) * [[3.0], [1.0], [0.3]]
    axes = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    problem = plain(axes @ scores, scores[0])
    for copied in (True, False):
        for matrix in matrices(PrincipalComponents(), problem, 5, copied):
            found = np.sort(np.abs(axes.T @ matrix).max(axis=0))
            assert found[0] > 0.995


def test_different_rows_are_drawn_each_time_and_weights_count():
    problem = noisy(60)
    drawn = matrices(PrincipalComponents(size=5), problem, 20)
    assert len({matrix.tobytes() for matrix in drawn}) == 20
    rng = np.random.default_rng(4)
    X = rng.normal(size=(2, 1_000))
    X[:, :500] = [[3.0], [3.0]] * X[0, :500]
    heavy = plain(X, X[0], np.repeat([1e6, 1.0], 500))
    light = plain(X, X[0], np.repeat([1e-6, 1.0], 500))
    for problem, expected in ((heavy, 0.999), (light, None)):
        (matrix,) = matrices(PrincipalComponents(), problem, 1)
        along = np.abs([1, 1] @ matrix).max() / np.sqrt(2)
        assert along > expected if expected else along < 0.99


def test_the_rows_are_those_of_a_random_set_of_classes():
    # each class varies along another column
    y = np.repeat([0.0, 1.0], 200)
    X = np.zeros((2, 400))
    X[0, :200] = X[1, 200:] = np.random.default_rng(1).random(200)
    X[1, :200] = X[0, :200] / 2
    problem = plain(X, y, criterion=GINI, n_classes=2)
    slopes = []
    for matrix in matrices(PrincipalComponents(), problem, 300):
        first = matrix[:, np.argmax(np.abs(matrix[0]))]
        slopes.append(round(float(first[1] / first[0]), 3))
    first_only = np.isclose(slopes, 0.5, atol=2e-3)
    other = np.isclose(slopes, 0.0, atol=2e-3)
    assert chisquare([first_only.sum(), other.sum(), (~first_only & ~other).sum()]).pvalue > 0.001


def test_it_tries_all_columns_and_repeats_itself():
    data = odrf.load_data("wine")
    fits = [
        odrf.odrf("cultivar ~ .", data, projection="pca", n_trees=30, seed=1, n_jobs=jobs)
        for jobs in (1, 2)
    ]
    assert fits[0].forest.coef.tobytes() == fits[1].forest.coef.tobytes()
    assert fits[0].oob_error < 0.06
    assert "0 single, 13 oblique" in str(fits[0].summary())
    assert np.diff(fits[0].forest.start).max() == 3


@pytest.mark.parametrize("size", [0, 1.5, "few", True])
def test_no_other_size(size):
    with pytest.raises(InputError, match=r"size=.*: use"):
        PrincipalComponents(size=size)


@pytest.mark.parametrize("rows", [0, 1.5, "all", True])
def test_no_other_share_of_the_rows(rows):
    with pytest.raises(InputError, match=r"rows=.*: use a number above 0, up to 1"):
        PrincipalComponents(rows=rows)


# ------------------------------------------------------------------------------------------------
# Single predictors: factors with rare levels.
# ------------------------------------------------------------------------------------------------


COMMON, RARE = ["a", "b", "c"], ["d", "e", "f"]


def table(kind, n=400, seed=3):
    """A predictor that matters, and a factor of noise: three levels of many rows, three of one."""
    rng = np.random.default_rng(seed)
    x = rng.random(n)
    y = 3 * x + rng.normal(size=n) / 2
    level = np.concatenate([RARE, rng.choice(COMMON, n - len(RARE))])
    y[: len(RARE)] = [4.0, -1.0, 4.0]
    if kind != "regression":
        classes = {"two classes": ["u", "v"], "three classes": ["u", "v", "w"]}[kind]
        y = np.array(classes)[np.clip(y * len(classes) / 3, 0, len(classes) - 1).astype(int)]
    return pd.DataFrame({"y": y, "x": x, "level": level})


@pytest.mark.parametrize("kind", ["regression", "two classes", "three classes"])
def test_rare_levels_of_a_factor_of_few_levels_do_no_harm(kind):
    data = table(kind)
    options = {"projection": "axis", "n_singles": 2, "n_trees": 60, "min_leaf": 5, "seed": 1}
    rare = odrf.odrf("y ~ .", data, **options)
    none = odrf.odrf("y ~ .", data.replace({"level": dict.fromkeys(RARE, "a")}), **options)
    assert rare.oob_error < 1.03 * none.oob_error
    assert rare.importance()["share"]["level"] < 0.05


@pytest.mark.parametrize("kind", ["regression", "two classes", "three classes"])
def test_a_rare_level_is_in_a_leaf_with_others(kind):
    data = table(kind)
    tree = odrf.odt("y ~ level", data, projection="axis", min_leaf=5, seed=1)
    leaf = tree.predict(type="leaf").to_numpy()
    level = data["level"].to_numpy()
    assert set(leaf[np.isin(level, RARE)]) <= set(leaf[np.isin(level, COMMON)])


# ------------------------------------------------------------------------------------------------
# Extremely randomised trees: single predictors, one random cut each.
# ------------------------------------------------------------------------------------------------


def same(one, other):
    names = ("left", "threshold", "index", "value")
    return all(
        getattr(one.forest, name).tobytes() == getattr(other.forest, name).tobytes()
        for name in names
    )


def test_the_numbers_of_the_paper():
    table = Table(P=9, p=12, n_classes=3, single_tree=False)
    assert ExtraTrees().n_default(table) == 3
    assert ExtraTrees().n_default(table._replace(n_classes=1)) == 9


def test_they_are_single_predictors_with_one_random_cut_each():
    data = odrf.load_data("wine")
    options = {"n_trees": 10, "seed": 1}
    extra = odrf.odrf("cultivar ~ .", data, projection="extra", **options)
    assert extra.control.n_thresholds == 1
    assert same(
        extra, odrf.odrf("cultivar ~ .", data, projection="axis", n_thresholds=1, **options)
    )
    greedy = odrf.odrf("cultivar ~ .", data, projection="extra", n_thresholds="all", **options)
    assert same(greedy, odrf.odrf("cultivar ~ .", data, projection="axis", **options))
    assert "extra" in str(extra.summary())
    assert "Thresholds       1 at random" in str(extra.summary())
    assert "Thresholds" not in str(greedy.summary())
    assert (np.diff(extra.forest.start) <= 1).all()


def test_mixed_with_greedy_ones_the_number_of_cuts_is_asked_for():
    data = odrf.load_data("wine")
    mixed = {"extra": 3, "logistic": 1}
    with pytest.raises(InputError, match='n_thresholds="auto": the families'):
        odrf.odrf("cultivar ~ .", data, projection=mixed, n_trees=2)
    fit = odrf.odrf("cultivar ~ .", data, projection=mixed, n_thresholds=2, n_trees=2, seed=1)
    assert (fit.control.n_thresholds, fit.control.mixture.n_singles) == (2, 7)


def test_n_projections_do_not_go_with_it():
    with pytest.raises(InputError, match='n_projections=2 does not go with projection="extra"'):
        odrf.odrf(
            "cultivar ~ .", odrf.load_data("wine"), projection="extra", n_projections=2, n_trees=2
        )
