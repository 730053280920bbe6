"""Folds."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from odrf import InputError
from odrf.design.folds import checked_folds, fold_of_rows


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


@pytest.mark.parametrize("cv", [1, 21, 2.0, "10", True])
def test_numbers_of_folds_that_there_cannot_be(cv):
    with pytest.raises(InputError, match=r"use 2 to 20 \(the rows\), or None"):
        checked_folds(cv, 20, ", or None")


def test_any_whole_number_will_do():
    assert checked_folds(np.int64(20), 20) == 20


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
