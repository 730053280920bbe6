from __future__ import annotations

import pytest
from patsy import EvalEnvironment, PatsyError

from odrf.design.formula import Column, Expression, read_atom

COLUMNS = ["a", "b", "odd name", "C", "Sepal.Length"]


@pytest.mark.parametrize("code", ["a", "Q('a')", 'Q("a")'])
def test_a_column_however_written(code, env):
    assert read_atom(code, COLUMNS, env) == Column("a")


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
    atom = read_atom(code, COLUMNS, env)
    assert isinstance(atom, Expression)
    assert sorted(atom.columns) == sorted(columns)


def test_a_name_may_come_from_the_users_environment():
    env = EvalEnvironment([{"halve": lambda x: x / 2, "knots": [1, 2]}])
    assert read_atom("halve(a) + knots[0]", COLUMNS, env).columns == ("a",)


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
        read_atom(code, COLUMNS, env)
