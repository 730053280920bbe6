"""Columns of the data read back from the matrix, and matrices with other values of variables."""

import warnings

import numpy as np
import pandas as pd
import pytest
from patsy import EvalEnvironment

from cases.columns import EXTREME
from odrf import InputError
from odrf.design import build_design
from odrf.design.new_rows import touched, training_frame, with_more_rows, with_values
from odrf.engine.factors import indicated

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
def people():
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
def test_truths_with_empty_cells_are_truths(empty, people):
    flag = people["flag"].astype(object)
    flag.iloc[[2, 5]] = empty
    frame = training_frame(*built("y ~ flag + age", people.assign(flag=flag)))
    assert frame["flag"].dtype == "boolean"
    assert frame["flag"].equals(flag.astype("boolean"))


@pytest.mark.parametrize("formula", FORMULAS)
def test_columns_are_those_of_the_data(formula, people):
    design, data = built(formula, people)
    frame = training_frame(design, data)
    assert list(frame) == list(design.schema.columns)
    for name in frame:
        given, found = people[name], frame[name]
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
def test_columns_read_back_give_the_matrix_again(formula, missing, people):
    design, data = built(formula, people, missing=missing)
    X, complete = design.matrix(training_frame(design, data))
    assert complete.all()
    np.testing.assert_allclose(indicated(X), indicated(data.X), atol=1e-6)


@pytest.mark.parametrize("formula", FORMULAS)
def test_replaced_values_give_the_matrix_of_a_frame_that_has_them(formula, people):
    design, data = built(formula, people)
    frame = training_frame(design, data)
    rng = np.random.default_rng(2)
    for name in design.schema.columns:
        one = people[name].iloc[rng.integers(N)]
        for value in (one, people[name].sample(frac=1, random_state=3).to_numpy()):
            if np.ndim(value) == 0 and pd.isna(value):
                continue
            X = with_values(design, frame, data.X, {name: value})
            new = people.copy()
            new[name] = value
            expected, _ = design.matrix(new)
            np.testing.assert_allclose(indicated(X), indicated(expected), atol=1e-6)
            other = [j for j in range(len(design.predictors)) if j not in touched(design, name)]
            if other:
                columns = design.recipe.columns_of(other)
                before, after = (indicated(each)[columns] for each in (data.X, X))
                assert before.tobytes() == after.tobytes()


def test_several_variables_are_replaced_at_once(people):
    design, data = built("y ~ age:sex + town + wage", people)
    X = with_values(
        design, training_frame(design, data), data.X, {"age": 30, "sex": "f", "town": "town 3"}
    )
    expected, _ = design.matrix(people.assign(age=30, sex="f", town="town 3"))
    np.testing.assert_allclose(indicated(X), indicated(expected), atol=1e-6)


def test_added_rows_and_parts_of_rows_keep_their_columns(people):
    design, data = built("y ~ log(wage) + age", people[:40])
    both = with_more_rows(design, data, people[40:])
    np.testing.assert_allclose(training_frame(design, both)["wage"], people["wage"])
    some = data.keeping(np.arange(40) % 3 == 0)
    np.testing.assert_allclose(training_frame(design, some)["wage"], people["wage"][:40:3])


def test_rows_of_equal_names_stay_apart(people):
    data = people.set_axis(np.zeros(N, dtype=int))
    design, training = built("y ~ log(wage) + age + town", data)
    frame = training_frame(design, training)
    assert frame["town"].tolist() == people["town"].tolist()
    X = with_values(design, frame, training.X, {"wage": people["wage"].to_numpy()})
    np.testing.assert_allclose(indicated(X), indicated(training.X), atol=1e-6)


def test_one_level_in_all_rows_is_read_back(people):
    design, data = built("y ~ age + sex", people.assign(sex="f"))
    assert (training_frame(design, data)["sex"] == "f").all()


def test_later_changes_of_the_data_frame_do_not_reach_the_fit(people):
    data = people.copy()
    design, training = built("y ~ log(wage) + age", data)
    data.loc[:, "wage"] = 1.0
    np.testing.assert_allclose(training_frame(design, training)["wage"], people["wage"])


def test_an_unknown_variable_is_named_with_a_similar_one(people):
    design, data = built("y ~ log(wage) + age", people)
    with pytest.raises(InputError, match=r"no predictor is computed from 'wages'.*'wage'"):
        with_values(design, training_frame(design, data), data.X, {"wages": 1})


def test_empty_new_values_of_a_fit_that_drops_rows_are_refused(people):
    design, data = built("y ~ wage + age", people, missing="drop")
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
