"""Paired tests beside plain sums over pairs of rows, and beside statsmodels; their size."""

from __future__ import annotations

from math import sqrt

import numpy as np
import pytest
from scipy.stats import binomtest, norm, ttest_rel
from scipy.stats import t as student
from statsmodels.stats.contingency_tables import mcnemar

from odrf.statistics.paired import (
    PairedRows,
    area_and_parts,
    difference_by_influence,
    difference_of_areas,
    difference_of_error_rates,
    difference_of_means,
)

LEVEL = 0.95


def kernel(a, b):
    return 1.0 if a > b else 0.5 if a == b else 0.0


def delong_by_pairs(first, second, event):
    """Return areas and variance of their difference by sums over all pairs of rows, O(n²)."""
    yes, no = np.flatnonzero(event), np.flatnonzero(event == 0)
    areas, of_events, of_others = [], [], []
    for p in (first, second):
        of_events.append([sum(kernel(p[i], p[j]) for j in no) / len(no) for i in yes])
        of_others.append([sum(kernel(p[i], p[j]) for i in yes) / len(yes) for j in no])
        areas.append(sum(of_events[-1]) / len(yes))
    S = [np.cov(np.array(parts)) / len(parts[0]) for parts in (of_events, of_others)]
    variances = [s[0, 0] + s[1, 1] - 2 * s[0, 1] for s in S]
    return areas, sum(variances)


def obuchowski_by_pairs(first, second, event, groups):
    """Return the variance of the difference where groups of rows are independent."""
    yes, no = np.flatnonzero(event), np.flatnonzero(event == 0)
    areas, _ = delong_by_pairs(first, second, event)
    sums = []
    for g in np.unique(groups):
        total = 0.0
        for sign, p, area in zip((1, -1), (first, second), areas, strict=True):
            for i in yes[groups[yes] == g]:
                above = sum(kernel(p[i], p[j]) for j in no) / len(no)
                total += sign * (above - area) / len(yes)
            for j in no[groups[no] == g]:
                below = sum(kernel(p[i], p[j]) for i in yes) / len(yes)
                total += sign * (below - area) / len(no)
        sums.append(total)
    G = len(sums)
    return sum(s**2 for s in sums) * G / (G - 1)


@pytest.fixture(params=[1, 2, 3])
def two_scores(request):
    """Probabilities of two models with ties, events, and groups of about three rows."""
    rng = np.random.default_rng(request.param)
    event = (rng.random(40) < 0.4).astype(float)
    first = (0.5 * event + rng.random(40)).round(1)
    second = (0.2 * event + rng.random(40)).round(1)
    return first, second, event, rng.integers(0, 13, 40)


def test_delong_is_the_sum_over_pairs_of_rows(two_scores):
    first, second, event, _ = two_scores
    areas, variance = delong_by_pairs(first, second, event)
    found = difference_of_areas(first, second, event, PairedRows(np.ones(40), None, LEVEL))
    assert (found.first, found.second) == pytest.approx(tuple(areas))
    assert found.std_error == pytest.approx(sqrt(variance))
    z = (areas[0] - areas[1]) / sqrt(variance)
    assert found.p_value == pytest.approx(2 * norm.sf(abs(z)))
    assert found.conf_high == pytest.approx(areas[0] - areas[1] + norm.ppf(0.975) * sqrt(variance))
    assert found.test == "DeLong"


def test_areas_of_groups_have_the_error_of_their_sums(two_scores):
    first, second, event, groups = two_scores
    found = difference_of_areas(first, second, event, PairedRows(np.ones(40), groups, LEVEL))
    error = sqrt(obuchowski_by_pairs(first, second, event, groups))
    assert found.std_error == pytest.approx(error)
    freedom = len(np.unique(groups)) - 1
    assert found.p_value == pytest.approx(2 * student.sf(abs(found.difference) / error, freedom))


