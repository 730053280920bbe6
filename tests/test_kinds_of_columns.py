"""Columns of every kind that a data frame can hold: whatever reads a column reads any kind."""

from __future__ import annotations

import inspect
import warnings

import numpy as np
import pandas as pd
import pytest

import odrf
from cases.columns import EXTREME
from odrf import InputError
from odrf.design.missing import find_missing

N = 30
ASKED = {
    "ale": {"variables": "x", "points": 3},
    "comparisons": {"variables": "x"},
    "ice": {"variable": "x", "points": 3},
    "partial": {"variables": ["x"], "points": 3},
    "predictions": {"by": "x"},
    "slopes": {"by": "x"},
    "data_summary": {},
}


def with_column(kind):
    rng = np.random.default_rng(4)
    data = pd.DataFrame({"x": EXTREME[kind](rng, N), "z": rng.normal(size=N)})
    return data.assign(y=data["z"] + rng.normal(size=N))


def fitted(data, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        return odrf.odt("y ~ x + z", data, projection="axis", alpha=None, seed=1, **options)


@pytest.mark.parametrize("kind", EXTREME)
def test_methods_that_read_a_column_read_any_kind(kind):
    data = with_column(kind)
    try:
        tree = fitted(data)
    except InputError:
        return
    for name, given in ASKED.items():
        takes_rows = "newdata" in inspect.signature(getattr(tree, name)).parameters
        for rows in ({}, {"newdata": data}) if takes_rows else ({},):
            with warnings.catch_warnings():
                warnings.simplefilter("error", RuntimeWarning)
                try:
                    assert repr(getattr(tree, name)(**given, **rows))
                except InputError as refusal:
                    assert len(str(refusal)) > 20


@pytest.mark.parametrize("kind", EXTREME)
def test_empty_cells_of_any_kind_are_found_and_filled(kind):
    data = with_column(kind)
    holed = data.assign(x=data["x"].mask(np.arange(N) % 7 == 0))
    assert find_missing(holed, ["x", "z"]).counts == {"x": 5}
    for missing in ("split", "median", "drop", "surrogate"):
        try:
            tree = fitted(holed, missing=missing)
        except InputError:
            continue
        if missing != "drop":
            assert tree.predict(holed).notna().all()
            assert np.isfinite(tree.predict(data[:1].assign(x=holed["x"][:1]))).all()


@pytest.mark.parametrize("number", ["int8", "int64", "uint64", "bool", "float32"])
@pytest.mark.parametrize("levels", [[1, 2], np.array([1, 2], np.uint8), [True, False]])
def test_empty_cells_of_a_factor_whose_levels_are_numbers_are_found(levels, number):
    factor = pd.Categorical.from_codes([0, -1, 1], pd.Index(levels))
    for columns in (["f", "k"], ["k", "f"]):
        data = pd.DataFrame({"f": factor, "k": np.array([1, 0, 1], number)})[columns]
        assert find_missing(data, columns).counts == {"f": 1}


def test_a_product_of_columns_that_overflows_is_refused_by_name():
    data = with_column("normal").assign(huge=1e200, large=1e200, zero=np.arange(N) % 2.0)
    for right in ("huge:large", "huge:large:zero + x", "zero:huge:large + x"):
        with warnings.catch_warnings(), pytest.raises(InputError, match="huge:large"):
            warnings.simplefilter("error", RuntimeWarning)
            odrf.odt(f"y ~ {right}", data, seed=1)
