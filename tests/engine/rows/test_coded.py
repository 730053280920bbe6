"""Matrices with codes for factors of many levels are read like those with their indicators."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from odrf.engine.directions.candidates import INDICATORS, PLAIN, FeatureGroups
from odrf.engine.factors import (
    Coded,
    beside,
    factors_of,
    indicated,
    layout_of,
    rows_of_predictors,
    stored,
    with_layout,
    with_rows,
)
from problems import coded

WIDTHS = [8, 1, 3, 9, 1]
FIRST = np.cumsum([0, *WIDTHS])
TYPES = np.array([INDICATORS, PLAIN, INDICATORS, INDICATORS, PLAIN], dtype=np.int8)
GROUPS = FeatureGroups(FIRST, TYPES)


def columns_of(predictors):
    return np.concatenate([np.arange(FIRST[j], FIRST[j + 1]) for j in predictors])


def same(X, array):
    assert X.shape == array.shape
    assert len(X) == len(array)
    np.testing.assert_array_equal(indicated(X), array)


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 12), st.integers(0, 2**32), st.data())
def test_rows_columns_and_joined_matrices_are_those_of_the_indicators(n, seed, data):
    rng = np.random.default_rng(seed)
    X = coded(GROUPS, n, rng)
    array = indicated(X)
    assert X.size == stored(X).size < array.size
    rows = rng.permutation(n)[: n // 2 + 1]
    same(with_rows(X, rows), array[:, rows])
    for j in range(len(array)):
        np.testing.assert_array_equal(X[j], array[j])
    chosen = data.draw(st.lists(st.integers(0, 4), min_size=1, max_size=6))
    columns = columns_of(chosen)
    same(X[columns], array[columns])
    assert isinstance(X[columns], Coded) == any(WIDTHS[j] > 6 for j in chosen)
    parts = [X[columns_of([j])] for j in chosen]
    same(beside(parts), array[columns])
    same(with_layout(stored(X), layout_of(X)), array)


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 12), st.integers(0, 2**32))
def test_growth_finds_the_same_codes_in_both(n, seed):
    X = coded(GROUPS, n, np.random.default_rng(seed))
    of_codes, of_columns = factors_of(X, GROUPS), factors_of(indicated(X), GROUPS)
    np.testing.assert_array_equal(of_codes.codes, of_columns.codes)
    np.testing.assert_array_equal(of_codes.level, of_columns.level)
    is_number = of_columns.place >= 0
    np.testing.assert_array_equal(of_codes.place < 0, ~is_number)
    np.testing.assert_array_equal(of_codes.place[~is_number], of_columns.place[~is_number])
    np.testing.assert_array_equal(
        stored(X)[of_codes.place[is_number]], indicated(X)[of_columns.place[is_number]]
    )


def test_an_exchange_of_stored_rows_exchanges_the_columns_of_a_predictor():
    X = coded(GROUPS, 9, np.random.default_rng(3))
    order = np.random.default_rng(4).permutation(9)
    for j, (begin, end) in enumerate(zip(*rows_of_predictors(X, FIRST), strict=True)):
        array, expected = stored(X).copy(), indicated(X).copy()
        array[begin:end] = array[begin:end, order]
        columns = columns_of([j])
        expected[columns] = expected[np.ix_(columns, order)]
        same(with_layout(array, layout_of(X)), expected)
    begin, end = rows_of_predictors(indicated(X), FIRST)
    assert (begin.tolist(), end.tolist()) == (FIRST[:-1].tolist(), FIRST[1:].tolist())
