from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from odrf.design.columns.finite import LARGEST
from odrf.design.columns.scaling import learn_scaling

numbers = st.floats(-LARGEST, LARGEST)
tables = arrays(np.float64, st.tuples(st.integers(1, 4), st.integers(1, 6)), elements=numbers)


@given(tables)
def test_training_columns_fill_the_unit_interval(columns):
    scaled = learn_scaling(columns).apply(columns.copy())
    constant = columns.min(axis=1) == columns.max(axis=1)
    assert (scaled[constant] == 0).all()
    assert (scaled[~constant].min(axis=1) == 0).all()
    assert (scaled[~constant].max(axis=1) == 1).all()


@given(tables)
def test_scaling_keeps_order(columns):
    scaled = learn_scaling(columns).apply(columns.copy())
    order = np.argsort(columns, axis=1)
    assert (np.diff(np.take_along_axis(scaled, order, axis=1), axis=1) >= 0).all()


def test_new_values_are_not_held_within_the_unit_interval():
    scaling = learn_scaling(np.array([[10.0, 20.0], [5.0, 5.0]]))
    new = np.array([[0.0, 15.0, 40.0], [4.0, 5.0, 6.0]])
    scaled = scaling.apply(new)
    assert scaled.dtype == np.float32
    assert scaled.flags.c_contiguous
    np.testing.assert_array_equal(scaled, [[-1, 0.5, 3], [0, 0, 0]])


def test_values_far_outside_stay_finite_in_single_precision():
    scaling = learn_scaling(np.array([[0.0, 1e-200]]))
    scaled = scaling.apply(np.array([[-1.0, 0.5e-200, 1.0]]))
    np.testing.assert_array_equal(scaled, np.array([[-1e30, 0.5, 1e30]], dtype=np.float32))
