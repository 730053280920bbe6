"""Blended forests: how kinds are judged, weighted and mixed."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from odrf.blending import _in_turn, apportion, grow_blend, mean_products, stacking_weights
from odrf.engine.randomness import streams
from odrf.engine.sampling import SUBSAMPLE, Sampling, draw_counts
from problems import noisy

quick = settings(deadline=None)


@quick
@given(st.integers(1, 4), st.integers(1, 6), st.integers(0, 2**32))
def test_mean_products_are_those_of_different_trees(G, b, seed):
    rng = np.random.default_rng(seed)
    m, K = 7, int(rng.integers(1, 4))
    errors = [rng.normal(size=(m, b, K)) for _ in range(G)]
    unseen, weights = rng.random((m, b)) < 0.6, rng.uniform(0.1, 2, m)
    total, pairs, judged = np.zeros((G, G)), 0.0, set()
    for row in range(m):
        for i in range(b):
            for j in range(b):
                if i != j and unseen[row, i] and unseen[row, j]:
                    pairs += weights[row]
                    judged.add(row)
                    for g in range(G):
                        for h in range(G):
                            product = errors[g][row, i] @ errors[h][row, j]
                            mirrored = errors[g][row, j] @ errors[h][row, i]
                            total[g, h] += weights[row] * (product + mirrored) / 2
    products, rows = mean_products(errors, unseen, weights)
    assert rows == len(judged)
    expected = total / pairs if pairs else total
    np.testing.assert_allclose(products, expected, atol=1e-10)


@quick
@given(st.integers(1, 5), st.integers(0, 2**32))
def test_weights_minimise_the_squared_error_on_the_simplex(G, seed):
    rng = np.random.default_rng(seed)
    factor = rng.normal(size=(G, G + 2)) + rng.normal()
    products = factor @ factor.T
    found = stacking_weights(products, 1e12)
    assert found.min() >= 0
    assert found.sum() == pytest.approx(1.0)
    best = minimize(
        lambda w: w @ products @ w,
        np.full(G, 1 / G),
        bounds=[(0, 1)] * G,
        constraints={"type": "eq", "fun": lambda w: w.sum() - 1},
        tol=1e-14,
    )
    assert found @ products @ found <= best.fun * (1 + 1e-4) + 1e-9


def test_on_few_rows_weights_are_more_equal():
    products = np.diag([1.0, 1.2, 1.4])
    few, many = stacking_weights(products, 10.0), stacking_weights(products, 1e6)
    assert np.ptp(few) < np.ptp(many) / 2
    np.testing.assert_allclose(many, (1 / np.diag(products)) / np.sum(1 / np.diag(products)), 1e-3)


@pytest.mark.parametrize("products", [np.zeros((3, 3)), -np.eye(3)])
def test_without_errors_kinds_are_equal(products):
    np.testing.assert_allclose(stacking_weights(products, 0.0), 1 / 3, rtol=1e-3)


@quick
@given(st.lists(st.floats(0, 1), min_size=1, max_size=6), st.integers(0, 1000))
def test_shares_add_up_and_are_within_one_tree(weights, n):
    weights = (np.array(weights) + 1e-9) / np.sum(np.array(weights) + 1e-9)
    counts = apportion(weights, n)
    assert counts.sum() == n
    assert (np.abs(counts - n * weights) < 1).all()


@quick
@given(st.lists(st.integers(0, 40), min_size=1, max_size=5).filter(any))
def test_the_first_trees_are_mixed_as_all_are(counts):
    counts = np.array(counts)
    order = _in_turn(counts)
    assert np.bincount(order, minlength=len(counts)).tolist() == counts.tolist()
    for b in range(1, len(order) + 1):
        expected = b * counts / counts.sum()
        assert (np.abs(np.bincount(order[:b], minlength=len(counts)) - expected) <= 2).all()


def blend(n_jobs=1, n_trees=30):
    problem = noisy(n=300, n_projections=3)
    kinds = [problem.settings, problem.settings._replace(min_leaf=40)]
    sampling = Sampling(SUBSAMPLE, 0.8)
    forest, used, found = grow_blend(
        problem.X, problem.y, problem.weights, problem.blocks, sampling, kinds, 3, n_trees, n_jobs,
        lambda: None,
    )  # fmt: skip
    return problem, sampling, forest, used, found


def test_each_tree_is_of_its_kind_and_has_its_stream():
    problem, sampling, forest, used, found = blend()
    assert forest.n_trees == len(used) == len(found.of_tree) == 30
    least = np.array([forest.tree(b).count.min() for b in range(30)])
    assert (least[found.of_tree == 1] >= 40).all()
    assert (least[found.of_tree == 0] < 40).all()
    for b in range(30):
        drawn = draw_counts(used[b].copy(), problem.weights, sampling).sum()
        assert forest.tree(b).count[0] == drawn
    for kind in range(2):
        own = used[found.of_tree == kind]
        assert own.tolist() == streams(3, 0, len(own)).tolist()
    assert found.weights.sum() == pytest.approx(1.0)


def test_threads_change_no_bit():
    _, _, one, _, _ = blend()
    _, _, other, _, _ = blend(n_jobs=3)
    assert one.threshold.tobytes() == other.threshold.tobytes()
    assert one.coef.tobytes() == other.coef.tobytes()


def test_large_leaves_win_on_noise_and_small_ones_without():
    rng = np.random.default_rng(0)
    problem = noisy(n=400, n_projections=3, min_leaf=2)
    kinds = [problem.settings, problem.settings._replace(min_leaf=60)]
    shares = {}
    for name, y in [("noise", rng.normal(size=400)), ("signal", problem.X[0] + problem.X[1])]:
        _, _, found = grow_blend(
            problem.X, y.astype(float), problem.weights, problem.blocks, Sampling(SUBSAMPLE, 0.8),
            kinds, 1, 30, 1, lambda: None,
        )  # fmt: skip
        shares[name] = found.weights[1]
    assert shares["noise"] > 0.8
    assert shares["signal"] < 0.2
