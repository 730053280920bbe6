"""The random stream: the published generator, independent trees, uniform draws."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from odrf.engine.numeric import below, shuffle_front, streams, uniform
from reference.randomness import Stream


def test_twin_gives_the_published_words():
    stream = Stream(np.array([1, 2, 3, 4], dtype=np.uint64))
    assert [stream.word() for _ in range(6)] == [
        41943041,
        58720359,
        3588806011781223,
        3591011842654386,
        9228616714210784205,
        9973669472204895162,
    ]


@given(st.lists(st.integers(0, 2**64 - 1), min_size=4, max_size=4))
def test_uniform_is_that_of_the_twin(words):
    state = np.array(words, dtype=np.uint64)
    stream = Stream(state)
    for _ in range(5):
        assert uniform(state) == stream.uniform()
    assert state.tolist() == stream.state


@given(st.integers(0, 2**64), st.integers(1, 30), st.data())
def test_below_and_shuffle_are_those_of_the_twin(seed, n, data):
    state = streams(seed, 0, 1)[0]
    stream = Stream(state)
    assert below(state, n) == stream.below(n)
    items, twin = np.arange(n), list(range(n))
    for k in data.draw(st.lists(st.integers(0, n), max_size=3)):
        shuffle_front(state, items, k)
        stream.shuffle_front(twin, k)
        assert items.tolist() == twin


def test_streams_are_the_spawned_ones_and_do_not_depend_on_how_many():
    spawned = np.random.SeedSequence(7).spawn(5)
    expected = [child.generate_state(4, np.uint64).tolist() for child in spawned]
    assert streams(7, 0, 5).tolist() == expected
    assert streams(7, 2, 4).tolist() == expected[2:4]
    assert streams(7, 3, 3).shape == (0, 4)


def test_below_is_uniform():
    state = streams(1, 0, 1)[0]
    counts = np.bincount([below(state, 7) for _ in range(70_000)], minlength=7)
    assert len(counts) == 7
    assert chisquare(counts).pvalue > 0.001


def test_subsets_are_equally_likely_whatever_order_they_are_drawn_from():
    state = streams(2, 0, 1)[0]
    items = np.array([3, 1, 4, 0, 2])
    counts = dict.fromkeys(combinations(range(5), 2), 0)
    for _ in range(20_000):
        shuffle_front(state, items, 2)
        counts[tuple(sorted(items[:2].tolist()))] += 1
    assert sorted(items) == [0, 1, 2, 3, 4]
    assert chisquare(list(counts.values())).pvalue > 0.001


def test_streams_of_neighbouring_trees_are_uncorrelated():
    draws = np.array([[uniform(state) for _ in range(2000)] for state in streams(3, 0, 8)])
    correlation = np.corrcoef(draws)[np.triu_indices(8, 1)]
    assert np.abs(correlation).max() < 4 / np.sqrt(2000)
