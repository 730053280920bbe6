from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import odrf
from odrf.design.missing import LARGEST
from odrf.design.scaling import learn_scaling
from odrf.errors import InputError

# Floats beyond 1e-280 are at least 1e-300 apart.
numbers = st.floats(-LARGEST, LARGEST).map(lambda x: x if abs(x) > 1e-280 else 0.0)
NAMES = ["a", "b", "c", "d"]
tables = arrays(np.float64, st.tuples(st.integers(1, 4), st.integers(1, 6)), elements=numbers)


@given(tables)
def test_training_columns_fill_the_unit_interval(columns):
    scaled = learn_scaling(columns, NAMES).apply(columns.copy())
    constant = columns.min(axis=1) == columns.max(axis=1)
    assert (scaled[constant] == 0).all()
    assert (scaled[~constant].min(axis=1) == 0).all()
    assert (scaled[~constant].max(axis=1) == 1).all()


@given(tables)
def test_scaling_keeps_order(columns):
    scaled = learn_scaling(columns, NAMES).apply(columns.copy())
    order = np.argsort(columns, axis=1)
    assert (np.diff(np.take_along_axis(scaled, order, axis=1), axis=1) >= 0).all()


def test_new_values_are_not_held_within_the_unit_interval():
    scaling = learn_scaling(np.array([[10.0, 20.0], [5.0, 5.0]]), NAMES)
    new = np.array([[0.0, 15.0, 40.0], [4.0, 5.0, 6.0]])
    scaled = scaling.apply(new)
    assert scaled.dtype == np.float32
    assert scaled.flags.c_contiguous
    np.testing.assert_array_equal(scaled, [[-1, 0.5, 3], [0, 0, 0]])


@pytest.mark.parametrize("far", [1.0, 1e200, 1e308])
@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_values_far_outside_stay_finite_in_single_precision(far):
    scaling = learn_scaling(np.array([[0.0, 1e-200]]), NAMES)
    scaled = scaling.apply(np.array([[-far, 0.5e-200, far]]))
    np.testing.assert_array_equal(scaled, np.array([[-1e30, 0.5, 1e30]], dtype=np.float32))


@pytest.mark.parametrize("unit", [5e-324, 1e-310, 1e-305, 1e-299, 1e-200])
@pytest.mark.parametrize("grow", [odrf.odt, odrf.odrf, odrf.odbt, odrf.graf])
@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_splits_of_a_tiny_unit_are_finite_or_refused(grow, unit):
    data = pd.DataFrame({"a": np.arange(20) * unit, "b": np.arange(20)[::-1] * 1.0})
    data["y"] = np.arange(20) % 7
    options = {} if grow is odrf.odt else {"n_trees": 3}
    if unit * 19 < 1e-300:
        with pytest.raises(InputError, match="predictor 'a' varies by less than 1e-300"):
            grow("y ~ a + b", data, seed=1, **options)
        return
    fit = grow("y ~ a + b", data, seed=1, **options)
    table = fit.planes() if grow is odrf.graf else fit.splits
    assert np.isfinite(table.select_dtypes("number").dropna()).all(axis=None)
