"""Intervals of estimates that lie between 0 and 1."""

from __future__ import annotations

import math
from itertools import pairwise, product

import numpy as np
import pandas as pd
import pytest
import scipy
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.stats import norm, t

from benchmarks.errors import error_estimates
from odrf import odrf
from odrf.engine.resamples import BOOTSTRAP, SUBSAMPLE, Draws, Sampling
from odrf.statistics.calibration import effective_rows
from odrf.statistics.curves import similarity_order, simultaneous_width
from odrf.statistics.discrimination import area_under_roc
from odrf.statistics.effects import (
    NUMBERS,
    FunctionalCovariance,
    function_of_estimates,
    functional_covariance,
    independent,
    joint_test,
    limits_of_predicted_share,
    limits_of_share,
    with_errors,
)
from odrf.statistics.importance import sampling_errors
from odrf.statistics.jackknife import distinguishes_rows, jackknife_after_bootstrap
from odrf.statistics.shapley import box_weights
from odrf.statistics.survival.discrimination import (
    concordance_of_cause,
    dynamic_areas,
    harrells_c,
    unos_c,
)
from odrf.statistics.survival.pseudo_values import (
    RowwiseShare,
    difference_of_estimates,
)
from odrf.statistics.survival.scores import brier_scores
from reference import inference as twin
from reference.shapley import values_by_definition
from resampled import all_counts, forests

SAMPLES = 2000


def on_log_odds(p, reach):
    """The delta method, number by number."""
    odds = math.log(p / (1 - p))
    ends = (odds + sign * reach / (p * (1 - p)) for sign in (-1, 1))
    return tuple(1 / (1 + math.exp(-end)) for end in ends)


@given(st.floats(0.001, 0.999), st.floats(0, 0.3))
def test_they_are_those_of_the_log_odds_by_the_delta_method(p, reach):
    if reach / (p * (1 - p)) > 500:
        return
    low, high = limits_of_share(p, reach)
    assert (float(low), float(high)) == pytest.approx(on_log_odds(p, reach), rel=1e-9)
    assert 0 <= low <= p + 1e-12 and p - 1e-12 <= high <= 1


def test_the_ends_of_the_scale_have_none():
    low, high = limits_of_share(np.array([0.0, 1.0, 1 - 1e-15, 1.2, np.nan]), 0.1)
    assert np.isnan(low).all() and np.isnan(high).all()


def nearly_separated():
    """Times that a score orders but for few pairs."""
    rng = np.random.default_rng(4)
    score = np.sort(rng.normal(size=16))[::-1]
    time, event = np.arange(1.0, 17.0), np.ones(16, dtype=np.int64)
    event[[5, 11]] = 0
    score[[2, 3]] = score[[3, 2]]
    return time, event, score


def test_concordances_areas_and_scores_stay_within_0_and_1():
    time, event, score = nearly_separated()
    risk = np.where(time[:, None] <= 8, 0.999, [[0.0005] * 3]) + np.zeros((16, 3))
    risk[3] = 0.5
    found = {
        "harrell": harrells_c(time, event, score),
        "uno": unos_c(time, event, score),
        "cause": concordance_of_cause(time, event, score, 1),
        "area": dynamic_areas(time, event, score, np.array([3.5])).mean,
        "brier": brier_scores(time, event, risk, np.array([8.0, 8.3, 8.6])).integrated,
    }
    for name, share in found.items():
        assert isinstance(share, RowwiseShare), name
        low, high = share.interval(0.999)
        assert 0 < low < share.estimate < high < 1, name
        plain = share.estimate + np.array([-3.29, 3.29]) * share.std_error
        assert plain[0] < 0 or plain[1] > 1, name
        reach = 3.2905267 * share.std_error
        assert (low, high) == pytest.approx(on_log_odds(share.estimate, reach), rel=1e-5)


def test_a_difference_of_shares_is_none():
    time, event, score = nearly_separated()
    first, second = harrells_c(time, event, score), harrells_c(time, event, -score)
    difference = difference_of_estimates(first, second)
    low, high = difference.interval()
    assert (low + high) / 2 == pytest.approx(difference.estimate)


def test_all_areas_have_the_same_interval():
    """Time-dependent areas of uncensored rows, and C of two times, are areas of two classes."""
    rng = np.random.default_rng(2)
    event = rng.integers(0, 2, 40).astype(float)
    score = rng.normal(size=40) + event
    time, happened = np.where(event > 0, 1.0, 2.0), np.ones(40, dtype=np.int64)
    area = area_under_roc(score, event, np.ones(40), 0.95)
    dynamic = dynamic_areas(time, happened, score, np.array([1.0])).mean
    assert dynamic.estimate == pytest.approx(area.estimate)
    ends = on_log_odds(area.estimate, 1.959964 * dynamic.std_error)
    assert dynamic.interval() == pytest.approx(ends, rel=1e-6)
    # errors of the jackknife are those of DeLong but for m/(m - 1) in each class
    assert dynamic.interval() == pytest.approx((area.conf_low, area.conf_high), abs=0.01)


