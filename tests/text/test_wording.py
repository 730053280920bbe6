"""Splits in words."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from patsy import EvalEnvironment

from odrf.design import build_design
from odrf.text.names import names_in_sums
from odrf.text.splits import SplitWriter, number
from stumps import stump

COLUMNS = {"age": 0, "rate": 1, "sex[f]": 2, "sex[m]": 3, "size": 4, "plan[a]": 5, "plan[d]": 8}


@pytest.fixture(scope="module")
def data():
    return pd.DataFrame(
        {
            "y": range(8),
            "age": [20, 30, 40, 50, 60, 70, 80, 45],
            "rate": np.linspace(0, 1e-4, 8),
            "sex": list("fmfmfmfm"),
            "size": pd.Categorical(
                ["low", "mid", "high", "top"] * 2, ["low", "mid", "high", "top"], ordered=True
            ),
            "plan": list("abcdabcd"),
        }
    )


@pytest.fixture(scope="module")
def built(data):
    return build_design("y ~ age + rate + sex + size + plan", data, env=EvalEnvironment.capture())


@pytest.fixture(scope="module")
def design(built):
    return built[0]


def words(design, theta, threshold, **options):
    tree = stump({COLUMNS[name]: value for name, value in theta.items()}, threshold)
    split = SplitWriter(tree, design, **options).split(0)
    return split.to_left, split.to_right


def test_columns_are_where_these_tests_think(design):
    assert all(design.columns[at] == name for name, at in COLUMNS.items())


@pytest.mark.parametrize(
    "theta, threshold, left, right",
    [
        ({"age": 1.0}, 0.4083, "age <= 44.498", "age > 44.498"),
        ({"age": -1.0}, -0.5, "age >= 50", "age < 50"),
        ({"rate": 1.0}, 0.25, "rate <= 0.000025", "rate > 0.000025"),
        ({"size": 1.0}, 0.5, "size <= mid", "size > mid"),
        ({"size": -1.0}, -0.5, "size >= high", "size < high"),
        ({"sex[f]": 1.0}, 0.5, "sex in {m}", "sex in {f}"),
        ({"sex[f]": -1.0}, -0.5, "sex in {f}", "sex in {m}"),
        ({"plan[a]": 0.6, "plan[d]": -0.8}, -0.1, "plan in {d}", "plan in {a, others}"),
        ({"plan[a]": 0.6, "plan[d]": -0.8}, 0.1, "plan in {d, others}", "plan in {a}"),
        ({"age": 0.6, "sex[f]": -0.8}, 0.25, "-0.8*(sex in {f}) + 0.01*age <= 0.45", None),
        (
            {"age": 0.6, "sex[f]": -0.4, "sex[m]": 0.4},
            0.25,
            "-0.8*(sex in {f}) + 0.01*age <= 0.05",
            None,
        ),
        ({"age": 0.6, "sex[f]": 0.4, "sex[m]": 0.4}, 0.7, "age <= 50", "age > 50"),
        ({"age": 0.6, "plan[a]": -0.8}, 0.25, "-0.8*plan[a] + 0.01*age <= 0.45", None),
    ],
)
def test_a_split_in_words(design, theta, threshold, left, right):
    written = words(design, theta, threshold)
    assert written[0] == left
    assert written[1] == (right or left.replace("<=", ">"))


def test_digits(design):
    assert words(design, {"age": 1.0}, 0.40833, digits=2)[0] == "age <= 44.5"
    theta = {"age": 1 / 3, "plan[a]": 2 / 3, "sex[f]": -2 / 3}
    text = words(design, theta, 0.123456, digits=2)[0]
    assert text == "0.67*plan[a] - 0.67*(sex in {f}) + 0.0056*age <= 0.23"


def test_long_splits_keep_the_largest_terms(design):
    theta = {"age": 0.1, "plan[a]": 0.7, "sex[f]": -0.7, "rate": 0.1}
    text = words(design, theta, 0.5, digits=2, max_terms=2)[0]
    assert text == "0.7*plan[a] - 0.7*(sex in {f}) + 2 more <= 0.53"
    assert words(design, {"plan[a]": 1.0}, 0.5, max_terms=2)[0] == "plan not in {a}"


@pytest.mark.parametrize(
    "value, text",
    [
        (1234567.0, "1234567"),
        (0.00012345, "0.0001234"),
        (-31.4159, "-31.42"),
        (1e15, "1e+15"),
        (9999.7, "10000"),
        (-9999.5, "-10000"),
        (9999.4, "9999"),
    ],
)
def test_numbers(value, text):
    assert number(value) == text


def goes_left(text, data):
    """Evaluate a split's text on the rows of the data."""
    text = re.sub(r"\(sex in {(\w)}\)", r"(data['sex'] == '\1')", text)
    text = re.sub(r"plan\[(\w)\]", r"(data['plan'] == '\1')", text)
    text = re.sub(r"\bsize\b", "(data['size'].cat.codes + 1)", text)
    text = re.sub(r"\b(age|rate)\b", r"data['\1']", text)
    return eval(text)


