"""p-values are uniform where nothing matters, or too large; intervals cover as often.

A test of Kolmogorov and Smirnov at level 0.001 with 2,000 p-values rejects if their distribution is
more than 0.0436 from the uniform one anywhere.  If it is 0.07 off, such as a size of 12 % where 5 %
are stated, it rejects with a probability above 98 %; with 400 p-values this holds for 0.16.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom, kstest

from odrf.evaluation.compare import corrected_t, signed_rank
from odrf.statistics.curves import CurveSpread, bands
from odrf.statistics.effects import joint_test, with_errors
from odrf.statistics.importance_tests import judged_differences
from odrf.statistics.theorems import tail_p

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
    return judged_differences(rng.normal(size=N), np.ones(N), np.arange(N), "t", 0.95)[3]


def by_groups(rng):
    return judged_differences(*differences(rng), "t", 0.95)[3]


def by_ranks(rng):
    return judged_differences(rng.normal(size=N), np.ones(N), np.arange(N), "wilcoxon", 0.95)[3]


def by_wald(rng):
    C, value = covariance(rng, 3)
    return joint_test(value, C).p_value


def by_f(rng):
    """The covariance is estimated from 12 rows."""
    rows = rng.normal(size=(12, 1))
    return joint_test(rows.mean(axis=0), np.array([[rows.var(ddof=1) / 12]]), 11).p_value


def by_corrected_t(rng):
    """Folds whose test rows are as nothing beside the training rows are independent."""
    return corrected_t(rng.normal(size=10), 0.0)[1]


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
        rejected += corrected_t(losses[0] - losses[1], 1 / 9)[1] <= 0.05
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
