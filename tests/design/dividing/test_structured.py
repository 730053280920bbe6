"""Folds of rows with strata, groups and classes, beside rows of weight 0.

A fit has none of these now; one of an older version may have.
"""

from __future__ import annotations

import numpy as np
import pytest

from odrf.design.folds import (
    RowsToDivide,
    fold_numbers,
    most_folds,
    strata_cells,
    structured_folds,
)
from odrf.design.structure import RowStructure
from odrf.errors import InputError


def rows(weights, n_classes=1, y=None, events=None, **codes) -> RowsToDivide:
    weights = np.array(weights, dtype=float)
    y = np.zeros(len(weights)) if y is None else np.array(y, dtype=float)
    return RowsToDivide(y, n_classes, weights, RowStructure(**codes), events)


@pytest.mark.parametrize("seed", range(5))
def test_rows_of_weight_of_each_stratum_are_divided_evenly(seed):
    strata = np.repeat([0, 1], [9, 11])
    weights = np.r_[np.ones(4), np.zeros(5), np.ones(2), np.zeros(9)]
    fold = fold_numbers(rows(weights, strata=strata), 3, seed)
    assert np.bincount(fold[weights > 0]).tolist() == [2, 2, 2]
    assert np.ptp(np.bincount(fold[(weights > 0) & (strata == 0)], minlength=3)) == 1
    assert np.ptp(np.bincount(fold)) <= 1


@pytest.mark.parametrize("seed", range(5))
def test_groups_of_rows_of_weight_are_divided_evenly(seed):
    groups = np.arange(48) // 4
    weights = (groups < 4).astype(float)
    fold = fold_numbers(rows(weights, groups=groups), 4, seed)
    assert np.bincount(fold[weights > 0]).tolist() == [4] * 4
    assert np.bincount(fold).tolist() == [12] * 4


def test_cells_are_those_of_stratum_class_and_whether_there_is_weight():
    strata, y = np.array([0, 0, 0, 1, 1, 1, 0]), np.array([0, 1, 0, 0, 0, 1, 0])
    given = rows([1, 2, 0, 1, 0, 3, 5], 2, y, strata=strata)
    cells = strata_cells(given)
    labels = list(zip(strata.tolist(), y.tolist(), [1, 1, 0, 1, 0, 1, 1], strict=True))
    for i, one in enumerate(labels):
        assert [label == one for label in labels] == (cells == cells[i]).tolist()
    assert sorted(set(cells.tolist())) == list(range(len(set(labels))))


def test_there_are_as_many_folds_as_units():
    ones = np.ones(6)
    assert most_folds(rows(ones)) == 6
    assert most_folds(rows(ones, groups=np.array([4, 4, 9, 9, 9, 2]))) == 3
    # the first time is trained on only
    assert most_folds(rows(ones, order=np.array([0, 0, 1, 2, 2, 3]))) == 3


def test_folds_without_events_or_classes_in_training_are_refused():
    events = np.array([True, False, False, False])
    with pytest.raises(InputError, match=r"no events.* use more rows with events"):
        structured_folds(rows(np.ones(4), events=events), 2, 1)
    # an event without weight is none
    with pytest.raises(InputError, match="no events"):
        structured_folds(rows([1, 0, 1, 1], events=np.array([True, True, False, False])), 2, 1)
    with pytest.raises(InputError, match=r"all of one class.* groups="):
        structured_folds(rows(np.ones(4), 2, [0, 0, 1, 1], groups=np.array([0, 0, 1, 1])), 2, 1)
    with pytest.raises(InputError, match=r"all have weight 0.* leave out rows of weight 0"):
        structured_folds(rows([1, 0, 0, 0]), 2, 1)
    order = np.array([0, 0, 1, 1])
    with pytest.raises(InputError, match="so that more rows come first"):
        structured_folds(rows(np.ones(4), 2, [0, 0, 1, 1], order=order), 1, 1)
