"""Tests of formula."""

from __future__ import annotations

import math
import sys

import numpy as np
import pandas as pd
import patsy
import pytest
from hypothesis import given
from hypothesis import strategies as st
from patsy import EvalEnvironment, PatsyError
from patsy.splines import BS

from odrf.design import formula as reading
from odrf.design.formula import (
    DOT,
    Column,
    Expression,
    quoted,
    read_atom,
    read_formula,
    readable,
    respell,
)
from odrf.design.functions import (
    FUNCTIONS,
    HeldBSpline,
    OrthogonalPolynomial,
    bs,
    poly,
    users_names,
)
from odrf.design.variables import grid_of, learn_variable, set_grid
from odrf.errors import InputError

COLUMNS = ["y", "a", "b", "c", "odd name", "Sepal.Length"]


def terms(formula, env, columns=COLUMNS, **options):
    return [":".join(atom.name for atom in t) for t in read(formula, env, columns, **options).terms]


def read(formula, env, columns=COLUMNS, **options):
    return read_formula(formula, columns, env, **options)


@pytest.mark.parametrize(
    ("right", "expected"),
    [
        (".", ["a", "b", "c", "odd name", "Sepal.Length"]),
        (". - a", ["b", "c", "odd name", "Sepal.Length"]),
        (". - (a + b) - c", ["odd name", "Sepal.Length"]),
        (". - y + log(a)", ["a", "b", "c", "odd name", "Sepal.Length", "log(a)"]),
        ("b + a + b", ["b", "a"]),
        ("a:b", ["a:b"]),
        ("a*b", ["a", "b", "a:b"]),
        ("a*b - a", ["b", "a:b"]),
        ("a:b - b:a + c", ["c"]),
        ("(a + b)^2", ["a", "b", "a:b"]),
        ("(a + b + c)**2", ["a", "b", "c", "a:b", "a:c", "b:c"]),
        ("a/b", ["a", "a:b"]),
        ("(a + b):c", ["a:c", "b:c"]),
        ("np.log( a )+ log(b)", ["np.log(a)", "log(b)"]),
        ("I(a^2) + C(a) + bs(a,4)", ["I(a ** 2)", "C(a)", "bs(a, 4)"]),
        ("`odd name` + Q('odd name')", ["odd name"]),
        ("Sepal.Length:a", ["Sepal.Length:a"]),
        ("log(Sepal.Length) + sqrt(`odd name`)", ["log(Sepal.Length)", "sqrt(`odd name`)"]),
        ("0 + a", ["a"]),
        ("1 + a - 1", ["a"]),
        ("-1 + a + 0", ["a"]),
    ],
)
def test_terms(right, expected, env):
    assert terms(f"y ~ {right}", env) == expected


@pytest.mark.parametrize("left", ["y", "log(y)", "Q('y')", "`y`", "I(y > 0)", "C(y)"])
def test_the_dot_leaves_out_the_response(left, env):
    assert terms(f"{left} ~ .", env) == COLUMNS[1:]


def test_the_dot_leaves_out_the_weights(env):
    assert terms("y ~ .", env, aside=["b"]) == ["a", "c", "odd name", "Sepal.Length"]
    assert terms("y ~ . + b", env, aside=["b"])[-1] == "b"


def test_columns_needed_by_the_predictors(env):
    assert read("y ~ a:log(c) + a", env).columns == ("a", "c")


def test_thousands_of_columns(env):
    columns = ["y", *(f"x{i}" for i in range(5000))]
    everything = " + ".join(columns[1:])
    assert terms("y ~ .", env, columns) == columns[1:]
    assert terms(f"y ~ {everything}", env, columns) == columns[1:]
    assert terms(f"y ~ . - ({everything}) + x7", env, columns) == ["x7"]


