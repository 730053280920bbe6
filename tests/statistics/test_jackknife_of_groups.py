"""The jackknife after bootstrap where trees draw whole groups, or from strata."""

from __future__ import annotations

import numpy as np
import pytest

import odrf
from odrf.engine.numeric import streams
from odrf.engine.resamples import BOOTSTRAP, SUBSAMPLE, Draws, RowCodes, Sampling
from odrf.errors import InputError
from odrf.statistics.effects import functional_covariance
from odrf.statistics.jackknife import distinguishes_rows, out_of_bag_units, strata_of
from resampled import all_counts

B = 3000


def variance_of_mean(codes, weights, y, sampling):
    """The variance of the mean of 3000 trees that are weighted means, as the jackknife finds it."""
    draws = Draws(weights, [sampling] * B, streams(8, 0, B), 2, codes)
    counts = all_counts(draws) * weights
    values = (counts @ y / counts.sum(axis=1))[:, None]
    return functional_covariance(values, np.zeros(B, dtype=np.int64), draws).variances


def agrees(found, variance, slack=0.0):
    error = found.monte_carlo_error
    assert (error < 0.1 * variance).all()
    assert (np.abs(found.corrected - variance) < 3 * error + slack * variance).all()


SAMPLINGS = [Sampling(BOOTSTRAP, 1.0), Sampling(SUBSAMPLE, 0.5)]


@pytest.mark.parametrize("sampling", SAMPLINGS)
def test_groups_are_the_units_of_the_variance(sampling):
    rng = np.random.default_rng(1)
    groups = np.repeat(np.arange(40), 5)
    y = rng.normal(size=40)[groups] + rng.normal(size=200) / 5
    means = y.reshape(40, 5).mean(axis=1)
    found = variance_of_mean(RowCodes(groups), np.ones(200), y, sampling)
    agrees(found, np.var(means, ddof=1) / 40)
    alone = variance_of_mean(None, np.ones(200), y, sampling)
    assert found.corrected[0] > 3 * alone.corrected[0]


@pytest.mark.parametrize("sampling", SAMPLINGS)
def test_the_variance_between_strata_does_not_count(sampling):
    rng = np.random.default_rng(2)
    strata = rng.permutation(np.repeat([0, 1, 2], [20, 30, 50]))
    y = 10.0 * strata + rng.normal(size=100) * (1 + strata)
    within = sum(
        (np.mean(strata == h)) ** 2 * np.var(y[strata == h], ddof=1) / np.sum(strata == h)
        for h in range(3)
    )
    agrees(variance_of_mean(RowCodes(strata=strata), np.ones(100), y, sampling), within)


@pytest.mark.parametrize("sampling", SAMPLINGS)
def test_case_weights_are_the_weights_of_a_survey_with_clusters_and_strata(sampling):
    rng = np.random.default_rng(3)
    sizes = rng.integers(2, 7, 60)
    groups = np.repeat(np.arange(60), sizes)
    stratum = np.repeat([0, 1], [20, 40])
    weights = np.where(stratum[groups] == 0, 3.0, 1.0) * rng.uniform(0.5, 1.5, len(groups))
    y = stratum[groups] + rng.normal(size=60)[groups] + rng.normal(size=len(groups))
    # linearised, as statistical packages for surveys have it
    residual = weights * (y - np.average(y, weights=weights)) / weights.sum()
    totals = np.bincount(groups, residual)
    variance = sum(np.sum(stratum == h) * np.var(totals[stratum == h], ddof=1) for h in range(2))
    codes = RowCodes(groups, None, stratum[groups])
    agrees(variance_of_mean(codes, weights, y, sampling), variance, slack=0.1)


def test_units_without_weight_are_none():
    weights = np.ones(12)
    weights[[0, 1, 4]] = 0.0
    groups, strata = np.repeat(np.arange(6), 2), np.repeat([1, 0, 1, 0, 0, 1], 2)
    draws = Draws(weights, [SAMPLINGS[1]] * 3, streams(1, 0, 3), 1, RowCodes(groups, None, strata))
    first, second = strata_of(draws)
    assert [(part.begin, part.end, part.n) for part in (first, second)] == [(0, 3, 3), (3, 5, 2)]
    expected = draws.all_unseen()[:, [2, 6, 8, 5, 10]]
    assert (out_of_bag_units(draws) == expected).all()


def test_groups_of_one_row_are_rows():
    rng = np.random.default_rng(4)
    y, weights = rng.normal(size=50), rng.integers(0, 3, 50).astype(float)
    codes = RowCodes(np.arange(50))
    for sampling in SAMPLINGS:
        one = variance_of_mean(codes, weights, y, sampling)
        other = variance_of_mean(None, weights, y, sampling)
        assert [part.tolist() for part in one[:3]] == [part.tolist() for part in other[:3]]


def test_in_time_there_is_none(table):
    codes = RowCodes(order=np.arange(10))
    draws = Draws(np.ones(10), [SAMPLINGS[0]] * 3, streams(1, 0, 3), 1, codes)
    assert not distinguishes_rows(draws)
    forest = odrf.odrf("y ~ a + b + f", table, order=np.arange(120), n_trees=20, seed=1)
    with pytest.raises(InputError, match="with order= they draw early rows more often"):
        forest.predict(table, interval="confidence")