@given(
    st.dictionaries(st.integers(0, 8), st.floats(-1, -0.0101) | st.floats(0.0101, 1), min_size=3),
    st.integers(1, 7),
)
def test_the_words_of_a_sum_send_rows_where_the_split_does(built, data, theta, place):
    design, training = built
    projected = sum(np.float32(value) * training.X[column] for column, value in theta.items())
    threshold = float(np.sort(projected)[place - 1 : place + 1].mean())
    text = SplitWriter(stump(theta, threshold), design, digits=12).split(0).to_left
    assert text.count("sex") <= 1
    if " in {" in text.replace("(sex in {", "") or "*" not in text:
        return
    clear = np.abs(projected - threshold) > 1e-6
    left = goes_left(text, data)
    np.testing.assert_array_equal(left[clear], (projected <= threshold)[clear])


NAMES = {"a-b": "`a-b`", "dose (mg)": "dose (mg)", "np.sqrt(age)": "np.sqrt(age)"}
NAMES |= {"I(age / 2)": "I(age / 2)", "age > 40": "(age > 40)", "age:rate": "age:rate"}
NAMES |= {"a-b:rate": "`a-b`:rate", "plan=x[u]": "`plan=x`[u]"}


def test_expressions_and_names_with_operators_are_set_apart(data):
    data = data.assign(**{"a-b": 1.5, "dose (mg)": 2.5, "plan=x": list("uvwuvwuv")})
    formula = (
        "y ~ `a-b` + `dose (mg)` + np.sqrt(age) + I(age / 2) + (age > 40) + age:rate"
        " + `a-b`:rate + `plan=x`"
    )
    design = build_design(formula, data, env=EvalEnvironment.capture())[0]
    _, columns = names_in_sums(design)
    assert {name: columns[design.columns.index(name)] for name in NAMES} == NAMES


def test_names_are_shortened_before_they_are_quoted(data):
    data = data.rename(columns={"age": "age-at-the-first-visit", "plan": "plan of the insurance"})
    design = build_design("y ~ .", data, env=EvalEnvironment.capture())[0]
    predictors, columns = names_in_sums(design, 12)
    assert predictors[0] == "`age-at…visit`"
    assert columns[-4:] == [f"pla…ce[{level}]" for level in "abcd"]


def test_ranks_of_ordered_factors_in_sums(design):
    def summed(theta):
        tree = stump({COLUMNS[name]: value for name, value in theta.items()}, 0.5)
        return SplitWriter(tree, design).summed(0)

    assert summed({"size": 1.0}) == {}
    assert list(summed({"age": 0.6, "plan[a]": 0.8})) == ["age", "plan"]
    assert summed({"age": 0.6, "size": 0.8})["size"].levels.tolist() == [
        "low",
        "mid",
        "high",
        "top",
    ]