@pytest.mark.parametrize(
    ("formula", "message", "under"),
    [
        ("y ~ a + ^ b", "expected a column or expression, not '\\^'", "^"),
        ("y ~ a +", "expected a column or expression, but the formula ends here", "+"),
        ("y ~ (a + b", "Unmatched '\\('", "("),
        ("y ~ a + b)", "extra '\\)'", ")"),
        ("y ~ a ~ b", "~ can only be used once", "y ~ a"),
        ("y ~ a + 2", r"inside I\(\), as in I\(a \+ 2\)\n", "a + 2"),
        ("y ~ b + a/1000", r"inside I\(\), as in I\(a/1000\)\n", "a/1000"),
        ("y ~ b + 2*`odd name`", r"inside I\(\), as in I\(2\*`odd name`\)\n", "2*`odd name`"),
        ("y ~ 1*a", r"as in I\(1\*a\)\n", "1*a"),
        ("y ~ -a", r"as in I\(-a\)\n", "-a"),
        ("y/1000 ~ .", r"write arithmetic inside I\(\), as in I\(y/1000\), and", "y/1000"),
        ("y*2 ~ .", r"as in I\(y\*2\), and", "y*2"),
        ("-y ~ .", r"as in I\(-y\), and", "-y"),
        ("y^2 ~ .", r"as in I\(y\^2\), and", "y^2"),
        ("(y - 3)/2 ~ .", r"as in I\(\(y - 3\)/2\), and", "(y - 3)/2"),
        ("y - 1 ~ .", r"as in I\(y - 1\), and", "y - 1"),
        ("y ~ a ** b", "positive integer", "b"),
        ("y ~ `odd nam` + a", "did you mean 'odd name'", "`odd nam`"),
        ("y ~ a^3 + aa", "'aa' is not a column.*did you mean 'a'", "aa"),
        ("y ~ a + log(.)", "'.' stands for all other columns", "log(.)"),
        ("y ~ a + b b", "put a name with blanks between backticks, as in `odd name`", "b b"),
        ("y ~ odd name", "put a name with blanks between backticks, as in `odd name`", "odd name"),
        (". ~ a", "'.' cannot be the response", "."),
        ("y + a ~ b", "one column or expression", "y + a"),
        ("y:a ~ b", "one column or expression", "y:a"),
        ("~ a", "response is missing", "~ a"),
        ("1 ~ a", "response is missing", "1 ~ a"),
    ],
)
def test_errors_point_at_the_users_text(formula, message, under, env):
    with pytest.raises(InputError, match=message) as caught:
        read(formula, env)
    text, carets = str(caught.value).splitlines()[1:]
    at = carets.index("^")
    assert text[at : at + carets.count("^")] == under


def test_errors_show_the_neighbourhood_in_a_long_formula(env):
    columns = ["y", *(f"x{i}" for i in range(500))]
    formula = f"y ~ {' + '.join(columns[1:])} + * x3"
    with pytest.raises(InputError, match=r"x499 \+ \* x3") as caught:
        read(formula, env, columns)
    assert max(map(len, str(caught.value).splitlines())) < 120


@pytest.mark.parametrize(
    ("formula", "message"),
    [
        ("y", '"~" is missing'),
        ("y + a", '"~" is missing'),
        ("", "formula must be a text"),
        ("  ", "formula must be a text"),
        (3, "formula must be a text.* not 3"),
        ("y ~ 1", "no predictors"),
        ("y ~ a - a", "no predictors"),
        ("y ~ y + a", "response's column 'y' is also a predictor"),
        ("log(y) ~ a:y", "response's column 'y' is also a predictor"),
        ("y ~ 'a", "formula"),
        ("y ~ a $ b", "formula"),
        ("y ~ 01", "formula"),
    ],
)
def test_other_errors(formula, message, env):
    with pytest.raises(InputError, match=message):
        read(formula, env)


FINE_IN_SOME_PYTHONS = pytest.mark.skipif(
    sys.version_info < (3, 11) or sys.version_info >= (3, 14),
    reason="Python 3.10 and 3.14 evaluate such chains",
)


