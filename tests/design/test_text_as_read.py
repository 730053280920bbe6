"""Columns of text that were meant to be numbers, dates, or fewer levels."""

from __future__ import annotations

import io
import warnings
from functools import partial

import numpy as np
import pandas as pd
import pytest

import odrf
from odrf.design.columns import meant_as
from odrf.errors import InputError

N = 300
WHOLE = pd.Series(np.random.default_rng(0).integers(1, 60, N))
CENTS = pd.Series(np.random.default_rng(1).uniform(-3000, 3000, N))
DAYS = pd.Series(pd.Timestamp("2020-01-25") + pd.to_timedelta(WHOLE, unit="D"))
Y = WHOLE + np.random.default_rng(2).normal(size=N)


def with_cell(column, cell, at=7):
    column = column.astype(str)
    column[at] = cell
    return column


def fitted(x, formula="y ~ x"):
    data = pd.DataFrame({"y": Y, "x": x})
    return odrf.odt(formula, data, max_leaves=3, alpha=None, seed=1)


def said_of(x, formula="y ~ x", **others):
    """The warnings of a fit."""
    data = pd.DataFrame({"y": Y, "x": x, **others})
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        odrf.odt(formula, data, max_leaves=3, alpha=None, seed=1)
    return [str(each.message) for each in caught]


MEANT = {
    "a cell that is none": (with_cell(CENTS.round(2), "."), "numbers", 1),
    "a header in the middle": (with_cell(CENTS.round(2), "x"), "numbers", 1),
    "decimal commas": (CENTS.map("{:.2f}".format).str.replace(".", ","), "numbers", 0),
    "three digits after a comma": (
        (CENTS / 3000).map("{:.3f}".format).str.replace(".", ","),
        "numbers",
        0,
    ),
    "thousands": (CENTS.map("{:,.2f}".format), "numbers", 0),
    "percent": (CENTS.map("{:.1f} %".format), "numbers", 0),
    "dollars": (CENTS.map("${:,.2f}".format), "numbers", 0),
    "euros": (CENTS.map("{:.2f} €".format), "numbers", 0),
    "ISO dates": (DAYS.dt.strftime("%Y-%m-%d"), "dates", 0),
    "dates with dots": (with_cell(DAYS.dt.strftime("%d.%m.%Y"), "-"), "dates", 1),
    "dates of SAS": (DAYS.dt.strftime("%d%b%Y").str.upper(), "dates", 0),
    "American dates": (DAYS.dt.strftime("%m/%d/%Y"), "dates", 0),
}


@pytest.mark.parametrize(("column", "kind", "lost"), MEANT.values(), ids=MEANT)
def test_advice_is_code_that_works(column, kind, lost):
    advice = meant_as("x", pd.Index(column.unique()))
    start = f"turn it into {kind} with "
    assert advice.startswith(start)
    code = advice.removeprefix(start).split(", which makes ")[0]
    made = eval(code, {"pd": pd, "data": pd.DataFrame({"x": column})})
    assert made.isna().sum() == lost
    if kind == "numbers":
        at = made.notna()
        assert np.corrcoef(made[at], CENTS[at])[0, 1] > 0.9999
    else:
        assert (made == DAYS)[made.notna()].all()


def test_text_that_is_no_numbers_is_none():
    assert meant_as("x", pd.Index(["a1", "b2", "c3"])) is None
    assert meant_as("x", pd.Index(["red", "blue"])) is None


def test_a_predictor_different_in_each_row_is_refused_as_what_it_is():
    column = with_cell(pd.Series(np.arange(N) / 7), "?")
    with pytest.raises(InputError, match=r"pd\.to_numeric\(.*coerce.*, which makes '\?' missing"):
        fitted(column)
    named = pd.DataFrame({"y": Y, "full name": [f"name {k}" for k in range(N)]})
    with pytest.raises(InputError, match=r"write C\(`full name`\) if"):
        odrf.odt("y ~ .", named)


