""""""

from __future__ import annotations

import tracemalloc
import warnings
from collections.abc import Callable
from functools import cache

import numpy as np
import pandas as pd
import polars as pl
import pytest
from patsy import EvalEnvironment

import odrf
from odrf.design import build_design
from odrf.design.encoding import BASIS, INDICATORS, PLAIN
from odrf.design.formula import read_formula
from odrf.design.predictors import learn_predictors
from odrf.design.scaling import Cells
from odrf.engine import memory
from odrf.errors import InputError
from odrf.public import in_pandas


def predictors(right, frame, env):
    terms = read_formula(f"y ~ {right}", list(frame.columns), env).terms
    return learn_predictors(terms, frame, {}, env)


def columns_on(learned, frame):
    """The unscaled columns (p, n), with the indicators of factors."""
    columns = np.full((len(learned.columns), len(frame)), np.nan)
    for piece in learned.columns_on(frame).pieces():
        if isinstance(piece, Cells):
            columns[piece.at] = piece.values
            continue
        first, width, codes = piece
        columns[first : first + width] = np.arange(width)[:, np.newaxis] == codes
    return columns


def test_one_predictor_may_own_several_columns(people, env):
    learned = predictors("age + sex + bs(bmi, 3) + dose", people, env)
    assert learned.names == ("age", "sex", "bs(bmi, 3)", "dose")
    assert learned.columns == (
        *("age", "sex[female]", "sex[male]"),
        *("bs(bmi, 3)[0]", "bs(bmi, 3)[1]", "bs(bmi, 3)[2]", "dose"),
    )
    assert learned.first.tolist() == [0, 1, 3, 6, 7]
    assert learned.types.tolist() == [PLAIN, INDICATORS, BASIS, PLAIN]


@pytest.mark.parametrize(
    ("term", "columns", "kind"),
    [
        ("age:bmi", ["age:bmi"], PLAIN),
        ("age:smoker:dose", ["age:smoker:dose"], PLAIN),
        ("sex:age", ["sex[female]:age", "sex[male]:age"], BASIS),
        ("poly(age, 2):bmi", ["poly(age, 2)[0]:bmi", "poly(age, 2)[1]:bmi"], BASIS),
        ("sex:C(smoker)", None, INDICATORS),
    ],
)
def test_interactions(term, columns, kind, people, env):
    learned = predictors(term, people, env)
    assert learned.types.tolist() == [kind]
    if columns is not None:
        assert list(learned.columns) == columns


def test_interactions_of_numbers_are_products(people, env):
    matrix = columns_on(predictors("age * bmi", people, env), people)
    np.testing.assert_array_equal(matrix[2], matrix[0] * matrix[1])


def test_interactions_of_factors_mark_each_combination(people, env):
    learned = predictors("sex:C(smoker)", people, env)
    matrix = columns_on(learned, people)
    np.testing.assert_array_equal(matrix.sum(axis=0), 1)
    for column, row in zip(learned.columns, matrix, strict=True):
        expected = (
            "sex[" + people["sex"] + "]:C(smoker)[" + people["smoker"].astype(str) + "]"
        ) == column
        np.testing.assert_array_equal(row, expected)


def test_products_with_factors_have_the_combinations_of_levels_that_rows_have(people, env):
    data = people[(people["sex"] == "female") | ~people["smoker"]]
    learned = predictors("dose + age:sex:bmi:C(smoker)", data, env)
    names = ["sex[female]:bmi:C(smoker)[False]", "sex[female]:bmi:C(smoker)[True]"]
    names += ["sex[male]:bmi:C(smoker)[False]"]
    assert list(learned.columns) == ["dose", *(f"age:{name}" for name in names)]
    female, smoker = people["sex"] == "female", people["smoker"]
    whole = (people["age"] * people["bmi"]).to_numpy()
    for one in (learned, learned.keeping([1])):
        found = columns_on(one, people)[-3:]
        expected = [
            (female & ~smoker) * whole,
            (female & smoker) * whole,
            (~female & ~smoker) * whole,
        ]
        np.testing.assert_allclose(found, expected, rtol=1e-15)