@pytest.mark.parametrize(
    "right",
    [
        "*".join(["a", "b", "c"] * 400),
        ":".join(["a"] * 1000),
        "/".join(["a"] * 1000),
        pytest.param("I(" + "*".join(["a"] * 5000) + ")", marks=FINE_IN_SOME_PYTHONS),
        pytest.param("I(" + "+".join(["a"] * 5000) + ")", marks=FINE_IN_SOME_PYTHONS),
        "(" + " + ".join(f"I(a + {i})" for i in range(400)) + ")**9",
        "(" + " + ".join(f"I(a + {i})" for i in range(400)) + ")**2 : (a + b)",
        "log(" * 500 + "a" + ")" * 500,
        "-" * 2000 + "a",
    ],
)
def test_formulas_without_end(right, env):
    with pytest.raises(InputError, match="formula"):
        read(f"y ~ {right}", env)


def test_the_products_of_a_formula_are_counted_on_the_way(env, monkeypatch):
    monkeypatch.setattr(reading, "MOST_PRODUCTS", 3000)
    with pytest.raises(InputError, match="multiplies 4095 by 1 terms, and at most 3000"):
        read("y ~ " + "*".join(f"I(a + {i})" for i in range(40)), env)


@pytest.mark.parametrize("power", ["2", "3", "4", "99", "9" * 5000])
def test_powers(power, env):
    expected = ["a", "b", "c", "a:b", "a:c", "b:c"] + ["a:b:c"] * (power != "2")
    assert terms(f"y ~ (a + b + c)**{power}", env) == expected


@pytest.mark.parametrize("power", ["0", "00", "-1", "1.5", "a"])
def test_no_powers(power, env):
    with pytest.raises(InputError, match="positive integer"):
        read(f"y ~ (a + b)**{power}", env)


def test_a_dot_without_other_columns(env):
    with pytest.raises(InputError, match="no predictors"):
        read("y ~ .", env, ["y"])


def test_sums_of_many_terms_are_multiplied(env):
    left = [f"x{j}" for j in range(12)]
    right = [f"z{j}" for j in range(9)]
    formula = f"y ~ ({' + '.join(left)}):({' + '.join(right)})"
    found = terms(formula, env, columns=["y", *left, *right])
    assert found == [f"{one}:{other}" for one in left for other in right]


# ------------------------------------------------------------------------------------------------
#
# ------------------------------------------------------------------------------------------------

COLUMNS_OF_SPELLING = ["a", "b.c", "b", "class", "µg", "x.1", "log.x", "1st", "inf"]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("y ~ .", f"y ~ {DOT}"),
        ("y~.-a", f"y~{DOT}-a"),
        ("y ~ (.)^2", f"y ~ ({DOT})**2"),
        ("y ~ I(a ** .5) + 1.5 + 2.", "y ~ I(a ** .5) + 1.5 + 2."),
        ("y ~ `odd ^ . name`", "y ~ Q('odd ^ . name')"),
        ("y ~ Q('a ^ .') + f(\"b.c\")", "y ~ Q('a ^ .') + f(\"b.c\")"),
        ("y ~ b.c + log(b.c) + b.c.abs()", "y ~ Q('b.c') + log(Q('b.c')) + Q('b.c').abs()"),
        ("y ~ x.1 + class + µg", "y ~ Q('x.1') + Q('class') + Q('µg')"),
        ("y ~ np.log(a) + b.mean() + f(a).real", "y ~ np.log(a) + b.mean() + f(a).real"),
        ("y ~ log.x(a)", "y ~ log.x(a)"),
        ("y ~ inf + log(inf)", "y ~ Q('inf') + log(Q('inf'))"),
        ("y ~\n  a", "y ~   a"),
    ],
)
def test_patsys_spelling(text, code):
    assert respell(text, COLUMNS_OF_SPELLING).code == code


@given(st.text(alphabet="ab.`'^ +~()c1\\", max_size=20))
def test_every_character_of_the_code_points_into_the_text(text):
    try:
        spelling = respell(text, ["a", "b.c"])
    except InputError:
        return
    assert len(spelling.begins) == len(spelling.ends) == len(spelling.code)
    for begin, end in zip(spelling.begins, spelling.ends, strict=True):
        assert 0 <= begin < end <= len(spelling.text)
    assert list(spelling.begins) == sorted(spelling.begins)


