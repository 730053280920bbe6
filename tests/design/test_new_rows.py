"""Columns of the data read back from the matrix, and matrices with other values of variables."""

from __future__ import annotations

import pickle
import re
import warnings
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from patsy import EvalEnvironment

import odrf
from cases.columns import EXTREME
from odrf import InputError
from odrf.design import build_design
from odrf.design.new_rows import plan_row, touched, training_frame, with_more_rows, with_values
from odrf.engine.factors import indicated
from odrf.errors import InputError as InputErrorRawRow

N = 60
FORMULAS = [
    "y ~ .",
    "y ~ age + wage",
    "y ~ log(wage) + age:sex + site",
    "y ~ C(children) + town:sex + grade",
    "y ~ bs(age, 4) + day + holes + marks",
    "y ~ stamp + flag + I(age * wage) + town",
]


@pytest.fixture(scope="module")
def people_of_reading_back():
    rng = np.random.default_rng(1)
    towns = [f"town {k}" for k in range(9)]
    frame = pd.DataFrame(
        {
            "y": rng.normal(size=N),
            "age": rng.integers(18, 80, N),
            "wage": rng.lognormal(10, 1, N),
            "children": rng.integers(0, 3, N),
            "sex": rng.choice(["f", "m"], N),
            "site": pd.Categorical(rng.choice(["a", "b"], N), ["b", "a", "unused"]),
            "town": rng.choice(towns, N),
            "grade": pd.Categorical(rng.choice(["low", "high"], N), ["low", "mid", "high"], True),
            "day": pd.Timestamp("2020-02-01") + pd.to_timedelta(rng.integers(0, 99, N), "D"),
            "holes": np.where(rng.random(N) < 0.2, np.nan, rng.normal(size=N)),
            "marks": np.where(rng.random(N) < 0.2, None, rng.choice(["x", "y", "z"], N)),
            "stamp": 10**17 + rng.integers(0, 10**5, N),
            "flag": rng.random(N) < 0.5,
        },
        index=pd.Index(rng.permutation(N) + 100, name="person"),
    )
    return frame.assign(town=towns * (N // 9) + towns[: N % 9])


def built(formula, data, **options):
    return build_design(formula, data, env=EvalEnvironment.capture(), **options)


@pytest.mark.parametrize("empty", [None, np.nan, pd.NA], ids=str)
def test_truths_with_empty_cells_are_truths(empty, people_of_reading_back):
    flag = people_of_reading_back["flag"].astype(object)
    flag.iloc[[2, 5]] = empty
    frame = training_frame(*built("y ~ flag + age", people_of_reading_back.assign(flag=flag)))
    assert frame["flag"].dtype == "boolean"
    assert frame["flag"].equals(flag.astype("boolean"))


@pytest.mark.parametrize("formula", FORMULAS)
def test_columns_are_those_of_the_data(formula, people_of_reading_back):
    design, data = built(formula, people_of_reading_back)
    frame = training_frame(design, data)
    assert list(frame) == list(design.schema.columns)
    for name in frame:
        given, found = people_of_reading_back[name], frame[name]
        if given.dtype.kind == "f":
            span = given.max() - given.min()
            np.testing.assert_allclose(found, given, rtol=0, atol=1e-7 * span)
        else:
            assert found.index.equals(given.index)
            # a category that no row has is unknown to the design
            assert found.astype(object).where(found.notna(), None).tolist() == (
                given.astype(object).where(given.notna(), None).tolist()
            )


@pytest.mark.parametrize("missing", ["split", "surrogate", "median", "drop"])
@pytest.mark.parametrize("formula", FORMULAS)
def test_columns_read_back_give_the_matrix_again(formula, missing, people_of_reading_back):
    design, data = built(formula, people_of_reading_back, missing=missing)
    X, complete = design.matrix(training_frame(design, data))
    assert complete.all()
    np.testing.assert_allclose(indicated(X), indicated(data.X), atol=1e-6)


@pytest.mark.parametrize("formula", FORMULAS)
def test_replaced_values_give_the_matrix_of_a_frame_that_has_them(formula, people_of_reading_back):
    design, data = built(formula, people_of_reading_back)
    frame = training_frame(design, data)
    rng = np.random.default_rng(2)
    for name in design.schema.columns:
        one = people_of_reading_back[name].iloc[rng.integers(N)]
        for value in (one, people_of_reading_back[name].sample(frac=1, random_state=3).to_numpy()):
            if np.ndim(value) == 0 and pd.isna(value):
                continue
            X = with_values(design, frame, data.X, {name: value})
            new = people_of_reading_back.copy()
            new[name] = value
            expected, _ = design.matrix(new)
            np.testing.assert_allclose(indicated(X), indicated(expected), atol=1e-6)
            other = [j for j in range(len(design.predictors)) if j not in touched(design, name)]
            if other:
                columns = design.recipe.columns_of(other)
                before, after = (indicated(each)[columns] for each in (data.X, X))
                assert before.tobytes() == after.tobytes()


def test_several_variables_are_replaced_at_once(people_of_reading_back):
    design, data = built("y ~ age:sex + town + wage", people_of_reading_back)
    X = with_values(
        design, training_frame(design, data), data.X, {"age": 30, "sex": "f", "town": "town 3"}
    )
    expected, _ = design.matrix(people_of_reading_back.assign(age=30, sex="f", town="town 3"))
    np.testing.assert_allclose(indicated(X), indicated(expected), atol=1e-6)


def test_added_rows_and_parts_of_rows_keep_their_columns(people_of_reading_back):
    design, data = built("y ~ log(wage) + age", people_of_reading_back[:40])
    both = with_more_rows(design, data, people_of_reading_back[40:])
    np.testing.assert_allclose(training_frame(design, both)["wage"], people_of_reading_back["wage"])
    some = data.keeping(np.arange(40) % 3 == 0)
    np.testing.assert_allclose(
        training_frame(design, some)["wage"], people_of_reading_back["wage"][:40:3]
    )


def test_rows_of_equal_names_stay_apart(people_of_reading_back):
    data = people_of_reading_back.set_axis(np.zeros(N, dtype=int))
    design, training = built("y ~ log(wage) + age + town", data)
    frame = training_frame(design, training)
    assert frame["town"].tolist() == people_of_reading_back["town"].tolist()
    X = with_values(design, frame, training.X, {"wage": people_of_reading_back["wage"].to_numpy()})
    np.testing.assert_allclose(indicated(X), indicated(training.X), atol=1e-6)


def test_one_level_in_all_rows_is_read_back(people_of_reading_back):
    design, data = built("y ~ age + sex", people_of_reading_back.assign(sex="f"))
    assert (training_frame(design, data)["sex"] == "f").all()


def test_later_changes_of_the_data_frame_do_not_reach_the_fit(people_of_reading_back):
    data = people_of_reading_back.copy()
    design, training = built("y ~ log(wage) + age", data)
    data.loc[:, "wage"] = 1.0
    np.testing.assert_allclose(
        training_frame(design, training)["wage"], people_of_reading_back["wage"]
    )


def test_an_unknown_variable_is_named_with_a_similar_one(people_of_reading_back):
    design, data = built("y ~ log(wage) + age", people_of_reading_back)
    with pytest.raises(InputError, match=r"no predictor is computed from 'wages'.*'wage'"):
        with_values(design, training_frame(design, data), data.X, {"wages": 1})


def test_empty_new_values_of_a_fit_that_drops_rows_are_refused(people_of_reading_back):
    design, data = built("y ~ wage + age", people_of_reading_back, missing="drop")
    frame = training_frame(design, data)
    with pytest.raises(InputError, match="missing in some rows"), warnings.catch_warnings():
        warnings.simplefilter("error")
        with_values(design, frame, data.X, {"wage": np.nan})


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e12])
def test_numbers_of_few_digits_are_read_back_as_they_are(scale):
    rng = np.random.default_rng(4)
    x = np.round(rng.normal(size=200), 4)
    data = pd.DataFrame({"y": x, "x": x * scale, "z": x * scale + 7 * scale})
    design, training = built("y ~ x + z", data)
    frame = training_frame(design, training)
    np.testing.assert_allclose(frame["x"], data["x"], rtol=1e-15)
    np.testing.assert_allclose(frame["z"], data["z"], rtol=1e-15)
    X, _ = design.matrix(frame)
    assert indicated(X).tobytes() == indicated(training.X).tobytes()


