"""Sums by bin of four projections are those of each alone, bit for bit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nodes import described
from odrf.engine.splits.histograms import (
    COUNT,
    COUNT_BITS,
    FOUR,
    MOST_BINS,
    binned_cut,
    tally_four_columns,
    write_words,
)
from odrf.engine.splits.impurity import SQUARED_ERROR


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
