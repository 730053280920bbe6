"""Pools of class probabilities against loops, finite differences and another package."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.discrete.conditional_models import ConditionalLogit

from odrf.statistics import calibration
from odrf.statistics.calibration import (
    LEAST_IN_POOL,
    logarithms,
    pool_exponents,
    pooled,
)


def drawn(seed, G, n, K):
    """Probabilities of G models, of which later ones know less, and the classes."""
    rng = np.random.default_rng(seed)
    truth = rng.dirichlet(np.ones(K), n)
    code = np.array([rng.choice(K, p=p) for p in truth])
    flat = [truth ** (1 / (g + 2)) * rng.uniform(0.7, 1.4, (n, K)) for g in range(G)]
    return np.array([p / p.sum(axis=1, keepdims=True) for p in flat]), code


def plain_pool(p, exponents):
    G, n, K = p.shape
    out = np.empty((n, K))
    for i in range(n):
        odds = [
            math.prod(max(p[g, i, k], LEAST_IN_POOL) ** exponents[g] for g in range(G))
            for k in range(K)
        ]
        out[i] = np.array(odds) / sum(odds)
    return out


def plain_loss(p, code, weights, exponents):
    """Mean log loss, with a row more in which all classes are equally probable.

    This row is one on average: it has the logarithms of all rows, in proportion to their weights.
    """
    _, n, K = p.shape
    q = plain_pool(p, exponents)
    added = 1 / (1 + weights.sum() / weights.max())
    total = 0.0
    for i in range(n):
        right = -math.log(q[i, code[i]])
        even = -sum(math.log(q[i, k]) for k in range(K)) / K
        total += weights[i] / weights.sum() * ((1 - added) * right + added * even)
    return total


@given(st.integers(0, 999), st.integers(1, 3), st.integers(1, 9), st.integers(2, 5))
def test_a_pool_is_the_product_of_powers(seed, G, n, K):
    p, _ = drawn(seed, G, n, K)
    exponents = np.random.default_rng(seed).uniform(0, 3, G)
    found = pooled(logarithms(p), exponents)
    np.testing.assert_allclose(found, plain_pool(p, exponents), rtol=1e-12)
    np.testing.assert_allclose(found.sum(axis=1), 1)


@given(st.integers(0, 999), st.integers(1, 2), st.integers(2, 4))
def test_no_other_exponents_have_a_smaller_loss(seed, G, K):
    p, code = drawn(seed, G, 12, K)
    weights = np.random.default_rng(seed).uniform(0.5, 2, 12)
    found = pool_exponents(logarithms(p), code, weights)
    assert (found >= 0).all()
    least = plain_loss(p, code, weights, found)
    for step in np.vstack([np.eye(G), -np.eye(G), np.ones(G), -np.ones(G)]):
        for size in (1e-3, 0.1):
            near = np.maximum(found + size * step, 0)
            assert plain_loss(p, code, weights, near) >= least - 1e-9


def test_without_rows_added_it_is_a_conditional_logit_model(monkeypatch):
    monkeypatch.setattr(calibration, "ROWS_ADDED", 0.0)
    p, code = drawn(4, 2, 300, 3)
    logs = logarithms(p)
    chosen = (code[:, None] == np.arange(3)).astype(int).ravel()
    rows = np.repeat(np.arange(300), 3)
    model = ConditionalLogit(chosen, logs.reshape(2, -1).T, groups=rows)
    expected = model.fit(method="newton", disp=False).params
    assert (expected > 0).all()
    np.testing.assert_allclose(pool_exponents(logs, code, np.ones(300)), expected, rtol=1e-5)


def test_too_moderate_probabilities_get_a_power_above_1_and_few_rows_a_moderate_one():
    rng = np.random.default_rng(5)
    p = rng.dirichlet(np.ones(2), 2000)
    code = (rng.random(2000) < p[:, 1]).astype(int)
    shrunken = np.sqrt(p)
    shrunken /= shrunken.sum(axis=1, keepdims=True)
    power = pool_exponents(logarithms(shrunken)[None], code, np.ones(2000))
    assert power == pytest.approx([2.0], rel=0.1)
    right = np.array([[0.8, 0.2], [0.2, 0.8]])
    few = pool_exponents(logarithms(right)[None], np.array([0, 1]), np.ones(2))
    assert 0.5 < few[0] < 2
    many = pool_exponents(
        logarithms(np.tile(right, (500, 1)))[None], np.tile([0, 1], 500), np.ones(1000)
    )
    assert few[0] < many[0] < 10


def test_weights_count_rows():
    p, code = drawn(6, 2, 50, 3)
    times = np.random.default_rng(6).integers(1, 4, 50)
    logs = logarithms(p)
    weighted = pool_exponents(logs, code, times / times.max())
    repeated = np.repeat(np.arange(50), times)
    again = pool_exponents(logs[:, repeated], code[repeated], np.ones(len(repeated)))
    # the row that is added counts a little more beside 1/3 as many
    np.testing.assert_allclose(weighted, again, rtol=0.1)


def test_a_row_alone_is_pooled_as_among_others():
    p, _ = drawn(7, 3, 40, 12)
    logs, exponents = logarithms(p), np.array([0.3, 1.1, 0.7])
    together = pooled(logs, exponents)
    for i in range(40):
        np.testing.assert_array_equal(pooled(logs[:, i : i + 1], exponents)[0], together[i])
