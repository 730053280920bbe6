"""What must not change a tree, what a tree must find, and data at the edge."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings

from odrf.engine.directions.candidates import INDICATORS, feature_groups_of
from odrf.engine.resamples import BOOTSTRAP, Sampling
from odrf.engine.splits.impurity import GINI, SQUARED_ERROR
from odrf.engine.splits.splitter import SORTED_TOGETHER
from odrf.engine.trees.forest import ARRAYS, Forest
from odrf.engine.trees.routing import leaf_nodes, predict
from odrf.projections.regression import LDA, LEAST_SQUARES, LOGISTIC
from problems import cart, indicators, noisy, plain, problems
from reference.forests import direction, goes_left


def assert_same_splits(one: Forest, other: Forest, rtol: float = 1e-9) -> None:
    assert one.left.tolist() == other.left.tolist()
    assert one.index.tolist() == other.index.tolist()
    np.testing.assert_allclose(one.threshold, other.threshold, rtol=rtol)
    np.testing.assert_allclose(one.coef, other.coef, rtol=rtol, atol=rtol)


@pytest.mark.parametrize("seed", range(5))
def test_for_0_and_1_a_gini_tree_is_a_regression_tree_with_twice_the_gains(seed):
    rng = np.random.default_rng(seed)
    X, weights = rng.random((4, 200)), rng.uniform(0.5, 2.0, 200)
    y = (X[0] + X[1] + rng.normal(size=200) / 3 > 1).astype(float)
    regression = plain(X, y, weights, min_leaf=8).grow()
    classes = plain(X, y, weights, min_leaf=8, criterion=GINI, n_classes=2).grow()
    assert regression.leaves()[0] > 8
    assert_same_splits(classes, regression)
    np.testing.assert_allclose(classes.gain, 2 * regression.gain, rtol=1e-9)
    np.testing.assert_allclose(classes.impurity, 2 * regression.impurity, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(classes.value[:, 1], regression.value[:, 0], atol=1e-12)


@pytest.mark.parametrize("n_classes", [1, 3])
def test_a_weight_of_3_is_a_row_three_times(n_classes):
    rng = np.random.default_rng(n_classes)
    X, y = rng.random((3, 100)), rng.integers(0, n_classes, 100).astype(float)
    y = y if n_classes > 1 else X[0] + rng.normal(size=100)
    weights = rng.choice([1.0, 2.0, 3.0], 100)
    rows = np.repeat(np.arange(100), weights.astype(int))
    options = {"n_classes": n_classes, "criterion": GINI if n_classes > 1 else SQUARED_ERROR}
    # Leaves of few rows would tie everywhere; the budget stops before.
    weighted = plain(X, y, weights, max_leaves=9, **options).grow()
    repeated = plain(X[:, rows], y[rows], max_leaves=9, **options).grow()
    assert weighted.leaves().tolist() == [9]
    assert_same_splits(weighted, repeated)
    np.testing.assert_allclose(weighted.weight, repeated.count)
    np.testing.assert_allclose(weighted.gain, repeated.gain, rtol=1e-9)
    np.testing.assert_allclose(weighted.value, repeated.value, rtol=1e-9, atol=1e-12)


@settings(max_examples=40, deadline=None)
@given(problems())
def test_a_weight_of_0_is_a_row_deleted(problem):
    kept = problem.weights > 0
    without = replace(
        problem, X=np.ascontiguousarray(problem.X[:, kept]), y=problem.y[kept],
        weights=problem.weights[kept],
    )  # fmt: skip
    for one, other in zip(
        (getattr(problem.grow(2), name) for name in ARRAYS),
        (getattr(without.grow(2), name) for name in ARRAYS),
        strict=True,
    ):
        assert one.tobytes() == other.tobytes()


@pytest.mark.parametrize("family", [LOGISTIC, LEAST_SQUARES, LDA])
@pytest.mark.parametrize("shift", [-30, 20])
def test_a_common_factor_of_the_weights_changes_nothing(family, shift):
    problem = noisy(n=120, n_projections=4, min_leaf=5, family=family, criterion=GINI, n_classes=2)
    problem = replace(problem, y=(problem.y > 0.7).astype(float))
    scaled = replace(problem, weights=problem.weights * 2.0**shift)
    assert_same_splits(scaled.grow(), problem.grow(), rtol=1e-6)


@pytest.mark.parametrize("family", [LOGISTIC, LEAST_SQUARES])
@pytest.mark.parametrize("shift", [-300, -40, 40, 300])
def test_the_unit_of_the_response_changes_no_split(family, shift):
    problem = noisy(n=150, n_projections=4, family=family)
    scaled = replace(problem, y=problem.y * 2.0**shift)
    one, other = scaled.grow(), problem.grow()
    assert_same_splits(one, other, rtol=0)
    np.testing.assert_array_equal(one.value, other.value * 2.0**shift)
    np.testing.assert_array_equal(one.gain, other.gain * 4.0**shift)


@pytest.mark.parametrize("family", [LOGISTIC, LEAST_SQUARES, LDA])
@pytest.mark.parametrize("noise", [0.0, 0.05])
def test_a_planted_oblique_split_is_recovered(family, noise):
    rng = np.random.default_rng(3)
    planted = np.array([0.6, -0.7, 0.4])
    planted /= np.linalg.norm(planted)
    X = 0.5 + rng.normal(size=(3, 1000)) / 8
    side = planted @ X > planted.sum() / 2
    y = (side ^ (rng.random(1000) < noise)).astype(float)
    tree = plain(
        X, y, criterion=GINI, n_classes=2, family=family, n_singles=0, n_projections=1,
        subset_size=3, max_leaves=2, exact_rows=SORTED_TOGETHER,
    ).grow()  # fmt: skip
    found = np.zeros(3)
    found[tree.index] = tree.coef
    assert np.degrees(np.arccos(abs(found @ planted))) < 5
    assert tree.threshold[0] == pytest.approx(found.sum() / 2, abs=0.05)
    fitted = predict(tree, X.astype(np.float32), 1)
    assert (fitted.argmax(axis=1) == side).mean() > 0.95


def test_a_planted_ridge_function_is_recovered_from_a_numeric_response():
    rng = np.random.default_rng(4)
    X = rng.random((2, 1000))
    y = np.tanh(6 * (X[0] - X[1])) + rng.normal(size=1000) / 10
    for family in [LOGISTIC, LEAST_SQUARES]:
        tree = plain(X, y, family=family, n_projections=1, subset_size=2, max_leaves=2).grow()
        found = np.zeros(2)
        found[tree.index] = tree.coef
        assert np.abs(found @ [1, -1]) / np.sqrt(2) > np.cos(np.radians(3))
        assert tree.threshold[0] == pytest.approx(0, abs=0.05)


def test_each_node_is_routed_by_its_own_direction():
    """The same two columns throughout, yet a different direction at every node."""
    problem = noisy(n=200, n_singles=0, n_projections=1, subset_size=5, min_leaf=10)
    tree = problem.grow()
    split = np.flatnonzero(tree.left >= 0)
    directions = [tuple(np.round(direction(tree, node)[1], 6)) for node in split]
    assert len(split) > 5
    assert len(set(directions)) == len(split)
    rows = {0: np.arange(200)}
    for node in split:
        at = goes_left(problem.X[:, rows[node]], *direction(tree, node), tree.threshold[node])
        child = tree.left[node]
        rows[child], rows[child + 1] = rows[node][at], rows[node][~at]
    means = [problem.y[rows[node]].mean() for node in range(tree.n_nodes)]
    np.testing.assert_allclose(tree.value[:, 0], means, rtol=1e-12)


rng = np.random.default_rng(0)
APART = {
    "one row": (rng.random((2, 1)), [1]),
    "two rows": ([[0, 1]], [1, 3]),
    "one predictor": (rng.random((1, 20)), np.arange(20) % 3),
    "two predictors": (rng.random((2, 20)), np.arange(20) % 3),
    "more predictors than rows": (rng.random((30, 5)), [0, 1, 2, 3, 4]),
    "adjacent floats": ([[0.5, np.nextafter(np.float32(0.5), np.float32(1)), 0.5]], [0, 1, 0]),
    "nearly constant response": (rng.random((2, 20)), 1 + 1e-12 * np.arange(20)),
}
TOGETHER = {
    "constant predictors": (np.full((3, 20), 0.3), np.arange(20)),
    "constant response": (rng.random((2, 20)), np.full(20, 0.1)),
    "equal rows": (np.repeat([[0.2], [0.4]], 10, axis=1), np.arange(10)),
}


def grow_odd(X, y, family):
    """Grow a full tree, for LDA on as many classes as there are values of y."""
    y = np.asarray(y, dtype=float)
    if family == LDA:
        codes = np.unique(y, return_inverse=True)[1]
        return plain(
            np.array(X), codes, family=LDA, n_projections=3, criterion=GINI, n_classes=20
        ).grow(), codes
    return plain(np.array(X), y, family=family, n_projections=3).grow(), y


@pytest.mark.parametrize("family", [LOGISTIC, LEAST_SQUARES, LDA])
@pytest.mark.parametrize("name", APART)
def test_rows_that_differ_are_told_apart(family, name):
    tree, y = grow_odd(*APART[name], family)
    fitted = predict(tree, np.array(APART[name][0], dtype=np.float32), 1)
    fitted = fitted.argmax(axis=1) if family == LDA else fitted[:, 0]
    np.testing.assert_allclose(fitted, y, rtol=1e-15)
    assert np.isfinite(tree.coef).all()


@pytest.mark.parametrize("family", [LOGISTIC, LEAST_SQUARES, LDA])
@pytest.mark.parametrize("name", TOGETHER)
def test_a_node_that_nothing_divides_is_a_leaf(family, name):
    tree, y = grow_odd(*TOGETHER[name], family)
    assert tree.n_nodes == 1
    expected = np.bincount(y, minlength=20) / len(y) if family == LDA else [y.mean()]
    np.testing.assert_allclose(tree.value[0], expected)


def test_a_column_constant_in_the_resample_only():
    X = np.zeros((2, 40))
    X[0, 0], X[1] = 1.0, np.linspace(0, 1, 40)
    problem = plain(X, X[1], n_projections=2, subset_size=2)
    forest = replace(problem, sampling=Sampling(BOOTSTRAP, 0.3)).grow(20)
    assert np.isfinite(predict(forest, problem.X, 1)).all()


def test_a_level_absent_from_a_node_follows_the_overall_mean():
    levels = np.repeat([0, 1], 10)
    feature_groups = feature_groups_of(np.array([0, 3]), np.array([INDICATORS], dtype=np.int8))
    y = np.repeat([0.0, 1.0], 10) + np.tile([0.0, 0.001], 10)
    tree = cart(indicators(levels, 3), y, feature_groups).grow()
    assert tree.leaves().tolist() == [2]
    assert sorted(leaf_nodes(tree, np.eye(3, dtype=np.float32), 1)[:2, 0]) == [1, 2]