def test_an_open_backtick_is_pointed_at():
    with pytest.raises(InputError, match=r"never closed\n    y ~ a \+ `b\n {12}\^"):
        respell("y ~ a + `b", [])


@pytest.mark.parametrize(
    ("code", "shown"),
    [
        ("Q('b.c')", "b.c"),
        ("log(Q('odd name'))", "log(`odd name`)"),
        ("log(Q('1'))", "log(`1`)"),
        ("log(Q('a`b'))", "log(Q('a`b'))"),
        ('Q("it\'s") + a', "`it's` + a"),
        ("MyQ('b.c')", "MyQ('b.c')"),
    ],
)
def test_readable_code(code, shown):
    assert readable(code) == shown


MEANINGS = [
    *("INFINITY", "inf", "nan", "NaN", "True", "None", "class", "C", "Q", "I", "np", "log", "_"),
    *(DOT, "x²", "a²", "µ", "ﬁ", "J", "print", "match"),
]
NO_NAMES = ["1e3", "0", "..", ".a", "a.", "`", "\t", "℘", "~", "y ~ a"]


@pytest.mark.parametrize(
    ("name", "written"), [*((n, n) for n in MEANINGS), *((n, quoted(n)) for n in NO_NAMES)]
)
def test_a_column_whose_name_has_a_meaning_is_that_column(name, written):
    columns = ["what is predicted", "a", name]
    text = f"`what is predicted` ~ {written} + a:{written}"
    assert read_formula(text, columns, EvalEnvironment([{}])).columns == (name, "a")


@given(
    st.text(min_size=1, max_size=12)
    | st.sampled_from([".", "1", "inf", "NaN", ".5", "1e3", "True", "C", "a.b"])
)
def test_a_quoted_name_is_read_as_that_column(name):
    columns = ["what is predicted", "a", name, f"{name}.b", "True.b"]
    text = f"`what is predicted` ~ {quoted(name)} + a:{quoted(name)}"
    formula = read_formula(text, columns, EvalEnvironment([{}]))
    assert formula.columns == ((name, "a") if name != "a" else ("a",))


# ------------------------------------------------------------------------------------------------
#
# ------------------------------------------------------------------------------------------------

COLUMNS_OF_ATOMS = ["a", "b", "odd name", "C", "Sepal.Length"]


@pytest.mark.parametrize("code", ["a", "Q('a')", 'Q("a")'])
def test_a_column_however_written(code, env):
    assert read_atom(code, COLUMNS_OF_ATOMS, env) == Column("a")


@pytest.mark.parametrize(
    ("code", "columns"),
    [
        ("np.log(a)", ("a",)),
        ("I(a + b - a)", ("a", "b")),
        ("log(Q('odd name'))", ("odd name",)),
        ("C(b)", ("b",)),
        ("bs(a, df=4)", ("a",)),
        ("a.clip(0, b.max())", ("a", "b")),
    ],
)
def test_columns_of_an_expression(code, columns, env):
    atom = read_atom(code, COLUMNS_OF_ATOMS, env)
    assert isinstance(atom, Expression)
    assert sorted(atom.columns) == sorted(columns)


