"""The pixel grid stored in data frames."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from odrf.design.formula import Column, Expression
from odrf.design.variables import grid_of, learn_variable, set_grid


@pytest.mark.parametrize("grid", [(1, 2, 3), (4, 1, 7)])
def test_the_grid_is_read_back_and_kept_by_rows(grid):
    data = pd.DataFrame({"a": [1.0, 2.0]})
    set_grid(data, *grid)
    assert grid_of(data) == grid == grid_of(data.iloc[[1]]) == grid_of(data.sample(1))


@pytest.mark.parametrize(
    ("attrs", "grid"),
    [
        ({"shape": [2, np.int64(3)]}, (1, 2, 3)),
        ({}, None),
        ({"shape": "round"}, None),
        ({"shape": (2, 3, 4)}, None),
        ({"shape": (0, 3)}, None),
        ({"shape": (2.0, 3)}, None),
        ({"shape": (2, 3), "channels": "red"}, None),
    ],
)
def test_other_attributes_of_that_name_say_nothing(attrs, grid):
    data = pd.DataFrame({"a": [1.0, 2.0]})
    data.attrs.update(attrs)
    assert grid_of(data) == grid


# ------------------------------------------------------------------------------------------------
#
# ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("atom", "plain"),
    [
        (Column("age"), True),
        (Column("smoker"), True),
        (Column("sex"), False),
        (Column("dose"), False),
        (Expression("log(age)", ("age",)), False),
    ],
)
def test_columns_of_numbers_are_known(atom, plain, people, env):
    assert learn_variable(atom, people, env).is_number_column is plain


def test_blocks_of_columns(people, env):
    sex = learn_variable(Column("sex"), people, env).encode(people)
    np.testing.assert_array_equal(sex, [people["sex"] == "female", people["sex"] == "male"])
    age = learn_variable(Expression("I(2 * age)", ("age",)), people, env).encode(people)
    np.testing.assert_array_equal(age, [2 * people["age"]])
