"""Variation within groups, against sums by pandas."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from odrf.statistics.data_checks import (
    autocorrelation,
    distinct_rows,
    exact_sum,
    goes_with,
    in_same_order,
    repetition,
    within_shares,
)


@given(st.integers(2, 8), st.integers(9, 40), st.integers(1, 5), st.integers(0, 99))
def test_shares_are_mean_squares_within_groups_by_those_of_all_rows(n_groups, m, q, seed):
    rng = np.random.default_rng(seed)
    codes, columns = rng.integers(0, n_groups, m), rng.normal(size=(q, m)) + 5
    shares = within_shares(codes, columns)
    for column, share in zip(columns, shares, strict=True):
        values = pd.Series(column)
        rest = values - values.groupby(codes).transform("mean")
        within = (rest**2).sum() / (m - len(set(codes)))
        assert share == pytest.approx(within / values.var(), rel=1e-9, abs=1e-12)


def test_constant_columns_have_no_share_and_those_constant_in_groups_zero():
    codes = np.repeat(np.arange(5), 4)
    shares = within_shares(codes, np.array([np.full(20, 3e9), codes * 1e9 + 0.1]))
    assert np.isnan(shares[0])
    assert shares[1] == pytest.approx(0, abs=1e-12)
    assert len(within_shares(codes, np.empty((0, 20)))) == 0


@pytest.mark.parametrize("power", [-1060, -600, 500, 900])
def test_the_unit_of_a_column_does_not_matter(power):
    rng = np.random.default_rng(2)
    codes, columns = np.repeat(np.arange(5), 4), np.round(rng.normal(size=(3, 20)) * 8)
    with np.errstate(all="raise", under="ignore"):
        shares = within_shares(codes, np.ldexp(columns, power))
    np.testing.assert_array_equal(shares, within_shares(codes, columns))


@pytest.fixture(scope="module")
def subjects():
    """30 subjects with 8 rows each, and 9 columns of which each subject has values of its own."""
    rng = np.random.default_rng(3)
    codes = np.repeat(np.arange(30), 8)
    own = rng.normal(size=(9, 30))[:, codes]
    return codes, own + 0.3 * rng.normal(size=own.shape), rng


def test_rows_of_subjects_are_repeated(subjects):
    codes, columns, _ = subjects
    for numbered in (True, False):
        found = repetition(codes, columns, numbered)
        assert (found.hardly, found.columns) == (9, 9)
        assert found.mean == pytest.approx(within_shares(codes, columns).mean())


def test_independent_rows_are_not(subjects):
    codes, columns, rng = subjects
    assert repetition(rng.permutation(codes), columns, False) is None


def test_one_column_in_five_may_vary(subjects):
    codes, columns, rng = subjects
    for varying, found in ((1, True), (2, False)):
        mixed = columns.copy()
        mixed[-varying:] = rng.normal(size=(varying, len(codes)))
        assert (repetition(codes, mixed, False) is not None) == found


def test_or_the_response_varies_little_and_two_columns_do_not_at_all(subjects):
    codes, columns, rng = subjects
    mixed = rng.normal(size=columns.shape)
    mixed[0] = columns[0]
    mixed[1:6] = rng.normal(size=(5, 30))[:, codes]
    assert repetition(codes, mixed, False) is not None
    mixed[0] = rng.normal(size=len(codes))
    assert repetition(codes, mixed, False) is None


def test_few_columns_are_no_pattern(subjects):
    codes, columns, _ = subjects
    assert repetition(codes, columns[:3], False) is None


def test_a_trend_is_no_subject(subjects):
    codes, columns, rng = subjects
    trend = np.outer(rng.uniform(1, 2, 9), codes) + rng.normal(size=columns.shape)
    assert repetition(codes, trend, True) is None
    assert repetition(rng.permutation(30)[codes], trend, True) is not None


def test_autocorrelation_of_runs():
    rng = np.random.default_rng(1)
    independent = rng.normal(size=(6, 50))
    assert abs(autocorrelation(independent)) < 0.2
    followed = np.cumsum(independent, axis=1)
    assert autocorrelation(followed) > 0.8
    followed[:, ::7] = np.nan
    assert autocorrelation(followed) > 0.8
    plain = pd.Series(independent[0])
    assert autocorrelation(independent[:1]) == pytest.approx(plain.autocorr(), abs=0.05)
    for nothing in (np.full((2, 5), np.nan), np.ones((2, 5))):
        assert np.isnan(autocorrelation(nothing))


# ------------------------------------------------------------------------------------------------
# Relations between columns and a response that hold in every row.
# ------------------------------------------------------------------------------------------------

small = st.integers(0, 4)
rows = st.lists(st.tuples(small, small), min_size=2, max_size=12)


def plainly_in_order(pairs):
    """By all pairs of rows: y is a function of x that never falls, or never rises."""
    signs = set()
    for x, y in pairs:
        for other_x, other_y in pairs:
            if x == other_x and y != other_y:
                return False
            if x < other_x and y != other_y:
                signs.add(y < other_y)
    return len(signs) < 2


def plainly_one_to_one(pairs):
    """By all pairs of rows: labels are the same where codes are."""
    return all((x == u) == (y == v) for x, y in pairs for u, v in pairs)


@given(rows)
def test_order_and_labels_are_those_of_all_pairs(pairs):
    x, y = np.array(pairs).T
    assert in_same_order(x.astype(float), y.astype(float)) == plainly_in_order(pairs)
    assert goes_with(x, y) == plainly_one_to_one(pairs)


def test_missing_labels_go_with_no_class():
    assert goes_with(np.array([1, 0, 0]), np.array([0, 1, 1]))
    assert not goes_with(np.array([1, -1, -1]), np.array([0, 1, 1]))


@pytest.mark.parametrize("unit", [1e-200, 1.0, 1e300])
def test_a_sum_of_few_columns_is_found(unit):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(60, 5))
    X[:, 4] = 3.0
    y = 2.0 * X[:, 1] - X[:, 3] + 5.0
    assert exact_sum(X * unit, y, 3) == [1, 3]
    assert exact_sum(X.astype(np.float32).astype(float) * unit, y, 2) == [1, 3]
    assert exact_sum(X * unit, y, 1) == []
    assert exact_sum(X * unit, y + 1e-3 * rng.normal(size=60), 3) == []


def test_a_sum_needs_rows_and_columns_that_vary():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(10, 5))
    y = X[:, 0] + X[:, 1]
    assert exact_sum(X, y, 3) == []
    assert exact_sum(X[:, :3], y, 3) == [0, 1]
    assert exact_sum(np.ones((10, 2)), y, 3) == []
    assert exact_sum(X[:, :3], np.ones(10), 3) == []


# ------------------------------------------------------------------------------------------------
# Equal rows of a matrix, beside NumPy.
# ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("n", "p"), [(0, 2), (1, 1), (2, 3), (200, 1), (200, 4)])
@pytest.mark.parametrize("dtype", [np.int64, np.uint64, np.float64])
def test_numpy_finds_the_same_rows(n, p, dtype):
    a = np.random.default_rng(n + p).integers(0, 3, size=(n, p)).astype(dtype)
    _, first, number = np.unique(a, axis=0, return_index=True, return_inverse=True)
    ours = distinct_rows(a)
    np.testing.assert_array_equal(ours[0], first)
    np.testing.assert_array_equal(ours[1], number.ravel())