def test_rows_of_weight_two_are_two_rows_in_areas(two_scores):
    first, _, event, _ = two_scores
    weights = np.where(np.arange(40) % 3, 1.0, 2.0)
    twice = np.repeat(np.arange(40), weights.astype(int))
    area, parts = area_and_parts(first, event, weights)
    expected, of_rows = area_and_parts(first[twice], event[twice], np.ones(len(twice)))
    assert area == pytest.approx(expected)
    np.testing.assert_allclose(parts, np.bincount(twice, of_rows))
    np.testing.assert_allclose([parts[event > 0].sum(), parts[event == 0].sum()], 0, atol=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_error_rates_have_mcnemar_s_test(seed):
    rng = np.random.default_rng(seed)
    wrong = (rng.random((2, 60)) < [[0.2], [0.35]]).astype(float)
    found = difference_of_error_rates(*wrong, PairedRows(np.ones(60), None, LEVEL))
    table = [[((wrong[0] == a) & (wrong[1] == b)).sum() for b in (0, 1)] for a in (0, 1)]
    assert found.p_value == pytest.approx(mcnemar(table, exact=True).pvalue)
    only = table[1][0], table[0][1]
    assert found.p_value == pytest.approx(binomtest(only[0], sum(only)).pvalue)
    assert found.difference == pytest.approx((only[0] - only[1]) / 60)
    assert found.test == "McNemar"


def test_error_rates_of_groups_or_weights_have_the_test_of_means():
    wrong = (np.random.default_rng(1).random((2, 60)) < 0.3).astype(float)
    groups = np.arange(60) // 3
    for weights, of_groups in ((np.ones(60), groups), (1.0 + np.arange(60) % 2, None)):
        found = difference_of_error_rates(*wrong, PairedRows(weights, of_groups, LEVEL))
        assert found == difference_of_means(*wrong, PairedRows(weights, of_groups, LEVEL))
        assert found.test == "t"


def test_mean_losses_have_the_paired_t():
    first, second = np.random.default_rng(1).normal(size=(2, 30))
    found = difference_of_means(first, second, PairedRows(np.ones(30), None, LEVEL))
    expected = ttest_rel(first, second)
    assert found.p_value == pytest.approx(expected.pvalue)
    ends = expected.confidence_interval(LEVEL)
    assert (found.conf_low, found.conf_high) == pytest.approx((ends.low, ends.high))
    # whole groups of rows that are alike are as few units as there are groups
    many = np.repeat(np.arange(30), 4)
    of_groups = difference_of_means(
        first[many], second[many], PairedRows(np.ones(120), many, LEVEL)
    )
    assert of_groups[:7] == pytest.approx(found[:7])


def test_equal_predictions_do_not_differ_and_constant_differences_have_no_test():
    ones, zeros = np.ones(10), np.zeros(10)
    equal = difference_of_means(ones, ones, PairedRows(ones, None, LEVEL))
    assert equal[2:7] == (0, 0, 0, 0, 1)
    constant = difference_of_means(ones, zeros, PairedRows(ones, None, LEVEL))
    assert constant.difference == pytest.approx(1)
    assert np.isnan([constant.std_error, constant.conf_low, constant.p_value]).all()


def of_areas(rng, groups):
    """Return the p-value of two scores that are equally good; with groups rows are alike."""
    n = 150
    unit = np.arange(n) if groups is None else groups
    event = (rng.random(n) < 0.5).astype(float)
    shared = rng.normal(size=n)[unit]
    noise = [rng.normal(size=n)[unit] + rng.normal(size=n) for _ in range(2)]
    scores = [event + shared + each for each in noise]
    return difference_of_areas(*scores, event, PairedRows(np.ones(n), groups, LEVEL)).p_value


def of_means(rng, groups):
    n = 60
    unit = np.arange(n) if groups is None else groups[:n]
    losses = [(rng.normal(size=n)[unit] + rng.normal(size=n)) ** 2 for _ in range(2)]
    return difference_of_means(*losses, PairedRows(np.ones(n), unit, LEVEL)).p_value


def of_error_rates(rng, groups):
    n = 150
    unit = np.arange(n) if groups is None else groups
    wrong = [(rng.normal(size=n)[unit] + rng.normal(size=n) > 1).astype(float) for _ in range(2)]
    return difference_of_error_rates(*wrong, PairedRows(np.ones(n), groups, LEVEL)).p_value


def of_influence(rng, groups):
    n = 150
    unit = np.arange(n) if groups is None else groups
    values = [rng.normal(size=n)[unit] + rng.normal(size=n) for _ in range(2)]
    off = values[0] - values[1]
    means = values[0].mean(), values[1].mean()
    return difference_by_influence(means, (off - off.mean()) / n, groups, LEVEL).p_value


@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize("test", [of_areas, of_means, of_error_rates, of_influence])
def test_tests_of_equally_good_predictions_hold_their_level(test, grouped):
    """Of 1,000 tests at 5 %; McNemar's is exact, so that it may reject fewer."""
    rng, times = np.random.default_rng(5), 1000
    groups = np.arange(150) // 3 if grouped else None
    rejected = sum(test(rng, groups) <= 0.05 for _ in range(times)) / times
    error = sqrt(0.05 * 0.95 / times)
    assert rejected < 0.05 + 3 * error
    assert rejected > (0.02 if test is of_error_rates else 0.05 - 3 * error)


def test_without_groups_tests_of_rows_that_are_alike_reject_too_often():
    rng, rejected = np.random.default_rng(6), 0
    unit, rows = np.repeat(np.arange(30), 5), PairedRows(np.ones(150), None, LEVEL)
    for _ in range(200):
        losses = [rng.normal(size=30)[unit] for _ in range(2)]
        rejected += difference_of_means(*losses, rows).p_value <= 0.05
    assert rejected / 200 > 0.2
