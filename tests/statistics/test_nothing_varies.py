"""Statistics of values that do not vary, or of too few."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm, t

from odrf.statistics.calibration import effective_rows
from odrf.statistics.curves import similarity_order, simultaneous_width
from odrf.statistics.importance import sampling_errors


def test_a_band_of_constants_is_that_of_one_value():
    assert simultaneous_width(np.zeros((3, 3)), 0.9, 1) == pytest.approx(norm.ppf(0.95))
    assert simultaneous_width(np.eye(3), 0.9, 1) > norm.ppf(0.95)


def test_one_row_tells_no_error():
    of_row = np.array([[0.5, 0.0], [0.0, 1.0]], dtype=np.float32)
    assert np.isnan(sampling_errors(of_row, np.array([1.0, 0.0]))).tolist() == [True, True]
    assert np.isnan(sampling_errors(of_row, np.array([0.5, 0.5]), np.array([0, 0]))).all()
    assert np.isfinite(sampling_errors(of_row, np.array([0.5, 0.5]))).all()


def test_groups_of_equal_rates_tell_as_much_as_their_rows():
    event, groups = np.array([0.0, 1, 0, 1, 0, 1]), np.array([0, 0, 1, 1, 2, 2])
    assert effective_rows(event, np.ones(6), groups, 0.95) == pytest.approx(6)
    assert effective_rows(event, np.ones(6), np.array([0, 1, 0, 1, 0, 1]), 0.95) == 1
    assert effective_rows(event, np.ones(6), np.zeros(6, dtype=int), 0.95) == 1
    assert effective_rows(np.ones(6), np.ones(6), groups, 0.95) == 3


def test_levels_are_ordered_by_other_factors_and_by_numbers():
    level = np.repeat([0, 1, 2], 4)
    factor = pd.Series(list("uuuu" + "vvvv" + "uuuv"), name="f")
    assert similarity_order(level, 3, [factor]).tolist() in ([0, 2, 1], [1, 2, 0])
    number = pd.Series([0.0, 0, 1, 1, 8, 8, 9, 9, 4, 4, 5, 5], name="x")
    assert similarity_order(level, 3, [number, factor]).tolist() in ([0, 2, 1], [1, 2, 0])


def test_a_band_of_one_point_with_few_degrees_of_freedom_is_that_of_t():
    for df in (3, 20):
        found = simultaneous_width(np.ones((1, 1)), 0.9, 1, df)
        assert found == pytest.approx(t.ppf(0.95, df), rel=0.02)
    assert simultaneous_width(np.eye(3), 0.9, 1, 5) > simultaneous_width(np.eye(3), 0.9, 1)
