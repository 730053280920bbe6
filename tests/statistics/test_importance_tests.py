"""p-values are uniform where nothing matters, or too large; intervals cover as often.

A test of Kolmogorov and Smirnov at level 0.001 with 2,000 p-values rejects if their distribution is
more than 0.0436 from the uniform one anywhere.  If it is 0.07 off, such as a size of 12 % where 5 %
are stated, it rejects with a probability above 98 %; with 400 p-values this holds for 0.16.
"""

from __future__ import annotations

from math import comb

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, kstest, ttest_1samp, wilcoxon
from sklearn.covariance import ledoit_wolf

from odrf.evaluation.compare import corrected_t, signed_rank
from odrf.statistics.curves import CurveSpread, bands
from odrf.statistics.effects import joint_test, with_errors
from odrf.statistics.importance_tests import (
    CONFIRMED,
    decisions,
    entropy_knockoff_gaps,
    evaluated_differences,
    fewest_rounds,
    gaussian_knockoffs,
    knockoff_covariance,
    knockoff_threshold,
    knockoff_values,
    most_important,
    shrunken_covariance,
)
from odrf.statistics.importance_tests import REJECTED as REJECTED_OF_SELECTION
from odrf.statistics.ridge import RIDGE_PENALTIES, ridge_regression
from odrf.statistics.theorems import tail_p
from reference.importance_tests import (
    entropy_slope,
    joint_covariance,
    left_out_residuals,
    selected_by_knockoffs,
)

REJECTED = 0.001
N = 40


def differences(rng):
    """Differences of losses with groups that share a part, and weights."""
    groups = rng.integers(0, 15, N)
    return rng.normal(size=N) + rng.normal(size=15)[groups], rng.uniform(0.8, 1.25, N), groups


def covariance(rng, R):
    """The covariance of R values, and a draw with it."""
    root = rng.normal(size=(R, R))
    return root @ root.T, root @ rng.normal(size=R)


def by_rows(rng):
    return evaluated_differences(rng.normal(size=N), np.ones(N), np.arange(N), "t", 0.95)[3]


def by_groups(rng):
    return evaluated_differences(*differences(rng), "t", 0.95)[3]


def by_ranks(rng):
    return evaluated_differences(rng.normal(size=N), np.ones(N), np.arange(N), "wilcoxon", 0.95)[3]


def by_wald(rng):
    C, value = covariance(rng, 3)
    return joint_test(value, C).p_value


def by_f(rng):
    """The covariance is estimated from 12 rows."""
    rows = rng.normal(size=(12, 1))
    return joint_test(rows.mean(axis=0), np.array([[rows.var(ddof=1) / 12]]), 11).p_value


def by_corrected_t(rng):
    """Folds whose test rows are as nothing beside the training rows are independent."""
    return corrected_t(rng.normal(size=10), 0.0).p_value


def by_signed_rank(rng):
    return signed_rank(rng.normal(size=N))


TESTS = {
    2000: (by_rows, by_groups, by_wald, by_f, by_corrected_t),
    400: (by_ranks, by_signed_rank),
}


@pytest.mark.parametrize(
    ("test", "samples"), [(test, samples) for samples, of in TESTS.items() for test in of]
)
def test_p_values_are_uniform(test, samples):
    rng = np.random.default_rng(1)
    p = [test(rng) for _ in range(samples)]
    assert kstest(p, "uniform").pvalue > REJECTED


def test_p_values_of_estimates_are_uniform():
    value, error = np.random.default_rng(1).normal(size=2000), np.ones(2000)
    p = with_errors(pd.DataFrame(index=range(2000)), value, error, 0.95)["p_value"]
    assert kstest(p, "uniform").pvalue > REJECTED


def test_simulated_p_values_of_tails_are_uniform():
    """Of residuals without heavy tails; with 150 p-values a distance of 0.26 is found with 99 %."""
    rng = np.random.default_rng(1)
    p = [tail_p(rng.normal(size=60), seed) for seed in range(150)]
    assert kstest(p, "uniform").pvalue > REJECTED


