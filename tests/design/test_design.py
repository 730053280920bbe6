""""""

from __future__ import annotations

import pickle
import time

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from patsy import EvalEnvironment

from odrf.design import BASIS, INDICATORS, PLAIN, build_design
from odrf.engine.factors import indicated, stored
from odrf.errors import InputError

HERE = EvalEnvironment([globals()])

ATOMS = [
    *("age", "bmi", "sex", "dose", "smoker", "`odd name`", "Sepal.Length"),
    *("log(bmi)", "I(age**2)", "C(dose)", "C(age > 50)", "double(age)"),
    *("bs(bmi, 4)", "center(age)", "scale(bmi)", "poly(age, 2)", "cr(bmi, df=3)"),
]
terms = st.lists(st.sampled_from(ATOMS), min_size=1, max_size=3).map(":".join)
rights = st.lists(terms | st.just("."), min_size=1, max_size=4).map(" + ".join)


def double(x):
    return 2 * x


def build(formula, data, **options):
    return build_design(formula, data, env=HERE, **options)


@settings(deadline=None, max_examples=60)
@given(right=rights, seed=st.integers(0, 99), drop=st.booleans())
def test_training_rows_reproduce_bit_for_bit(right, seed, drop):
    data = table(seed)
    if drop:
        data.loc[data.index[[2, 5]], "age"] = np.nan
    design, training = build(f"y ~ {right}", data, missing="drop")
    assert training.X.shape == (len(design.columns), len(training.y))
    assert stored(training.X).flags.c_contiguous
    columns = indicated(training.X)
    assert columns.min() >= 0
    assert columns.max() <= 1
    for recipe in (design, pickle.loads(pickle.dumps(design))):
        X, complete = recipe.matrix(data)
        np.testing.assert_array_equal(indicated(X), columns)
        assert data.index[complete].equals(training.index)


def table(seed):
    rng = np.random.default_rng(seed)
    n = 25
    return pd.DataFrame(
        {
            "y": rng.normal(size=n),
            "age": rng.integers(20, 80, n).astype(float),
            "bmi": rng.gamma(9.0, 3.0, n),
            "sex": rng.choice(["male", "female"], n),
            "dose": pd.Categorical(rng.choice(["lo", "hi"], n), ["lo", "hi"], ordered=True),
            "smoker": rng.random(n) > 0.5,
            "odd name": rng.normal(size=n),
            "Sepal.Length": pd.array(rng.integers(1, 9, n), dtype="Int64"),
        }
    )


def test_what_a_design_tells(people):
    design, training = build("log(bmi) ~ age*sex + bs(Sepal.Length, 4)", people)
    assert design.formula == "log(bmi) ~ age*sex + bs(Sepal.Length, 4)"
    assert (design.response.name, design.response.kind) == ("log(bmi)", "regression")
    assert design.predictors == ("age", "sex", "age:sex", "bs(Sepal.Length, 4)")
    assert design.columns[:5] == (
        *("age", "sex[female]", "sex[male]", "age:sex[female]", "age:sex[male]"),
    )
    assert design.first.tolist() == [0, 1, 3, 5, 9]
    assert design.types.tolist() == [PLAIN, INDICATORS, BASIS, BASIS]
    np.testing.assert_array_equal(training.y, np.log(people["bmi"]))
    np.testing.assert_array_equal(training.weights, np.ones(30))
    assert training.index.equals(people.index)
    assert (training.n_dropped, training.missing_columns) == (0, {})


def test_scaling_leads_back_to_the_users_units(people):
    design, training = build("y ~ age + bmi", people)
    back = training.X.T * design.scaling.range + design.scaling.low
    np.testing.assert_allclose(back, people[["age", "bmi"]])


def test_a_column_constant_in_training_stays_zero(people):
    people["fixed"] = 3.0
    people["only"] = "u"
    design, training = build("y ~ fixed + only + age", people)
    assert (training.X[:2] == 0).all()
    assert design.scaling.range[:2].tolist() == [0, 0]
    X, _ = design.matrix(people.assign(fixed=99.0))
    np.testing.assert_array_equal(X, training.X)


def test_class_codes_follow_the_sorted_labels(people):
    design, training = build("sex ~ age", people)
    assert design.response.classes.tolist() == ["female", "male"]
    np.testing.assert_array_equal(training.y == 1, people["sex"] == "male")


def test_new_data_needs_neither_response_nor_order(people):
    design, training = build("y ~ . - bmi", people, weights="age")
    X, complete = design.matrix(people.drop(columns=["y", "age", "bmi"]).iloc[::-1])
    np.testing.assert_array_equal(X, training.X[:, ::-1])
    assert complete.all()


