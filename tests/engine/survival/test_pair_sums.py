"""Sums over pairs against a loop over all of them."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from odrf.engine.survival.log_rank import pair_sums


@st.composite
def compared(draw):
    n, positions, ranks = (draw(st.integers(1, most)) for most in (12, 6, 4))

    def column(least, most):
        return np.array(draw(st.lists(st.integers(least, most), min_size=n, max_size=n)))

    first = column(0, positions)
    last = np.minimum(first + column(0, positions), positions)
    return column(-1, positions - 1), first, last, column(0, ranks - 1), column(0, 8), column(0, 8)


@given(compared())
def test_sums_are_those_of_all_pairs(given):
    at, first, last, rank, case_weight, weight = given
    n = len(at)
    cases = np.flatnonzero(at >= 0)
    others = np.flatnonzero((first < last) & (weight > 0))
    found, expected = np.zeros((2, 5, n))
    pair_sums(
        cases[np.argsort(at[cases], kind="stable")],
        others[np.argsort(first[others], kind="stable")],
        others[np.argsort(last[others], kind="stable")],
        at, first, last, rank, case_weight / 8, weight / 8,
        np.zeros(rank.max() + 2), np.zeros(rank.max() + 1), found,
    )  # fmt: skip
    for i in cases:
        for j in others:
            if first[j] <= at[i] < last[j]:
                below, same = rank[j] < rank[i], rank[j] == rank[i]
                expected[:3, i] += np.array([below, same, True]) * weight[j] / 8
                expected[3:, j] += np.array([below + same / 2, True]) * case_weight[i] / 8
    # eighths add up exactly
    np.testing.assert_array_equal(found, expected)
