"""The matrix of predictors is made with little more memory than it takes, and without copies."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from functools import cache

import numpy as np
import pandas as pd
import polars as pl
import pytest
from patsy import EvalEnvironment

import odrf
from odrf.design import build_design
from odrf.engine import memory
from odrf.public import in_pandas

N, P = 6_000, 600
NAMES = [f"x{j}" for j in range(P)]
MOST = 1.3


@cache
def numbers() -> np.ndarray:
    return np.random.default_rng(0).normal(size=(N, P))


def y() -> np.ndarray:
    return np.random.default_rng(1).normal(size=N)


def one_array() -> pd.DataFrame:
    return pd.DataFrame(numbers(), columns=NAMES).assign(y=y())


def columns_apart() -> pd.DataFrame:
    columns = {name: numbers()[:, j].copy() for j, name in enumerate(NAMES)}
    return pd.DataFrame({**columns, "y": y()}, copy=False)


def several_types() -> pd.DataFrame:
    data = columns_apart()
    for j, name in enumerate(NAMES):
        kind = ("float32", "int32", "Float64", "bool", "float64")[j % 5]
        data[name] = (
            data[name].mul(100).astype("int32" if kind == "bool" else "float64").astype(kind)
        )
    return data


def of_polars() -> pl.DataFrame:
    return pl.DataFrame({name: numbers()[:, j] for j, name in enumerate(NAMES)} | {"y": y()})


def with_holes() -> pd.DataFrame:
    data = one_array()
    data.iloc[::7, 3:30] = np.nan
    return data


def response_first() -> pd.DataFrame:
    data = one_array()
    return data[["y", *NAMES]]


TABLES = {
    "one array": one_array,
    "columns apart": columns_apart,
    "several types": several_types,
    "polars": of_polars,
    "response first": response_first,
    "holes": with_holes,
}


def peak(make: Callable[[], object]) -> int:
    """Return the largest number of bytes that a call has at a time."""
    tracemalloc.start()
    try:
        make()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.skipif(int(pd.__version__.split(".")[0]) < 3, reason="older pandas copies columns")
@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
def test_the_peak_is_little_above_the_size_of_the_matrix(table):
    data, env = table(), EvalEnvironment.capture()
    size = 4 * N * P

    def build(frame):
        return build_design("y ~ .", in_pandas(frame), env=env, missing="split")

    design, _ = build(data[:50])
    assert peak(lambda: build(data)) < MOST * size
    assert peak(lambda: design.matrix(in_pandas(data))) < MOST * size


def test_products_and_factors_are_made_one_at_a_time():
    rng = np.random.default_rng(2)
    data = pd.DataFrame({f"f{j}": rng.integers(6, size=N).astype(str) for j in range(40)})
    data = data.astype("category").assign(a=rng.normal(size=N), y=y())
    formula = "y ~ (" + " + ".join(f"f{j}" for j in range(40)) + "):a + ."
    env = EvalEnvironment.capture()
    columns = build_design(formula, data[:200], env=env)[1].X.shape[0]
    assert columns == 40 * 6 * 2 + 1
    assert peak(lambda: build_design(formula, data, env=env)) < 1.6 * 4 * N * columns


def test_columns_of_a_formula_that_memory_cannot_hold_are_refused_before_they_are_named():
    levels = [f"l{k}" for k in range(60)] * 2
    data = pd.DataFrame(dict.fromkeys("abcdefg", levels))
    data["y"] = np.arange(120.0)
    with pytest.raises(MemoryError, match="columns of the formula would take"):
        odrf.odt("y ~ a:b:c:d:e:f:g", data)


def test_a_factor_of_many_levels_takes_one_number_a_row(monkeypatch):
    data = pd.DataFrame({"f": [f"l{k}" for k in range(500)] * 2, "y": np.arange(1000.0)})
    monkeypatch.setattr(memory, "SMALL", 0)
    monkeypatch.setattr(memory, "available_memory", lambda: 500 * 1000 * 4 / 2)
    assert odrf.odt("y ~ f", data, max_leaves=3, seed=1).n_leaves <= 3
