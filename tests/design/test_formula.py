from __future__ import annotations

import sys

import pytest

from odrf.design import formula as reading
from odrf.design.formula import read_formula
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
        ("y ~ a + 2", "numbers besides", "2"),
        ("y ~ a ** b", "positive integer", "b"),
        ("y ~ `odd nam` + a", "did you mean 'odd name'", "`odd nam`"),
        ("y^2 ~ a^3 + aa", "'aa' is not a column.*did you mean 'a'", "aa"),
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