def test_a_product_without_a_complete_row_keeps_all_columns(env):
    rows = {
        "a": [1.0, np.nan] * 3,
        "f": ["u", None, "v"] * 2,
        "g": [None, "x", None, None, "y", None],
    }
    data = pd.DataFrame(rows)
    read = read_formula("y ~ a:f:g", ["y", *rows], env)
    learned = learn_predictors(read.terms, data, {"a": 3, "f": 2, "g": 4}, env)
    assert len(learned.columns) == 5 and learned.holes.all()


def test_names_are_made_of_the_combinations_that_rows_have_alone(env):
    rows = {f"f{k}": list("uvw") for k in range(30)} | {"a": [1.0, 2.0, 3.0]}
    learned = predictors(":".join(rows), pd.DataFrame({**rows, "y": 1.0}), env)  # 3 of 3**30
    assert len(learned.columns) == 3
    assert learned.columns[1] == ":".join(f"f{k}[v]" for k in range(30)) + ":a"


def test_the_order_of_terms_changes_no_column(people, env):
    terms = ["age:sex", "sex", "age", "dose:age", "dose"]
    forth = predictors(" + ".join(terms), people, env)
    back = predictors(" + ".join(reversed(terms)), people, env)
    a = pd.DataFrame(columns_on(forth, people), index=list(forth.columns))
    b = pd.DataFrame(columns_on(back, people), index=list(back.columns))
    pd.testing.assert_frame_equal(a, b.loc[a.index])


def test_number_columns_of_every_type_keep_their_place(env):
    frame = pd.DataFrame(
        {
            "y": [0.0, 1.0],
            "f": np.array([0.5, 1.5], dtype="float32"),
            "s": ["u", "v"],
            "i": pd.array([3, 4], dtype="Int8"),
            "b": [True, False],
            "n": pd.array([True, False], dtype="boolean"),
            "o": pd.Series([1, 2.5], dtype=object),
            "z": pd.arrays.SparseArray([0, 7]),
        }
    )
    matrix = columns_on(predictors(".", frame, env), frame)
    expected = [[0.5, 1.5], [1, 0], [0, 1], [3, 4], [1, 0], [1, 0], [1, 2.5], [0, 7]]
    np.testing.assert_array_equal(matrix, expected)


def test_no_rows(people, env):
    learned = predictors("age + bs(bmi, 4)", people, env)
    assert columns_on(learned, people.iloc[:0]).shape == (5, 0)


def test_infinite_values_name_the_predictor(people, env):
    people.loc["r4", "bmi"] = np.inf
    with pytest.raises(InputError, match=r"predictor 'bmi' is infinite.* 1 row \(index 'r4'\)"):
        columns_on(predictors("sex + bmi", people, env), people)
    with pytest.raises(InputError, match=r"predictor 'log\(age - age\)' is infinite.* 30 rows"):
        columns_on(predictors("log(age - age)", people, env), people)


def test_two_predictors_of_one_name(people, env):
    people["log(age)"] = 1.0
    with pytest.raises(InputError, match=r"two predictors are named 'log\(age\)'"):
        predictors(". + log(age)", people, env)


@pytest.mark.parametrize("right", ["a:b", "a*b", "(a + b + c)^2", "C(c):a:b"])
def test_a_product_beyond_floats_is_refused_by_its_name(right):
    data = pd.DataFrame({"a": [1e200, -1e200, 0.0, 1.0] * 5, "b": [1e150, 1e150, 2.0, 0.0] * 5})
    data["c"], data["y"] = np.arange(20) % 2, np.arange(20) % 3
    with warnings.catch_warnings(), pytest.raises(InputError, match=r"a:b' is infinite"):
        warnings.simplefilter("error")
        odrf.odt(f"y ~ {right}", data)