def test_folds_that_share_rows_make_the_corrected_t_too_careful_if_anything():
    """Ten folds of 100 numbers: means of 90 and of 10 rows that predict each other.

    Neither of the two is better.  Of 1,000 tests at level 5 % at most 7.3 % reject; if 10 % were
    rejected, this would be found with a probability of 99 %.
    """
    rng, rejected = np.random.default_rng(1), 0
    for _ in range(1000):
        y = rng.normal(size=(10, 10))
        rest = (y.sum() - y.sum(axis=1)) / 90
        # the mean of the other rows, and its reflection: the same error
        losses = [((y - sign * rest[:, None]) ** 2).mean(axis=1) for sign in (1, -1)]
        rejected += corrected_t(losses[0] - losses[1], 1 / 9).p_value <= 0.05
    assert rejected <= binom.ppf(1 - REJECTED, 1000, 0.05)


@pytest.mark.parametrize("correlation", [0.0, 0.9])
def test_bands_hold_the_whole_curve_and_intervals_each_point(correlation):
    """Of 2,000 curves: a band that holds 92 % of them instead of 95 % is found with 99 %."""
    rng, G = np.random.default_rng(1), 12
    apart = np.abs(np.subtract.outer(np.arange(G), np.arange(G)))
    C = correlation**apart * np.outer(np.arange(1, G + 1), np.arange(1, G + 1))
    curves = rng.multivariate_normal(np.zeros(G), C, size=2000)
    of_zero = bands(np.zeros(G), CurveSpread(C, C, 10**6, np.inf), 0.95, False, seed=1)
    together = (np.abs(curves) <= of_zero.band_high).all(axis=1).sum()
    each = (np.abs(curves) <= of_zero.conf_high).sum(axis=0)
    low, high = binom.ppf([REJECTED, 1 - REJECTED], 2000, 0.95)
    assert low <= together <= high
    assert (each >= low).all()
    assert (each <= high).all()


# ------------------------------------------------------------------------------------------------
# Knockoffs: their covariance, their thresholds, their exchange with predictors.
# ------------------------------------------------------------------------------------------------


def correlation_of(seed, p):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(p, p + 2))
    S = A @ A.T
    scale = np.sqrt(np.diag(S))
    return S / np.outer(scale, scale)


@given(seed=st.integers(0, 10**6), n=st.integers(3, 30), p=st.integers(1, 8))
def test_the_covariance_is_shrunk_as_by_scikit_learn(seed, n, p):
    Z = np.random.default_rng(seed).normal(size=(n, p)) @ np.diag(np.arange(1.0, p + 1))
    assert np.allclose(shrunken_covariance(Z, 1.0), ledoit_wolf(Z)[0])
    half = (Z - Z.mean(axis=0)).T @ (Z - Z.mean(axis=0)) / n / 2 + ledoit_wolf(Z)[0] / 2
    assert np.allclose(shrunken_covariance(Z, 0.5), half)


@given(seed=st.integers(0, 10**6), p=st.integers(1, 8))
def test_gaps_maximise_the_entropy(seed, p):
    correlation = correlation_of(seed, p)
    gaps = entropy_knockoff_gaps(correlation)
    joint = joint_covariance(correlation, gaps)
    assert np.linalg.eigvalsh(joint)[0] > 0
    scale = 1 / gaps
    assert np.allclose(entropy_slope(correlation, gaps) / scale, 0, atol=1e-3)
    given_predictors = correlation - (correlation - np.diag(gaps)) @ np.linalg.solve(
        correlation, correlation - np.diag(gaps)
    )
    assert np.allclose(knockoff_covariance(correlation, gaps), given_predictors)


@pytest.mark.filterwarnings("error")
def test_knockoffs_of_constants_are_these():
    values = np.tile([1.0, -2.5], (5, 1))
    np.testing.assert_array_equal(gaussian_knockoffs(values, np.random.default_rng(1)), values)


