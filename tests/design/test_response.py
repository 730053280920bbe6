from __future__ import annotations

import re
import warnings

import numpy as np
import pandas as pd
import pytest

import odrf
from odrf.design.columns import Values
from odrf.design.response import read_response
from odrf.errors import InputError


def read(data, kind="auto", **marks):
    return read_response(Values("y", pd.Series(data), **marks), kind)


@pytest.mark.parametrize("data", [[3, 1, 2], [3.0, 1.0, 2.0], pd.array([3, 1, 2], dtype="Int64")])
def test_numbers_are_regression(data):
    response, y = read(data)
    assert (response.name, response.kind, response.classes) == ("y", "regression", None)
    np.testing.assert_array_equal(y, [3.0, 1.0, 2.0])


@pytest.mark.parametrize(
    ("data", "classes"),
    [
        (["no", "yes", "no"], ["no", "yes"]),
        (["yes", "no", "yes"], ["no", "yes"]),
        (pd.Series(["b", "a", "b"], dtype=object), ["a", "b"]),
        ([True, False, True], [False, True]),
        (pd.array([True, False, True], dtype="boolean"), [False, True]),
        (pd.Categorical(["u", "t", "u"], ["z", "u", "t"]), ["u", "t"]),
        (pd.Categorical(["lo", "hi", "lo"], ["lo", "mid", "hi"], ordered=True), ["lo", "hi"]),
        (pd.Categorical([7, 3, 7]), [3, 7]),
    ],
)
def test_everything_else_is_classification(data, classes):
    response, y = read(data)
    assert response.kind == "classification"
    assert response.classes.tolist() == classes
    assert response.classes[y.astype(int)].tolist() == list(data)


def test_two_numbers_warn_unless_the_kind_is_given():
    with pytest.warns(UserWarning, match=r'two values \(0 and 1\).*kind="classification"'):
        response, _ = read([0, 1, 1])
    assert response.kind == "regression"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert read([0, 1, 1], "regression")[0].kind == "regression"
        assert read([0, 1, 1], "classification")[0].kind == "classification"


def test_numbers_as_classes_are_sorted():
    response, y = read([10, 9, 10, 100], "classification")
    assert response.classes.tolist() == [9, 10, 100]
    np.testing.assert_array_equal(y, [1, 0, 1, 2])


def test_true_and_false_as_numbers():
    np.testing.assert_array_equal(read([True, False], "regression")[1], [1.0, 0.0])


def test_levels_given_to_c_set_the_order_of_the_classes():
    response, y = read(["a", "b", "a"], nominal=True, levels=("b", "never", "a"))
    assert response.classes.tolist() == ["b", "a"]
    np.testing.assert_array_equal(y, [1, 0, 1])


@pytest.mark.parametrize(
    ("data", "kind", "message"),
    [
        (["a", "b"], "regression", "response 'y' is not numeric"),
        ([2.0, 2.0], "auto", r"response 'y' is constant \(2.0 in every row\)"),
        (["a", "a"], "auto", r"response 'y' is constant \('a' in every row\)"),
        ([1, 1], "classification", "response 'y' is constant"),
        ([1.0, np.inf, 2.0], "auto", "response 'y' is infinite.* 1 row .index 1."),
        (pd.to_datetime(["2020", "2021"]), "auto", "'y' holds dates"),
        ([1, "a"], "classification", "'y' holds mixed values"),
    ],
)
def test_what_cannot_be_a_response(data, kind, message):
    with pytest.raises(InputError, match=message):
        read(data, kind)


def test_several_columns():
    with pytest.raises(InputError, match="several columns"):
        read_response(Values("y", pd.DataFrame(np.ones((2, 2)))), "auto")


def test_values_outside_the_levels_given():
    with pytest.raises(InputError, match="not among its levels: 'b'"):
        read(["a", "b"], nominal=True, levels=("a", "c"))


def test_responses_of_new_rows_are_codes_of_known_classes():
    data = pd.DataFrame({"x": range(6), "c": list("uvwuvw")})
    response = odrf.odt("c ~ x", data, seed=1).fit.design.response
    assert response.numbers(data).tolist() == [0, 1, 2, 0, 1, 2]
    with pytest.raises(InputError, match="'c' has classes that no training row has: 'z'"):
        response.numbers(data.assign(c=["u", "z", *"uuuu"]))
    with pytest.raises(InputError, match="response 'c' is missing in"):
        response.numbers(data.assign(c=["u", None, *"uuuu"]))
    with pytest.raises(InputError, match="new data lacks column 'c'"):
        response.numbers(data[["x"]])


def test_text_of_which_every_row_has_its_own_is_no_class():
    numbers = pd.DataFrame({"y": [f"{i / 7:.3f}" for i in range(40)], "x": range(40)})
    with pytest.raises(InputError, match=r"'y' is text with 40 different values .* pd\.to_numeric"):
        odrf.odt("y ~ x", numbers)
    names = numbers.assign(y=[f"p{i}" for i in range(40)])
    with pytest.raises(InputError, match=r"write C\(y\) if these are classes nevertheless"):
        odrf.odt("y ~ x", names)
    assert len(odrf.odt("C(y) ~ x", names, seed=1).classes) == 40
    assert len(odrf.odt("y ~ x", names.astype({"y": "category"}), seed=1).classes) == 40


# ------------------------------------------------------------------------------------------------
# A response that cannot be used is not to be left out, and what messages advise works.
# ------------------------------------------------------------------------------------------------

N_ROWS = 60
ADVISED = {
    "dates": pd.date_range("2020", periods=N_ROWS),
    "durations": pd.to_timedelta(range(N_ROWS), unit="D"),
    "periods": pd.period_range("2020", periods=N_ROWS, freq="D"),
    "intervals": pd.arrays.IntervalArray.from_breaks(range(N_ROWS + 1)),
    "mixed values": [*range(N_ROWS - 1), "a"],
    "numbers and ?": [*map(str, range(N_ROWS - 1)), "?"],
    "names": [f"name{i}" for i in range(N_ROWS)],
}


@pytest.mark.parametrize("name", ADVISED)
def test_advice_about_a_response_works(name):
    data = pd.DataFrame({"x": np.arange(N_ROWS) % 7, "y": ADVISED[name]})
    with pytest.raises(InputError, match=r"^response 'y' ") as refused:
        odrf.odt("y ~ x", data, seed=1)
    said = str(refused.value)
    assert "leave it out" not in said
    code = re.search(r"(pd\.\w+\(|C\(|data\[)[^;]*?(\)|day_of_year)(?=,| if|$|, which)", said)[0]
    formula = f"{code} ~ x" if code.startswith("C(") else "y ~ x"
    if formula == "y ~ x":
        data["y"] = eval(code, {"pd": pd, "data": data})
    assert odrf.odt(formula, data, seed=1).nobs >= N_ROWS - 1


def test_a_response_with_one_value_is_named():
    data = pd.DataFrame({"x": np.arange(N_ROWS), "y": [1.0] + [np.nan] * (N_ROWS - 1)})
    with pytest.raises(InputError, match=r"the response is known in 1 of 60 rows.*'y'") as refused:
        odrf.odt("y ~ x", data, seed=1)
    assert "out of the formula" not in str(refused.value)
