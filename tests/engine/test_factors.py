"""Codes of factors of many levels stand for their indicator columns."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from odrf.engine.directions.candidates import INDICATORS, PLAIN, FeatureGroups
from odrf.engine.factors import (
    NO_FACTORS,
    EncodedColumns,
    beside,
    factors_of,
    indicated,
    layout_of,
    narrowed,
    rows_of_predictors,
    stored,
    with_layout,
    with_rows,
)
from odrf.engine.numeric import streams
from odrf.engine.rows import divide, divide_columns, gather_rows, load_column, project
from problems import coded, indicators

WIDTHS = [1, 8, 3, 9]
FIRST = np.cumsum([0, *WIDTHS])
TYPES = np.array([PLAIN, INDICATORS, INDICATORS, INDICATORS], dtype=np.int8)
GROUPS = FeatureGroups(FIRST, TYPES)


def matrix(n, rng):
    """A number, and factors of 8, 3 and 9 levels, one of which some rows have none of."""
    factors = [indicators(rng.integers(-1, width, n), width) for width in WIDTHS[1:]]
    return np.concatenate([rng.random((1, n)), *factors]).astype(np.float32)


def read(X, groups, factors, copied, rng):
    """What growth reads of each column, and along a direction, before and after a split."""
    n, p = X.shape[1], int(groups.first[-1])
    counts = np.ones(n, dtype=np.int64)
    rows = gather_rows(
        streams(2, 0, 1)[0], X, X[0].astype(float), counts * 1.0, counts, copied, factors
    )
    columns = np.sort(rng.permutation(p)[: 1 + p // 2])[None, :]
    theta = rng.normal(size=columns.shape).astype(np.float32)
    seen = []
    for _ in range(2):
        Z, values = np.empty((1, n)), np.empty(n, dtype=np.float32)
        for column in range(p):
            for shifted in (False, True):
                load_column(rows, 0, n, column, shifted, Z, 0)
                seen.append(Z.copy())
        project(rows, 0, n, columns, theta, 0, columns.shape[1], values)
        seen.append(values.copy())
        left = np.empty(n, dtype=np.bool_)
        divide(rows, 0, n, np.float32(np.median(values)), values, left, np.empty(n))
        divide_columns(rows, 0, n, left, np.empty(n, dtype=np.float32), np.empty(n, dtype=np.int64))
    return seen


@settings(max_examples=50, deadline=None)
@given(st.integers(1, 40), st.integers(0, 2**32), st.booleans())
def test_growth_reads_the_same_from_codes_as_from_columns(n, seed, copied):
    X = matrix(n, np.random.default_rng(seed))
    by_columns = read(X, GROUPS, NO_FACTORS, copied, np.random.default_rng(seed))
    by_codes = read(X, GROUPS, factors_of(X, GROUPS), copied, np.random.default_rng(seed))
    for one, other in zip(by_columns, by_codes, strict=True):
        np.testing.assert_array_equal(one, other)


@settings(max_examples=50, deadline=None)
@given(
    st.integers(1, 40), st.integers(0, 2**32), st.booleans(), st.sets(st.integers(0, 3), min_size=1)
)
def test_a_subset_of_the_predictors_is_read_as_its_own_table(n, seed, copied, chosen):
    X = matrix(n, np.random.default_rng(seed))
    chosen = np.sort(np.array(list(chosen)))
    columns = np.concatenate([np.arange(FIRST[j], FIRST[j + 1]) for j in chosen])
    first = np.concatenate([[0], np.cumsum(np.array(WIDTHS)[chosen])])
    groups = FeatureGroups(first, TYPES[chosen])
    small, factors = narrowed(X, factors_of(X, GROUPS), columns)
    counts = np.ones(n, dtype=np.int64)
    by_codes = read_narrow(small, groups, factors, copied, seed, X[0], counts)
    by_columns = read_narrow(X[columns], groups, NO_FACTORS, copied, seed, X[0], counts)
    for one, other in zip(by_columns, by_codes, strict=True):
        np.testing.assert_array_equal(one, other)


def read_narrow(X, groups, factors, copied, seed, y, counts):
    """What growth reads of each column of a table whose matrix may lack those of factors."""
    rows = gather_rows(
        streams(2, 0, 1)[0], X, y.astype(float), counts * 1.0, counts, copied, factors
    )
    Z, seen = np.empty((1, len(y))), []
    for column in range(int(groups.first[-1])):
        load_column(rows, 0, len(y), column, False, Z, 0)
        seen.append(Z.copy())
    return seen


# ------------------------------------------------------------------------------------------------
# Matrices with codes for factors of many levels are read like those with their indicators.
# ------------------------------------------------------------------------------------------------

WIDTHS_OF_CODED = [8, 1, 3, 9, 1]
FIRST_OF_CODED = np.cumsum([0, *WIDTHS_OF_CODED])
TYPES_OF_CODED = np.array([INDICATORS, PLAIN, INDICATORS, INDICATORS, PLAIN], dtype=np.int8)
GROUPS_OF_CODED = FeatureGroups(FIRST_OF_CODED, TYPES_OF_CODED)


def columns_of(predictors):
    return np.concatenate([np.arange(FIRST_OF_CODED[j], FIRST_OF_CODED[j + 1]) for j in predictors])


def same(X, array):
    assert X.shape == array.shape
    assert len(X) == len(array)
    np.testing.assert_array_equal(indicated(X), array)


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 12), st.integers(0, 2**32), st.data())
def test_rows_columns_and_joined_matrices_are_those_of_the_indicators(n, seed, data):
    rng = np.random.default_rng(seed)
    X = coded(GROUPS_OF_CODED, n, rng)
    array = indicated(X)
    assert X.size == stored(X).size < array.size
    rows = rng.permutation(n)[: n // 2 + 1]
    same(with_rows(X, rows), array[:, rows])
    for j in range(len(array)):
        np.testing.assert_array_equal(X[j], array[j])
    chosen = data.draw(st.lists(st.integers(0, 4), min_size=1, max_size=6))
    columns = columns_of(chosen)
    same(X[columns], array[columns])
    assert isinstance(X[columns], EncodedColumns) == any(WIDTHS_OF_CODED[j] > 6 for j in chosen)
    parts = [X[columns_of([j])] for j in chosen]
    same(beside(parts), array[columns])
    same(with_layout(stored(X), layout_of(X)), array)


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 12), st.integers(0, 2**32))
def test_growth_finds_the_same_codes_in_both(n, seed):
    X = coded(GROUPS_OF_CODED, n, np.random.default_rng(seed))
    of_codes, of_columns = factors_of(X, GROUPS_OF_CODED), factors_of(indicated(X), GROUPS_OF_CODED)
    np.testing.assert_array_equal(of_codes.codes, of_columns.codes)
    np.testing.assert_array_equal(of_codes.level, of_columns.level)
    is_number = of_columns.place >= 0
    np.testing.assert_array_equal(of_codes.place < 0, ~is_number)
    np.testing.assert_array_equal(of_codes.place[~is_number], of_columns.place[~is_number])
    np.testing.assert_array_equal(
        stored(X)[of_codes.place[is_number]], indicated(X)[of_columns.place[is_number]]
    )


def test_an_exchange_of_stored_rows_exchanges_the_columns_of_a_predictor():
    X = coded(GROUPS_OF_CODED, 9, np.random.default_rng(3))
    order = np.random.default_rng(4).permutation(9)
    for j, (begin, end) in enumerate(zip(*rows_of_predictors(X, FIRST_OF_CODED), strict=True)):
        array, expected = stored(X).copy(), indicated(X).copy()
        array[begin:end] = array[begin:end, order]
        columns = columns_of([j])
        expected[columns] = expected[np.ix_(columns, order)]
        same(with_layout(array, layout_of(X)), expected)
    begin, end = rows_of_predictors(indicated(X), FIRST_OF_CODED)
    assert (begin.tolist(), end.tolist()) == (
        FIRST_OF_CODED[:-1].tolist(),
        FIRST_OF_CODED[1:].tolist(),
    )
