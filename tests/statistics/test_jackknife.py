"""The jackknife after bootstrap against its formulas, and where the truth is known."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from odrf.engine.resamples import BOOTSTRAP, SUBSAMPLE, Draws, Sampling
from odrf.engine.trees.forest import joined
from odrf.statistics.jackknife import (
    Variance,
    df_of_variances,
    distinguishes_rows,
    enough_trees,
    jackknife_after_bootstrap,
    not_negative,
)
from problems import noisy
from reference import inference as twin
from resampled import forests


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