@pytest.mark.parametrize("kind", EXTREME)
def test_a_column_of_any_kind_is_read_back(kind):
    rng = np.random.default_rng(1)
    data = pd.DataFrame({"x": EXTREME[kind](rng, N), "y": rng.normal(size=N)})
    try:
        design, training = built("y ~ x", data)
    except InputError:
        return
    X, complete = design.matrix(training_frame(design, training))
    assert complete.all()
    np.testing.assert_allclose(indicated(X), indicated(training.X), atol=1e-6)


@pytest.mark.parametrize("kind", ["arrow integers", "nullable numbers", "counts"])
def test_whole_numbers_are_read_back_as_such(kind):
    rng = np.random.default_rng(1)
    data = pd.DataFrame({"x": EXTREME[kind](rng, N), "y": rng.normal(size=N)})
    read = training_frame(*built("y ~ x", data))["x"]
    assert read.dtype.kind == "i" and read.tolist() == data["x"].tolist()


# ------------------------------------------------------------------------------------------------
# One row through the plan, against the same row through the design.
# ------------------------------------------------------------------------------------------------

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
    with pytest.raises(InputErrorRawRow) as refused:
        design.matrix(pd.DataFrame({name: pd.Series([value]) for name, value in row.items()}))
    given = row if mapping else [row[name] for name in design.predictors]
    with pytest.raises(InputErrorRawRow, match=re.escape(str(refused.value))):
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
    with pytest.raises(InputErrorRawRow, match="new data lacks column 'bmi'; did you mean 'bmj'"):
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
    with pytest.raises(InputErrorRawRow, match=re.escape(found) + ".*2 predictors.*'age', 'bmi'"):
        plan.scaled(row)


