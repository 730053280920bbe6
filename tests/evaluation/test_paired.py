"""Statistics of paired scores beside their formulas."""

from __future__ import annotations

from math import nan, sqrt

import numpy as np
import pytest
from scipy.stats import t as student
from scipy.stats import wilcoxon

from odrf.evaluation.compare import (
    bonferroni,
    corrected_std_error,
    corrected_t,
    critical_difference,
    differences,
    mean_ranks,
    signed_rank,
    wins,
)


@pytest.fixture
def losses():
    return np.random.default_rng(5).normal(size=(12, 4)).round(1)


def test_corrected_t_is_nadeau_and_bengio_s():
    d = [-0.3, 0.1, -0.4, -0.2, -0.1]
    n_test, n_train = 20, 80
    mean = sum(d) / 5
    variance = sum((x - mean) ** 2 for x in d) / 4
    t = mean / sqrt((1 / 5 + n_test / n_train) * variance)
    assert corrected_t(np.array(d), n_test / n_train) == pytest.approx((t, student.cdf(t, 4)))
    better, worse = (corrected_t(sign * np.array(d), 0.25)[1] for sign in (1, -1))
    assert better + worse == pytest.approx(1)


def test_without_overlap_the_standard_error_is_the_plain_one(losses):
    plain = losses.std(axis=0, ddof=1) / sqrt(12)
    np.testing.assert_allclose(corrected_std_error(losses, 0.0), plain)
    np.testing.assert_allclose(corrected_std_error(losses, 1 / 9), plain * sqrt(1 + 12 / 9))


@pytest.mark.parametrize(
    ("difference", "expected"), [(0.0, (0, 1)), (-2.0, (nan, nan)), (2.0, (nan, nan))]
)
def test_equal_differences_do_not_tell_how_they_vary(difference, expected):
    assert corrected_t(np.full(7, difference), 0.1) == pytest.approx(expected, nan_ok=True)


def test_signed_rank_is_one_sided():
    d = np.array([-3.0, -1.0, 2.0, -4.0, -5.0, -6.0])
    assert signed_rank(d) == pytest.approx(wilcoxon(d, alternative="less").pvalue)
    assert signed_rank(d) < 0.1 < 0.9 < signed_rank(-d)
    assert signed_rank(np.zeros(6)) == 1


def test_rounding_makes_no_differences():
    one, other = np.array([0.3, 0.1, 0.1 + 0.2]), np.array([0.2, 0.0, 0.3])
    assert len(np.unique(one - other)) == 3
    found = differences(one, other)
    assert found[0] == found[1] == pytest.approx(0.1)
    assert found[2] == 0
    np.testing.assert_array_equal(differences(np.zeros(2), np.zeros(2)), [0, 0])
    np.testing.assert_allclose(differences(1e9 * one, 1e9 * other), 1e9 * found)


def test_bonferroni():
    assert bonferroni(np.array([0.01, 0.2, 0.5])) == pytest.approx([0.03, 0.6, 1])


def test_ranks_and_wins(losses):
    ranks = np.zeros((12, 4))
    won = np.zeros(4)
    for i, row in enumerate(losses):
        for j, value in enumerate(row):
            ranks[i, j] = (row < value).sum() + ((row == value).sum() + 1) / 2
            won[j] += value == min(row)
    assert len(np.unique(ranks % 1)) == 2  # there are ties
    np.testing.assert_allclose(mean_ranks(losses), ranks.mean(axis=0))
    np.testing.assert_array_equal(wins(losses), won)


def test_critical_difference_of_demsar():
    # Demšar (2006), section 3.2.2: four classifiers on 14 data sets, q = 2.569 and 2.291
    assert critical_difference(4, 14, 0.05) == pytest.approx(2.569 * sqrt(20 / 84), abs=1e-3)
    assert critical_difference(4, 14, 0.10) == pytest.approx(2.291 * sqrt(20 / 84), abs=1e-3)
