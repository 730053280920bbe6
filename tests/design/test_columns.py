"""Columns of text that were meant to be numbers, dates, or fewer levels."""

from __future__ import annotations

import datetime
import io
import warnings
from decimal import Decimal
from fractions import Fraction
from functools import partial

import numpy as np
import pandas as pd
import pytest
from patsy.categorical import C

import odrf
from odrf.design.columns import (
    Values,
    check_frame,
    column_blocks,
    contents,
    learn_schema,
    meant_as,
    measurement,
    result_values,
)
from odrf.design.encoding import Numbers, as_dates
from odrf.design.functions import OrthogonalPolynomial
from odrf.design.missing import learn_fills
from odrf.design.ranks import OwnRanks, exact
from odrf.design.weights import row_numbers
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


# ------------------------------------------------------------------------------------------------
#
# ------------------------------------------------------------------------------------------------

FRAME = pd.DataFrame(
    {
        "age": [1, 2],
        "sex": ["m", "f"],
        "flag": [True, False],
        "any": pd.Series([1, 2], dtype=object),
    }
)
SCHEMA = learn_schema(FRAME, ["age", "sex", "flag", "any"])


def test_a_schema_remembers_what_columns_held():
    assert SCHEMA.contents == ("numbers", "text", "True and False", "numbers")


def test_other_columns_are_ignored_and_order_restored():
    new = FRAME.assign(more=1)[["more", "flag", "any", "sex", "age"]]
    assert tuple(SCHEMA.select(new).columns) == SCHEMA.columns
    twice = pd.concat([FRAME, pd.DataFrame([[1, 2], [3, 4]], columns=["more", "more"])], axis=1)
    assert SCHEMA.select(twice).equals(FRAME)


def test_the_same_contents_in_another_type_are_welcome():
    new = FRAME.astype({"age": "float32", "sex": "category", "flag": "int8", "any": "Int64"})
    SCHEMA.check_contents(SCHEMA.select(new))


@pytest.mark.parametrize(
    ("new", "message"),
    [
        (
            FRAME.drop(columns="age").assign(Age=1),
            "new data lacks column 'age'; did you mean 'Age'",
        ),
        (FRAME[["any"]], "new data lacks columns 'age', 'sex', 'flag'"),
        (FRAME.drop(columns=["age", "sex"]).assign(Age=1), "lacks columns 'age', 'sex': add"),
        (FRAME[["age", "age", "sex", "flag", "any"]], "more than one column named 'age'"),
        ([[1, "m"]], "new data must be a data frame, not list"),
        (FRAME.iloc[0], "new data must be a data frame, not pandas.Series: .*to_frame"),
    ],
)
def test_new_data_without_the_columns(new, message):
    with pytest.raises(InputError, match=message):
        SCHEMA.select(new)


@pytest.mark.parametrize(
    ("column", "values", "message"),
    [
        ("age", ["1", "2"], r"'age' held numbers in training \(int64\) and holds text"),
        ("sex", [1, 2], "'sex' held text in training .* and holds numbers .*int64"),
        ("flag", ["True", "False"], "'flag' held True and False in training .* holds text"),
        ("any", [1, "a"], "'any' held numbers in training .*object.* holds mixed values"),
    ],
)
def test_new_data_of_another_type(column, values, message):
    with pytest.raises(InputError, match=message):
        SCHEMA.check_contents(FRAME.assign(**{column: values}))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ([1, 2], r"data must be a data frame, not list: .*pd.DataFrame\(X, columns="),
        (FRAME["age"], "data must be a data frame, not pandas.Series"),
        ([FRAME, FRAME], r"data must be a data frame, not list: join them with pd.concat\(\)"),
        (FRAME.rename(columns={"age": 0, "sex": 1}), "must be text, but 0, 1 are not: rename"),
        (
            pd.concat({"u": FRAME}, axis=1),
            r"rename them, for example with data.columns = \[\"_\"\.join\(map\(str, name\)\) for",
        ),
        (FRAME[["age", "sex", "age"]], "data has more than one column named 'age'"),
        (FRAME.iloc[:1], "data has 1 row: at least 2"),
        (FRAME.iloc[:0], "data has 0 rows: at least 2"),
    ],
)
def test_training_data_that_is_no_table(data, message):
    with pytest.raises(InputError, match=message):
        check_frame(data)


def test_frames_of_other_packages_are_named_with_the_way_out():
    foreign = type("DataFrame", (), {"__module__": "polars.dataframe.frame", "to_pandas": 1})()
    with pytest.raises(InputError, match=r"not polars\.DataFrame: convert it by \.to_pandas\(\)"):
        check_frame(foreign)


# ------------------------------------------------------------------------------------------------
# Columns that hardly any table has.
# ------------------------------------------------------------------------------------------------


def test_columns_are_found_beside_others_that_share_a_name():
    data = pd.DataFrame([[1, 2, 3, 4], [5, 6, 7, 8]], columns=["a", "x", "x", "b"])
    blocks = list(column_blocks(data, ["b", "a"]))
    assert [name for _, block in blocks for name in block.columns] == ["b", "a"]
    assert np.hstack([block.to_numpy() for _, block in blocks]).tolist() == [[4, 1], [8, 5]]


def test_a_column_without_any_value_has_no_fill():
    with pytest.raises(InputError, match="column 'a' is missing in every training row"):
        learn_fills(pd.DataFrame({"a": [np.nan, np.nan]}), ["a"])


def test_a_column_of_dates_and_times_of_day_is_refused():
    mixed = pd.Series([datetime.date(2024, 1, 1), datetime.time(3)], dtype=object)
    with pytest.raises(InputError, match="day"):
        as_dates(mixed, "day")


