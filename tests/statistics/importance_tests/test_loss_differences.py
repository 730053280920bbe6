"""Tests of differences of losses, and adjustments for several tests."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import ttest_1samp, wilcoxon
from statsmodels.stats.multitest import multipletests

from odrf.statistics.importance_tests import adjusted, judged_differences
from odrf.statistics.ridge import RIDGE_PENALTIES, ridge_regression
from reference.importance_tests import left_out_residuals

METHODS = {"holm": "holm", "bh": "fdr_bh"}


# statsmodels collects garbage in each call, which takes long beside compiled code.
@settings(max_examples=10)
@given(
    p=st.lists(st.sampled_from([0.0, 1e-9, 0.01, 0.02, 0.05, 0.3, 0.9, 1.0]), min_size=1),
    method=st.sampled_from(list(METHODS)),
)
def test_adjusted_p_values_are_those_of_statsmodels(p, method):
    assert np.allclose(adjusted(np.array(p), method), multipletests(p, method=METHODS[method])[1])


def test_the_tests_of_single_rows_are_those_of_scipy():
    d = np.random.default_rng(1).normal(0.3, size=40)
    ones, rows = np.ones(40), np.arange(40)
    estimate, _, t, p, low, high = judged_differences(d, ones, rows, "t", 0.9)
    expected = ttest_1samp(d, 0, alternative="greater")
    interval = ttest_1samp(d, 0).confidence_interval(0.9)
    assert np.allclose([estimate, t, p], [d.mean(), expected.statistic, expected.pvalue])
    assert np.allclose([low, high], interval)
    signed = judged_differences(d, ones, rows, "wilcoxon", 0.9)
    assert np.allclose(signed[2:4], wilcoxon(d, alternative="greater"))


def test_rows_of_a_group_are_one_unit():
    means = np.random.default_rng(2).normal(0.2, size=12)
    groups, ones = np.repeat(np.arange(12), 3), np.ones(36)
    for test in ("t", "wilcoxon"):
        whole = judged_differences(np.repeat(means, 3), ones, groups, test, 0.95)
        assert np.allclose(whole, judged_differences(means, ones[:12], groups[::3], test, 0.95))


@pytest.mark.parametrize("test", ["t", "wilcoxon"])
def test_a_larger_variance_makes_less_significant(test):
    d = np.random.default_rng(1).normal(0.3, size=40)
    plain, inflated = (
        judged_differences(d, np.ones(40), np.arange(40), test, 0.95, by) for by in (1.0, 1.5)
    )
    assert inflated[1] == pytest.approx(np.sqrt(1.5) * plain[1])
    assert 0.5 > inflated[3] > plain[3]


def test_no_difference_is_no_finding():
    assert judged_differences(np.zeros(5), np.ones(5), np.arange(5), "wilcoxon", 0.95)[3] == 1


@pytest.mark.parametrize("test", ["t", "wilcoxon"])
@pytest.mark.parametrize(
    "difference", [[1.0, -1.0, 1.0, -1.0, 0.0, 0.0], [0.1, 0.2, -0.3, 0.2, 0.1, -0.3]]
)
@pytest.mark.filterwarnings("error")
def test_no_difference_of_units_is_no_finding(test, difference):
    # the second sums are 0 but for rounding
    groups = np.array([0, 0, 1, 1, 2, 2]) if difference[0] == 1 else np.repeat([0, 1], 3)
    found = judged_differences(np.array(difference), np.ones(6), groups, test, 0.95)
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
