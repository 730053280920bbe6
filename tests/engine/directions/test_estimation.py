"""Estimated directions against matrix formulas, and the properties they promise."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import expit

import reference.directions as twin
from odrf.engine.directions.estimation import (
    RIDGE,
    _sigmoid,
    centre,
    covariances,
    lda,
    least_squares,
    logistic,
    moments,
    normalise,
)
from odrf.engine.directions.samplers import workspace

FAMILIES = ["least_squares", "logistic", "lda"]
quick = settings(deadline=None)


STEPS = 3


def estimate(family, Z, t, a, y=None):
    """Call a kernel as a node does; Z is (m, d), for lda the classes are t itself unless given."""
    m, d = Z.shape
    work = workspace(d, m)
    theta = work.theta
    work.Z[:] = Z.T
    total, share = moments(t, a, m, work.moment)
    covariances(work.Z, d, m, a, work.moment, total, work, theta)
    if family == "lda":
        y, sums, means = t if y is None else y, np.empty(5), np.empty(5)
        lda(work.Z, d, m, a, y, total, share, sums, means, work, theta)
    elif family == "logistic":
        logistic(work.Z, d, m, t, a, total, share, STEPS, work, theta)
    else:
        least_squares(d, work, theta)
    return theta[:d]


def unit(theta):
    return theta / np.linalg.norm(theta)


@st.composite
def samples(draw):
    """Predictors on a coarse grid, perhaps collinear or constant, and two or more classes."""
    n, d = draw(st.integers(2, 40)), draw(st.integers(1, 6))
    steps, n_classes = draw(st.sampled_from([2, 4, 1000])), draw(st.integers(2, 5))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    Z = rng.integers(0, steps, (n, d)) / (steps - 1)
    if draw(st.booleans()):
        Z[:, 0] = Z[:, -1]
    if draw(st.booleans()):
        Z[:, -1] = 0.5
    y = rng.integers(0, n_classes, n).astype(float)
    y[:2] = 0, 1
    return Z, y, rng.uniform(0.2, 3.0, n)


def undetermined(Z, t, a):
    """Whether the target is uncorrelated with every column, but for rounding."""
    return np.abs(twin.centred(Z, a).T @ (a * t)).max() < 1e-9


@quick
@given(samples())
def test_directions_between_classes_are_those_of_the_twin(sample):
    Z, y, a = sample
    t = (y == 1).astype(float)
    assume(not undetermined(Z, t, a))
    for family, expected in [
        ("least_squares", twin.least_squares(Z, t, a)),
        ("logistic", twin.logistic(Z, t, a, STEPS)),
        ("lda", twin.lda(Z, t, a, y)),
    ]:
        np.testing.assert_allclose(
            unit(estimate(family, Z, t, a, y)), unit(expected), atol=1e-7, err_msg=family
        )


@quick
@given(samples())
def test_directions_for_a_numeric_target_are_those_of_the_twin(sample):
    Z, y, a = sample
    t = y / y.max()
    assume(not undetermined(Z, t, a))
    for family, expected in [
        ("least_squares", twin.least_squares(Z, t, a)),
        ("logistic", twin.logistic(Z, t, a, STEPS)),
    ]:
        np.testing.assert_allclose(unit(estimate(family, Z, t, a)), unit(expected), atol=1e-7)


def gaussian(n=4000, seed=0):
    """Two overlapping classes, correlated predictors of unequal variance."""
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(n, 3)) @ np.array([[1.0, 0.5, 0.0], [0.0, 0.4, 0.2], [0.0, 0.0, 0.1]])
    t = (rng.random(n) < expit(Z @ [2.0, -1.0, 3.0])).astype(float)
    return Z, t, rng.uniform(0.5, 1.5, n)


def test_newton_steps_come_near_the_largest_penalised_likelihood():
    Z, t, a = gaussian()
    centred = twin.centred(Z, a)
    share = np.average(t, weights=a)
    ridge = RIDGE * np.mean(a @ centred**2) * share * (1 - share)

    def objective(beta):
        eta = centred @ beta[:3] + beta[3]
        return np.sum(a * (np.logaddexp(0, eta) - t * eta)) + ridge * np.sum(beta[:3] ** 2) / 2

    expected = minimize(objective, np.zeros(4), tol=1e-12).x[:3]
    found = estimate("logistic", Z, t, a)
    assert unit(found) @ unit(expected) > np.cos(np.radians(0.5))


def test_sigmoid_is_precise():
    eta = np.linspace(-30, 30, 1001)
    mean, power = np.empty(1001), np.empty(1001, dtype=np.int64)
    _sigmoid(eta, power, power.view(float), mean, 1001)
    np.testing.assert_allclose(mean, expit(eta), rtol=1e-10)
    _sigmoid(100 * eta, power, power.view(float), mean, 1001)
    np.testing.assert_allclose(mean, expit(np.clip(100 * eta, -30, 30)), rtol=1e-10)


@quick
@given(samples())
def test_an_unrelated_target_determines_no_direction(sample):
    """Each row once with t and once with 1 - t: rounding alone remains."""
    Z, y, a = sample
    Z, t, a = np.tile(Z.T, 2), np.append(y, y.max() - y) / y.max(), np.tile(a, 2)
    d, m = Z.shape
    work, theta = workspace(d, m), np.empty(d)
    total, _ = moments(t, a, m, work.moment)
    assert not covariances(Z, d, m, a, work.moment, total, work, theta)
    moments(Z[0], a, m, work.moment)
    assert covariances(Z, d, m, a, work.moment, total, work, theta) == (np.ptp(Z[0]) > 0)


@quick
@given(samples())
def test_moments_and_covariances_are_those_of_the_definition(sample):
    Z, y, a = sample
    m, d = Z.shape
    work, theta = workspace(d, m), np.empty(d)
    total, share = moments(y, a, m, work.moment)
    assert (total, share) == (pytest.approx(a.sum()), pytest.approx(np.average(y, weights=a)))
    np.testing.assert_allclose(work.moment, a * twin.centred(y, a), atol=1e-12)
    assume(covariances(np.ascontiguousarray(Z.T), d, m, a, work.moment, total, work, theta))
    middle = twin.centred(Z, a)
    expected = middle.T @ np.diag(a) @ middle
    np.testing.assert_allclose(np.tril(work.A[:d, :d]), np.tril(expected), atol=1e-12 * total)
    np.testing.assert_allclose(theta, middle.T @ (a * y), atol=1e-12 * total)
    np.testing.assert_allclose(work.sums[:d] / total, np.average(Z, axis=0, weights=a))
    shifted = np.ascontiguousarray(Z.T)
    centre(shifted, d, m, work.sums, total)
    np.testing.assert_allclose(shifted.T, middle, atol=1e-12)


def test_for_two_classes_least_squares_is_fishers_discriminant():
    Z, t, a = gaussian()
    one, other = unit(estimate("least_squares", Z, t, a)), unit(estimate("lda", Z, t, a))
    assert one @ other > np.cos(np.radians(1))


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("shift", [-60, -10, 30])
def test_weights_matter_only_in_proportion(family, shift):
    Z, t, a = gaussian(n=50)
    np.testing.assert_allclose(
        unit(estimate(family, Z, t, a * 2.0**shift)), unit(estimate(family, Z, t, a)), rtol=1e-6
    )


@pytest.mark.parametrize("family", FAMILIES)
def test_a_weight_of_3_is_a_row_three_times(family):
    Z, t, _ = gaussian(n=50)
    a = np.ones(50)
    a[::4] = 3
    rows = np.repeat(np.arange(50), a.astype(int))
    np.testing.assert_allclose(
        unit(estimate(family, Z, t, a)),
        unit(estimate(family, Z[rows], t[rows], np.ones(len(rows)))),
        rtol=1e-9,
    )


@pytest.mark.parametrize("family", FAMILIES)
def test_a_constant_column_gets_no_coefficient_and_changes_no_other_direction(family):
    Z, t, a = gaussian(n=200)
    with_constant = np.column_stack([Z[:, 0], np.full(200, 0.3), Z[:, 1:]])
    theta = unit(estimate(family, with_constant, t, a))
    assert abs(theta[1]) < 1e-12
    assert np.delete(theta, 1) @ unit(estimate(family, Z, t, a)) > 0.9999


@pytest.mark.parametrize("family", FAMILIES)
def test_separable_classes_and_more_columns_than_rows_give_finite_directions(family):
    rng = np.random.default_rng(1)
    Z, t = rng.random((6, 20)), np.array([0.0, 0, 0, 1, 1, 1])
    theta = estimate(family, Z, t, np.ones(6))
    assert np.isfinite(theta).all()
    projected = Z @ theta
    assert projected[3:].min() > projected[:3].max()


@quick
@given(st.lists(st.floats(-1e100, 1e100), min_size=1, max_size=6))
def test_normalise_gives_length_1_or_says_no(theta):
    theta = np.array(theta)
    length = np.linalg.norm(theta)
    usable = normalise(theta, len(theta))
    assert usable == (length > 1e-150)
    assert not usable or np.linalg.norm(theta) == pytest.approx(1.0)


@pytest.mark.parametrize("theta", [[0.0, 0.0], [np.nan, 1.0], [np.inf, 0.0], [1e200, 1.0]])
def test_normalise_refuses_what_has_no_usable_length(theta):
    assert not normalise(np.array(theta), 2)
