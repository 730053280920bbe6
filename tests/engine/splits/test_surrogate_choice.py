"""The best agreeing cut, and the best set of levels."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from odrf.engine.numeric import digit_scratch
from odrf.engine.splits.surrogate_choice import (
    LEFT,
    RIGHT,
    agreeing_cut,
    agreeing_levels,
)
from reference.surrogates import best_cut, best_levels

SIDES = st.sampled_from([True, False, None])
CODES = {True: LEFT, False: RIGHT, None: 0}


def rows(values):
    """Draw rows: a value or None, a side, and a weight, whole or not."""
    weights = st.sampled_from([1.0, 2.0, 0.3])
    return st.lists(st.tuples(values, SIDES, weights), min_size=1, max_size=40)


def as_arrays(drawn):
    side = [s for _, s, _ in drawn]
    codes = np.array([CODES[s] for s in side], dtype=np.int8)
    return side, codes, np.array([w for _, _, w in drawn])


@given(rows(st.sampled_from([None, 0.0, 0.25, 0.5, 0.75, 1.0])))
def test_the_best_cut_is_that_of_a_plain_search(drawn):
    side, codes, weights = as_arrays(drawn)
    x = np.array([np.nan if value is None else value for value, _, _ in drawn])
    known = ~np.isnan(x)
    values = np.nan_to_num(x).astype(np.float32)
    keys = np.empty((2, len(x)), dtype=np.uint64)
    agreement, cut, flipped = agreeing_cut(values, codes, known, weights, digit_scratch(*keys))
    expected = best_cut(x, side, weights)
    if expected is None:
        # what rounding gives is not above what all rows give on one side
        larger = max(weights[known & (codes == c)].sum() for c in (LEFT, RIGHT))
        assert agreement == pytest.approx(0.0) or agreement == pytest.approx(larger)
        return
    assert agreement == pytest.approx(expected[0])
    sent = [((v <= cut) != flipped) if k else None for v, k in zip(values, known, strict=True)]
    reached = sum(
        w for s, w, t in zip(side, weights, sent, strict=True) if s is not None and s == t
    )
    assert reached == pytest.approx(agreement)
    if np.all(weights == weights.astype(int)):
        assert sent == expected[1]


@given(rows(st.sampled_from([None, 1, 2, 3, 4])))
def test_each_level_goes_where_more_of_its_weight_does(drawn):
    side, codes, weights = as_arrays(drawn)
    levels = np.array([value or 0 for value, _, _ in drawn], dtype=np.int32)
    left, right, sent = np.empty(5), np.empty(5), np.empty(5, dtype=np.int8)
    n_rows = np.empty(5, dtype=np.int64)
    agreement = agreeing_levels(levels, codes, weights, left, right, n_rows, sent)
    expected, goes_left = best_levels([value for value, _, _ in drawn], side, weights)
    assert agreement == pytest.approx(expected)
    if np.all(weights == weights.astype(int)):
        found = [{LEFT: True, RIGHT: False, 0: None}[sent[k]] if k else None for k in levels]
        assert found == goes_left
