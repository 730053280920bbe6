from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

import odrf
from odrf.design.encoding import BASIS, INDICATORS, PLAIN
from odrf.design.formula import read_formula
from odrf.design.predictors import learn_predictors
from odrf.design.scaling import Cells
from odrf.errors import InputError


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
