"""Strength and correlation against Breiman's definitions, row by row and tree by tree."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from odrf.statistics.strength import of_classes, of_numbers, sizes_to_try


def plain_of_classes(predicted, unseen, y, K):
    """Definitions 3 and 4 and Appendix II, in words: votes, margins, raw margins."""
    margins, rivals = {}, {}
    right = known = 0
    for i in range(len(y)):
        votes = [predicted[i, b] for b in range(predicted.shape[1]) if unseen[i, b]]
        if not votes:
            continue
        share = [votes.count(k) / len(votes) for k in range(K)]
        rivals[i] = max((k for k in range(K) if k != y[i]), key=lambda k: (share[k], -k))
        margins[i] = share[y[i]] - share[rivals[i]]
        known += 1
        right += share.index(max(share)) == y[i]
    raws = [
        {
            i: (predicted[i, b] == y[i]) * 1.0 - (predicted[i, b] == rivals[i])
            for i in range(len(y))
            if unseen[i, b]
        }
        for b in range(predicted.shape[1])
    ]
    deviation = np.mean([np.std(list(raw.values())) for raw in raws if raw])
    of_rows = [[raw[i] for raw in raws if i in raw] for i in range(len(y))]
    several = [row for row in of_rows if len(row) > 1]
    correlation = np.nan
    if several and deviation > 0:
        products = [np.mean([a * b for a, b in permutations(row, 2)]) for row in several]
        covariance = np.mean(products) - np.mean([np.mean(row) for row in several]) ** 2
        correlation = np.clip(covariance / deviation**2, -1, 1)
    strength = np.mean(list(margins.values()))
    return strength, correlation, 1 - right / known


@st.composite
def forests(draw):
    """Votes of a few trees on a few rows, right more often than not."""
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    n, B, K = draw(st.integers(5, 30)), draw(st.integers(2, 8)), draw(st.integers(2, 4))
    y = rng.integers(0, K, n)
    predicted = np.where(rng.random((n, B)) < 0.6, y[:, None], rng.integers(0, K, (n, B)))
    unseen = rng.random((n, B)) < 0.6
    unseen[0] = True
    return predicted, unseen, y, K


@settings(deadline=None)
@given(forests())
def test_classes(case):
    predicted, unseen, y, K = case
    B = predicted.shape[1]
    (found,) = of_classes(predicted, unseen, y, np.ones(len(y)), K, [B])
    strength, correlation, error = plain_of_classes(predicted, unseen, y, K)
    assert found.strength == pytest.approx(strength)
    assert found.correlation == pytest.approx(correlation, nan_ok=True)
    assert found.error == pytest.approx(error)
    if strength <= 0:
        assert found.bound == np.inf
    elif abs(correlation) > 1e-12:
        bound = correlation * (1 - strength**2) / strength**2 if correlation > 0 else np.nan
        assert found.bound == pytest.approx(bound, nan_ok=True)


@settings(deadline=None)
@given(forests(), st.integers(2, 8))
def test_the_first_trees_are_evaluated_as_if_alone(case, size):
    predicted, unseen, y, K = case
    B = predicted.shape[1]
    size = min(size, B)
    path = of_classes(predicted, unseen, y, np.ones(len(y)), K, sorted({size, B}))
    (alone,) = of_classes(predicted[:, :size], unseen[:, :size], y, np.ones(len(y)), K, [size])
    np.testing.assert_allclose(path[0], alone)


@settings(deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 7))
def test_numbers(seed, B):
    rng = np.random.default_rng(seed)
    residual, unseen = rng.normal(size=(12, B)), rng.random((12, B)) < 0.7
    unseen[:2] = True
    (found,) = of_numbers(residual, unseen, np.ones(12), [B])
    pairs = []
    for b in range(B):
        for c in range(B):
            both = unseen[:, b] & unseen[:, c]
            if b != c:
                pairs.append(np.mean(residual[both, b] * residual[both, c]))
    errors = [np.mean(residual[unseen[:, b], b] ** 2) for b in range(B)]
    correlation = np.mean(pairs) / np.mean(np.sqrt(errors)) ** 2
    assert found.correlation == pytest.approx(np.clip(correlation, -1, 1))
    assert found.strength == pytest.approx(np.mean(errors))
    # Jensen's inequality: the error of very many trees is the mean product of two residuals
    assert not 0 <= correlation <= 1 or found.bound >= np.mean(pairs) - 1e-12
    together = [residual[i, unseen[i]].mean() ** 2 for i in range(12) if unseen[i].any()]
    assert found.error == pytest.approx(np.mean(together))
    bound = found.correlation * found.strength if correlation >= 0 else np.nan
    assert found.bound == pytest.approx(bound, nan_ok=True)


def test_known_correlation_is_found():
    # residuals = common part of variance 0.3 + independent part of variance 0.7
    rng = np.random.default_rng(0)
    residual = np.sqrt(0.3) * rng.normal(size=(4000, 1)) + np.sqrt(0.7) * rng.normal(
        size=(4000, 40)
    )
    unseen = rng.random((4000, 40)) < 0.4
    (found,) = of_numbers(residual, unseen, np.ones(4000), [40])
    assert found.correlation == pytest.approx(0.3, abs=0.02)
    assert found.strength == pytest.approx(1.0, abs=0.03)


@pytest.mark.parametrize("B", [2, 3, 40])
def test_known_correlation_of_raw_margins_is_found_by_few_trees(B):
    # a tree errs with a probability of the row, of variance 0.02 and mean 0.2
    rng = np.random.default_rng(2)
    errs = rng.random((40_000, B)) < rng.beta(1.4, 5.6, 40_000)[:, None]
    unseen, y = rng.random((40_000, B)) < 0.4, np.zeros(40_000, dtype=np.int64)
    (found,) = of_classes(errs.astype(np.int64), unseen, y, np.ones(40_000), 2, [B])
    assert found.correlation == pytest.approx(0.02 / 0.16, abs=0.03)


def test_no_correlation_is_above_1():
    errs, unseen = np.zeros((40, 2), dtype=np.int64), np.ones((40, 2), dtype=bool)
    errs[:3], unseen[:20, 0], unseen[4:10] = 1, False, False
    unseen[:6] = True
    residual = np.where(errs == 1, 5.0, 0.1)
    y, weights = np.zeros(40, dtype=np.int64), np.ones(40)
    for found in (
        of_classes(errs, unseen, y, weights, 2, [2]),
        of_numbers(residual, unseen, weights, [2]),
    ):
        assert found[0].correlation == 1


def test_the_bound_is_above_the_error_of_many_trees_of_two_kinds():
    # kinds with other errors that leave out other shares of the rows, as in a blend
    rng = np.random.default_rng(1)
    spread = np.repeat([0.2, 1.0], 400)
    residual = rng.normal(size=(500, 1)) + spread * rng.normal(size=(500, 800))
    unseen = rng.random((500, 800)) < np.repeat([0.6, 0.2], 400)
    (found,) = of_numbers(residual, unseen, np.ones(500), [800])
    assert found.strength == pytest.approx(np.mean(residual**2), rel=0.02)
    assert found.bound > np.mean(residual.mean(axis=1) ** 2)


def test_sizes_rise_to_all_trees():
    assert sizes_to_try(2) == [2]
    sizes = sizes_to_try(500)
    assert (sizes[0], sizes[-1]) == (2, 500)
    assert sizes == sorted(set(sizes))


def test_trees_that_drew_all_rows_have_no_strength():
    unseen, weights = np.zeros((4, 3), dtype=bool), np.ones(4)
    unseen[1, 2] = True
    codes = np.zeros((4, 3), dtype=np.int64)
    for two, three in (
        of_classes(codes, unseen, codes[:, 0], weights, 2, [2, 3]),
        of_numbers(np.ones((4, 3)), unseen, weights, [2, 3]),
    ):
        assert two.trees == 2 and np.isnan(two[1:]).all()
        assert three.trees == 3 and np.isfinite([three.strength, three.error]).all()


def test_trees_that_err_only_on_rows_of_no_weight_have_no_correlation():
    codes, unseen = np.array([[0, 0], [1, 0], [0, 1]]), np.ones((3, 2), dtype=bool)
    weights = np.array([1e14, 1e-286, 1e-286])
    (found,) = of_classes(codes, unseen, np.zeros(3, dtype=np.int64), weights, 2, [2])
    assert found.strength == 1 and np.isnan(found.correlation) and np.isnan(found.bound)
