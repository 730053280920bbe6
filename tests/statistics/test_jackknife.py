"""The jackknife after bootstrap against its formulas, and where the truth is known."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import odrf
from odrf.engine.numeric import streams
from odrf.engine.resamples import BOOTSTRAP, SUBSAMPLE, Draws, RowCodes, Sampling
from odrf.engine.trees.forest import joined
from odrf.errors import InputError
from odrf.statistics.effects import functional_covariance
from odrf.statistics.jackknife import (
    Variance,
    df_of_variances,
    distinguishes_rows,
    enough_trees,
    jackknife_after_bootstrap,
    not_negative,
    out_of_bag_units,
    strata_of,
    weighted_mean,
)
from problems import noisy
from reference import inference as twin
from resampled import all_counts, forests


@settings(max_examples=35, deadline=None)
@given(forests((BOOTSTRAP, SUBSAMPLE)))
def test_variances_are_those_of_the_formulas(grown):
    assume(distinguishes_rows(grown.draws()))
    found = jackknife_after_bootstrap(grown.forest, grown.new, grown.kinds, grown.draws())
    counts = twin.draws(*grown.draws()[:3])[:, grown.problem.weights > 0]
    ends = [batch.begin for batch in grown.samplings[0].later] + [len(grown.problem.weights)]
    ends = [0, *(int((grown.problem.weights[:end] > 0).sum()) for end in ends)]
    rows = [slice(*pair) for pair in pairwise(ends)]
    for j, x in enumerate(grown.new.T):
        raw, bias, of_trees = twin.variance(
            grown.forest, grown.kinds.tolist(), counts, grown.samplings, grown.streams, x, rows
        )
        assert found.raw[j] == pytest.approx(raw, rel=1e-9, abs=1e-12)
        assert found.bias[j] == pytest.approx(bias, rel=1e-9, abs=1e-12)
        assert found.of_trees[j] == pytest.approx(of_trees, rel=1e-9, abs=1e-12)
    assert (found.total >= 0).all()
    assert found.n == counts.shape[1]


@settings(max_examples=20, deadline=None)
@given(forests((BOOTSTRAP, SUBSAMPLE)))
def test_out_of_bag_it_is_that_of_the_trees_that_missed_the_row(grown):
    draws = grown.draws()
    assume(not grown.samplings[0].later and distinguishes_rows(draws, True))
    X, unseen = grown.problem.X, draws.all_unseen()
    found = jackknife_after_bootstrap(grown.forest, X, grown.kinds, draws, unseen)
    counts = twin.draws(*draws[:3])
    for i in np.flatnonzero(grown.problem.weights > 0):
        others = (grown.problem.weights > 0) & (np.arange(X.shape[1]) != i)
        at = np.flatnonzero(unseen[:, i])
        if len(at) < 2 or others.sum() < 2:
            assert len(at) > 1 or np.isnan(found.total[i])
            continue
        alone = joined((grown.forest.tree(b) for b in at), len(at))
        expected = twin.variance(
            alone, grown.kinds[at].tolist(), counts[np.ix_(at, others)],
            [grown.samplings[b] for b in at], grown.streams[at], X[:, i], [slice(None)],
        )  # fmt: skip
        np.testing.assert_allclose([part[i] for part in found[:3]], expected, 1e-9, 1e-12)


@pytest.mark.weekly
@pytest.mark.parametrize(
    "sampling", [Sampling(BOOTSTRAP, 1.0), Sampling(BOOTSTRAP, 0.5), Sampling(SUBSAMPLE, 0.6)]
)
def test_trees_that_are_means_have_the_variance_of_the_mean(sampling):
    problem = replace(noisy(n=30, max_leaves=1), sampling=sampling)
    B = 4_000
    found = jackknife_after_bootstrap(
        problem.grow(B), problem.X[:, :2], np.zeros(B, dtype=np.int64),
        Draws(problem.weights, [sampling] * B, problem.streams(B), 1),
    )  # fmt: skip
    variance = np.var(problem.y, ddof=1) / 30
    assert (found.monte_carlo_error < 0.05 * variance).all()
    assert (np.abs(found.corrected - variance) < 3 * found.monte_carlo_error).all()


@settings(max_examples=8, deadline=None)
@given(forests((BOOTSTRAP, SUBSAMPLE)), st.sampled_from([2, 3]))
def test_threads_change_nothing(grown, n_jobs):
    assume(distinguishes_rows(grown.draws()))
    given = (grown.forest, np.tile(grown.new, 700), grown.kinds)
    one, more = (jackknife_after_bootstrap(*given, grown.draws(jobs)) for jobs in (1, n_jobs))
    assert one.raw.tolist() == more.raw.tolist()
    assert one.bias.tolist() == more.bias.tolist()


@settings(max_examples=100, deadline=None)
@given(st.floats(-20, 50), st.floats(0.2, 10))
def test_a_variance_is_never_negative(estimate, error):
    found = float(not_negative(np.array(estimate), np.array(error)))
    assert found == pytest.approx(twin.mean_above_zero(estimate, error), rel=1e-3)
    assert found >= max(estimate, 0.0)


def test_without_monte_carlo_error_a_variance_stays_as_it_is():
    estimate = np.array([0.0, 2.0])
    assert not_negative(estimate, np.zeros(2)).tolist() == [0.0, 2.0]


def test_the_monte_carlo_error_of_a_variance_is_its_formula():
    variance = Variance(np.array([3.0, 0.5]), np.array([1.0, 1.0]), np.array([0.25, 0.5]), 8)
    assert variance.corrected.tolist() == [2.0, -0.5]
    # √((2·bias² + 4·signal·bias) / n), where a signal is not negative
    error = np.sqrt(np.array([2 + 4 * 2, 2 + 0]) / 8)
    np.testing.assert_allclose(variance.monte_carlo_error, error, rtol=1e-15)
    of_samples = not_negative(np.array([2.0, -0.5]), error)
    np.testing.assert_allclose(variance.total, of_samples + np.array([0.25, 0.5]), rtol=1e-15)
    np.testing.assert_allclose(variance.df, 8 * (variance.total / [3.0, 0.5]) ** 2, rtol=1e-12)


def test_degrees_of_freedom_are_one_at_least():
    total, raw = np.array([0.1, 2.0, 3.0, 4.0]), np.full(4, 4.0)
    assert df_of_variances(total, raw, 4).tolist() == [1.0, 1.0, 2.25, 4.0]


def of_rows(raw: float, bias: float, n: int) -> Variance:
    return Variance(np.full(900, raw), np.full(900, bias), np.zeros(900), n)


def imprecise(variance: Variance) -> bool:
    return bool((variance.monte_carlo_error > variance.corrected / 3).all())


@pytest.mark.parametrize("n", [50, 2000])
@pytest.mark.parametrize(("signal", "bias"), [(1.0, 0.1), (1.0, 2.0), (1.0, 20.0)])
def test_as_many_trees_as_advised_are_enough(signal, bias, n):
    few = of_rows(signal + bias, bias, n)
    advised = enough_trees(few, 300)
    assert (advised > 300) == imprecise(few)
    if advised:
        assert advised % 100 == 0
        fewer = bias * 300 / advised
        more = of_rows(signal + fewer, fewer, n)
        assert not imprecise(more)
        assert enough_trees(more, advised) == 0


def test_a_quarter_more_trees_are_advised_than_seem_enough():
    # 300·20/(√(1 + 2000/18) - 1) = 626 of them
    assert enough_trees(of_rows(21.0, 20.0, 2000), 300) == 800


def test_more_trees_are_advised_where_noise_hides_the_variance():
    B, rounds = 300, 0
    while advised := enough_trees(of_rows(0.01 + 10 * 300 / B, 10 * 300 / B, 200), B):
        assert advised > B
        B, rounds = advised, rounds + 1
    assert rounds <= 3
    assert not imprecise(of_rows(0.01 + 10 * 300 / B, 10 * 300 / B, 200))


def test_no_trees_are_advised_where_all_agree():
    assert enough_trees(of_rows(0.0, 0.0, 10), 30) == 0


def test_degrees_of_freedom_are_those_of_the_mean_and_variance_over_trees():
    """Of a sum of n squares of normal errors, without its bias."""
    n, signal, bias = 300, 1.0, 3.0
    rng = np.random.default_rng(1)
    raw = (rng.standard_normal((4000, n)) ** 2).sum(axis=1) * (signal + bias) / n
    variance = Variance(raw, np.full(4000, bias), np.zeros(4000), n)
    estimate = variance.total
    assert np.median(variance.df) == pytest.approx(2 * signal**2 / estimate.var(), rel=0.15)
    exact = Variance(raw, np.zeros(4000), np.zeros(4000), n)
    np.testing.assert_allclose(exact.df, n)


def test_what_does_not_vary_has_no_degrees_of_freedom():
    nothing = Variance(np.zeros(2), np.zeros(2), np.array([0.0, np.nan]), 10)
    assert np.isnan(nothing.df).all()


# ------------------------------------------------------------------------------------------------
# The jackknife after bootstrap where trees draw whole groups, or from strata.
# ------------------------------------------------------------------------------------------------

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
    with pytest.raises(InputError, match="with order= they sample early rows more often"):
        forest.predict(table, interval="confidence")


# ------------------------------------------------------------------------------------------------
#
# ------------------------------------------------------------------------------------------------


def test_a_mean_counts_rows_by_their_weights():
    assert weighted_mean(np.array([1.0, 4.0]), np.array([2.0, 1.0])) == pytest.approx(2.0)
    assert weighted_mean(np.array([True, False]), np.array([1.0, 3.0])) == pytest.approx(0.25)


@pytest.mark.parametrize("m", [0, 3])
def test_without_weight_there_is_no_mean(m):
    assert math.isnan(weighted_mean(np.ones(m), np.zeros(m)))
