"""The warning about predictors that tell the response: where it is right, and only there."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

import odrf


def table(n=120, seed=0):
    """Two numbers, two counts, a factor and a response with noise."""
    rng = np.random.default_rng(seed)
    data = pd.DataFrame(rng.normal(size=(n, 2)), columns=["x", "z"])
    data["casual"], data["registered"] = rng.poisson(5, n), rng.poisson(20, n)
    data["colour"] = rng.choice(["red", "green", "blue"], n)
    return data.assign(y=data["x"] + rng.normal(size=n))


def messages(formula, data, fit=odrf.odt, **options):
    """What a fit says of predictors that tell the response."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fit(formula, data, seed=1, **options)
    return [str(each.message) for each in caught if "exactly" in str(each.message)]


@pytest.mark.parametrize("fit", [odrf.odt, odrf.odrf, odrf.odbt, odrf.graf])
def test_a_copy_of_the_response_is_named(fit):
    options = {} if fit is odrf.odt else {"n_trees": 5}
    (message,) = messages("y ~ .", table().assign(copy=lambda d: d.y), fit, **options)
    assert message.startswith("'copy' tells the response exactly")
    assert "leave it out (in a formula with - copy)" in message


FUNCTIONS = {"exp": np.exp, "minus": np.negative, "line": lambda y: 3 * y + 2, "atan": np.arctan}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_that_rise_or_fall_tell(name):
    data, function = table(), FUNCTIONS[name]
    assert len(messages("y ~ .", data.assign(f=function(data["y"])))) == 1
    # a rounded response, too
    assert len(messages("y ~ .", data.assign(f=function(data["y"]), y=data["y"].round(1)))) == 1
    assert messages("y ~ .", data.assign(f=function(data["y"].round(1)))) == []


def test_two_numbers_may_tell_together():
    data = table().assign(count=lambda d: d.casual + d.registered)
    (message,) = messages("count ~ . - y", data)
    assert message.startswith("'casual' and 'registered' together tell the response exactly")
    assert "- casual - registered" in message
    assert messages("count ~ . - y - casual", data) == []


def test_odd_names_are_quoted():
    (message,) = messages("y ~ .", table().assign(**{"the same": lambda d: d.y}))
    assert "(in a formula with - `the same`)" in message


@pytest.mark.parametrize("names", [["a", "b", "c"], [1, 2, 3], [1.5, 2.5, 3.5]])
def test_labels_of_classes_tell(names):
    data = table()
    code = data["colour"].map(dict(zip(["red", "green", "blue"], names, strict=True)))
    assert len(messages("colour ~ . - y", data.assign(code=code))) == 1
    code[0] = names[0] if code[0] != names[0] else names[1]
    assert messages("colour ~ . - y", data.assign(code=code)) == []


def test_what_leaves_doubt_is_not_warned_of():
    data = table().assign(copy=lambda d: d.y)
    assert messages("y ~ .", table()) == []
    # one predictor alone is what the user wants to see
    assert messages("y ~ copy", data) == []
    assert messages("y ~ .", data.iloc[:25]) == []
    # a noiseless sum of all predictors
    assert messages("y ~ x + z", data.assign(y=data["x"] + data["z"])) == []
    # the response is another one
    assert messages("copy ~ . - y", data) == []
    # a bound of a number separates the classes
    assert messages("side ~ .", data.assign(side=np.where(data["y"] > 0, "a", "b"))) == []


def test_rows_without_a_response_do_not_matter():
    data = table().assign(copy=lambda d: d.y)
    data.loc[:9, "y"] = np.nan
    assert len(messages("y ~ .", data)) == 1


@pytest.mark.parametrize("fit", [odrf.odrf, odrf.odt])
def test_first_rows_of_chunks_are_looked_at(fit):
    data = table(n=300).assign(copy=lambda d: d.y, kind=lambda d: d.colour.str.upper())
    data.loc[:9, "y"] = np.nan
    options = {"n_trees": 2} if fit is odrf.odrf else {"max_leaves": 4}
    chunks = [data[:150], data[150:]]
    (message,) = messages("y ~ .", chunks, fit, **options)
    assert message.startswith("'copy' tells the response exactly")
    (message,) = messages("colour ~ . - y - copy", chunks, fit, **options)
    assert message.startswith("'kind' tells the response exactly")
    assert messages("y ~ . - copy", chunks, fit, **options) == []
