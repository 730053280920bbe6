"""Subsamples drawn into the same arrays are those that any other tree draws."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from odrf.engine.numeric import streams
from odrf.engine.resamples import (
    BOOTSTRAP,
    SUBSAMPLE,
    Draws,
    Sampling,
    draw_out_of_bag,
    draw_subsample,
    n_drawn,
)
from reference.randomness import Stream, draw_counts

SIZES = st.floats(0.01, 1.0), st.integers(1, 50), st.integers(0, 2**32)


def of_twin(fraction, n, seed):
    """The rows drawn in random order, and the stream afterwards."""
    stream = Stream(streams(seed, 0, 1)[0])
    counts = draw_counts(stream, np.ones(n), Sampling(SUBSAMPLE, fraction))
    rows = np.flatnonzero(counts).tolist()
    stream.shuffle_front(rows, len(rows))
    return rows, stream


@settings(deadline=None)
@given(*SIZES, st.booleans())
def test_a_subsample_is_that_of_the_twin(fraction, n, seed, copied):
    rng = np.random.default_rng(seed)
    X, y = rng.random((3, n), dtype=np.float32), rng.normal(size=n)
    expected, stream = of_twin(fraction, n, seed)
    state, size = streams(seed, 0, 1)[0], n_drawn(Sampling(SUBSAMPLE, fraction), n)
    at = np.empty(size, dtype=np.int32)
    tree_X, tree_y = np.empty((3 * copied, size), dtype=np.float32), np.empty(size)
    draw_subsample(state, X, y, at, tree_X, tree_y)

    assert at.tolist() == expected and state.tolist() == stream.state
    assert (tree_y == y[expected]).all()
    assert not copied or (tree_X == X[:, expected]).all()


@settings(deadline=None)
@given(*SIZES)
def test_rows_out_of_bag_are_the_others(fraction, n, seed):
    unseen = np.empty(n, dtype=np.bool_)
    size = n_drawn(Sampling(SUBSAMPLE, fraction), n)
    draw_out_of_bag(streams(seed, 0, 1)[0], size, unseen)
    assert set(np.flatnonzero(~unseen)) == set(of_twin(fraction, n, seed)[0])


@pytest.mark.parametrize("lightest", [0.0, 0.5, 1.0])
def test_all_rows_out_of_bag_are_those_of_each_tree(lightest):
    weights = np.ones(40)
    weights[7] = lightest
    samplings = [Sampling(SUBSAMPLE, 0.3), Sampling(BOOTSTRAP, 1.0), Sampling(SUBSAMPLE, 1.0)]
    draws = Draws(weights, samplings, streams(5, 0, 3), 2)
    assert draws.all_unseen().tolist() == [draws.unseen(b).tolist() for b in range(3)]
