"""Splits in words."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from patsy import EvalEnvironment

from odrf.design import build_design
from odrf.text.wording import SplitWriter, number
from stumps import stump

COLUMNS = {"age": 0, "rate": 1, "sex[f]": 2, "sex[m]": 3, "size": 4, "plan[a]": 5, "plan[d]": 8}


@pytest.fixture(scope="module")
def design():
    data = pd.DataFrame(
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
    return build_design("y ~ age + rate + sex + size + plan", data, env=EvalEnvironment.capture())[
        0
    ]


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
        ({"plan[a]": 0.6, "plan[d]": -0.8}, -0.1, "plan in {d}", "plan in {a, b, c}"),
        ({"plan[a]": 0.6, "plan[d]": -0.8}, 0.1, "plan in {b, c, d}", "plan in {a}"),
        ({"age": 0.6, "sex[f]": -0.8}, 0.25, "-0.8*sex[f] + 0.01*age <= 0.45", None),
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
    assert text == "0.67*plan[a] - 0.67*sex[f] + 0.0056*age <= 0.23"


def test_long_splits_keep_the_largest_terms(design):
    theta = {"age": 0.1, "plan[a]": 0.7, "sex[f]": -0.7, "rate": 0.1}
    text = words(design, theta, 0.5, digits=2, max_terms=2)[0]
    assert text == "0.7*plan[a] - 0.7*sex[f] + 2 more <= 0.53"
    assert words(design, {"plan[a]": 1.0}, 0.5, max_terms=2)[0] == "plan in {b, c, +1 more}"


@pytest.mark.parametrize(
    "value, text",
    [(1234567.0, "1234567"), (0.00012345, "0.0001234"), (-31.4159, "-31.42"), (1e15, "1e+15")],
)
def test_numbers(value, text):
    assert number(value) == text
