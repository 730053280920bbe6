"""Designs of some of the predictors."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from patsy import EvalEnvironment

from odrf.design import build_design
from odrf.errors import InputError


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"y": rng.normal(size=30), "a": rng.normal(size=30), "b": np.arange(30)})
    return frame.assign(f=rng.choice(["u", "v", "w"], 30), unused=1.0)


@pytest.mark.parametrize("which", [[0], [2, 0], [1, 3], [4, 2], [0, 1, 2, 3, 4]])
def test_columns_are_those_of_the_whole_design(data, which):
    env = EvalEnvironment.capture()
    design, rows = build_design("y ~ a + np.exp(a) + f + bs(b, 4) + a:f", data, env=env)
    some = design.keeping(which)
    columns = design.recipe.columns_of(which)
    assert some.predictors == tuple(design.predictors[j] for j in which)
    assert some.columns == tuple(design.columns[c] for c in columns)
    X, _ = some.matrix(data)
    np.testing.assert_array_equal(X, rows.X[columns])
    again, _ = build_design(some.formula, data, env=env)
    assert (again.predictors, again.columns) == (some.predictors, some.columns)
    assert some.types.tolist() == again.types.tolist()


def test_only_the_columns_needed_are_asked_for(data):
    design, _ = build_design("y ~ a + f", data, env=EvalEnvironment.capture())
    some = design.keeping([1])
    assert some.matrix(data[["f"]])[0].shape == (3, 30)
    with pytest.raises(InputError, match="lacks column 'f'"):
        some.matrix(data[["a"]])


def test_only_the_columns_needed_are_filled(data):
    train = data.assign(b=data["b"].where(data.index != 3))
    design, _ = build_design("y ~ a + b", train, missing="median", env=EvalEnvironment.capture())
    new = data.assign(b=np.nan)[["b"]]
    X, complete = design.keeping([1]).matrix(new)
    assert complete.all() and (X[0, 0] == X).all()
    np.testing.assert_array_equal(X, design.matrix(new.assign(a=0.0))[0][1:])


def test_names_that_are_code_stay_names(data):
    """A reduced formula is read again, and must not run what a column is called."""
    evil = "I(1/0 + 0*__import__('os').getpid())"
    odd = {"a": "a b", "b": evil, "f": "f`g", "unused": "1"}
    frame = data.rename(columns=odd).assign(**{".": 1.0, "log": 2.0, "y": data["y"]})
    env = EvalEnvironment.capture()
    design, _ = build_design("y ~ . + `a b`:`1`", frame, env=env)
    for which in ([0], [1], [0, 1, 2, 3, 4, 5, 6], [6, 2]):
        some = design.keeping(which)
        again, _ = build_design(some.formula, frame, env=env)
        assert (again.predictors, again.columns) == (some.predictors, some.columns)
    response, _ = build_design(f"`{evil}` ~ `a b`", frame, env=env)
    again, _ = build_design(response.keeping([0]).formula, frame, env=env)
    assert again.response.name == evil
