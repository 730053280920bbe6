"""Gray's test against the twin."""

from __future__ import annotations

import numpy as np
import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st

from lifetimes import lifetimes
from odrf.statistics.survival.grays_test import grays_test
from reference import survival as twin
from reference.survival import Rows


@given(lifetimes(weights=(1.0, 2.0, 3.0, 0.0)), st.sampled_from([1, 2]), st.booleans())
def test_the_test_is_that_of_the_twin(of, cause, strata):
    group, half = np.round(2 * of.score), np.arange(len(of.time)) % 2
    stratum = half if strata else np.zeros(len(half))
    found = grays_test(
        of.time, of.event, group, cause, of.weights, stratum if strata else None, of.start
    )
    levels = np.unique(group).tolist()
    score, covariance = np.zeros(len(levels)), np.zeros((len(levels), len(levels)))
    for h in np.unique(stratum):
        inside = np.flatnonzero(stratum == h)
        part = Rows(*([column[i] for i in inside] for column in of.rows))
        parts = twin.grays_test(part, group[inside].tolist(), cause, levels)
        score, covariance = score + parts[0], covariance + parts[1]
    np.testing.assert_allclose(found.score, score, atol=1e-10)
    np.testing.assert_allclose(found.covariance, covariance, atol=1e-10)
    assert found.groups.tolist() == levels
    if found.df:
        p = scipy.stats.chi2.sf(found.statistic, found.df)
        assert found.p_value == pytest.approx(p)
    else:
        assert np.isnan(found.p_value)


@given(lifetimes(entry=False, weights=(1.0, 2.0, 0.0)))
def test_entry_at_the_beginning_is_no_late_entry(of):
    group = np.round(2 * of.score)
    late = grays_test(of.time, of.event, group, 1, of.weights, start=of.start)
    np.testing.assert_allclose(
        late.score, grays_test(of.time, of.event, group, 1, of.weights).score, atol=1e-12
    )


def test_groups_of_one_incidence_that_enter_at_other_times_are_not_told_apart():
    scores, covariances, p_values = [], [], []
    for seed in range(150):
        rng = np.random.default_rng(seed)
        time, cause = rng.exponential(size=300), 1 + (rng.random(300) < 0.4)
        censored, group = 0.1 + rng.exponential(1.5, 300), rng.integers(0, 3, 300)
        enter = np.where(rng.random(300) < 0.4, 0.0, rng.uniform(0, 1 + 0.5 * group))
        end = np.minimum(time, censored)
        seen = enter < end
        event = np.where(time <= censored, cause, 0)
        test = grays_test(end[seen], event[seen], group[seen], 1, start=enter[seen])
        scores.append(test.score)
        covariances.append(test.covariance)
        p_values.append(test.p_value)
    np.testing.assert_allclose(np.cov(np.transpose(scores)), np.mean(covariances, axis=0), atol=4)
    assert 0.02 < np.mean(np.array(p_values) < 0.05) < 0.08


def test_groups_that_are_never_at_risk_together_are_not_compared():
    for seed in range(20):
        rng = np.random.default_rng(seed)
        group = np.repeat([0, 1, 2], 15)
        third = np.where(group == 2, 10.0, 0.0)
        for start, df in ((10.0 * group, 0), (third, 1)):
            time, event = start + 0.2 + 5 * rng.random(45), rng.integers(0, 3, 45)
            found = grays_test(time, event, group, weights=0.1 + 3 * rng.random(45), start=start)
            assert found.df == df and np.isnan(found.p_value) == (df == 0)
