from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from odrf.design.weights import check_weights, in_unit_of_fit, raw_weights, unit_of
from odrf.errors import InputError

DATA = pd.DataFrame({"w": [1, 2, 0], "s": ["a", "b", "c"]}, index=[5, 6, 7])


@pytest.mark.parametrize(
    "weights",
    ["w", [1, 2, 0], np.array([1, 2, 0]), pd.array([1, 2, 0]), pd.Index([1, 2, 0])],
)
def test_weights_without_labels_go_by_position(weights):
    np.testing.assert_array_equal(raw_weights(weights, DATA), [1.0, 2.0, 0.0])


@pytest.mark.parametrize("order", [[0, 1, 2], [2, 1, 0], [1, 2, 0]])
def test_a_series_goes_by_its_labels(order):
    weights = pd.Series([1, 2, 0], index=DATA.index).iloc[order]
    np.testing.assert_array_equal(raw_weights(weights, DATA), [1.0, 2.0, 0.0])


def test_labels_that_are_not_unique_go_by_position_where_they_are_the_same():
    twice = DATA.set_axis([5, 5, 7])
    weights = pd.Series([1, 2, 0], index=[5, 5, 7])
    np.testing.assert_array_equal(raw_weights(weights, twice), [1.0, 2.0, 0.0])
    with pytest.raises(InputError, match="other row labels than the data"):
        raw_weights(weights.iloc[[2, 0, 1]], twice)


@pytest.mark.parametrize("labels", [[0, 1, 2], [5, 6, 8], [5, 5, 6], ["5", "6", "7"]])
def test_a_series_with_other_labels_is_refused(labels):
    message = r"weights= is a Series with other row labels than the data.*by position: weights.to_n"
    with pytest.raises(InputError, match=message):
        raw_weights(pd.Series([1, 2, 0], index=labels), DATA)


def test_no_weights_are_all_one():
    np.testing.assert_array_equal(raw_weights(None, DATA), [1.0, 1.0, 1.0])


def test_missing_weights_stay_missing():
    weights = pd.array([1, None, 2], dtype="Int64")
    np.testing.assert_array_equal(raw_weights(weights, DATA), [1, np.nan, 2])


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ("ww", "weights='ww' is not a column of the data; did you mean 'w'"),
        ("s", "weights must be numbers"),
        (["a", "b", "c"], "weights must be numbers"),
        (np.ones((3, 2)), "weights must be numbers, one for each row"),
        (pd.to_datetime(["2020", "2021", "2022"]), "weights must be numbers"),
        (pd.to_timedelta([1, 2, 3], unit="D"), "weights must be numbers"),
        ([1, 2], "weights has length 2 and the data 3 rows"),
    ],
)
def test_what_cannot_be_weights(weights, message):
    with pytest.raises(InputError, match=message):
        raw_weights(weights, DATA)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1.0, -2.0, -1.0], "weights has 2 negative values, the smallest -2"),
        ([0.0, 0.0, 0.0], "weights are all zero"),
        ([1.0, np.nan, 1.0], "weights has 1 value that is missing, infinite or above"),
        ([1.0, np.inf, np.inf], "weights has 2 values that are missing, infinite or above"),
        ([1.0, 1e201, -1e201], "weights has 2 values that are missing, infinite or above"),
    ],
)
def test_weights_that_make_no_sense(weights, message):
    with pytest.raises(InputError, match=message):
        check_weights(np.array(weights))


def test_zeros_among_the_weights_are_fine():
    check_weights(np.array([0.0, 1.0, 0.0]))


@pytest.mark.parametrize("largest", [2.0**-40, 1e-9, 1.0, 5.0, 1e12, 2.0**40])
def test_usual_weights_keep_their_unit(largest):
    assert unit_of(np.array([0.0, largest / 8, largest])) == 1.0


@given(st.floats(5e-324, 1e200).filter(lambda x: not 2.0**-40 <= x <= 2.0**40))
def test_the_unit_of_other_weights_is_a_power_of_two(largest):
    unit = unit_of(np.array([0.0, largest / 8, largest]))
    assert math.frexp(unit)[0] == 0.5
    assert 1 <= largest / unit < 2


@given(st.floats(1e-300, 1e20), st.floats(1e-300, 1e20))
def test_weights_of_added_rows_are_in_the_unit_of_the_fit(first, added):
    unit = unit_of(np.array([first]))
    assert in_unit_of_fit(np.array([0.0, added]), 1.0).tolist() == [0.0, added]
    if added > unit * 2.0**80:
        with pytest.raises(InputError, match="far above those of the training rows"):
            in_unit_of_fit(np.array([0.0, added]), unit)
    else:
        assert in_unit_of_fit(np.array([0.0, added]), unit).tolist() == [0.0, added / unit]
