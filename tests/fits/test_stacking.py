"""Stacking of kinds of trees, against loops and a general optimiser."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from odrf.fits.stacking import (
    Evidence,
    LogLoss,
    free_weights,
    held_weights,
    held_weights_of_classes,
    log_loss_in_squares,
    log_loss_weights,
    mean_products,
    mean_relations,
    mean_sums,
    products_of_trees,
    sums_of_rows,
)
from reference.stacking import log_loss_of_pairs, pooled_probability

quick = settings(deadline=None)
MANY = 10**12


def masked(values, unseen):
    """Values of trees (G, m, b, K), 0 where a row is not out of bag."""
    return np.stack(values) * np.stack(unseen)[:, :, :, None]


def problem(G, b, seed, m=7):
    """Predictions of G kinds of b trees for m rows, out-of-bag masks, weights and target."""
    rng = np.random.default_rng(seed)
    K = int(rng.integers(1, 4))
    values = [rng.normal(size=(m, b, K)) for _ in range(G)]
    unseen = [rng.random((m, b)) < rng.uniform(0.2, 0.8) for _ in range(G)]
    return values, unseen, rng.uniform(0.1, 2, m), rng.normal(size=(m, K))


@quick
@given(st.integers(1, 3), st.integers(1, 5), st.integers(0, 2**32))
def test_mean_products_are_those_of_different_trees(G, b, seed):
    values, unseen, weights, _ = problem(G, b, seed)
    expected, numbers = np.zeros((G, G)), []
    for g in range(G):
        numbers.append(sum(unseen[g][row].sum() > 1 for row in range(len(weights))))
        for h in range(G):
            total = pairs = 0.0
            for row, weight in enumerate(weights):
                for i in range(b):
                    for j in range(b):
                        if i != j and unseen[g][row, i] and unseen[h][row, j]:
                            pairs += weight
                            total += weight * (values[g][row, i] @ values[h][row, j])
            expected[g, h] = total / pairs if pairs else 0.0
    products, rows = mean_products(products_of_trees(masked(values, unseen)), unseen, weights)
    assert rows == min(numbers)
    np.testing.assert_allclose(products, expected, atol=1e-10)


@quick
@given(st.integers(1, 3), st.integers(1, 5), st.integers(0, 2**32))
def test_mean_relations_are_those_of_rows_unseen(G, b, seed):
    values, unseen, weights, target = problem(G, b, seed)
    found = mean_relations(sums_of_rows(masked(values, unseen), target).relations, unseen, weights)
    for g in range(G):
        related = [
            (weights[row], values[g][row, i] @ target[row]) for row, i in np.argwhere(unseen[g])
        ]
        total = sum(weight for weight, _ in related)
        expected = sum(weight * product for weight, product in related) / total if total else 0.0
        assert found[g] == pytest.approx(expected, abs=1e-10)


def random_products(G, seed):
    rng = np.random.default_rng(seed)
    factor = rng.normal(size=(G, G + 2)) + rng.normal()
    return factor @ factor.T, rng.normal(size=G) + 1


@quick
@given(st.integers(1, 5), st.integers(0, 2**32))
def test_held_weights_minimise_the_squared_error_on_the_simplex(G, seed):
    products, _ = random_products(G, seed)
    found = held_weights(products, MANY)
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


@quick
@given(st.integers(1, 5), st.integers(0, 2**32))
def test_free_weights_have_the_proportions_of_the_least_squared_error(G, seed):
    products, relations = random_products(G, seed)

    def loss(w):
        return w @ products @ w - 2 * w @ relations

    found = free_weights(products, relations, np.ones(G), MANY)
    assert found.min() >= 0
    assert found.sum() == pytest.approx(1.0)
    best = minimize(loss, np.full(G, 1 / G), bounds=[(0, None)] * G, tol=1e-14)
    size = max(found @ relations, 0) / (found @ products @ found)
    assert loss(size * found) <= best.fun + 1e-4 * abs(best.fun) + 1e-6


@quick
@given(st.integers(1, 5), st.integers(0, 2**32))
def test_held_weights_of_classes_have_the_least_brier_score_on_the_simplex(G, seed):
    products, relations = random_products(G, seed)

    def loss(w):
        return w @ products @ w - 2 * w @ relations

    found = held_weights_of_classes(products, relations, np.ones(G), MANY)
    assert found.min() >= 0
    assert found.sum() == pytest.approx(1.0)
    best = minimize(
        loss,
        np.full(G, 1 / G),
        bounds=[(0, 1)] * G,
        constraints={"type": "eq", "fun": lambda w: w.sum() - 1},
        tol=1e-14,
    )
    assert loss(found) <= best.fun + 1e-4 * abs(best.fun) + 1e-6


def probabilities(G, b, seed, m=7):
    """Probabilities of each row's own class by G kinds of b trees; some are exactly 0 or 1."""
    rng = np.random.default_rng(seed)
    own = [np.clip(rng.uniform(-0.2, 1.2, (m, b)), 0, 1) for _ in range(G)]
    unseen = [rng.random((m, b)) < rng.uniform(0.2, 0.8) for _ in range(G)]
    return own, unseen, rng.uniform(0.05, 0.9, m), rng.uniform(0.1, 2, m)


