""""""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from patsy import EvalEnvironment

import odrf
from odrf.design import build_design
from odrf.design.missing import LARGEST
from odrf.design.scaling import (
    Cells,
    Levels,
    Unscaled,
    indicators,
    learn_scaling,
    with_sparse_columns,
)
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


# ------------------------------------------------------------------------------------------------
#
# ------------------------------------------------------------------------------------------------


@st.composite
def tables_of_unscaled(draw):
    """Numbers and factors in any order of their columns."""
    n = draw(st.integers(1, 8))
    numbers, at, factors, p = [], [], [], 0
    for is_factor in draw(st.lists(st.booleans(), min_size=1, max_size=5)):
        if is_factor:
            width = draw(st.integers(1, 4))
            codes = draw(st.lists(st.integers(-1, width - 1), min_size=n, max_size=n))
            factors.append(Levels(p, width, np.array(codes, dtype=np.int64)))
            p += width
        else:
            numbers.append(draw(st.lists(st.integers(-3, 3), min_size=n, max_size=n)))
            at.append(p)
            p += 1
    cells = [
        Cells(np.array([column]), np.array([values], dtype=np.float64))
        for column, values in zip(at, numbers, strict=True)
    ]
    return unscaled(n, [*cells, *factors]), p


def unscaled(n, pieces):
    widths = {piece.first: piece.width for piece in pieces if isinstance(piece, Levels)}
    return Unscaled(n, widths, lambda: iter(pieces))


def every_column(table, p):
    """The slow way: all indicators as numbers."""
    columns = np.empty((p, table.n))
    for piece in table.pieces():
        if isinstance(piece, Cells):
            columns[piece.at] = piece.values
            continue
        first, width, codes = piece
        for k in range(width):
            columns[first + k] = codes == k
        np.testing.assert_array_equal(indicators(codes, width), columns[first : first + width])
    return columns


@given(tables_of_unscaled(), st.data())
def test_factors_are_scaled_as_their_indicators(table, data):
    rows, p = table
    names = [str(j) for j in range(p)]
    columns = every_column(rows, p)
    expected = learn_scaling(columns, names)
    found, X = rows.learned(names)
    np.testing.assert_array_equal(found.low, expected.low)
    np.testing.assert_array_equal(found.range, expected.range)
    np.testing.assert_array_equal(X, expected.apply(columns))
    # new rows may have other levels than the training rows
    shift = data.draw(st.integers(0, 3))
    new = [
        Levels(piece.first, piece.width, (piece.codes + shift) % (piece.width + 1) - 1)
        if isinstance(piece, Levels)
        else piece
        for piece in rows.pieces()
    ]
    for table_of in (rows, unscaled(rows.n, new)):
        scaled = expected.apply(every_column(table_of, p))
        np.testing.assert_array_equal(table_of.scaled(found), scaled)


# ------------------------------------------------------------------------------------------------
#
# ------------------------------------------------------------------------------------------------

# the last one is the smallest float32
values = st.sampled_from([0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.25, 2.0**-149])
shapes = st.tuples(st.integers(0, 5), st.integers(0, 12))


@given(arrays(np.float32, shapes, elements=values))
def test_the_matrix_is_found_again(X):
    again = pickle.loads(pickle.dumps(with_sparse_columns(X))).matrix()
    assert again.dtype == np.float32
    assert again.flags.c_contiguous
    np.testing.assert_array_equal(again, X)


def test_a_factor_takes_little_space():
    rng = np.random.default_rng(1)
    labels = [f"l{k}" for k in rng.integers(0, 300, 3000)]
    table = pd.DataFrame({"y": rng.normal(size=3000), "a": rng.normal(size=3000)})
    env = EvalEnvironment.capture()
    size = []
    for frame in (table, table.assign(f=labels)):
        _, training = build_design("y ~ .", frame, env=env)
        size.append(len(pickle.dumps(training)))
        again = pickle.loads(pickle.dumps(training))
        np.testing.assert_array_equal(again.X, training.X)
    assert size[1] < 1.5 * size[0]
