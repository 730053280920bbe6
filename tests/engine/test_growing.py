"""Growth against Algorithm 1 written out with lists, and the identities it must obey."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

from odrf.engine.candidates import INDICATORS, LDA, LEAST_SQUARES, LOGISTIC, Blocks
from odrf.engine.forest import Forest
from odrf.engine.growing import grow_tree
from odrf.engine.routing import leaf_nodes, predict
from odrf.engine.sampling import BOOTSTRAP, Sampling
from odrf.engine.threshold import GINI
from problems import Problem, problems
from reference.forests import direction
from reference.growing import ROUNDING, Node, Split, best_split, grow, score
from reference.impurity import gain, impurity
from reference.randomness import Stream


def goes_left(X, columns, theta, threshold):
    projected = np.zeros(X.shape[1])
    for column, coefficient in zip(columns, theta, strict=True):
        projected += coefficient * X[column]
    return projected <= threshold


def follow(problem: Problem, forest: Forest):
    """Check every split of the engine's tree against the candidates and take it as it is.

    Any of several best splits will do.  A split may be better than the best of the twin only
    by cutting between values that are equal but for rounding, or along an undetermined θ.
    """
    X, options = problem.X, problem.settings

    def choose(number: int, node: Node) -> Split | None:
        best = best_split(node, X, options)
        best_score = best.score if best else 0.0
        if forest.order[number] == 0:
            assert best_score <= 1e-9
            return None
        columns, theta = direction(forest, number)
        left = goes_left(X[:, node.rows], columns, theta, forest.threshold[number])
        found = gain(node.y, node.w, left, options.criterion)
        assert forest.gain[number] == pytest.approx(found, rel=1e-9, abs=1e-12)
        assert min(node.counts[left].sum(), node.counts[~left].sum()) >= options.min_leaf
        dense = np.zeros(len(X))
        dense[columns] = theta
        along = [c for c, t in node.candidates if t is None and set(columns) <= set(c)]
        for candidate, expected in node.candidates:
            if expected is not None:
                twin = np.zeros(len(X))
                twin[candidate] = expected
                along += [candidate] * np.allclose(dense, twin, atol=1e-6)
        assert along
        reached = max(score(node, found, candidate, options) for candidate in along)
        assert reached >= best_score - 1e-9 * max(1.0, abs(best_score))
        if reached > best_score + 1e-9 * max(1.0, abs(best_score)):
            values = dense @ X[:, node.rows]
            undetermined = any(t is None for c, t in node.candidates if c in along)
            assert undetermined or values[~left].min() - values[left].max() < ROUNDING
        return Split(reached, found, left)

    return choose


@settings(max_examples=150, deadline=None)
@given(problems())
def test_every_split_is_the_best_of_the_same_candidates(problem):
    forest = problem.grow()
    stream = Stream(problem.streams()[0])
    nodes = grow(
        problem.X, problem.y, problem.weights, problem.blocks, problem.sampling,
        problem.settings, stream, follow(problem, forest),
    )  # fmt: skip

    assert forest.left.tolist() == [node.left for node in nodes]
    assert forest.order.tolist() == [node.order for node in nodes]
    assert forest.depth().tolist() == [node.depth for node in nodes]
    assert forest.count.tolist() == [node.counts.sum() for node in nodes]
    np.testing.assert_allclose(forest.weight, [node.w.sum() for node in nodes], rtol=1e-12)
    spread = [impurity(node.y, node.w, problem.settings.criterion) for node in nodes]
    np.testing.assert_allclose(forest.impurity, spread, rtol=1e-9, atol=1e-14)
    if problem.settings.n_classes == 1:
        value = [[np.average(node.y, weights=node.w)] for node in nodes]
    else:
        classes = np.arange(problem.settings.n_classes)
        value = [[np.average(node.y == k, weights=node.w) for k in classes] for node in nodes]
    np.testing.assert_allclose(forest.value, value, rtol=1e-12, atol=1e-14)

    # Which of several tied splits won must not show in how many random numbers were used.
    state = problem.streams()[0]
    grow_tree(
        problem.X, problem.y, problem.weights, problem.blocks, problem.sampling,
        problem.settings, state,
    )  # fmt: skip
    assert state.tolist() == stream.state


def assert_same_splits(one: Forest, other: Forest, rtol: float = 1e-9) -> None:
    assert one.left.tolist() == other.left.tolist()
    assert one.index.tolist() == other.index.tolist()
    np.testing.assert_allclose(one.threshold, other.threshold, rtol=rtol)
    np.testing.assert_allclose(one.coef, other.coef, rtol=rtol, atol=rtol)


def test_without_ties_the_twin_grows_the_same_tree_alone():
    problem = noisy(n=80, n_projections=3, min_leaf=3, n_singles=2)
    forest = problem.grow()
    nodes = grow(
        problem.X, problem.y, problem.weights, problem.blocks, problem.sampling,
        problem.settings, Stream(problem.streams()[0]),
    )  # fmt: skip
    assert len(nodes) > 20
    assert forest.left.tolist() == [node.left for node in nodes]
    assert forest.count.tolist() == [node.counts.sum() for node in nodes]
    value = [np.average(node.y, weights=node.w) for node in nodes]
    np.testing.assert_allclose(forest.value[:, 0], value, rtol=1e-12)


@settings(max_examples=60, deadline=None)
@given(problems())
def test_what_a_split_divides_is_conserved(problem):
    forest = problem.grow()
    split = np.flatnonzero(forest.left >= 0)
    left = forest.left[split]
    assert (forest.count[left] + forest.count[left + 1] == forest.count[split]).all()
    mass = forest.weight
    sums = mass[:, None] * forest.value
    total = mass * forest.impurity
    np.testing.assert_allclose(mass[left] + mass[left + 1], mass[split])
    np.testing.assert_allclose(sums[left] + sums[left + 1], sums[split], atol=1e-9)
    np.testing.assert_allclose(
        total[left] + total[left + 1] + mass[split] * forest.gain[split], total[split], atol=1e-9
    )
    removed = np.sum(mass[split] * forest.gain[split])
    assert total[0] - total[forest.is_leaf()].sum() == pytest.approx(removed, abs=1e-9)


@settings(max_examples=40, deadline=None)
@given(problems())
def test_a_smaller_budget_gives_the_beginning_of_the_same_tree(problem):
    full = problem.but(max_leaves=1000).grow()
    for t_n in range(1, min(int(full.leaves()[0]), 9) + 1):
        tree = problem.but(max_leaves=t_n).grow()
        n = tree.n_nodes
        assert tree.leaves().tolist() == [t_n]
        assert tree.order.tolist() == np.where(full.order[:n] < t_n, full.order[:n], 0).tolist()
        assert tree.value.tobytes() == full.value[:n].tobytes()
        begun = full.keeping((full.left >= 0) & (full.order < t_n))
        assert (leaf_nodes(tree, problem.X, 1) == leaf_nodes(begun, problem.X, 1)).all()


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
    options = {"n_classes": n_classes, "criterion": GINI if n_classes > 1 else 0}
    # Leaves of one row would tie everywhere; the budget stops before.
    weighted = plain(X, y, weights, max_leaves=12, **options).grow()
    repeated = plain(X[:, rows], y[rows], max_leaves=12, **options).grow()
    assert weighted.leaves().tolist() == [12]
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
        (getattr(problem.grow(2), field.name) for field in fields(Forest)),
        (getattr(without.grow(2), field.name) for field in fields(Forest)),
        strict=True,
    ):
        assert one.tobytes() == other.tobytes()


@pytest.mark.parametrize("family", [LOGISTIC, LEAST_SQUARES, LDA])
@pytest.mark.parametrize("shift", [-30, 20])
def test_a_common_factor_of_the_weights_changes_nothing(family, shift):
    problem = noisy(n=150, n_projections=4, min_leaf=5, family=family, criterion=GINI, n_classes=2)
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
        subset_size=3, max_leaves=2,
    ).grow()  # fmt: skip
    found = np.zeros(3)
    found[tree.index] = tree.coef
    assert np.degrees(np.arccos(abs(found @ planted))) < 5
    assert tree.threshold[0] == pytest.approx(found.sum() / 2, abs=0.05)
    assert (predict(tree, X, 1).argmax(axis=1) == side).mean() > 0.95


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


ODD = {
    "one row": (np.array([[0.3], [0.7]]), np.array([1.0])),
    "two rows": (np.array([[0.0, 1.0]]), np.array([1.0, 3.0])),
    "one predictor": (np.linspace(0, 1, 20)[None, :], np.arange(20.0) % 3),
    "two predictors": (np.random.default_rng(0).random((2, 20)), np.arange(20.0) % 3),
    "more predictors than rows": (np.random.default_rng(0).random((30, 5)), np.arange(5.0)),
    "constant predictors": (np.zeros((3, 20)), np.arange(20.0)),
    "constant response": (np.random.default_rng(0).random((2, 20)), np.full(20, 0.1)),
    "duplicated rows": (np.repeat([[0.2, 0.6], [0.4, 0.1]], 10, axis=1), np.arange(20.0)),
    "adjacent floats": (
        np.array([[0.5, np.nextafter(0.5, 1), 0.5, np.nextafter(0.5, 1)]]),
        np.array([0.0, 1.0, 0.0, 1.0]),
    ),
}
LEAVES = dict(zip(ODD, [1, 2, 20, 20, 5, 1, 1, 2, 2], strict=True))


@pytest.mark.parametrize("family", [LOGISTIC, LEAST_SQUARES, LDA])
@pytest.mark.parametrize("name", ODD)
def test_odd_data(family, name):
    X, y = ODD[name]
    classes = family == LDA
    options = {"criterion": GINI, "n_classes": 20} if classes else {}
    y = np.unique(y, return_inverse=True)[1] if classes else y
    tree = plain(X, y, family=family, n_projections=3, **options).grow()
    assert tree.leaves()[0] == (LEAVES[name] if name != "one predictor" else tree.leaves()[0])
    assert np.isfinite(tree.value).all()
    assert np.isfinite(tree.coef).all()
    fitted = predict(tree, np.ascontiguousarray(X), 1)
    if name not in ("constant predictors", "duplicated rows", "constant response"):
        np.testing.assert_allclose(fitted.argmax(axis=1) if classes else fitted[:, 0], y)


def test_a_column_constant_in_the_resample_only():
    X = np.zeros((2, 40))
    X[0, 0], X[1] = 1.0, np.linspace(0, 1, 40)
    problem = plain(X, X[1], n_projections=2, subset_size=2)
    forest = replace(problem, sampling=Sampling(BOOTSTRAP, 0.3)).grow(20)
    assert np.isfinite(predict(forest, problem.X, 1)).all()


def test_a_level_absent_from_a_node_follows_the_overall_mean():
    levels = np.repeat([0, 1], 10)
    blocks = Blocks(np.array([0, 3]), np.array([INDICATORS], dtype=np.int8))
    y = np.repeat([0.0, 1.0], 10) + np.tile([0.0, 0.001], 10)
    tree = Problem(indicators(levels, 3), y, np.ones(20), blocks).grow()
    assert tree.leaves().tolist() == [2]
    assert sorted(leaf_nodes(tree, np.eye(3), 1)[:2, 0]) == [1, 2]