def test_new_data_goes_through_what_training_taught(people):
    design, training = build("y ~ center(age) + bs(bmi, 4) + sex", people)
    few = people.iloc[[4, 1]]
    np.testing.assert_array_equal(design.matrix(few)[0], training.X[:, [4, 1]])


def test_rows_that_were_made_objects_are_read_again(people):
    design, training = build("y ~ age + sex + smoker", people)
    X, _ = design.matrix(people.iloc[3].to_frame().T)
    np.testing.assert_array_equal(X, training.X[:, [3]])


def test_an_empty_frame(people):
    design, _ = build("y ~ . + bs(bmi, 4)", people)
    X, complete = design.matrix(people.iloc[:0])
    assert X.shape == (len(design.columns), 0)
    assert complete.shape == (0,)
    assert design.matrix(pd.DataFrame(columns=people.columns))[0].shape == X.shape


def test_unseen_levels_are_said_and_other_types_refused(people):
    design, _ = build("y ~ sex + age", people)
    with pytest.warns(UserWarning, match=r"'sex' has levels .*: 'other' in 1 row.*'female'"):
        X, _ = design.matrix(people.assign(sex=["other", *people["sex"][1:]]))
    assert np.isnan(X[:-1, 0]).all() and X[:-1, 1:].any(axis=0).all()
    with pytest.raises(InputError, match="'age' held numbers in training"):
        design.matrix(people.assign(age="old"))
    with pytest.raises(InputError, match="'age' is infinite"):
        design.matrix(people.assign(age=np.inf))


def with_gaps(people):
    data = people.astype({"age": float})
    data.loc["r1", "age"] = np.nan
    data.loc[["r1", "r3"], "sex"] = None
    data.loc["r5", "y"] = np.nan
    data.loc["r7", "bmi"] = np.nan
    return data


def test_missing_values_are_refused_on_request(people):
    message = r"2 of 29 rows have missing values, in 'sex' \(2\), 'age' \(1\): .*missing=\"split\""
    with pytest.raises(InputError, match=message):
        build("y ~ age + sex", with_gaps(people), missing="raise")
    with pytest.raises(InputError, match=r"1 of 29 rows .* 'bmi' \(1\)"):
        build("log(y**2) ~ log(bmi)", with_gaps(people), missing="raise")
    design, _ = build("y ~ age", people, missing="raise")
    with pytest.raises(InputError, match="1 of 30 rows have missing values"):
        design.matrix(with_gaps(people))


def test_missing_values_are_dropped_and_reported(people):
    data = with_gaps(people)
    design, training = build("y ~ age + sex", data, missing="drop", weights=np.arange(1.0, 31.0))
    assert training.n_dropped == 3
    assert training.missing_columns == {"sex": 2, "age": 1, "y": 1}
    assert not training.index.isin(["r1", "r3", "r5"]).any()
    assert training.weights[:3].tolist() == [1.0, 3.0, 5.0]
    X, complete = design.matrix(data)
    assert data.index[~complete].tolist() == ["r1", "r3"]
    assert X.shape == (3, 28)


def test_new_rows_all_missing_are_left_out_whatever_their_type(people):
    design, _ = build("y ~ age + sex", people, missing="drop")
    X, complete = design.matrix(people.assign(sex=np.nan, age=None))
    assert X.shape == (3, 0)
    assert not complete.any()


def test_a_missing_weight_drops_its_row(people):
    data = people.assign(w=[np.nan, *np.ones(29)])
    with pytest.raises(InputError, match=r"1 of 30 rows .* 'w' \(1\)"):
        build("y ~ age", data, weights="w", missing="raise")
    assert build("y ~ age", data, weights="w", missing="drop")[1].n_dropped == 1


def test_rows_of_weight_zero_are_no_training_rows(people):
    weights = np.r_[0.0, np.ones(29)]
    training = build("y ~ age", people, weights=weights)[1]
    assert (training.weights == 1).all()
    assert len(training.y) == len(training.index) == 29
    assert training.n_dropped == 0
    assert np.flatnonzero(training.weightless).tolist() == [0]
    assert training.apart.frame["age"].equals(people["age"][:1])
    # a row whose response is missing is none of those that are predicted with training rows
    without = build("y ~ age", people.assign(y=people["y"].where(weights > 0)), weights=weights)
    assert without[1].apart is None


