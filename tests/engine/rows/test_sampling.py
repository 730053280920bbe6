"""The rows of a tree."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from odrf.engine.numeric import streams
from odrf.engine.resamples import (
    ALL_ROWS,
    BOOTSTRAP,
    SUBSAMPLE,
    Batch,
    Sampling,
    draw_counts,
    draw_halves,
    estimation_counts,
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
    assert estimation_counts(streams(seed, 0, 1)[0], weights, again).tolist() == both[1].tolist()


@settings(deadline=None)
@given(
    st.sampled_from(SCHEMES),
    st.booleans(),
    st.lists(st.floats(0.01, 1.0), min_size=1, max_size=3),
    st.integers(1, 50),
    st.integers(0, 2**32),
)
def test_rows_added_later_are_those_of_the_twin(resample, honest, fractions, n, seed):
    rng = np.random.default_rng(seed)
    weights, begins = case_weights(n, rng), np.sort(rng.integers(1, n + 1, len(fractions)))
    weights[0] = 1.0
    later = tuple(Batch(int(at), part) for at, part in zip(begins, fractions, strict=True))
    sampling = Sampling(resample, 0.7, honest, later)
    state = streams(seed, 0, 1)[0]
    stream = Stream(state)
    both = draw_halves(state, weights, sampling)
    twins = randomness.draw_halves(stream, weights, sampling)
    assert [half.tolist() for half in both] == [half.tolist() for half in twins]
    assert state.tolist() == stream.state
    first = draw_counts(streams(seed, 0, 1)[0], weights[: begins[0]], Sampling(resample, 0.7))
    counts = draw_counts(streams(seed, 0, 1)[0], weights, sampling)
    assert counts[: begins[0]].tolist() == first.tolist()
    assert (both[0] + both[1])[begins[0] :].tolist() == (counts * (1 + (not honest)))[
        begins[0] :
    ].tolist()


@pytest.mark.parametrize("resample", SCHEMES)
def test_batches_of_any_size_draw_alike(resample):
    weights, state = np.ones(80), streams(2, 0, 1)[0]
    ways = [(Batch(20, 0.6),), (Batch(20, 0.6), Batch(21, 0.6), Batch(60, 0.6))]
    one, other = (Sampling(resample, 0.9, True, way) for way in ways)
    for draw in (draw_counts, estimation_counts):
        assert (
            draw(state.copy(), weights, one).tolist() == draw(state.copy(), weights, other).tolist()
        )


@pytest.mark.parametrize("resample", [BOOTSTRAP, SUBSAMPLE])
@pytest.mark.parametrize("fraction", [0.3, 1.0])
def test_rows_added_later_come_as_often_as_their_share(resample, fraction):
    sampling = Sampling(resample, 0.5, False, (Batch(1, fraction),))
    later = np.array(
        [draw_counts(state, np.ones(50), sampling)[1:] for state in streams(1, 0, 400)]
    )
    variance = fraction if resample == BOOTSTRAP else fraction * (1 - fraction)
    assert later.mean() == pytest.approx(fraction, abs=4 * (variance / later.size) ** 0.5)
    assert later.var() == pytest.approx(variance, rel=0.05)


@pytest.mark.parametrize("resample", [BOOTSTRAP, SUBSAMPLE])
def test_every_row_of_positive_weight_is_drawn_equally_often(resample):
    weights = np.array([1.0, 5.0, 0.0, 0.1, 2.0, 1.0])
    state = streams(4, 0, 1)[0]
    total = sum(draw_counts(state, weights, Sampling(resample, 0.6)) for _ in range(5000))
    assert total[2] == 0
    assert chisquare(total[weights > 0]).pvalue > 0.001