# ------------------------------------------------------------------------------------------------
# The matrix of predictors is made with little more memory than it takes, and without copies.
# ------------------------------------------------------------------------------------------------

N, P = 6_000, 600
NAMES = [f"x{j}" for j in range(P)]
MOST = 1.3


@cache
def numbers() -> np.ndarray:
    return np.random.default_rng(0).normal(size=(N, P))


def y() -> np.ndarray:
    return np.random.default_rng(1).normal(size=N)


def one_array() -> pd.DataFrame:
    return pd.DataFrame(numbers(), columns=NAMES).assign(y=y())


def columns_apart() -> pd.DataFrame:
    columns = {name: numbers()[:, j].copy() for j, name in enumerate(NAMES)}
    return pd.DataFrame({**columns, "y": y()}, copy=False)


def several_types() -> pd.DataFrame:
    data = columns_apart()
    for j, name in enumerate(NAMES):
        kind = ("float32", "int32", "Float64", "bool", "float64")[j % 5]
        data[name] = (
            data[name].mul(100).astype("int32" if kind == "bool" else "float64").astype(kind)
        )
    return data


def of_polars() -> pl.DataFrame:
    return pl.DataFrame({name: numbers()[:, j] for j, name in enumerate(NAMES)} | {"y": y()})


def with_holes() -> pd.DataFrame:
    data = one_array()
    data.iloc[::7, 3:30] = np.nan
    return data


def response_first() -> pd.DataFrame:
    data = one_array()
    return data[["y", *NAMES]]


TABLES = {
    "one array": one_array,
    "columns apart": columns_apart,
    "several types": several_types,
    "polars": of_polars,
    "response first": response_first,
    "holes": with_holes,
}


def peak(make: Callable[[], object]) -> int:
    """Return the largest number of bytes that a call has at a time."""
    tracemalloc.start()
    try:
        make()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.skipif(int(pd.__version__.split(".")[0]) < 3, reason="older pandas copies columns")
@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
def test_the_peak_is_little_above_the_size_of_the_matrix(table):
    data, env = table(), EvalEnvironment.capture()
    size = 4 * N * P

    def build(frame):
        return build_design("y ~ .", in_pandas(frame), env=env, missing="split")

    design, _ = build(data[:50])
    assert peak(lambda: build(data)) < MOST * size
    assert peak(lambda: design.matrix(in_pandas(data))) < MOST * size


def test_products_and_factors_are_made_one_at_a_time():
    rng = np.random.default_rng(2)
    data = pd.DataFrame({f"f{j}": rng.integers(6, size=N).astype(str) for j in range(40)})
    data = data.astype("category").assign(a=rng.normal(size=N), y=y())
    formula = "y ~ (" + " + ".join(f"f{j}" for j in range(40)) + "):a + ."
    env = EvalEnvironment.capture()
    columns = build_design(formula, data[:200], env=env)[1].X.shape[0]
    assert columns == 40 * 6 * 2 + 1
    assert peak(lambda: build_design(formula, data, env=env)) < 1.6 * 4 * N * columns


def test_columns_of_a_formula_that_memory_cannot_hold_are_refused_before_they_are_named():
    levels = [f"l{k}" for k in range(60)] * 2
    data = pd.DataFrame(dict.fromkeys("abcdefg", levels))
    data["y"] = np.arange(120.0)
    with pytest.raises(MemoryError, match="columns of the formula would take"):
        odrf.odt("y ~ a:b:c:d:e:f:g", data)


def test_a_factor_of_many_levels_takes_one_number_a_row(monkeypatch):
    data = pd.DataFrame({"f": [f"l{k}" for k in range(500)] * 2, "y": np.arange(1000.0)})
    monkeypatch.setattr(memory, "SMALL", 0)
    monkeypatch.setattr(memory, "available_memory", lambda: 500 * 1000 * 4 / 2)
    assert odrf.odt("y ~ f", data, max_leaves=3, seed=1).n_leaves <= 3