@pytest.mark.parametrize("shift", [0.7, 2.0])
def test_they_cover_the_concordance_at_least_as_often_as_plain_ones(shift):
    rng, truth = np.random.default_rng(7), None
    ends, plain = np.empty((2, SAMPLES, 2))
    for s in range(-1, SAMPLES):
        n = 20_000 if s < 0 else 40
        score = rng.normal(size=n)
        time, end = rng.exponential(np.exp(-shift * score)), rng.exponential(3.0, n)
        found = harrells_c(np.minimum(time, end), time <= end, score)
        if s < 0:
            truth = found.estimate
            continue
        ends[s] = found.interval()
        plain[s] = found.estimate + np.array([-1.96, 1.96]) * found.std_error
    covered = ((ends[:, 0] <= truth) & (truth <= ends[:, 1])).mean()
    of_plain = ((plain[:, 0] <= truth) & (truth <= plain[:, 1])).mean()
    print(f"C {truth:.3f}: {covered:.3f} covered, {of_plain:.3f} by plain intervals")
    assert covered >= of_plain - 0.005
    assert 0.92 < covered < 0.97


@given(st.floats(0, 1), st.floats(0, 0.5))
def test_limits_of_predictions_are_at_most_twice_as_far_as_plain_ones(p, reach):
    low, high = (float(end) for end in limits_of_predicted_share(p, reach))
    assert 0 <= low <= p + 1e-12 and p - 1e-12 <= high <= 1
    if p < 1e-9 or p > 1 - 1e-9:
        return
    if reach / (p * (1 - p)) < 500:
        ends = on_log_odds(p, reach)
        assert low == pytest.approx(max(ends[0], p - 2 * reach), abs=1e-9)
        assert high == pytest.approx(min(ends[1], p + 2 * reach), abs=1e-9)


def test_predictions_of_0_and_1_have_plain_limits():
    low, high = limits_of_predicted_share(np.array([0.0, 1.0, 0.5]), np.array([0.1, 0.1, np.nan]))
    np.testing.assert_allclose(low, [0.0, 0.9, np.nan])
    np.testing.assert_allclose(high, [0.1, 1.0, np.nan])


# ------------------------------------------------------------------------------------------------
# Covariances of functionals against the formula, and where the truth is known.
# ------------------------------------------------------------------------------------------------


def values_of(grown) -> np.ndarray:
    """What each tree predicts for the new rows, (B, 3)."""
    return np.column_stack(
        [
            [grown.forest.value[twin.leaf(grown.forest, b, x), 0] for b in range(len(grown.kinds))]
            for x in grown.new.T
        ]
    )


@settings(max_examples=30, deadline=None)
@given(forests((BOOTSTRAP, SUBSAMPLE)))
def test_covariances_are_those_of_the_formula(grown):
    assume(distinguishes_rows(grown.draws()))
    values = values_of(grown)
    found = functional_covariance(values, grown.kinds, grown.draws())
    counts = twin.draws(*grown.draws()[:3])[:, grown.problem.weights > 0]
    ends = [batch.begin for batch in grown.samplings[0].later] + [len(grown.problem.weights)]
    ends = [0, *(int((grown.problem.weights[:end] > 0).sum()) for end in ends)]
    rows = [slice(*pair) for pair in pairwise(ends)]
    for j in range(3):
        for k in range(3):
            expected = twin.covariance(
                values[:, j], values[:, k], grown.kinds.tolist(), counts, grown.samplings,
                grown.streams, rows,
            )  # fmt: skip
            parts = (found.raw[j, k], found.bias[j, k], found.of_trees[j, k])
            assert parts == pytest.approx(expected, rel=1e-9, abs=1e-12)


