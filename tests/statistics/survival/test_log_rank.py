"""The log-rank test against the twin and scipy."""

from __future__ import annotations

import numpy as np
import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st

from lifetimes import lifetimes
from odrf.statistics.survival.log_rank import log_rank
from reference import survival as twin


@given(lifetimes(), st.booleans())
def test_the_test_is_that_of_the_twin(of, strata):
    # zero weights are no rows, but groups
    group = np.round(2 * of.score)
    stratum = (np.arange(len(group)) % 2) * strata
    found = log_rank(of.time, of.event, group, of.weights, of.start, stratum if strata else None)
    difference, covariance = twin.log_rank(of.rows, group.tolist(), stratum.tolist())
    np.testing.assert_allclose(found.observed - found.expected, difference, atol=1e-12)
    np.testing.assert_allclose(found.covariance, covariance, atol=1e-12)
    assert found.groups.tolist() == np.unique(group).tolist()
    assert found.df == np.linalg.matrix_rank(covariance, tol=1e-9)
    assert found.observed.sum() == pytest.approx(found.expected.sum())
    if found.df:
        expected = difference @ np.linalg.pinv(covariance, rcond=1e-9) @ difference
        assert found.statistic == pytest.approx(expected, rel=1e-8, abs=1e-10)
        assert found.p_value == pytest.approx(scipy.stats.chi2.sf(expected, found.df), rel=1e-7)
    else:
        assert np.isnan(found.p_value)


def test_two_groups_are_tested_as_by_scipy():
    rng = np.random.default_rng(1)
    time, event = np.ceil(rng.exponential(5, 60)), rng.integers(0, 2, 60)
    group = np.repeat([0, 1], 30)

    def sample(rows):
        happened = event[rows] == 1
        return scipy.stats.CensoredData(time[rows][happened], right=time[rows][~happened])

    theirs = scipy.stats.logrank(sample(group == 0), sample(group == 1))
    ours = log_rank(time, event, group)
    assert ours.statistic == pytest.approx(theirs.statistic**2, rel=1e-10)
    assert ours.p_value == pytest.approx(theirs.pvalue, rel=1e-10)


def test_groups_that_are_never_at_risk_together_are_not_compared():
    for seed in range(20):
        rng = np.random.default_rng(seed)
        group, weights = np.repeat([0, 1, 2], 15), 0.1 + 3 * rng.random(45)
        third = np.where(group == 2, 10.0, 0.0)
        for start, df in ((10.0 * group, 0), (third, 1)):
            time, event = start + 0.2 + 5 * rng.random(45), rng.integers(0, 2, 45)
            found = log_rank(time, event, group, weights, start)
            assert found.df == df and np.isnan(found.p_value) == (df == 0)