def parabola_of(own, unseen, shares, weights):
    squares = log_loss_in_squares(that_count(own, unseen), unseen, shares)
    return mean_sums([sums_of_rows(*squares)], unseen, weights)


def that_count(own, unseen):
    return np.stack(own) * np.stack(unseen)


def same_on_the_simplex(loss, other, G, rng):
    """Whether two losses differ by a constant."""
    points = rng.dirichlet(np.ones(G), 4)
    return np.array([loss(w) - loss(points[0]) for w in points]) == pytest.approx(
        np.array([other(w) - other(points[0]) for w in points]), abs=1e-9
    )


@quick
@given(st.integers(1, 3), st.integers(1, 5), st.integers(0, 2**32))
def test_log_loss_is_that_of_pairs_of_trees(G, b, seed):
    own, unseen, shares, weights = probabilities(G, b, seed)
    products, relations, rows = parabola_of(own, unseen, shares, weights)

    def loss(w):
        penalty = 5 / max(rows, 1) * np.sum((w - 1 / G) ** 2)
        return w @ products @ w - 2 * w @ relations + penalty

    def slowly(w):
        return log_loss_of_pairs(w, own, unseen, shares, weights, rows)

    assert same_on_the_simplex(loss, slowly, G, np.random.default_rng(seed))


@quick
@given(st.integers(1, 4), st.integers(2, 5), st.integers(0, 2**32))
def test_log_loss_weights_minimise_it_on_the_simplex(G, b, seed):
    own, unseen, shares, weights = probabilities(G, b, seed, m=30)
    products, relations, rows = parabola_of(own, unseen, shares, weights)
    found = log_loss_weights(products, relations, rows)
    assert found.min() >= 0
    assert found.sum() == pytest.approx(1.0)
    # differences of independent trees have products of either sign: the nearest convex parabola
    values, vectors = np.linalg.eigh(products + 5 / max(rows, 1) * (np.eye(G) - 1 / G))
    convex = (vectors * np.maximum(values, 0)) @ vectors.T

    def loss(w):
        return w @ convex @ w - 2 * w @ relations

    best = minimize(
        loss,
        np.full(G, 1 / G),
        bounds=[(0, 1)] * G,
        constraints={"type": "eq", "fun": lambda w: w.sum() - 1},
        tol=1e-14,
    )
    assert loss(found) <= best.fun + 1e-4 * abs(best.fun) + 1e-6


@quick
@given(st.integers(2, 4), st.integers(0, 2**32))
def test_at_the_pooled_probability_the_slope_is_that_of_log_loss(G, seed):
    rng = np.random.default_rng(seed)
    m, b = 6, 40
    # trees of a kind agree, and kinds nearly
    mean = rng.uniform(0.2, 0.9, (m, 1))
    own = [np.repeat(mean + rng.uniform(-1e-4, 1e-4, (m, 1)), b, axis=1) for _ in range(G)]
    unseen, weights = [np.ones((m, b), dtype=bool)] * G, rng.uniform(0.1, 2, m)
    shares = np.mean([values[:, 0] for values in own], axis=0)
    products, relations, _ = parabola_of(own, unseen, shares, weights)

    def log_loss(w):
        return -weights @ np.log(w @ np.array([values[:, 0] for values in own])) / weights.sum()

    even, corner = np.full(G, 1 / G), np.eye(G)[0]
    parabola = [w @ products @ w - 2 * w @ relations for w in (corner, even)]
    expected = 2 * (log_loss(corner) - log_loss(even))
    assert parabola[0] - parabola[1] == pytest.approx(expected, abs=1e-7)


def test_the_pooled_probability_is_pulled_towards_the_class_shares():
    own, unseen, shares, _ = probabilities(3, 4, seed=8)
    unseen = [mask & (np.arange(7) > 0)[:, None] for mask in unseen]
    target = log_loss_in_squares(that_count(own, unseen), unseen, shares)[1][:, 0]
    r = np.array([pooled_probability(own, unseen, shares, row) for row in range(7)])
    assert r[0] == pytest.approx(shares[0])
    np.testing.assert_allclose(target, np.sqrt(r) + 1 / np.sqrt(r))


def test_a_row_that_no_tree_knows_of_a_class_without_weight_does_not_matter():
    own, unseen, shares, weights = probabilities(2, 4, seed=1)
    few = parabola_of([v[1:] for v in own], [mask[1:] for mask in unseen], shares[1:], weights[1:])
    shares[0] = weights[0] = 0.0
    own = [np.where(np.arange(7)[:, None] == 0, 0.0, values) for values in own]
    all_rows = parabola_of(own, unseen, shares, weights)
    for one, other in zip(few[:2], all_rows[:2], strict=True):
        np.testing.assert_allclose(one, other)


