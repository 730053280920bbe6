"""Cuts of a single predictor whose empty cells are filled beyond its values."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from nodes import CRITERIA, described, samples
from odrf.engine.compiling import kernel
from odrf.engine.directions.missing import FILL
from odrf.engine.numeric import streams
from odrf.engine.splits.cuts import bin_with_empty_cells, draw_side, last_bin_first
from odrf.engine.splits.histograms import (
    MOST_BINS,
    binned_cut,
    scan_bins,
    tally_bins,
    write_words,
)

BINS = st.sampled_from([3, 32, MOST_BINS])


@kernel
def cut_with_last_bin_first(bins, words, quantum, tally, table, left, node, n_bins, min_leaf):
    """Call what only kernels can call."""
    tally_bins(bins, words, tally, table, left, node, n_bins)
    found = last_bin_first(tally, table, left, node, n_bins)
    gain, at = scan_bins(quantum, tally, table, left, node, n_bins, min_leaf)
    return found, gain, at


@settings(deadline=None)
@given(st.lists(st.floats(-4, 4, width=32), max_size=30), st.integers(0, 9), st.booleans(), BINS)
def test_filled_values_have_a_bin_of_their_own(known, n_filled, above, n_bins):
    assume(known or n_filled)
    assume(len(set(known)) < 2 or max(known) - min(known) > 1e-30)
    fill = FILL if above else -FILL
    values = np.array([*known, *[fill] * n_filled], dtype=np.float32)
    values = np.random.default_rng(len(known)).permutation(values)
    bins = np.empty(len(values), dtype=np.uint8)
    varies = len(set(known)) > 1
    assert bin_with_empty_cells(values, bins, n_bins) == bool(known and (n_filled or varies))
    if not known or not (n_filled or varies):
        return
    filled = np.abs(values) >= FILL
    own = n_bins - 1 if above else 0
    if n_filled:
        assert set(bins[filled]) == {own} and own not in bins[~filled]
    low, width = min(known), max(known) - min(known)
    first = int(n_filled > 0 and not above)
    places = (values[~filled].astype(float) - low) / (width or 1.0) * (n_bins - 1)
    places = np.minimum(places, n_bins - 2 + 0.5) + first
    assert (np.abs(bins[~filled] + 0.5 - places) < 0.5 + 1e-3).all()


@settings(deadline=None)
@given(st.lists(st.floats(-4, 4, width=32), max_size=30), st.integers(1, 9), st.integers(0, 99))
def test_empty_cells_are_drawn_to_one_side_of_all_values(known, n_filled, seed):
    assume(len(set(known)) < 2 or max(known) - min(known) > 1e-30)
    values = np.array([*known, *[FILL] * n_filled], dtype=np.float32)
    fill = draw_side(streams(seed, 0, 1)[0], values)
    assert abs(fill) == FILL and (values[: len(known)] == np.array(known, dtype=np.float32)).all()
    drawn = set(values[len(known) :])
    assert len(drawn) == 1
    if known:
        assert drawn.pop() > max(known) if fill > 0 else drawn.pop() < min(known)


@pytest.mark.parametrize("criterion", CRITERIA)
@settings(deadline=None)
@given(sample=samples(), min_leaf=st.integers(1, 5), seed=st.integers(0, 2**32 - 1))
def test_sums_are_moved_as_if_the_last_bin_were_the_first(criterion, sample, min_leaf, seed):
    _, y, w, counts, n_classes = sample
    n_bins = 5
    bins = np.random.default_rng(seed).integers(0, n_bins, len(y)).astype(np.uint8)
    node = described(y, w, counts, criterion, n_classes)
    left = None if node.factor > 0 else np.empty(len(node.value))
    words, tally = np.empty(len(y), dtype=np.int64), np.full(2 * MOST_BINS, -1)
    table = np.full((MOST_BINS + 1, len(node.value) + 1), np.nan)
    quantum = write_words(node, words) if left is None else np.nan
    scratch = words, quantum, tally, table, left, node, n_bins, min_leaf
    moved = cut_with_last_bin_first(bins, *scratch)
    turned = ((bins.astype(int) + 1) % n_bins).astype(np.uint8)
    assert moved == ((bins == n_bins - 1).any(), *binned_cut(turned, *scratch))
