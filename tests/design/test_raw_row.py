"""One row through the plan, against the same row through the design."""

from __future__ import annotations

import pickle
import re
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from patsy import EvalEnvironment

from odrf.design import build_design
from odrf.design.new_rows import plan_row
from odrf.errors import InputError

PLAIN = "y ~ age + bmi + sex + dose + smoker + Q('odd name')"


def design_of(formula, data, env, **options):
    return build_design(formula, data, env=env, **options)[0]


@pytest.mark.parametrize("form", ["tuple", "list", "mapping", "series", "objects"])
@pytest.mark.parametrize("formula", [PLAIN, "y ~ dose + age", "y ~ age + bmi", "y ~ sex"])
def test_a_row_in_any_form_gets_the_bits_of_a_frame(people, env, formula, form):
    design = design_of(formula, people, env)
    plan = plan_row(design)
    for i in range(len(people)):
        row = people.iloc[i]
        values = [row[name] for name in design.predictors]
        given = {
            "tuple": tuple(values),
            "list": values,
            "mapping": row.to_dict(),
            "series": row,
            "objects": np.array(values, dtype=object),
        }
        expected = design.matrix(people.iloc[[i]])[0][:, 0]
        assert plan.scaled(given[form]).tobytes() == expected.tobytes()


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16, np.int64, np.uint8, bool])
def test_arrays_of_any_type_of_number(people, env, dtype):
    design = design_of("y ~ age + bmi + smoker", people, env)
    values = np.array([33, 27.4, 1]).astype(dtype)
    frame = pd.DataFrame({name: [v] for name, v in zip(design.predictors, values, strict=True)})
    strided = np.repeat(values, 2)[::2]
    fixed = values.copy()
    fixed.flags.writeable = False
    for row in (values, strided, fixed):
        assert plan_row(design).scaled(row).tobytes() == design.matrix(frame)[0].tobytes()
    assert values.tolist() == np.array([33, 27.4, 1]).astype(dtype).tolist()


@settings(max_examples=100, deadline=None)
@given(st.lists(st.floats(-1e300, 1e300), min_size=3, max_size=3))
def test_numbers_however_far_outside(values):
    rng = np.random.default_rng(0)
    data = pd.DataFrame(rng.normal(size=(20, 4)), columns=list("yabc")).assign(c=1.5)
    design = design_of("y ~ a + b + c", data, EvalEnvironment([{}]))
    expected = design.matrix(pd.DataFrame([values], columns=list("abc")))[0]
    assert plan_row(design).scaled(values).tobytes() == expected.tobytes()


@pytest.mark.parametrize("labels", [[3, 1, 2], [True, False], ["b", "a"], [1.5, 2.5], ["ä", "x:y"]])
@pytest.mark.parametrize("ordered", [True, False])
def test_labels_of_any_type(labels, ordered, env):
    column = pd.Categorical(labels * 5, labels, ordered=ordered)
    data = pd.DataFrame({"y": np.arange(len(column)) * 1.0, "f": column})
    design = design_of("y ~ f", data, env)
    for i, label in enumerate(labels):
        expected = design.matrix(data.iloc[[i]])[0]
        assert plan_row(design).scaled([label]).tobytes() == expected.tobytes()
    if labels == [3, 1, 2]:
        assert plan_row(design).scaled([1.0]).tolist() == plan_row(design).scaled([1]).tolist()


ODD = [
    {"sex": 1},
    {"sex": ["male"]},
    {"dose": "none"},
    {"age": "33"},
    {"age": np.inf},
    {"age": -1e301},
    {"age": 3j},
    {"age": pd.Timestamp("2020-01-01")},
    {"bmi": None},
    {"bmi": np.nan},
    {"bmi": pd.NA},
    {"sex": None},
    {"smoker": "yes"},
]


