from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from patsy import EvalEnvironment

from odrf.design.formula import DOT, quoted, read_formula, readable, respell
from odrf.errors import InputError

COLUMNS = ["a", "b.c", "b", "class", "µg", "x.1", "log.x", "1st", "inf"]


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
    assert respell(text, COLUMNS).code == code


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
