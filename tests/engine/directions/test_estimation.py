"""Estimated directions against matrix formulas, and the properties they promise."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import expit

import reference.directions as twin
import reference.discriminants as twin_of_scatter
import reference.pursuit as twin_of_pursuit
from odrf.engine.compiling import kernel
from odrf.engine.directions.candidates import INDICATORS, PLAIN, TWO_LEVELS, FeatureGroups
from odrf.engine.directions.estimation import (
    RIDGE,
    _sigmoid,
    between,
    centre,
    class_scatter_for,
    covariances,
    lda,
    least_squares,
    logistic,
    moments,
    normalise,
    pursue,
    pursuit_for,
    running_lines,
    whiten,
    within,
)
from odrf.engine.directions.samplers import workspace
from odrf.engine.directions.subsets import load_terms as loaded
from odrf.engine.factors import factors_of
from odrf.engine.numeric import streams
from odrf.engine.rows import gather_rows
from problems import indicators
from reference.level_scores import score_levels
from samples import classed

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


# ------------------------------------------------------------------------------------------------
# Terms of directions: the rows on which they are estimated, and factors that are left out.
# ------------------------------------------------------------------------------------------------

USED, SCORED, LEVELS = 20, 100, 10
GROUPS = FeatureGroups(
    np.array([0, 1, 1 + LEVELS, 2 + LEVELS]), np.array([PLAIN, INDICATORS, PLAIN], dtype=np.int8)
)


@kernel
def load_terms(rows, order, q, total, share, work):
    """Call what only kernels can call."""
    return loaded(rows, 0, USED, SCORED, GROUPS, order, q, TWO_LEVELS, False, total, share, work)


def load(predictors, effect, seed, times=1):
    """The terms of some predictors of a node in which levels have an effect, or none.

    They are loaded so many times, for the same target.
    """
    rng = np.random.default_rng(seed)
    level = rng.integers(0, LEVELS, SCORED)
    y = rng.random(SCORED) + effect * level
    numbers = rng.random((2, SCORED))
    X = np.vstack([numbers[:1], indicators(level, LEVELS), numbers[1:]]).astype(np.float32)
    rows = gather_rows(
        streams(seed, 0, 1)[0], X, y, rng.uniform(0.5, 2, SCORED),
        np.ones(SCORED, dtype=np.int64), True, factors_of(X, GROUPS),
    )  # fmt: skip
    work = workspace(2 + LEVELS, SCORED, 2 + LEVELS, L=LEVELS if times > 1 else 0)
    work.weights[:], work.target[:] = rows.weights, rows.y
    total, share = moments(work.target, work.weights, SCORED, work.moment)
    differs = score_levels(level[rows.at] + 1, LEVELS, rows.y, rows.weights).of_levels.any()
    order = np.array(predictors)
    for _ in range(times - 1):
        load_terms(rows, order, len(order), total, share, work)
        moments(work.target, work.weights, SCORED, work.moment)
        work.Z[:], work.scores[:], work.column[:], work.term[:] = np.nan, np.nan, -1, -1
        work.covariance[:], work.excess[:] = np.nan, np.nan
    return load_terms(rows, order, len(order), total, share, work), work, bool(differs)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("predictors", [[0, 1], [1, 2], [0, 1, 2]])
@pytest.mark.parametrize("effect", [0.0, 1.0])
def test_directions_are_estimated_on_the_first_rows(predictors, effect, seed):
    (terms, total, share), work, differs = load(predictors, effect, seed)
    assert terms == len(predictors) - (not differs)
    assert work.size[0] == len(predictors) - 1 + differs * LEVELS
    a, t = work.weights[:USED], work.target[:USED]
    assert total == pytest.approx(a.sum())
    assert share == pytest.approx(np.average(t, weights=a))
    np.testing.assert_allclose(work.moment[:USED], a * (t - np.average(t, weights=a)))


def test_both_kinds_of_factors_were_met():
    met = {load([0, 1], effect, seed)[2] for effect in (0.0, 1.0) for seed in range(5)}
    assert met == {False, True}


def test_a_factor_whose_levels_do_not_differ_is_not_scored_again():
    (terms, _, _), work, differs = load(
        [1], 0.0, next(s for s in range(9) if not load([1], 0, s)[2])
    )
    assert (terms, differs, work.levels.dismissed[0]) == (0, False, SCORED)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("predictors", [[1], [1, 2], [0, 1, 2]])
@pytest.mark.parametrize("effect", [0.0, 1.0])
def test_kept_scores_are_those_of_the_first_time(predictors, effect, seed):
    (terms, total, share), first, differs = load(predictors, effect, seed)
    (again, *others), second, _ = load(predictors, effect, seed, times=2)
    assert (again, *others) == (terms, total, share)
    np.testing.assert_array_equal(first.size, second.size)
    size = first.size[0]
    for name in ("scores", "column", "term"):
        np.testing.assert_array_equal(getattr(first, name)[:size], getattr(second, name)[:size])
    np.testing.assert_array_equal(first.Z[:terms, :USED], second.Z[:terms, :USED])
    for name in ("covariance", "excess") if differs else ():
        np.testing.assert_array_equal(getattr(first, name)[:terms], getattr(second, name)[:terms])
    assert second.levels.kept[0, 0] == (SCORED if differs else 0)


# ------------------------------------------------------------------------------------------------
# Running lines and projection pursuit against their twins, and what they promise.
# ------------------------------------------------------------------------------------------------


def lines(u, t, a, half):
    m = len(u)
    fit, slope = np.empty(m), np.empty(m)
    running_lines(u, t, a, m, half, pursuit_for(1, m), fit, slope)
    return fit, slope


def pursued(Z, t, a, steps, half):
    """Call the kernel as a node does; Z is (m, d)."""
    m, d = Z.shape
    work = workspace(d, m)
    work.Z[:] = Z.T
    total, _ = moments(t, a, m, work.moment)
    assert covariances(work.Z, d, m, a, work.moment, total, work, work.theta)
    least_squares(d, work, work.theta)
    pursue(work.Z, d, m, t, a, total, steps, half, work, pursuit_for(d, m), work.theta)
    return work.theta[:d]


@quick
@example(2, 1, 4, 122962)  # two equal numbers, whose variance is not exactly 0
@given(
    st.integers(2, 40), st.integers(1, 45), st.sampled_from([2, 4, 9, 1000]), st.integers(0, 10**9)
)
def test_lines_are_those_of_the_twin(m, half, grid, seed):
    rng = np.random.default_rng(seed)
    u = rng.integers(0, grid, m) / (grid - 1) - 0.5
    t, a = rng.random(m), rng.uniform(0.2, 3.0, m)
    found, expected = lines(u, t, a, half), twin_of_pursuit.running_lines(u, t, a, half)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-6)


@quick
@given(st.integers(1, 20), st.integers(0, 10**9))
def test_a_line_is_left_as_it_is_and_the_order_of_the_rows_is_nothing(half, seed):
    rng = np.random.default_rng(seed)
    u, a = np.round(rng.normal(size=40), 1), rng.uniform(0.2, 3.0, 40)
    fit, _ = lines(u, 2 * u + 1, a, half)
    distinct = np.unique(u)
    inner = np.isin(u, distinct[1:-1])
    np.testing.assert_allclose(fit[inner], (2 * u + 1)[inner], atol=1e-9)
    t, order = rng.random(40), rng.permutation(40)
    for one, other in zip(
        lines(u, t, a, half), lines(u[order], t[order], a[order], half), strict=True
    ):
        np.testing.assert_allclose(one[order], other, rtol=1e-7, atol=1e-9)


@quick
@given(st.integers(30, 80), st.integers(2, 5), st.integers(0, 3), st.integers(0, 10**9))
def test_directions_are_those_of_the_twin(m, d, steps, seed):
    rng = np.random.default_rng(seed)
    Z, a = rng.random((m, d)), rng.uniform(0.2, 3.0, m)
    t = np.cos(3 * Z @ rng.normal(size=d)) + rng.normal(size=m) / 5
    found = pursued(Z, t, a, steps, 12)
    np.testing.assert_allclose(found, twin_of_pursuit.pursue(Z, t, a, steps, 12), atol=1e-6)
    start = pursued(Z, t, a, 0, 12)
    assert twin_of_pursuit.loss(Z, t, a, 12, found) <= twin_of_pursuit.loss(Z, t, a, 12, start) * (
        1 + 1e-9
    )


@pytest.mark.parametrize("shape", [np.square, np.sin, np.tanh])
def test_a_planted_direction_is_found(shape):
    rng = np.random.default_rng(8)
    Z, theta = rng.uniform(-1, 1, (1000, 4)), np.array([0.8, -0.6, 0.0, 0.0])
    t = shape(3 * Z @ theta + 0.5) + rng.normal(size=1000) / 10
    assert abs(pursued(Z, t, np.ones(1000), 10, 100) @ theta) > 0.99


def test_what_cannot_be_smoothed_is_left():
    Z = np.repeat([[0.0, 0.0], [1.0, 0.0]], 20, axis=0)
    t = Z[:, 0] + np.tile([0.0, 0.1], 20)
    np.testing.assert_allclose(np.abs(pursued(Z, t, np.ones(40), 3, 5)), [1, 0], atol=1e-9)


# ------------------------------------------------------------------------------------------------
# Scatter between classes and within them, against matrix formulas.
# ------------------------------------------------------------------------------------------------


@settings(deadline=None)
@given(classed())
def test_roots_and_within_are_those_of_the_twin_and_whitened_roots_solve(sample):
    Z, y, a = sample
    m, d = Z.shape
    classes, A = class_scatter_for(7, d), np.empty((d, d))
    g = between(np.ascontiguousarray(Z.T), d, m, a, y, a @ Z, a.sum(), classes)
    present = np.unique(y)
    assert g == len(present)
    np.testing.assert_allclose(classes.weight[:g], [a[y == k].sum() for k in present])
    roots = classes.roots[:g]
    np.testing.assert_allclose(
        roots.T @ roots, twin_of_scatter.between(Z, y, a), atol=1e-12 * a.sum()
    )

    classes.total[:] = twin_of_scatter.scatter(Z, a)
    within(classes.roots, g, d, 0.3, classes, A)
    W = twin_of_scatter.scatter(Z, a) - twin_of_scatter.between(Z, y, a)
    expected = 0.7 * W + 0.3 * np.diag(np.diag(W))
    np.testing.assert_allclose(np.tril(A), np.tril(expected), atol=1e-12 * a.sum())

    A = expected + np.eye(d)
    assert whiten(A.copy(), g, d, classes)
    np.testing.assert_allclose(
        classes.whitened[:g] @ classes.whitened[:g].T,
        roots @ np.linalg.solve(A, roots.T),
        atol=1e-9 * a.sum(),
    )
    assert not whiten(np.zeros((d, d)), g, d, classes)
