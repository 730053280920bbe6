"""Rows that belong together are drawn together."""

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
    Draws,
    RowCodes,
    Sampling,
    draw_counts,
    draw_halves,
    draw_out_of_bag,
    draw_subsample,
    estimation_counts,
    halved,
    n_drawn,
    out_of_bag_rows,
)
from problems import case_weights
from reference import drawing, randomness
from reference.randomness import Stream
from reference.randomness import draw_counts as twin
from resampled import all_counts

SCHEMES = [ALL_ROWS, BOOTSTRAP, SUBSAMPLE]


def codes_of(rng, n, *, groups=False, order=False, strata=False):
    """Codes of n rows; groups are numbered in the order of their first rows."""
    of_groups = of_strata = None
    if groups:
        labels = rng.integers(0, max(2, n // 3), n).tolist()
        of_groups = np.array([list(dict.fromkeys(labels)).index(label) for label in labels])
    if strata:
        units = np.arange(n) if of_groups is None else of_groups
        of_strata = rng.integers(0, 3, units.max() + 1)[units]
    times = np.unique(rng.integers(0, n, n), return_inverse=True)[1] if order else None
    return RowCodes(of_groups, times, of_strata)


structures = st.sampled_from(
    [
        {"groups": True},
        {"order": True},
        {"strata": True},
        {"groups": True, "strata": True},
        {"order": True, "strata": True},
    ]
)


@settings(deadline=None)
@given(
    st.sampled_from(SCHEMES), st.floats(0.01, 1.0), structures, st.integers(1, 40), st.integers(0)
)
def test_draws_are_those_of_the_twin(resample, fraction, structure, n, seed):
    rng = np.random.default_rng(seed)
    weights, codes = case_weights(n, rng), codes_of(rng, n, **structure)
    sampling = Sampling(resample, fraction)
    state, again = streams(3, 0, 2)
    state = state + np.uint64(seed % 2**32)
    again, stream = state.copy(), Stream(state)
    counts = draw_counts(state, weights, sampling, codes)
    expected, unseen = drawing.counts_of_rows(stream, weights, sampling, codes)
    assert counts.tolist() == expected
    assert state.tolist() == stream.state
    assert out_of_bag_rows(again, weights, sampling, codes).tolist() == unseen
    assert again.tolist() == stream.state


@settings(deadline=None)
@given(
    st.sampled_from(SCHEMES),
    st.lists(st.floats(0.01, 1.0), max_size=3),
    structures.filter(lambda structure: "order" not in structure),
    st.integers(1, 40),
    st.integers(0, 2**32),
)
def test_halves_and_groups_added_later_are_those_of_the_twin(
    resample, fractions, structure, n, seed
):
    rng = np.random.default_rng(seed)
    weights, codes = case_weights(n, rng), codes_of(rng, n, **structure)
    begins = np.sort(rng.integers(1, n + 1, len(fractions)))
    later = tuple(Batch(int(at), part) for at, part in zip(begins, fractions, strict=True))
    sampling = Sampling(resample, 0.7, True, later)
    state = streams(seed, 0, 1)[0]
    start, stream = state.copy(), Stream(state)
    halves = draw_halves(state, weights, sampling, codes)
    twins = drawing.halves_of_rows(stream, weights, sampling, codes)
    assert [half.tolist() for half in halves] == twins
    assert state.tolist() == stream.state
    assert estimation_counts(start.copy(), weights, sampling, codes).tolist() == twins[1]
    counts, _ = drawing.counts_of_rows(Stream(start), weights, sampling, codes)
    assert draw_counts(start, weights, sampling, codes).tolist() == counts


def draws_of(codes, n, n_trees=400, resample=SUBSAMPLE, *, honest=False, fraction=0.5):
    sampling = Sampling(resample, fraction, honest)
    return Draws(np.ones(n), [sampling] * n_trees, streams(5, 0, n_trees), 2, codes)


@pytest.mark.parametrize("resample", [BOOTSTRAP, SUBSAMPLE])
def test_groups_are_drawn_halved_and_left_out_whole(resample):
    groups = np.repeat(np.arange(20), np.arange(1, 21))
    draws = draws_of(RowCodes(groups), len(groups), 50, resample, honest=True)
    first = np.unique(groups, return_index=True)[1]
    for of_rows in (
        all_counts(draws),
        draws.all_unseen(),
        np.array([draws.filling(b) for b in range(50)]),
    ):
        assert (of_rows == of_rows[:, first][:, groups]).all()
    assert (draws.all_unseen() == (all_counts(draws) == 0)).all()


def test_a_row_of_weight_zero_is_out_of_bag_with_its_group_only():
    groups = np.array([0, 0, 1, 1, 2, 2])
    draws = draws_of(RowCodes(groups), 6)._replace(weights=np.array([1.0, 0, 1, 1, 0, 0]))
    unseen = draws.all_unseen()
    assert (unseen[:, 0] == unseen[:, 1]).all()
    assert unseen[:, 4:].all()
    assert (all_counts(draws)[:, [1, 4, 5]] == 0).all()


@pytest.mark.parametrize("resample", [BOOTSTRAP, SUBSAMPLE])
def test_strata_keep_their_shares_in_draws_and_halves(resample):
    strata = np.array([0] * 40 + [1] * 10 + [2] * 4)[np.random.default_rng(1).permutation(54)]
    draws = draws_of(RowCodes(strata=strata), 54, 30, resample, honest=True)
    counts = all_counts(draws)
    for code, size in ((0, 20), (1, 5), (2, 2)):
        assert (counts[:, strata == code].sum(axis=1) == size).all()
    if resample == SUBSAMPLE:
        filling = np.array([draws.filling(b) for b in range(30)])
        for code, size in ((0, 20), (1, 5), (2, 2)):
            times = filling[:, strata == code].sum(axis=1)
            assert np.isin(times, [size // 2, (size + 1) // 2]).all()


def test_a_subsample_leaves_out_a_unit_of_each_stratum():
    strata = np.repeat([0, 1], [2, 3])
    unseen = draws_of(RowCodes(strata=strata), 5, 60, fraction=0.95).all_unseen()
    assert unseen[:, :2].any(axis=1).all() and unseen[:, 2:].any(axis=1).all()
    assert draws_of(RowCodes(np.arange(3)), 3, 60, fraction=0.9).all_unseen().any(axis=1).all()


@pytest.mark.parametrize("resample", [BOOTSTRAP, SUBSAMPLE])
def test_in_time_rows_out_of_bag_are_later_than_all_rows_drawn(resample):
    order = np.random.default_rng(2).permutation(np.repeat(np.arange(50), 2))
    draws = draws_of(RowCodes(order=order), 100, resample=resample)
    counts, unseen = all_counts(draws), draws.all_unseen()
    for drawn, left_out in zip(counts > 0, unseen, strict=True):
        assert not left_out.any() or order[drawn].max() < order[left_out].min()
    # half of the trees draw from all rows; the cuts of the others are spread over the later half
    assert abs(unseen.any(axis=1).mean() - 0.5) < 0.07
    shares = unseen.mean(axis=0)
    assert (shares[order < 25] == 0).all()
    assert abs(shares[order == 49].mean() - 0.5) < 0.07
    assert abs(shares[order == 37].mean() - 0.25) < 0.07
    assert (counts[:, order == 49].sum() > 0) and (counts[:, order == 0].sum() > 0)


def test_a_tree_of_all_rows_draws_late_rows_too():
    draws = draws_of(RowCodes(order=np.arange(10)), 10, 5, ALL_ROWS)
    assert (all_counts(draws) == 1).all() and not draws.all_unseen().any()


# ------------------------------------------------------------------------------------------------
# The rows of a tree.
# ------------------------------------------------------------------------------------------------


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


# ------------------------------------------------------------------------------------------------
# Subsamples drawn into the same arrays are those that any other tree draws.
# ------------------------------------------------------------------------------------------------

SIZES = st.floats(0.01, 1.0), st.integers(1, 50), st.integers(0, 2**32)


def of_twin(fraction, n, seed):
    """The rows drawn in random order, and the stream afterwards."""
    stream = Stream(streams(seed, 0, 1)[0])
    counts = twin(stream, np.ones(n), Sampling(SUBSAMPLE, fraction))
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
