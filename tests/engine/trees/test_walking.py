"""Walkers end where each alone would."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit

from odrf.engine.trees.packing import pack
from odrf.engine.trees.routing import walk
from problems import problems
from reference.walking import end, records


@njit
def walked(rows, stride, walkers, starts, words, floats, leaves):
    n = np.uint64(len(walkers))
    walk(rows, np.uint64(stride), walkers, starts, n, words, floats, None, None, leaves)


@settings(max_examples=60, deadline=None)
@given(problems(), st.booleans(), st.data())
def test_walkers_end_where_the_twin_does(problem, one_row, data):
    packed = problem.grow(3).packed
    places = [place for root in packed.root.tolist() for place in records(packed, root)]
    if not places:
        return
    p, n = problem.X.shape
    starts = data.draw(st.lists(st.sampled_from(places), min_size=n, max_size=n))
    walkers = data.draw(st.permutations(range(n)))
    rows = np.ascontiguousarray(problem.X.T)
    leaves = np.full(n, -1, dtype=np.int32)
    walked(
        rows.ravel(), 0 if one_row else p, np.array(walkers, np.uint32),
        np.array(starts, np.uint64), packed.words, packed.floats, leaves,
    )  # fmt: skip
    for walker, place in zip(walkers, starts, strict=True):
        assert leaves[walker] == end(packed, place, rows[0 if one_row else walker])


@given(st.lists(st.integers(0, 9), min_size=3, max_size=3), st.integers(0, 2**32 - 1))
def test_records_of_any_number_of_terms(n_terms, seed):
    """A root with two splits as its children; the last record ends where the array does."""
    rng = np.random.default_rng(seed)
    start = np.concatenate([[0], np.cumsum(n_terms), np.full(4, sum(n_terms))])
    packed = pack(
        np.array([0, 7]),
        np.array([1, 3, 5, -1, -1, -1, -1]),
        rng.normal(size=7).astype(np.float32),
        start,
        rng.integers(0, 4, start[-1]),
        rng.normal(size=start[-1]).astype(np.float32),
    )
    rows = rng.normal(size=(20, 4)).astype(np.float32)
    leaves = np.full(20, -1, dtype=np.int32)
    walked(
        rows.ravel(), 4, np.arange(20, dtype=np.uint32), np.zeros(20, np.uint64), packed.words,
        packed.floats, leaves,
    )  # fmt: skip
    assert leaves.tolist() == [end(packed, 0, row) for row in rows]


def test_nobody_walks():
    none = np.empty(0, dtype=np.float32)
    leaves = np.array([7], dtype=np.int32)
    walked(
        none, 0, np.empty(0, np.uint32), np.empty(0, np.uint64), none.view(np.int32), none, leaves
    )
    assert leaves[0] == 7