def test_numbers_and_dates_taken_as_a_factor_are_warned_of():
    (said,) = said_of(with_cell(WHOLE, "?"))
    assert said.startswith("'x' is text with 59 different values, such as '1', '11' and 57 more")
    assert "was taken as a factor: turn it into numbers with pd.to_numeric(data['x']" in said
    assert "which makes '?' missing, or write C(x) if they are labels" in said
    (said,) = said_of(DAYS.dt.strftime("%Y-%m-%d"))
    assert "turn it into dates with pd.to_datetime(data['x'])" in said


def test_a_response_of_numbers_taken_as_classes_is_warned_of():
    (said,) = said_of(WHOLE, "z ~ x", z=with_cell(WHOLE, "."))
    assert "'z' is text" in said and "was taken as classes" in said


@pytest.mark.parametrize(
    ("x", "formula"),
    [
        (with_cell(WHOLE, "?"), "y ~ C(x)"),
        (with_cell(WHOLE, "?").astype("category"), "y ~ x"),
        (WHOLE.map("{:05d}".format), "y ~ x"),  # leading zeros
        ((WHOLE + 10_000).astype(str), "y ~ x"),  # all of five digits
        (with_cell(WHOLE % 20, "?"), "y ~ x"),  # few
        (WHOLE.map("no. {}".format), "y ~ x"),
    ],
)
def test_what_may_well_be_labels_is_not_warned_of(x, formula):
    assert said_of(x, formula) == []


def test_classes_that_are_said_to_be_classes_are_not_warned_of():
    data = pd.DataFrame({"y": with_cell(WHOLE, "."), "x": WHOLE})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        odrf.odt("y ~ x", data, kind="classification", max_leaves=3, alpha=None, seed=1)


def test_levels_in_two_spellings_are_warned_of():
    sex = pd.Series(np.array(["Male", "male", "male ", "Female"])[WHOLE % 4])
    (said,) = said_of(sex)
    assert said.startswith("'x' has levels that differ only in spaces or capitals")
    assert "'Male', 'male', 'male '; join them with" in said and ".str.strip().str.lower()" in said
    assert said_of(sex, "y ~ C(x)") == []
    assert len(said_of(sex.astype("category"))) == 1
    (said,) = said_of(WHOLE, "z ~ x", z=pd.Series(np.array(["yes", "yes ", "no"])[WHOLE % 3]))
    assert said.startswith("'z' has levels") and "lower" not in said


def test_single_letters_may_differ_in_capitals():
    assert said_of(pd.Series(np.array(["a", "A", "b"])[WHOLE % 3])) == []


def test_row_names_of_r_are_warned_of():
    text = pd.DataFrame({"y": Y, "x": WHOLE}).to_csv()
    data = pd.read_csv(io.StringIO(text))
    grown = partial(odrf.odt, data=data, max_leaves=3, alpha=None, seed=1)
    with pytest.warns(UserWarning, match=r"^'Unnamed: 0' is a predictor.*index_col=0") as said:
        grown("y ~ .")
    assert len(said) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert grown("y ~ . - `Unnamed: 0`").design.predictors == ("x",)
        grown("y ~ `Unnamed: 0`")


def test_a_table_read_as_one_column_is_named():
    data = pd.read_csv(io.StringIO("a;y\n1;2\n3;5\n"))
    with pytest.raises(InputError, match=r"its only column is 'a;y': read the table with sep=';'"):
        odrf.odt("y ~ .", data)


def test_mixed_cells_are_named():
    mixed = WHOLE.astype(object)
    mixed[3] = "n.d."
    with pytest.raises(InputError, match=r"holds mixed values .*coerce.*its texts are 'n\.d\.'"):
        fitted(mixed)


def test_intervals_are_refused_with_the_way_out():
    column = pd.Series(pd.arrays.IntervalArray(pd.cut(WHOLE, 5)))
    with pytest.raises(InputError, match=r"holds intervals .*pd\.Categorical\(.*ordered=True\)"):
        fitted(column)
    assert fitted(pd.Series(pd.Categorical(column, ordered=True))).nobs == N
