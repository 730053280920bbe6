"""Pruning paths and growth paths on folds that are given."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.model_selection import KFold, ShuffleSplit, TimeSeriesSplit

from odrf import InputError


@pytest.mark.parametrize("method", ["pruning_path", "growth_path"])
def test_given_folds_are_those_that_judge(number_tree, method):
    made = getattr(number_tree, method)
    labels = np.arange(120) % 4
    splitter = KFold(4)
    by_labels = made(cv=np.sort(labels), seed=2)
    by_splitter = made(cv=splitter, seed=2)
    assert by_labels.table.equals(by_splitter.table)
    assert not by_labels.table.equals(made(cv=labels, seed=2).table)
    assert not by_labels.table.equals(made(cv=4, seed=2).table)
    assert "cross-validation on 4 given folds" in str(by_labels.summary())
    assert "cross-validation by KFold" in str(by_splitter.summary())


@pytest.mark.parametrize("method", ["pruning_path", "growth_path"])
def test_in_time_the_first_rows_are_not_held_out(number_tree, method):
    path = getattr(number_tree, method)(cv=TimeSeriesSplit(3), seed=1)
    assert np.isfinite(path.table.iloc[:, -1]).all()


def test_a_row_is_held_out_once(number_tree):
    with pytest.raises(InputError, match="rows out more than once"):
        number_tree.pruning_path(cv=ShuffleSplit(5, random_state=1))
    with pytest.raises(InputError, match=r"use 2 to 120 \(the rows\).*, or None"):
        number_tree.pruning_path(cv="auto")
    with pytest.raises(InputError, match="or give newdata="):
        number_tree.growth_path(cv=None)