def test_knockoffs_can_be_exchanged_with_their_predictors():
    rng = np.random.default_rng(3)
    n, C = 4000, np.array([[1, 0.8, 0.3], [0.8, 1, 0.0], [0.3, 0.0, 1]])
    values = np.exp(rng.multivariate_normal(np.zeros(3), C, size=n))
    copies = gaussian_knockoffs(values, rng)
    logs, copied = np.log(values), np.log(copies)
    both = np.corrcoef(np.column_stack([logs, copied]).T)
    assert np.allclose(both[3:, 3:], both[:3, :3], atol=0.06)
    off = ~np.eye(3, dtype=bool)
    assert np.allclose(both[:3, 3:][off], both[:3, :3][off], atol=0.06)
    assert (np.diag(both[:3, 3:]) < 0.95).all()
    assert copies.min() >= values.min() and copies.max() <= values.max()


@given(
    W=st.lists(st.integers(-6, 6), min_size=1, max_size=25),
    fdr=st.sampled_from([0.05, 0.1, 0.2, 0.5, 0.9]),
)
def test_thresholds_are_those_of_the_definition(W, fdr):
    W = np.array(W, dtype=float)
    expected = selected_by_knockoffs(W.tolist(), fdr)
    assert (knockoff_threshold(W, fdr) <= W).tolist() == expected
    assert (knockoff_values(W) <= fdr).tolist() == expected


@pytest.mark.parametrize("W", [[0.0, 0.0], [-1.0, 0.0]])
def test_nothing_is_selected_without_a_difference_above_0(W):
    W = np.array(W)
    assert knockoff_threshold(W, 0.99) == np.inf
    assert (knockoff_values(W) == 1).all()


@pytest.mark.parametrize("n_negative", [0, 1, 3])
def test_what_has_a_rate_is_selected_at_it(n_negative):
    # 1 / 49 · 49 is a little less than 1 in floating point
    for n_positive in range(1, 120):
        W = np.r_[np.full(n_positive, 2.0), np.full(n_negative, -1.0), np.full(n_negative, -3.0)]
        rate = knockoff_values(W).min()
        if rate < 1:
            assert (knockoff_threshold(W, rate) <= W).sum() == n_positive, n_positive


# ------------------------------------------------------------------------------------------------
# Tests of differences of losses.
# ------------------------------------------------------------------------------------------------


def test_the_tests_of_single_rows_are_those_of_scipy():
    d = np.random.default_rng(1).normal(0.3, size=40)
    ones, rows = np.ones(40), np.arange(40)
    estimate, _, t, p, low, high = evaluated_differences(d, ones, rows, "t", 0.9)
    expected = ttest_1samp(d, 0, alternative="greater")
    interval = ttest_1samp(d, 0).confidence_interval(0.9)
    assert np.allclose([estimate, t, p], [d.mean(), expected.statistic, expected.pvalue])
    assert np.allclose([low, high], interval)
    signed = evaluated_differences(d, ones, rows, "wilcoxon", 0.9)
    assert np.allclose(signed[2:4], wilcoxon(d, alternative="greater"))


def test_rows_of_a_group_are_one_unit():
    means = np.random.default_rng(2).normal(0.2, size=12)
    groups, ones = np.repeat(np.arange(12), 3), np.ones(36)
    for test in ("t", "wilcoxon"):
        whole = evaluated_differences(np.repeat(means, 3), ones, groups, test, 0.95)
        assert np.allclose(whole, evaluated_differences(means, ones[:12], groups[::3], test, 0.95))


@pytest.mark.parametrize("test", ["t", "wilcoxon"])
def test_a_larger_variance_makes_less_significant(test):
    d = np.random.default_rng(1).normal(0.3, size=40)
    plain, inflated = (
        evaluated_differences(d, np.ones(40), np.arange(40), test, 0.95, by) for by in (1.0, 1.5)
    )
    assert inflated[1] == pytest.approx(np.sqrt(1.5) * plain[1])
    assert 0.5 > inflated[3] > plain[3]