def test_complex_numbers_are_refused():
    with pytest.raises(TypeError, match="real numbers"):
        OrthogonalPolynomial().memorize_chunk(np.array([1j, 2]))
    with pytest.raises(InputError, match="offset holds complex numbers"):
        row_numbers("offset", np.array([1j, 2]), pd.DataFrame({"a": [1, 2]}))


def test_ranks_among_fractions_are_exact():
    tiny = Fraction(1, 10**40)
    known = pd.Series([Fraction(1), 1 + tiny, 1 + 2 * tiny], dtype=object)
    values = exact(Numbers(), Values("a", known))
    ranks = OwnRanks(values, Numbers())
    new = pd.Series([1 + tiny, 1 + 3 * tiny / 2, Fraction(0)], dtype=object)
    assert ranks.encode(Values("a", new)).tolist() == [[1.0, 1.5, 0.0]]
    beyond = pd.Series([1 + tiny, np.inf], dtype=object)
    assert ranks.encode(Values("a", beyond)).tolist() == [[1.0, np.inf]]


# ------------------------------------------------------------------------------------------------
#
# ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "scale", "held"),
    [
        ([1, 2], "numeric", "numbers"),
        ([1.5, np.nan], "numeric", "numbers"),
        (np.array([1, 2], dtype="uint8"), "numeric", "numbers"),
        (pd.array([1, None], dtype="Int64"), "numeric", "numbers"),
        (pd.array([1.5, None], dtype="Float32"), "numeric", "numbers"),
        (pd.arrays.SparseArray([0.0, 1.0]), "numeric", "numbers"),
        (pd.Series([1, 2.5, None], dtype=object), "numeric", "numbers"),
        ([Decimal("1.5"), Decimal("2")], "numeric", "numbers"),
        ([True, False], "logical", "True and False"),
        (pd.array([True, None], dtype="boolean"), "logical", "True and False"),
        (pd.Series([True, None], dtype=object), "logical", "True and False"),
        (["a", None], "nominal", "text"),
        (pd.array(["a", None], dtype="string"), "nominal", "text"),
        (pd.Categorical(["a", "b"]), "nominal", "text"),
        (pd.Categorical([1, 2]), "nominal", "numbers"),
        (pd.Categorical([1, 2], ordered=True), "ordinal", "numbers"),
        (pd.cut([1, 2, 3], 2), "ordinal", "text"),
    ],
)
def test_scale_and_contents(values, scale, held):
    assert measurement(pd.Series(values), "x") == scale
    assert contents(pd.Series(values)) == held


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (pd.date_range("2020", periods=2), "'x' holds dates.*dt.day_of_year"),
        (pd.to_timedelta([1, 2], "D"), "'x' holds durations.*total_seconds"),
        ([1j, 2], "'x' holds complex numbers.*two columns"),
        ([1, "a"], "'x' holds mixed values.*pd.to_numeric"),
        ([[1], [2, 3]], "'x' holds lists"),
        (pd.period_range("2020", periods=2, freq="M"), "'x' holds periods"),
    ],
)
def test_what_is_neither_numbers_nor_labels(values, message):
    with pytest.raises(InputError, match=message):
        measurement(pd.Series(values), "x")


# ------------------------------------------------------------------------------------------------
#
# ------------------------------------------------------------------------------------------------

INDEX = pd.Index(["r1", "r2", "r3"])


@pytest.mark.parametrize(
    "result", [[1, 2, 3], np.array([1, 2, 3]), pd.Series([1, 2, 3]), pd.Index([1, 2, 3])]
)
def test_one_column(result):
    data = result_values(result, "f(a)", INDEX).data
    assert data.tolist() == [1, 2, 3]
    assert data.index.equals(INDEX)


@pytest.mark.parametrize(
    "dtype",
    [*np.typecodes["AllInteger"], *np.typecodes["Float"], "?", "Int8", "Float32", "boolean"],
)
def test_numbers_of_every_type_serve_as_classes_and_levels(dtype):
    data = pd.DataFrame({"y": np.arange(20) % 2, "x": np.arange(20) // 10}).astype(dtype)
    data["z"] = data["x"]
    tree = odrf.odt("y ~ C(x) + z", data, kind="classification", seed=1, min_leaf=1)
    assert tree.predict(data).astype(float).isin([0, 1]).all()
    assert odrf.odt("z ~ y + factor(x)", data, kind="classification").training_error == 0


def test_several_columns():
    assert result_values(np.ones((3, 2)), "f(a)", INDEX).data.shape == (3, 2)


def test_a_box_keeps_data_and_levels():
    values = result_values(C(["u", "v", "u"], levels=["v", "u"]), "C(a)", INDEX)
    assert values.nominal
    assert values.levels == ("v", "u")
    assert result_values(C(pd.Categorical(["u", "v", "u"])), "C(a)", INDEX).levels is None


@pytest.mark.parametrize(
    ("result", "message"),
    [
        (1.5, "'f' gives a float where the data has 3 rows"),
        (np.ones((3, 1, 1)), "'f' gives a ndarray"),
        ([1, 2], "'f' gives 2 rows where the data has 3 rows"),
        ([1, np.nan, 2], r"'f' is missing or not a number in 1 row \(index 'r2'\)"),
        (np.array([[1, np.nan], [2, 2], [np.nan, 2]]), r"in 2 rows \(index 'r1', 'r3'\)"),
        (C(["u", None, "v"]), "missing or not a number in 1 row"),
    ],
)
def test_what_is_no_column(result, message):
    with pytest.raises(InputError, match=message):
        result_values(result, "f", INDEX)


def test_dates_of_several_time_zones_are_no_dates_in_text():
    texts = [f"2020-01-{1 + i % 28:02d} 12:00+0{1 + i % 2}:00" for i in range(90)]
    assert meant_as("x", pd.Index(sorted(set(texts)))) is None
