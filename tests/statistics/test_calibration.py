"""Pools of class probabilities against loops, finite differences and another package."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit, logit
from sklearn.isotonic import IsotonicRegression
from statsmodels.discrete.conditional_models import ConditionalLogit

from odrf.statistics import calibration
from odrf.statistics.calibration import (
    LEAST_IN_POOL,
    METHODS,
    effective_rows,
    logarithms,
    pool_exponents,
    pooled,
    recalibration_map,
    reliability_table,
    variance_of_groups,
)
from odrf.statistics.discrimination import area_under_roc, bootstrapped_precision
from odrf.statistics.residuals import coverage_table, regions_of


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


# ------------------------------------------------------------------------------------------------
# Intervals over groups of rows: copies of rows tell nothing, and coverage is kept.
# ------------------------------------------------------------------------------------------------

COPIES = 7


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    p = np.round(rng.random(80), 2)
    return p, (rng.random(80) < p).astype(float)


def copied(rows):
    p, event = (np.repeat(each, COPIES) for each in rows)
    return p, event, np.ones(len(p)), np.repeat(np.arange(80), COPIES)


def test_copies_of_rows_do_not_shrink_intervals_of_areas_and_precisions(rows):
    p, event, w, groups = copied(rows)
    alone = area_under_roc(*rows, np.ones(80), 0.95)
    found = area_under_roc(p, event, w, 0.95, groups)
    assert found.estimate == pytest.approx(alone.estimate)
    assert found.std_error == pytest.approx(alone.std_error, rel=0.03)
    assert found.conf_low == pytest.approx(alone.conf_low, abs=0.01)
    one = bootstrapped_precision(*rows, np.ones(80), 0.95, 1)
    many = bootstrapped_precision(p, event, w, 0.95, 1, groups=groups)
    assert many.std_error == pytest.approx(one.std_error, rel=0.2)


def test_copies_of_rows_do_not_shrink_intervals_of_rates(rows):
    p, event, w, groups = copied(rows)
    assert effective_rows(event, w, None, 0.95) == pytest.approx(80 * COPIES)
    assert effective_rows(event, w, groups, 0.95) == pytest.approx(80, rel=0.05)
    assert effective_rows(np.ones(len(w)), w, groups, 0.95) == 80
    assert effective_rows(event, w, np.zeros(len(w), dtype=int), 0.95) == 1
    alone = reliability_table(*rows, np.ones(80), 4, 0.95)
    found = reliability_table(p, event, w, 4, 0.95, groups)
    np.testing.assert_allclose(found["conf_low"], alone["conf_low"], atol=0.04)
    np.testing.assert_allclose(found["conf_high"], alone["conf_high"], atol=0.04)


def test_variance_of_groups_is_that_of_their_sums():
    rng = np.random.default_rng(1)
    groups, parts = rng.integers(0, 9, 50), rng.normal(size=50)
    sums = [parts[groups == g].sum() for g in np.unique(groups)]
    expected = sum(each**2 for each in sums) * len(sums) / (len(sums) - 1)
    assert variance_of_groups(parts, groups) == pytest.approx(expected)
    assert np.isnan(variance_of_groups(parts, np.zeros(50, dtype=int)))


def test_intervals_of_areas_cover_where_rows_of_a_group_are_alike():
    rng = np.random.default_rng(2)

    def drawn(G):
        groups = np.repeat(np.arange(G), 12)
        event = np.repeat(rng.random(G) < 0.5, 12).astype(float)
        return event + np.repeat(rng.normal(size=G), 12) + rng.normal(size=12 * G), event, groups

    p, event, _ = drawn(20_000)
    truth = area_under_roc(p, event, np.ones(len(p)), 0.95).estimate
    held = {"groups": 0, "rows": 0}
    for _ in range(200):
        p, event, groups = drawn(40)
        for name, units in (("groups", groups), ("rows", None)):
            found = area_under_roc(p, event, np.ones(len(p)), 0.95, units)
            held[name] += found.conf_low <= truth <= found.conf_high
    assert held["groups"] >= 180
    assert held["rows"] < 140


# ------------------------------------------------------------------------------------------------
# Calibration maps: what they make of probabilities that are too extreme, and scikit-learn's.
# ------------------------------------------------------------------------------------------------


def sample(seed, n=4000, times=2.0, shift=0.5):
    """Probabilities whose log odds are too large by a factor, and shifted."""
    rng = np.random.default_rng(seed)
    truth = expit(rng.normal(size=n))
    return expit(times * logit(truth) + shift), (rng.random(n) < truth).astype(float), truth


@pytest.mark.parametrize("method", METHODS)
def test_maps_lead_back_to_the_truth(method):
    p, event, truth = sample(1)
    found = recalibration_map(method, p, event, np.ones(len(p)))(p)
    assert np.abs(found - truth).mean() < np.abs(p - truth).mean() / 3


@settings(max_examples=30)
@given(st.integers(0, 2**32), st.sampled_from(METHODS), st.integers(5, 60))
def test_maps_increase_and_stay_within_0_and_1(seed, method, n):
    p, event, _ = sample(seed, n)
    weights = np.random.default_rng(seed).choice([0.5, 3.0], n)
    if event.min() == event.max():
        event[0] = 1 - event[0]
    at = np.linspace(0, 1, 50)
    found = recalibration_map(method, p, event, weights)(at)
    assert (np.diff(found) >= -1e-12).all()
    assert (found >= 0).all()
    assert (found <= 1).all()


def test_isotonic_maps_are_those_of_scikit_learn():
    p, event, _ = sample(2, 300)
    theirs = IsotonicRegression(out_of_bounds="clip").fit(p, event)
    at = np.linspace(0, 1, 77)
    np.testing.assert_allclose(
        recalibration_map("isotonic", p, event, np.ones(300))(at), theirs.predict(at), atol=1e-12
    )


def test_a_weight_of_two_is_a_row_twice():
    p, event, _ = sample(3, 200)
    twice = np.arange(200) % 3 == 0
    both = np.concatenate([np.arange(200), np.flatnonzero(twice)])
    at = np.linspace(0.05, 0.95, 20)
    weighted = recalibration_map("isotonic", p, event, 1.0 + twice)(at)
    repeated = recalibration_map("isotonic", p[both], event[both], np.ones(len(both)))(at)
    np.testing.assert_allclose(weighted, repeated, atol=1e-9)


@pytest.mark.parametrize("method", ["platt", "beta"])
def test_rows_that_are_told_apart_are_not_sure(method):
    p, event = np.r_[np.full(10, 0.1), np.full(10, 0.9)], np.repeat([0.0, 1.0], 10)
    found = recalibration_map(method, p, event, np.ones(20))(p)
    np.testing.assert_allclose(found, np.r_[np.full(10, 1 / 12), np.full(10, 11 / 12)], atol=1e-3)


# ------------------------------------------------------------------------------------------------
# The regions that divide rows by their fitted values.
# ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("fitted", [1e12 + np.arange(30) / 10, 1e15 + np.arange(30.0)])
def test_regions_of_large_numbers_that_differ_little_have_labels_of_their_own(fitted):
    regions = regions_of(fitted)
    assert np.bincount(regions.codes).tolist() == [3] * 10
    assert len(coverage_table(regions, np.ones(30, dtype=bool), 0.95)) == 10
