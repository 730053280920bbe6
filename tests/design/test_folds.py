"""Folds."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from odrf.design.folds import (
    block_of_times,
    fold_of_groups,
    fold_of_rows,
    folds_apart,
    last_times,
    rolling_origin,
)
from reference import folds as reference


@pytest.mark.parametrize("k", [2, 5, 10])
def test_folds_are_of_one_size_and_classes_dealt_out_evenly(k):
    y = np.repeat([0.0, 1.0, 2.0], [50, 33, 4])
    fold = fold_of_rows(y, 3, k, 7)
    assert np.ptp(np.bincount(fold, minlength=k)) <= 1
    for label in range(3):
        assert np.ptp(np.bincount(fold[y == label], minlength=k)) <= 1
    assert (fold_of_rows(y, 3, k, 7) == fold).all()
    assert (fold_of_rows(y, 3, k, 8) != fold).any()


def test_folds_of_numbers_do_not_follow_them():
    y = np.arange(1000.0)
    fold = fold_of_rows(y, 1, 10, 3)
    assert np.bincount(fold).tolist() == [100] * 10
    assert abs(np.corrcoef(fold, y)[0, 1]) < 0.1


@given(st.integers(2, 30), st.integers(0, 30), st.integers(2, 10), st.sampled_from([1, 3]))
def test_rows_of_weight_are_divided_evenly(positive, none, k, n_classes):
    rng = np.random.default_rng(1)
    weights = rng.permutation(np.repeat([1.0, 0.0], [positive, none]))
    y = rng.integers(0, n_classes, len(weights)).astype(float)
    fold = fold_of_rows(y, n_classes, k, 5, weights)
    for each in (weights > 0, weights >= 0):
        sizes = np.bincount(fold[each], minlength=k)
        assert sizes.max() - sizes.min() <= 1
    if none == 0:
        assert fold.tolist() == fold_of_rows(y, n_classes, k, 5).tolist()


def codes(least=1, most=40):
    """Codes 0, 1, … of rows, each of which occurs."""
    drawn = st.lists(st.integers(0, 9), min_size=least, max_size=most)
    return drawn.map(lambda numbers: np.unique(numbers, return_inverse=True)[1].astype(np.int64))


def two_codes(least=2):
    pairs = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 2)), min_size=least, max_size=40)
    return pairs.map(
        lambda pairs: [
            np.unique(numbers, return_inverse=True)[1].astype(np.int64)
            for numbers in zip(*pairs, strict=True)
        ]
    )


@given(two_codes(), st.integers(2, 6), st.integers(0, 99))
def test_groups_are_dealt_out_as_the_plain_twin_does(drawn, k, seed):
    groups, strata = drawn
    fold = fold_of_groups(groups, strata, k, seed)
    assert fold.tolist() == reference.dealt_groups(groups.tolist(), strata.tolist(), k, seed)


@given(two_codes(), st.integers(2, 6), st.integers(0, 99))
def test_groups_stay_whole_and_no_fold_is_empty(drawn, k, seed):
    groups, strata = drawn
    fold = fold_of_groups(groups, strata, k, seed)
    for group in np.unique(groups):
        assert len(set(fold[groups == group])) == 1
    if k <= groups.max() + 1:
        assert set(fold) == set(range(k))


@given(codes(), st.integers(2, 6), st.integers(0, 99))
def test_without_strata_folds_differ_by_no_more_than_the_largest_group(groups, k, seed):
    fold = fold_of_groups(groups, np.zeros_like(groups), k, seed)
    assert np.ptp(np.bincount(fold, minlength=k)) <= np.bincount(groups).max()


def test_strata_keep_their_shares_in_folds_of_whole_groups():
    rng = np.random.default_rng(2)
    size = rng.integers(1, 12, 200)
    groups = np.repeat(np.arange(200), size)
    strata = np.repeat(rng.choice(3, 200, p=[0.7, 0.2, 0.1]), size)
    fold = fold_of_groups(groups, strata, 5, 1)
    share = np.array([np.bincount(strata[fold == f]) / np.bincount(strata) for f in range(5)])
    assert np.abs(share - 0.2).max() < 0.02
    assert (fold_of_groups(groups, strata, 5, 2) != fold).any()


@given(codes(2), st.integers(1, 6))
def test_blocks_of_time_are_those_of_the_plain_twin(order, k):
    k = min(k, int(order.max()) + 1)
    block = block_of_times(order, k)
    assert block.tolist() == reference.blocks(order.tolist(), k)
    assert set(block) == set(range(k))
    assert (np.diff(block[np.argsort(order)]) >= 0).all()
    for time in np.unique(order):
        assert len(set(block[order == time])) == 1


def test_blocks_of_different_times_are_of_one_size():
    order = np.random.default_rng(1).permutation(103)
    assert np.ptp(np.bincount(block_of_times(order, 10))) <= 1


@given(codes(6), st.integers(1, 5))
def test_in_time_only_rows_after_the_training_rows_are_tested(order, k):
    k = min(k, int(order.max()))
    folds = rolling_origin(order, k)
    for (train, test), twin in zip(folds, reference.rolled(order.tolist(), k), strict=True):
        assert (np.flatnonzero(train).tolist(), np.flatnonzero(test).tolist()) == twin
        assert test.any() and train.any()
        assert order[train].max() < order[test].min()
    tested = np.sum([test for _, test in folds] + [np.zeros_like(order)], axis=0)
    assert (tested == (block_of_times(order, k + 1) > 0)).all()


@given(codes(1), st.floats(0.01, 0.99))
def test_the_last_rows_are_those_of_the_plain_twin(order, share):
    held = last_times(order, share)
    assert held.tolist() == reference.last(order.tolist(), share)
    assert held.any()
    if order.max() > 0:
        assert order[~held].max() < order[held].min()


def test_a_fold_holds_out_the_rows_of_one_number():
    folds = folds_apart(np.array([0, 1, 2, 1]), 3)
    assert [test.tolist() for _, test in folds][1] == [False, True, False, True]
    assert all((train != test).all() for train, test in folds)