@pytest.mark.parametrize("cell", [[1.0, 2.0], np.array([1.0, 2.0]), (1.0,)], ids=repr)
def test_a_value_that_is_several(people, env, cell):
    plan = plan_row(design_of("y ~ age + bmi", people, env))
    for row in ([1.0, cell], [cell, cell]):
        with pytest.raises(InputErrorRawRow, match=r"held numbers in training.*(lists|arrays)"):
            plan.scaled(row)


@pytest.mark.parametrize("term", ["log(bmi)", "age:bmi", "bs(age, 4)", "C(age)", "I(age + bmi)"])
def test_computed_predictors_need_a_frame(people, env, term):
    design = design_of(f"y ~ sex + {term}", people, env)
    with pytest.raises(InputErrorRawRow, match=re.escape(repr(term)) + " is computed.*use predict"):
        plan_row(design)


def test_plans_pickle(people, env):
    plan = plan_row(design_of(PLAIN, people, env))
    row = people.iloc[5].to_dict()
    assert pickle.loads(pickle.dumps(plan)).scaled(row).tobytes() == plan.scaled(row).tobytes()


# ------------------------------------------------------------------------------------------------
# Values of columns replaced by others.
# ------------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("error:Constructing a Categorical")
def test_a_value_that_is_no_level_is_treated_as_in_new_rows():
    data = pd.DataFrame({"f": pd.Categorical(["u", "v"] * 20), "y": [0.0, 1.0] * 20})
    fit = odrf.odt("y ~ f", data, unseen="missing", seed=1, kind="regression")
    new = data.assign(f="w")
    assert fit.predictions(at={"f": "v"}).table["estimate"].iloc[0] == pytest.approx(1.0)
    found = fit.predictions(at={"f": "w"}).table["estimate"].iloc[0]
    assert found == pytest.approx(fit.predict(new).mean())