def test_no_difference_is_no_finding():
    assert evaluated_differences(np.zeros(5), np.ones(5), np.arange(5), "wilcoxon", 0.95)[3] == 1


@pytest.mark.parametrize("test", ["t", "wilcoxon"])
@pytest.mark.parametrize(
    "difference", [[1.0, -1.0, 1.0, -1.0, 0.0, 0.0], [0.1, 0.2, -0.3, 0.2, 0.1, -0.3]]
)
@pytest.mark.filterwarnings("error")
def test_no_difference_of_units_is_no_finding(test, difference):
    # the second sums are 0 but for rounding
    groups = np.array([0, 0, 1, 1, 2, 2]) if difference[0] == 1 else np.repeat([0, 1], 3)
    found = evaluated_differences(np.array(difference), np.ones(6), groups, test, 0.95)
    assert found == (0.0, 0.0, 0.0, 1.0, 0.0, 0.0)


def test_ridge_leaves_out_each_row():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(30, 4))
    y = X[:, 0] + rng.normal(size=30)
    left_out = y - ridge_regression(X, y, np.ones(30)).left_out
    errors = [(left_out_residuals(X, y, penalty) ** 2).mean() for penalty in RIDGE_PENALTIES]
    best = left_out_residuals(X, y, RIDGE_PENALTIES[int(np.argmin(errors))])
    assert np.allclose(left_out, best)


def test_ridge_is_exact_where_there_is_a_line():
    X = np.random.default_rng(5).normal(size=(20, 2))
    y = 3 + X @ [2.0, -1.0]
    fit = ridge_regression(X, y, np.ones(20))
    assert np.allclose(fit.intercept + X @ fit.coef, y, atol=1e-4)


# ------------------------------------------------------------------------------------------------
# Which predictors a backward step keeps, and what hits against shadows decide.
# ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("drop", "kept"),
    [(0.01, [0, 1, 2, 4]), (0.4, [0, 2, 4]), (0.5, [0, 2, 4]), (0.99, [2])],
)
def test_the_least_important_go(drop, kept):
    assert most_important(np.array([3.0, 1.0, 7.0, -2.0, 3.0]), drop).tolist() == kept


@given(st.lists(st.floats(-5, 5), min_size=2, max_size=40), st.floats(0.01, 0.99))
def test_a_step_drops_some_and_keeps_some(importance, drop):
    importance = np.array(importance)
    kept = most_important(importance, drop)
    assert 1 <= len(kept) < len(importance)
    gone = np.delete(importance, kept)
    assert importance[kept].min() >= gone.max()


def tail(hits, rounds):
    """The probability of at least so many heads."""
    return sum(comb(rounds, k) for k in range(hits, rounds + 1)) / 2**rounds


@pytest.mark.parametrize("rounds", [1, 8, 20, 50])
@pytest.mark.parametrize("P", [1, 5, 300])
def test_decisions_are_binomial_tests(P, rounds):
    for hits in range(rounds + 1):
        decided = decisions(np.full(P, hits), np.full(P, rounds))
        level = 0.01 / P
        if tail(hits, rounds) < level:
            assert set(decided) == {"confirmed"}
        elif tail(rounds - hits, rounds) < level:
            assert set(decided) == {"rejected"}
        else:
            assert set(decided) == {"tentative"}


@pytest.mark.parametrize("P", [1, 3, 10, 41, 1000])
def test_fewer_rounds_decide_nothing(P):
    fewest = fewest_rounds(P)
    for rounds, some in ((fewest, True), (fewest - 1, False)):
        assert (decisions(np.full(P, rounds), np.full(P, rounds))[0] == CONFIRMED) == some
        assert (
            decisions(np.zeros(P, dtype=int), np.full(P, rounds))[0] == REJECTED_OF_SELECTION
        ) == some
