"""Folds."""

from __future__ import annotations

import numpy as np
import pytest

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
