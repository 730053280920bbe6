"""Draws by a hash: they depend on seed, tree and row number alone, and are as good as random."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from odrf.engine.chunks import HashedDraw, draw_keys, mark_drawn
from reference.hashed_draws import draws_row, splitmix

WORDS = st.integers(0, 2**64 - 1)


def test_the_hash_is_that_of_splitmix():
    # the first numbers of the generator with the state 1234567, as its authors' code gives them
    assert [splitmix(1234567, r) for r in range(3)] == [
        6457827717110365317, 3203168211198807973, 9817491932198370423,
    ]  # fmt: skip


@given(
    keys=st.lists(WORDS, min_size=1, max_size=4),
    rows=st.lists(WORDS, min_size=1, max_size=20),
    fraction=st.floats(0, 1),
)
def test_a_row_is_drawn_as_the_twin_says(keys, rows, fraction):
    drawn = np.empty((len(keys), len(rows)), dtype=bool)
    mark_drawn(np.array(keys, np.uint64), np.array(rows, np.uint64), fraction, drawn)
    assert drawn.tolist() == [[draws_row(key, row, fraction) for row in rows] for key in keys]


@given(cuts=st.lists(st.integers(0, 500), max_size=5), n_jobs=st.integers(1, 3))
def test_draws_are_the_same_whatever_the_chunks(cuts, n_jobs):
    draw = HashedDraw(draw_keys(7, 0, 20), 0.3)
    rows, weights = np.arange(500, dtype=np.uint64), np.ones(500)
    weights[::7] = 0.0
    whole = draw.drawn(rows, weights, 1)
    ends = [0, *sorted(cuts), 500]
    parts = [draw.drawn(rows[a:b], weights[a:b], n_jobs) for a, b in pairwise(ends)]
    assert np.array_equal(np.concatenate(parts, axis=1), whole)
    assert not whole[:, ::7].any()
    some = draw.of_trees(5, 9).drawn(rows, weights, 1)
    assert np.array_equal(some, whole[5:9])


def test_shares_are_right_and_trees_and_neighbours_independent():
    n, fraction = 200_000, 0.1
    draw = HashedDraw(draw_keys(1, 0, 8), fraction)
    drawn = draw.drawn(np.arange(n, dtype=np.uint64), np.ones(n), 1)
    sd = np.sqrt(fraction * (1 - fraction) / n)
    assert np.abs(drawn.mean(axis=1) - fraction).max() < 4 * sd
    pairs = [(a, b) for a in range(8) for b in range(a)]
    both = np.array([(drawn[a] & drawn[b]).mean() for a, b in pairs])
    followed = (drawn[:, 1:] & drawn[:, :-1]).mean(axis=1)
    of_pairs = np.sqrt(fraction**2 * (1 - fraction**2) / n)
    assert np.abs(both - fraction**2).max() < 4.5 * of_pairs
    assert np.abs(followed - fraction**2).max() < 4.5 * of_pairs


def test_another_seed_and_another_tree_have_other_keys():
    keys = np.concatenate([draw_keys(seed, 0, 50) for seed in range(4)])
    assert len(np.unique(keys)) == 200
    assert np.array_equal(draw_keys(3, 10, 20), draw_keys(3, 0, 50)[10:20])


@pytest.mark.parametrize(("fraction", "share"), [(0.0, 0.0), (1.0, 1.0)])
def test_the_ends(fraction, share):
    draw = HashedDraw(draw_keys(1, 0, 2), fraction)
    assert draw.drawn(np.arange(50, dtype=np.uint64), np.ones(50), 1).mean() == share
