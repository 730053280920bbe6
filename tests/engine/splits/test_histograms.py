"""Bins where an outlier, or a heavy tail, leaves nearly all rows in one bin of equal width."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from nodes import described
from odrf.engine.compiling import kernel
from odrf.engine.directions.missing import FILL
from odrf.engine.rows import rows_at
from odrf.engine.splits.cuts import bin_with_empty_cells
from odrf.engine.splits.histograms import (
    BLOCK,
    COUNT,
    COUNT_BITS,
    FOUR,
    MOST_BINS,
    bin_values,
    binned_cut,
    scan_bins,
    tally_four_columns,
    tally_two_values,
    two_values,
    write_larger_values,
    write_words,
)
from odrf.engine.splits.impurity import SQUARED_ERROR
from reference.crowded_bins import bins_of, of_most_rows

BINS = st.sampled_from([32, 64, MOST_BINS])


@st.composite
def crowds(draw):
    """Values most of which are near each other or equal, and some far away, in random order."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    near = rng.normal(size=draw(st.integers(10, 150)))
    tied = np.full(draw(st.integers(0, 100)), draw(st.floats(-1, 1, width=32)))
    sizes = [10.0 ** draw(st.floats(0, 7)) for _ in range(draw(st.integers(0, 6)))]
    far = [draw(st.sampled_from([-1, 1])) * size for size in sizes]
    tail = np.exp(rng.normal(scale=4, size=draw(st.integers(0, 80))))
    values = np.concatenate([near, tied, far, tail]).astype(np.float32)
    return rng.permutation(values)


@settings(deadline=None, max_examples=300)
@given(crowds(), BINS)
def test_bins_are_those_of_the_reference(values, n_bins):
    assume(values.max() > values.min())
    bins = np.empty(len(values), dtype=np.uint8)
    assert bin_values(values, bins, n_bins)
    assert (bins == bins_of(values, n_bins)).all()
    assert (np.diff(bins[np.argsort(values)].astype(int)) >= 0).all()
    assert bins.max() < n_bins


@settings(deadline=None, max_examples=300)
@given(crowds(), st.integers(0, 99), st.booleans(), BINS)
def test_empty_cells_keep_a_bin_of_their_own(known, n_filled, above, n_bins):
    assume(known.max() > known.min())
    fill = FILL if above else -FILL
    values = np.concatenate([known, np.full(n_filled, fill, dtype=np.float32)])
    values = np.random.default_rng(n_filled).permutation(values)
    bins = np.empty(len(values), dtype=np.uint8)
    assert bin_with_empty_cells(values, bins, n_bins)
    filled = np.abs(values) >= FILL
    expected = bins_of(values, n_bins - 1, filled) + int(n_filled > 0 and not above)
    expected[filled] = n_bins - 1 if above else 0
    assert (bins == expected).all()


def test_values_beside_one_far_away_are_still_told_apart():
    rng = np.random.default_rng(1)
    for far in (500.0, 1e6, -1e6):
        values = rng.permutation(np.append(rng.normal(size=999), far)).astype(np.float32)
        bins = np.empty(len(values), dtype=np.uint8)
        bin_values(values, bins, MOST_BINS)
        assert of_most_rows(bins) is None
        assert len(np.unique(bins)) > 100


def test_codes_for_unknown_values_do_not_hide_the_others():
    values = np.append(np.linspace(0, 1, 800), np.full(200, 99999.0)).astype(np.float32)
    values = np.random.default_rng(2).permutation(values)
    bins = np.empty(len(values), dtype=np.uint8)
    bin_values(values, bins, 64)
    assert len(np.unique(bins[values < 2])) == 32


def test_many_zeros_beside_other_values_need_no_bins_of_their_own():
    values = np.random.default_rng(3).permutation(np.append(np.zeros(900), np.arange(1, 65.0)))
    bins = np.empty(len(values), dtype=np.uint8)
    bin_values(values.astype(np.float32), bins, 64)
    assert len(np.unique(bins)) == 64


# ------------------------------------------------------------------------------------------------
# Columns of two values: their sums are those of two bins, bit for bit, and so are the trees.
# ------------------------------------------------------------------------------------------------

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


# ------------------------------------------------------------------------------------------------
# Sums by bin of four projections are those of each alone, bit for bit.
# ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("unit", [True, False])
@settings(deadline=None)
@given(
    m=st.integers(2, 60),
    n_bins=st.sampled_from([2, 32, MOST_BINS]),
    often=st.floats(0.0, 1.0),
    seed=st.integers(0, 99),
)
def test_four_together_are_as_each_alone(unit, m, n_bins, often, seed):
    rng = np.random.default_rng(seed)
    counts = rng.integers(1, 4, m)
    weights = counts * (1.0 if unit else rng.random(m) + 0.1)
    node = described(rng.normal(size=m), weights, counts, SQUARED_ERROR, 1)
    words = np.empty(m, dtype=np.int64)
    quantum = write_words(node, words)
    bins = rng.integers(0, n_bins, (FOUR, m)).astype(np.uint8)
    bins[rng.random((FOUR, m)) < often] = n_bins - 1  # one value in most rows
    tallies = np.full((FOUR, 2 * MOST_BINS), -1)
    tables = np.full((FOUR, MOST_BINS, 2), np.nan)
    tally_four_columns(bins.ravel(), words, node, n_bins, tallies, tables)
    for c in range(FOUR):
        tally, table = np.full(2 * MOST_BINS, -1), np.full((MOST_BINS + 1, 2), np.nan)
        binned_cut(bins[c], words, quantum, tally, table, None, node, n_bins, 1)
        np.testing.assert_array_equal(tallies[c], tally)
        np.testing.assert_array_equal(tables[c, :n_bins], table[:n_bins])
        for b in range(n_bins):
            here = bins[c] == b
            word = tallies[c, b] + tallies[c, MOST_BINS + b]
            assert word & COUNT == counts[here].sum()
            assert word >> COUNT_BITS == (words[here] >> COUNT_BITS).sum()
            if not unit:
                assert tables[c, b].sum() == pytest.approx(weights[here].sum())