@pytest.mark.parametrize("odd", ODD, ids=repr)
@pytest.mark.parametrize("mapping", [True, False])
def test_what_a_frame_refuses_is_refused_in_its_words(people, env, odd, mapping):
    design, _ = build_design(PLAIN, people, missing="raise", env=env)
    row = {**people.iloc[0].to_dict(), **odd}
    with pytest.raises(InputError) as refused:
        design.matrix(pd.DataFrame({name: pd.Series([value]) for name, value in row.items()}))
    given = row if mapping else [row[name] for name in design.predictors]
    with pytest.raises(InputError, match=re.escape(str(refused.value))):
        plan_row(design).scaled(given)


def test_an_unseen_level_is_read_and_said_as_in_a_frame(people, env):
    design = design_of(PLAIN, people, env)
    row = {**people.iloc[0].to_dict(), "sex": "other"}
    with pytest.warns(UserWarning, match="no training row has: 'other'"):
        expected = design.matrix(pd.DataFrame([row]))[0]
    with pytest.warns(UserWarning, match="no training row has: 'other'"):
        assert plan_row(design).scaled(row).tobytes() == expected.tobytes()


@pytest.mark.parametrize("value", [None, np.nan, pd.NA])
@pytest.mark.parametrize("name", ["age", "sex", "dose", "smoker"])
def test_missing_values_under_drop(people, env, name, value):
    plan = plan_row(design_of(PLAIN, people, env, missing="drop"))
    assert plan.scaled({**people.iloc[0].to_dict(), name: value}) is None


def test_missing_values_among_numbers_under_drop(people, env):
    plan = plan_row(design_of("y ~ age + bmi", people, env, missing="drop"))
    assert plan.scaled(np.array([np.nan, 20.0])) is None
    assert plan.scaled([33, 20.0]) is not None


def test_an_odd_type_of_number_goes_the_way_of_a_frame(people, env):
    plan = plan_row(design_of("y ~ age + bmi", people, env))
    assert plan.scaled([Decimal(33), 20.5]).tobytes() == plan.scaled([33, 20.5]).tobytes()


def test_a_mapping_may_hold_more_but_not_less(people, env):
    plan = plan_row(design_of("y ~ age + bmi", people, env))
    row = {"age": 30, "bmi": 20.0, "sex": "other", 3: None}
    assert plan.scaled(row).tolist() == plan.scaled([30, 20.0]).tolist()
    with pytest.raises(InputError, match="new data lacks column 'bmi'; did you mean 'bmj'"):
        plan.scaled({"age": 30, "bmj": 20.0})


@pytest.mark.parametrize(
    ("row", "found"),
    [
        ([1.0], "1 value:"),
        ((1.0, 2.0, 3.0), "3 values:"),
        (np.ones((1, 2)), "an array of shape (1, 2):"),
        (np.array(1.0), "an array of shape ():"),
        ("ab", "a str:"),
        ({1.0, 2.0}, "a set:"),
        (7.0, "a float:"),
        (pd.DataFrame({"age": [1], "bmi": [2]}), "a DataFrame:"),
    ],
)
def test_a_row_of_another_shape(people, env, row, found):
    plan = plan_row(design_of("y ~ age + bmi", people, env))
    with pytest.raises(InputError, match=re.escape(found) + ".*2 predictors.*'age', 'bmi'"):
        plan.scaled(row)


@pytest.mark.parametrize("cell", [[1.0, 2.0], np.array([1.0, 2.0]), (1.0,)], ids=repr)
def test_a_value_that_is_several(people, env, cell):
    plan = plan_row(design_of("y ~ age + bmi", people, env))
    for row in ([1.0, cell], [cell, cell]):
        with pytest.raises(InputError, match=r"held numbers in training.*(lists|arrays)"):
            plan.scaled(row)


@pytest.mark.parametrize("term", ["log(bmi)", "age:bmi", "bs(age, 4)", "C(age)", "I(age + bmi)"])
def test_computed_predictors_need_a_frame(people, env, term):
    design = design_of(f"y ~ sex + {term}", people, env)
    with pytest.raises(InputError, match=re.escape(repr(term)) + " is computed.*use predict"):
        plan_row(design)


def test_plans_pickle(people, env):
    plan = plan_row(design_of(PLAIN, people, env))
    row = people.iloc[5].to_dict()
    assert pickle.loads(pickle.dumps(plan)).scaled(row).tobytes() == plan.scaled(row).tobytes()
