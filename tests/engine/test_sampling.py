"""The rows of a tree."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from odrf.engine.randomness import streams
from odrf.engine.sampling import (
    ALL_ROWS,
    BOOTSTRAP,
    SUBSAMPLE,
    Sampling,
    draw_counts,
    filling_counts,
    halved,
)
from problems import case_weights
from reference import randomness
from reference.randomness import Stream
from reference.randomness import draw_counts as twin

SCHEMES = [ALL_ROWS, BOOTSTRAP, SUBSAMPLE]


@settings(deadline=None)
@given(
    st.sampled_from(SCHEMES),
    st.floats(0.01, 1.0),
    st.integers(1, 50),
    st.integers(0, 2**32),
)
def test_counts_are_those_of_the_twin(resample, fraction, n, seed):
    weights = case_weights(n, np.random.default_rng(seed))
    sampling = Sampling(resample, fraction)
    state = streams(seed, 0, 1)[0]
    stream = Stream(state)
    counts = draw_counts(state, weights, sampling)

    assert counts.tolist() == twin(stream, weights, sampling).tolist()
    assert state.tolist() == stream.state
    assert (counts[weights == 0] == 0).all()
    eligible = (weights > 0).sum()
    size = eligible if resample == ALL_ROWS else max(1, round(fraction * eligible))
    assert counts.sum() == size
    assert resample == BOOTSTRAP or counts.max() == 1


@settings(deadline=None)
@given(st.sampled_from(SCHEMES), st.floats(0.01, 1.0), st.integers(1, 50), st.integers(0, 2**32))
def test_halves_are_those_of_the_twin(resample, fraction, n, seed):
    weights = case_weights(n, np.random.default_rng(seed))
    state = streams(seed, 0, 1)[0]
    drawn = draw_counts(state, weights, Sampling(resample, fraction))
    stream = Stream(state)
    both, twins = halved(state, drawn), randomness.halved(stream, drawn)
    assert [half.tolist() for half in both] == [half.tolist() for half in twins]
    assert state.tolist() == stream.state
    number = (drawn > 0).sum()
    assert (both[0] > 0).sum() == (number + 1) // 2
    assert number == 1 or (both[0] + both[1]).tolist() == drawn.tolist()
    again = Sampling(resample, fraction, honest=True)
    assert filling_counts(streams(seed, 0, 1)[0], weights, again).tolist() == both[1].tolist()


@pytest.mark.parametrize("resample", [BOOTSTRAP, SUBSAMPLE])
def test_every_row_of_positive_weight_is_drawn_equally_often(resample):
    weights = np.array([1.0, 5.0, 0.0, 0.1, 2.0, 1.0])
    state = streams(4, 0, 1)[0]
    total = sum(draw_counts(state, weights, Sampling(resample, 0.6)) for _ in range(5000))
    assert total[2] == 0
    assert chisquare(total[weights > 0]).pvalue > 0.001
