"""Which rows of a stream are kept."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from odrf.engine.updatable.reservoir import among_smallest, hashes
from reference.reservoir import hash_of, kept


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**40), st.lists(st.integers(0, 2**50), min_size=1, max_size=20))
def test_hashes_are_those_of_splitmix64(seed, numbers):
    found = hashes(seed, np.array(numbers))
    assert found.tolist() == [hash_of(seed, number) for number in numbers]


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 99), st.integers(1, 20), st.lists(st.integers(1, 15), max_size=6))
def test_batches_of_any_size_keep_the_same_rows(seed, size, batches):
    rows, seen = np.empty(0, dtype=np.int64), 0
    for m in batches:
        both = np.concatenate([rows, np.arange(seen, seen + m)])
        rows, seen = both[among_smallest(hashes(seed, both), size)], seen + m
    assert rows.tolist() == kept(seed, seen, size)


def test_each_row_has_the_same_chance():
    times = np.zeros(200)
    for seed in range(400):
        times += among_smallest(hashes(seed, np.arange(200)), 50)
    assert times.sum() == 50 * 400
    assert abs(times / 400 - 0.25).max() < 5 * np.sqrt(0.25 * 0.75 / 400)