@settings(max_examples=20, deadline=None)
@given(forests((BOOTSTRAP, SUBSAMPLE)))
def test_predictions_have_the_variances_of_predictions(grown):
    assume(distinguishes_rows(grown.draws()))
    found = functional_covariance(values_of(grown), grown.kinds, grown.draws())
    alone = jackknife_after_bootstrap(grown.forest, grown.new, grown.kinds, grown.draws())
    np.testing.assert_allclose(found.variances.total, alone.total, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(np.diagonal(found.total), alone.total, rtol=1e-9, atol=1e-12)
    assert found.trees_advised >= 0


def covariance_of(raw, bias, trees=0.0) -> FunctionalCovariance:
    zero = np.full_like(raw, trees)
    return FunctionalCovariance(raw, bias, zero, 50, 100)


@settings(max_examples=50)
@given(st.integers(0, 2**32), st.integers(1, 6), st.floats(0.0, 3.0))
def test_the_matrix_has_no_negative_eigenvalue(seed, M, share):
    rng = np.random.default_rng(seed)
    half = rng.normal(size=(M, 4)) * rng.choice([0.0, 1.0], (M, 1), p=[0.2, 0.8])
    other = rng.normal(size=(M, 4))
    found = covariance_of(half @ half.T, share * other @ other.T)
    total = found.total
    assert np.isfinite(total).all()
    assert np.linalg.eigvalsh(total).min() >= -1e-9 * max(1.0, np.abs(total).max())
    np.testing.assert_allclose(np.diagonal(total), found.variances.total, rtol=1e-9)


def test_without_monte_carlo_error_the_matrix_stays_as_it_is():
    half = np.random.default_rng(1).normal(size=(3, 5))
    raw = half @ half.T
    np.testing.assert_allclose(covariance_of(raw, 0 * raw).total, raw, rtol=1e-12)


@pytest.mark.parametrize("resample", [BOOTSTRAP, SUBSAMPLE])
def test_trees_that_are_means_have_the_covariance_of_means(resample):
    rng = np.random.default_rng(3)
    n, B = 40, 20_000
    rows = rng.normal(size=(n, 2)) @ np.array([[1.0, 0.8], [0.0, 0.6]])
    sampling = Sampling(resample, 1.0 if resample == BOOTSTRAP else 0.5)
    streams = rng.integers(1, 2**63, (B, 4)).astype(np.uint64)
    draws = Draws(np.ones(n), [sampling] * B, streams, 1)
    counts = all_counts(draws).astype(float)
    values = counts @ rows / counts.sum(axis=1, keepdims=True)
    found = functional_covariance(values, np.zeros(B, dtype=np.int64), draws)
    expected = np.cov(rows.T) / n
    # a bootstrap's jackknife is somewhat too large: the mean of a sample without a row differs
    np.testing.assert_allclose(found.total, expected, rtol=0.15)


def test_few_trees_do_not_make_joint_tests_reject():
    """What trees add by chance can look like a correlation, of which some combination has no error.

    Three estimates are 0, and their errors independent.  Of 150 tests at level 5 % at most 15 % may
    reject; if 23 % did, this would be found with a probability of 99 %.  With correlations that are
    estimated one by one it was 31 %.
    """
    rng, rejected = np.random.default_rng(1), 0
    n, B, M = 800, 80, 3
    for _ in range(150):
        streams = rng.integers(1, 2**63, (B, 4)).astype(np.uint64)
        draws = Draws(np.ones(n), [Sampling(SUBSAMPLE, 0.3)] * B, streams, 1)
        counts = all_counts(draws).astype(float)
        rows = rng.normal(size=(n, M))
        values = counts @ rows / counts.sum(axis=1, keepdims=True) + 0.05 * rng.normal(size=(B, M))
        found = functional_covariance(values, np.zeros(B, dtype=np.int64), draws)
        rejected += joint_test(values.mean(axis=0), found.total).p_value <= 0.05
    assert rejected <= 0.15 * 150


# ------------------------------------------------------------------------------------------------
# Statistics of values that do not vary, or of too few.
# ------------------------------------------------------------------------------------------------


def test_a_band_of_constants_is_that_of_one_value():
    assert simultaneous_width(np.zeros((3, 3)), 0.9, 1) == pytest.approx(norm.ppf(0.95))
    assert simultaneous_width(np.eye(3), 0.9, 1) > norm.ppf(0.95)


def test_one_row_tells_no_error():
    of_row = np.array([[0.5, 0.0], [0.0, 1.0]], dtype=np.float32)
    assert np.isnan(sampling_errors(of_row, np.array([1.0, 0.0]))).tolist() == [True, True]
    assert np.isnan(sampling_errors(of_row, np.array([0.5, 0.5]), np.array([0, 0]))).all()
    assert np.isfinite(sampling_errors(of_row, np.array([0.5, 0.5]))).all()


def test_groups_of_equal_rates_tell_as_much_as_their_rows():
    event, groups = np.array([0.0, 1, 0, 1, 0, 1]), np.array([0, 0, 1, 1, 2, 2])
    assert effective_rows(event, np.ones(6), groups, 0.95) == pytest.approx(6)
    assert effective_rows(event, np.ones(6), np.array([0, 1, 0, 1, 0, 1]), 0.95) == 1
    assert effective_rows(event, np.ones(6), np.zeros(6, dtype=int), 0.95) == 1
    assert effective_rows(np.ones(6), np.ones(6), groups, 0.95) == 3


def test_levels_are_ordered_by_other_factors_and_by_numbers():
    level = np.repeat([0, 1, 2], 4)
    factor = pd.Series(list("uuuu" + "vvvv" + "uuuv"), name="f")
    assert similarity_order(level, 3, [factor]).tolist() in ([0, 2, 1], [1, 2, 0])
    number = pd.Series([0.0, 0, 1, 1, 8, 8, 9, 9, 4, 4, 5, 5], name="x")
    assert similarity_order(level, 3, [number, factor]).tolist() in ([0, 2, 1], [1, 2, 0])


def test_a_band_of_one_point_with_few_degrees_of_freedom_is_that_of_t():
    for df in (3, 20):
        found = simultaneous_width(np.ones((1, 1)), 0.9, 1, df)
        assert found == pytest.approx(t.ppf(0.95, df), rel=0.02)
    assert simultaneous_width(np.eye(3), 0.9, 1, 5) > simultaneous_width(np.eye(3), 0.9, 1)


# ------------------------------------------------------------------------------------------------
# Errors that forests state against their errors on new rows.
# ------------------------------------------------------------------------------------------------

SAMPLES_OF_STATED_ERRORS, ROWS, NEW, TREES = 50, 120, 400, 30


@pytest.mark.weekly
@pytest.mark.parametrize("kind", error_estimates.KINDS)
@pytest.mark.parametrize("rows", error_estimates.ROWS)
def test_out_of_bag_errors_are_those_on_new_rows(kind, rows):
    """Each is a few per cent too high, because fewer trees predict a row that some drew.

    The quotient of their means has a standard error of 3 to 5 %.  So errors that are a quarter too
    low or a third too high are found with a probability of 97 %.  Errors that did not know of the
    groups would be about half as large for numbers.
    """
    stated, new = [], []
    for sample in range(SAMPLES_OF_STATED_ERRORS):
        rng = np.random.default_rng([1, sample])
        data, others = (error_estimates.draw(kind, rows, n, rng) for n in (ROWS, NEW))
        forest = odrf(
            "y ~ a + b + c", data, n_trees=TREES, projection="axis", seed=sample, n_jobs=1,
            **error_estimates.arguments(rows),
        )  # fmt: skip
        stated.append(forest.oob_error)
        new.append(error_estimates.error(forest, others))
    low, high = (0.9, 1.2) if rows == "groups" else (0.88, 1.18)
    assert low < np.mean(stated) / np.mean(new) < high


# ------------------------------------------------------------------------------------------------
# Tests and intervals of estimates beside SciPy, and where there are none.
# ------------------------------------------------------------------------------------------------

LABELS = pd.DataFrame({"what": ["a"]})


@pytest.mark.parametrize("df", [3.0, np.inf])
def test_they_are_student_s(df):
    row = with_errors(LABELS, np.array([3.0]), np.array([2.0]), 0.9, 1.0, df).iloc[0]
    law = scipy.stats.t(df)
    low, high = 3.0 + 2.0 * np.array(law.interval(0.9))
    expected = [3.0, 2.0, 1.0, 2 * law.sf(1.0), low, high]
    np.testing.assert_allclose(row[list(NUMBERS)].astype(float), expected, rtol=1e-12)


@pytest.mark.parametrize("estimate", [0.0, 2.0])
@pytest.mark.parametrize("error", [0.0, np.nan])
@pytest.mark.filterwarnings("error")
def test_trees_that_agree_prove_nothing(estimate, error):
    row = with_errors(LABELS, np.array([estimate]), np.array([error]), 0.95).iloc[0]
    assert row[["statistic", "p_value", "conf_low", "conf_high"]].isna().all()


# ------------------------------------------------------------------------------------------------
# Which hypotheses are linearly independent.
# ------------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("error")
def test_a_hypothesis_that_no_estimate_changes_is_not_tested():
    estimate = np.array([1.0, -2.0])
    texts = ["b1 - b1 = 0", "b2 = b1", "1 = 1"]
    gradient = np.array([function_of_estimates(text, estimate)[1] for text in texts])
    deviations = np.random.default_rng(1).normal(size=(20, 2))
    assert independent(gradient, deviations).tolist() == [1]


# ------------------------------------------------------------------------------------------------
# Weights of boxes against Shapley values of the games that are 1 in them.
# ------------------------------------------------------------------------------------------------


def test_weights_are_shapley_values_of_boxes():
    weights = box_weights()
    for a, b, others in product(range(4), range(4), range(2)):
        n = a + b + others
        if n == 0:
            continue
        game = {
            coalition: np.array([float(all(coalition[:a]) and not any(coalition[a : a + b]))])
            for coalition in product((0, 1), repeat=n)
        }
        values = values_by_definition(game)[:, 0]
        expected = [weights[a, b]] * a + [-weights[b, a]] * b + [0.0] * others
        np.testing.assert_allclose(values, expected, atol=1e-15)