def test_a_name_may_come_from_the_users_environment():
    env = EvalEnvironment([{"halve": lambda x: x / 2, "knots": [1, 2]}])
    assert read_atom("halve(a) + knots[0]", COLUMNS_OF_ATOMS, env).columns == ("a",)


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("c", "'c' is not a column"),
        ("Q('odd nme')", "did you mean 'odd name'"),
        ("log(Q('odd nme'))", "did you mean 'odd name'"),
        ("Sepal.Lenght", "'Sepal.Lenght' is not a column.*did you mean 'Sepal.Length'"),
        ("lgo(a)", "'lgo' is not a known function; did you mean 'log'"),
        ("log(a + z)", "'z' is not a column"),
        ("Q(a)", "between quotes"),
        ("a b", "not a Python expression"),
        ("I(1)", "no column"),
        ("[i for i in a]", "comprehensions"),
        ("(lambda: a)()", "lambdas"),
        ("strata(a)", "'strata' is not a known function: name the column in the argument strata="),
        ("cluster(a)", "name the column in the argument groups=$"),
        ("offset(a)", "name the column in the argument offset= of odbt\\(\\)$"),
        ("s(a)", "trees need no smooth terms: write the column alone$"),
        ("ns(a, 3)", r"write cr\(…\), a natural cubic spline$"),
        ("Hist(a, b)", r"write Surv\(…\)$"),
        ("as.factor(a)", r"not a Python expression .*: write factor\(…\), in place of as.factor"),
        ("as.numeric(a)", r"compute the column before the fit, in place of as.numeric"),
        ("1 | a", "name the column of the subjects in the argument groups="),
    ],
)
def test_what_cannot_be_an_atom(code, message, env):
    with pytest.raises(PatsyError, match=message):
        read_atom(code, COLUMNS_OF_ATOMS, env)


# ------------------------------------------------------------------------------------------------
# The pixel grid stored in data frames.
# ------------------------------------------------------------------------------------------------


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


# ------------------------------------------------------------------------------------------------
# Tests of functions.
# ------------------------------------------------------------------------------------------------


def test_the_users_own_meaning_wins():
    def log(x):
        return x

    assert users_names({"log", "sqrt"}, EvalEnvironment([{"log": log}])) == {"log": log}


def test_narrower_functions_of_the_same_name_give_way():
    env = EvalEnvironment([{"log": math.log, "bs": patsy.bs, "floor": math.floor}])
    assert users_names({"log", "bs", "floor"}, env) == {}


def test_elementary_functions_are_numpys():
    assert FUNCTIONS["log"] is np.log
    assert FUNCTIONS["sqrt"] is np.sqrt


# ------------------------------------------------------------------------------------------------
#
# ------------------------------------------------------------------------------------------------

X = np.random.default_rng(0).normal(size=50)


def learned(kind, *args):
    transform = kind()
    transform.memorize_chunk(X, *args)
    transform.memorize_finish()
    return transform


def test_bs_is_patsys_within_the_knots():
    np.testing.assert_array_equal(bs(X, 5), learned(BS, 5).transform(X, 5))


def test_bs_holds_beyond_the_knots():
    spline = learned(HeldBSpline, 5)
    outside = spline.transform([X.min() - 9, X.max() + 9], 5)
    np.testing.assert_array_equal(outside, spline.transform([X.min(), X.max()], 5))


def test_poly_is_orthonormal_and_spans_the_powers():
    basis = poly(X, 3)
    np.testing.assert_allclose(basis.T @ basis, np.eye(3), atol=1e-12)
    np.testing.assert_allclose(basis.sum(axis=0), 0, atol=1e-12)
    powers = np.vander(X, 4)
    fitted = np.column_stack([np.ones(50), basis])
    residual = powers - fitted @ np.linalg.lstsq(fitted, powers, rcond=None)[0]
    np.testing.assert_allclose(residual, 0, atol=1e-10)


def test_poly_on_four_equidistant_points():
    expected = np.column_stack([[-3, -1, 1, 3] / np.sqrt(20), [0.5, -0.5, -0.5, 0.5]])
    np.testing.assert_allclose(poly([1, 2, 3, 4], 2), expected)


def test_poly_on_new_data_continues_the_training_polynomial():
    curve = learned(OrthogonalPolynomial, 2)
    new = np.linspace(-3, 3, 7)
    coefficients = np.polyfit(X, curve.transform(X, 2)[:, 1], 2)
    np.testing.assert_allclose(curve.transform(new, 2)[:, 1], np.polyval(coefficients, new))


@pytest.mark.parametrize("degree", [0, 3])
def test_poly_needs_more_distinct_values_than_its_degree(degree):
    with pytest.raises(ValueError, match="distinct values"):
        poly([1, 2, 3, 3], degree)
