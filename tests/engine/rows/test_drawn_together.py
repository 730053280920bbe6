"""Rows that belong together are drawn together."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

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
    estimation_counts,
    out_of_bag_rows,
)
from problems import case_weights
from reference import drawing
from reference.randomness import Stream
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
