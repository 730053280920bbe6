"""Bins where an outlier, or a heavy tail, leaves nearly all rows in one bin of equal width."""

from __future__ import annotations

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from odrf.engine.directions.missing import FILL
from odrf.engine.splits.cuts import bin_with_empty_cells
from odrf.engine.splits.histograms import MOST_BINS, bin_values
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
