from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from patsy.categorical import C

import odrf
from odrf.design.columns import result_values
from odrf.errors import InputError

INDEX = pd.Index(["r1", "r2", "r3"])


@pytest.mark.parametrize(
    "result", [[1, 2, 3], np.array([1, 2, 3]), pd.Series([1, 2, 3]), pd.Index([1, 2, 3])]
)
def test_one_column(result):
    data = result_values(result, "f(a)", INDEX).data
    assert data.tolist() == [1, 2, 3]
    assert data.index.equals(INDEX)


@pytest.mark.parametrize(
    "dtype",
    [*np.typecodes["AllInteger"], *np.typecodes["Float"], "?", "Int8", "Float32", "boolean"],
)
def test_numbers_of_every_type_serve_as_classes_and_levels(dtype):
    data = pd.DataFrame({"y": np.arange(20) % 2, "x": np.arange(20) // 10}).astype(dtype)
    data["z"] = data["x"]
    tree = odrf.odt("y ~ C(x) + z", data, kind="classification", seed=1, min_leaf=1)
    assert tree.predict(data).astype(float).isin([0, 1]).all()
    assert odrf.odt("z ~ y + factor(x)", data, kind="classification").training_error == 0


def test_several_columns():
    assert result_values(np.ones((3, 2)), "f(a)", INDEX).data.shape == (3, 2)


def test_a_box_keeps_data_and_levels():
    values = result_values(C(["u", "v", "u"], levels=["v", "u"]), "C(a)", INDEX)
    assert values.nominal
    assert values.levels == ("v", "u")
    assert result_values(C(pd.Categorical(["u", "v", "u"])), "C(a)", INDEX).levels is None


@pytest.mark.parametrize(
    ("result", "message"),
    [
        (1.5, "'f' gives a float where the data has 3 rows"),
        (np.ones((3, 1, 1)), "'f' gives a ndarray"),
        ([1, 2], "'f' gives 2 rows where the data has 3 rows"),
        ([1, np.nan, 2], r"'f' is missing or not a number in 1 row \(index 'r2'\)"),
        (np.array([[1, np.nan], [2, 2], [np.nan, 2]]), r"in 2 rows \(index 'r1', 'r3'\)"),
        (C(["u", None, "v"]), "missing or not a number in 1 row"),
    ],
)
def test_what_is_no_column(result, message):
    with pytest.raises(InputError, match=message):
        result_values(result, "f", INDEX)
