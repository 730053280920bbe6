"""Columns of two values: their sums are those of two bins, bit for bit, and so are the trees."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nodes import described
from odrf.engine.compiling import kernel
from odrf.engine.rows import rows_at
from odrf.engine.splits.histograms import (
    BLOCK,
    FOUR,
    MOST_BINS,
    bin_values,
    binned_cut,
    scan_bins,
    tally_two_values,
    two_values,
    write_larger_values,
    write_words,
)
from odrf.engine.splits.impurity import SQUARED_ERROR

quick = settings(deadline=None)


@kernel
def cut_between(quantum, tally, table, node):
    """Call what only kernels can call."""
    return scan_bins(quantum, tally, table, None, node, 2, 1)


@pytest.mark.parametrize("unit", [True, False])
@quick
@given(
    m=st.one_of(st.integers(2, 60), st.integers(BLOCK - 2, 3 * BLOCK)),
    n_bins=st.sampled_from([32, 64, MOST_BINS]),
    often=st.floats(0.0, 1.0),
    seed=st.integers(0, 99),
)
def test_sums_of_both_values_are_those_of_bins(unit, m, n_bins, often, seed):
    rng = np.random.default_rng(seed)
    lo, low, high = 3, rng.normal(size=6), rng.random(6) + 3.0
    X = np.where(rng.random((6, lo + m)) < often, low[:, None], high[:, None]).astype(np.float32)
    X[:, :2] = np.column_stack([low, high])
    y, counts = rng.normal(size=lo + m), rng.integers(1, 4, lo + m)
    w = np.ones(lo + m) if unit else rng.random(lo + m) + 0.1
    rows = rows_at(np.arange(lo + m), X, y, w, counts, True)
    larger = np.empty(6, dtype=np.float32)
    write_larger_values(X, larger)
    rows = rows._replace(high=larger)
    node = described(y[lo:], rows.weights[lo:], counts[lo:], SQUARED_ERROR, 1)
    words, two = np.empty(m, dtype=np.int64), two_values()
    quantum = write_words(node, words)
    tallies = np.full((FOUR, 2 * MOST_BINS), -1)
    tables = np.full((FOUR, MOST_BINS, 2), np.nan)
    two.columns[:] = rng.integers(0, 6, FOUR)
    tally_two_values(rows, lo, two, words, node, tallies, tables)
    for c, column in enumerate(two.columns):
        is_low = X[column, lo:] < larger[column]
        assert tallies[c, 0] == words[is_low].sum()
        assert tallies[c, 1] == words[~is_low].sum()
        assert (tallies[c, MOST_BINS : MOST_BINS + 2] == 0).all()
        bins = np.empty(m, dtype=np.uint8)
        if not bin_values(X[column, lo:], bins, n_bins):
            continue
        tally, table = np.full(2 * MOST_BINS, -1), np.full((MOST_BINS + 1, 2), np.nan)
        gain, at = binned_cut(bins, words, quantum, tally, table, None, node, n_bins, 1)
        assert cut_between(quantum, tallies[c], tables[c], node) == (gain, at)
        if not unit:
            assert tables[c, 0].tolist() == table[0].tolist()


@quick
@given(
    st.lists(
        st.lists(st.sampled_from([-1.5, -0.0, 0.0, 1.0, 7.0]), min_size=4, max_size=4), min_size=1
    )
)
def test_the_larger_of_two_values_is_known(columns):
    X = np.array(columns, dtype=np.float32)
    larger = np.empty(len(X), dtype=np.float32)
    write_larger_values(X, larger)
    for values, found in zip(columns, larger, strict=True):
        expected = max(values) if len(set(values)) == 2 else np.nan
        np.testing.assert_array_equal(found, expected)  # 0 and -0 are equal