def test_the_variance_of_few_trees_counts_for_little():
    """The logarithm of the mean of few trees says that they are bad; that of many would not."""
    rng = np.random.default_rng(5)
    m, b = 4000, 20
    mean = rng.uniform(0.3, 0.9, (m, 1))
    steady = np.repeat(mean, b, axis=1)
    varying = rng.beta(2 * mean, 2 * (1 - mean), (m, b))
    unseen = [np.ones((m, b), dtype=bool), np.tile(np.arange(b) < 3, (m, 1))]
    products, relations, _ = parabola_of([steady, varying], unseen, mean[:, 0], np.ones(m))
    steady_loss, varying_loss = (np.diag(products) - 2 * relations) / 2
    of_few = np.log(mean[:, 0]).mean() - np.log(varying[:, :3].mean(axis=1)).mean()
    assert of_few > 0.05
    assert abs(varying_loss - steady_loss) < of_few / 5


def test_rows_in_blocks_give_the_same_bits():
    own, unseen, shares, weights = probabilities(3, 4, seed=4)
    values, target = log_loss_in_squares(that_count(own, unseen), unseen, shares)
    whole = parabola_of(own, unseen, shares, weights)
    blocks = [
        sums_of_rows(np.ascontiguousarray(values[:, block]), target[block])
        for block in (slice(0, 3), slice(3, 4), slice(4, 7))
    ]
    again = mean_sums(blocks, unseen, weights)
    assert [part.tolist() for part in again[:2]] == [part.tolist() for part in whole[:2]]


@pytest.mark.parametrize("objective", ["error", "log_loss"])
@pytest.mark.parametrize("relations", [None, np.array([1.0, 0.8, 0.6])])
def test_evidence_on_some_kinds_is_as_if_there_were_no_others(relations, objective):
    products, errors = np.diag([1.0, 1.2, 1.4]) + 0.3, np.array([1.3, 1.5, 1.7])
    log_loss = None if relations is None else LogLoss(products + 1, relations + 1)
    selected = Evidence(products, relations, errors, 90, log_loss).of([2, 0])
    assert selected.products.tolist() == [[1.7, 0.3], [0.3, 1.3]]
    if relations is None:
        expected = held_weights(selected.products, 90)
    elif objective == "error":
        expected = free_weights(selected.products, relations[[2, 0]], errors[[2, 0]], 90)
    else:
        expected = log_loss_weights(selected.products + 1, relations[[2, 0]] + 1, 90)
    assert selected.weights(objective).tolist() == expected.tolist()


def test_evidence_is_weighed_for_the_objective():
    products, errors = np.diag([1.0, 1.2]) + 0.3, np.array([1.3, 1.5])
    relations = np.array([1.0, 0.8])
    log_loss = LogLoss(products + 0.1, relations * 1.1)
    evidence = Evidence(products, relations, errors, 90, log_loss)
    expected = {
        "error": free_weights(products, relations, errors, 90),
        "brier": held_weights_of_classes(products, relations, errors, 90),
        "log_loss": log_loss_weights(products + 0.1, relations * 1.1, 90),
    }
    assert len({tuple(weights.tolist()) for weights in expected.values()}) == 3
    for objective, weights in expected.items():
        assert evidence.weights(objective).tolist() == weights.tolist()


def test_a_cautious_kind_is_as_good_as_a_bold_one_with_the_same_order():
    relations, bold = np.array([1.0, 1.0]), np.array([[1.1, 1.0], [1.0, 1.2]])
    shrink = np.array([1.0, 0.5])
    cautious = free_weights(
        bold * np.outer(shrink, shrink), relations * shrink, np.full(2, 0.1), MANY
    )
    alike = free_weights(bold, relations, np.full(2, 0.1), MANY)
    np.testing.assert_allclose(cautious * shrink / (cautious @ shrink), alike, rtol=1e-6)


def test_on_few_rows_weights_are_more_equal():
    products = np.diag([1.0, 1.2, 1.4])
    few, many = held_weights(products, 10), held_weights(products, MANY)
    assert np.ptp(few) < np.ptp(many) / 2
    np.testing.assert_allclose(many, (1 / np.diag(products)) / np.sum(1 / np.diag(products)), 1e-3)
    relations = np.array([1.0, 1.0, 0.5])
    few, many = (free_weights(np.eye(3), relations, np.ones(3), rows) for rows in (10, MANY))
    np.testing.assert_allclose(many, [0.4, 0.4, 0.2])
    assert np.ptp(few) < np.ptp(many) / 2
    few, many = (log_loss_weights(np.eye(3), relations, rows) for rows in (1, MANY))
    np.testing.assert_allclose(many, [0.5, 0.5, 0.0], atol=1e-5)
    assert np.ptp(few) < np.ptp(many) / 2
    np.testing.assert_allclose(log_loss_weights(np.zeros((3, 3)), np.zeros(3), 0), 1 / 3, rtol=1e-3)


@pytest.mark.parametrize("products", [np.zeros((3, 3)), -np.eye(3)])
def test_without_errors_kinds_are_equal(products):
    np.testing.assert_allclose(held_weights(products, 0), 1 / 3, rtol=1e-3)


def test_kinds_that_say_nothing_are_equal():
    found = free_weights(np.eye(3), -np.ones(3), np.ones(3), 100)
    np.testing.assert_allclose(found, 1 / 3)