def test_nothing_left(people):
    with pytest.raises(InputError, match="response 'y' is missing in every row"):
        build("y ~ age", people.assign(y=np.nan), missing="drop")
    with pytest.raises(InputError, match=r"'age' .*0 rows are complete"):
        build("y ~ age", people.assign(age=np.nan), missing="drop")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kind": "classify"}, "kind='classify' is not known: use one of 'auto'"),
        (
            {"missing": "omit"},
            "missing='omit' is not known: use one of 'split', 'surrogate', 'median', 'drop', ",
        ),
        ({"weights": "agee"}, "weights='agee' .*did you mean 'age'"),
        ({"weights": -np.ones(30)}, "weights has 30 negative"),
        ({"weights": np.zeros(30)}, "weights are all zero"),
    ],
)
def test_options_that_are_wrong(options, message, people):
    with pytest.raises(InputError, match=message):
        build("y ~ age", people, **options)


def test_a_function_of_the_users(people):
    design, training = build("y ~ double(age)", people)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(design)).matrix(people)[0], training.X)


def test_the_design_holds_no_data(people):
    many = pd.concat([people] * 500)
    design, _ = build("y ~ age + sex + bs(bmi, 4)", many)
    assert len(pickle.dumps(design)) < 10_000


def test_thousands_of_columns_are_quick():
    rng = np.random.default_rng(0)
    data = pd.DataFrame(rng.normal(size=(200, 5001)), columns=[f"x{i}" for i in range(5001)])
    start = time.perf_counter()
    design, training = build("x0 ~ . - x7", data)
    np.testing.assert_array_equal(design.matrix(data)[0], training.X)
    assert time.perf_counter() - start < 5
    assert len(design.predictors) == 4999


# ------------------------------------------------------------------------------------------------
# Designs of some of the predictors.
# ------------------------------------------------------------------------------------------------


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"y": rng.normal(size=30), "a": rng.normal(size=30), "b": np.arange(30)})
    return frame.assign(f=rng.choice(["u", "v", "w"], 30), unused=1.0)


@pytest.mark.parametrize("which", [[0], [2, 0], [1, 3], [4, 2], [0, 1, 2, 3, 4]])
def test_columns_are_those_of_the_whole_design(data, which):
    env = EvalEnvironment.capture()
    design, rows = build_design("y ~ a + np.exp(a) + f + bs(b, 4) + a:f", data, env=env)
    some = design.keeping(which)
    columns = design.recipe.columns_of(which)
    assert some.predictors == tuple(design.predictors[j] for j in which)
    assert some.columns == tuple(design.columns[c] for c in columns)
    X, _ = some.matrix(data)
    np.testing.assert_array_equal(X, rows.X[columns])
    again, _ = build_design(some.formula, data, env=env)
    assert (again.predictors, again.columns) == (some.predictors, some.columns)
    assert some.types.tolist() == again.types.tolist()


def test_only_the_columns_needed_are_asked_for(data):
    design, _ = build_design("y ~ a + f", data, env=EvalEnvironment.capture())
    some = design.keeping([1])
    assert some.matrix(data[["f"]])[0].shape == (3, 30)
    with pytest.raises(InputError, match="lacks column 'f'"):
        some.matrix(data[["a"]])


def test_only_the_columns_needed_are_filled(data):
    train = data.assign(b=data["b"].where(data.index != 3))
    design, _ = build_design("y ~ a + b", train, missing="median", env=EvalEnvironment.capture())
    new = data.assign(b=np.nan)[["b"]]
    X, complete = design.keeping([1]).matrix(new)
    assert complete.all() and (X[0, 0] == X).all()
    np.testing.assert_array_equal(X, design.matrix(new.assign(a=0.0))[0][1:])


def test_names_that_are_code_stay_names(data):
    """A reduced formula is read again, and must not run what a column is called."""
    evil = "I(1/0 + 0*__import__('os').getpid())"
    odd = {"a": "a b", "b": evil, "f": "f`g", "unused": "1"}
    frame = data.rename(columns=odd).assign(**{".": 1.0, "log": 2.0, "y": data["y"]})
    env = EvalEnvironment.capture()
    design, _ = build_design("y ~ . + `a b`:`1`", frame, env=env)
    for which in ([0], [1], [0, 1, 2, 3, 4, 5, 6], [6, 2]):
        some = design.keeping(which)
        again, _ = build_design(some.formula, frame, env=env)
        assert (again.predictors, again.columns) == (some.predictors, some.columns)
    response, _ = build_design(f"`{evil}` ~ `a b`", frame, env=env)
    again, _ = build_design(response.keeping([0]).formula, frame, env=env)
    assert again.response.name == evil
