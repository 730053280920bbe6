from __future__ import annotations

import numpy as np
import pytest

from odrf.design.formula import Column, Expression
from odrf.design.variables import learn_variable


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
