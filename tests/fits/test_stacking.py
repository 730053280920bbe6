"""Stacking of kinds of trees, against loops and a general optimiser."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from odrf.fits.stacking import (
    Evidence,
    free_weights,
    held_weights,
    held_weights_of_classes,
    mean_products,
    mean_relations,
    products_of_rows,
    relations_of_rows,
)

quick = settings(deadline=None)
MANY = 10**12


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
    products, rows = mean_products(products_of_rows(values, unseen), unseen, weights)
    assert rows == min(numbers)
    np.testing.assert_allclose(products, expected, atol=1e-10)


@quick
@given(st.integers(1, 3), st.integers(1, 5), st.integers(0, 2**32))
def test_mean_relations_are_those_of_rows_unseen(G, b, seed):
    values, unseen, weights, target = problem(G, b, seed)
    found = mean_relations(relations_of_rows(values, unseen, target), unseen, weights)
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


@pytest.mark.parametrize("relations", [None, np.array([1.0, 0.8, 0.6])])
def test_evidence_on_some_kinds_is_as_if_there_were_no_others(relations):
    products, errors = np.diag([1.0, 1.2, 1.4]) + 0.3, np.array([1.3, 1.5, 1.7])
    selected = Evidence(products, relations, errors, 90).of([2, 0])
    assert selected.products.tolist() == [[1.7, 0.3], [0.3, 1.3]]
    if relations is None:
        expected = held_weights(selected.products, 90)
    else:
        expected = free_weights(selected.products, relations[[2, 0]], errors[[2, 0]], 90)
    assert selected.weights().tolist() == expected.tolist()


def test_evidence_is_weighed_for_the_objective():
    products, errors = np.diag([1.0, 1.2]) + 0.3, np.array([1.3, 1.5])
    relations = np.array([1.0, 0.8])
    evidence = Evidence(products, relations, errors, 90)
    expected = {
        "error": free_weights(products, relations, errors, 90),
        "brier": held_weights_of_classes(products, relations, errors, 90),
    }
    assert expected["error"].tolist() != expected["brier"].tolist()
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


@pytest.mark.parametrize("products", [np.zeros((3, 3)), -np.eye(3)])
def test_without_errors_kinds_are_equal(products):
    np.testing.assert_allclose(held_weights(products, 0), 1 / 3, rtol=1e-3)


def test_kinds_that_say_nothing_are_equal():
    found = free_weights(np.eye(3), -np.ones(3), np.ones(3), 100)
    np.testing.assert_allclose(found, 1 / 3)
