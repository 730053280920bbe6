"""What columns of any type are taken as, and what cannot be a predictor."""

from __future__ import annotations

import datetime
import warnings
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import odrf
from odrf.errors import InputError

N = 60
WHOLE = np.random.default_rng(0).integers(0, 40, N)
LEVEL = np.array(list("abcd"))[WHOLE // 10]
RESPONSE = WHOLE + np.random.default_rng(1).normal(size=N)


def of_arrow(values: list, dtype: pa.DataType) -> pd.Series:
    return pd.Series(pd.arrays.ArrowExtensionArray(pa.array(values, type=dtype)))


NUMBERS = {
    "nullable": pd.Series(WHOLE, dtype="Int64"),
    "nullable floats": pd.Series(WHOLE, dtype="Float64"),
    "small": pd.Series(WHOLE, dtype="int8"),
    "unsigned": pd.Series(WHOLE, dtype="uint64"),
    "half": pd.Series(WHOLE, dtype="float16"),
    "long": pd.Series(WHOLE.astype(np.longdouble)),
    "sparse": pd.Series(pd.arrays.SparseArray(WHOLE.astype(float), fill_value=0.0)),
    "sparse integers": pd.Series(WHOLE).astype("Sparse[int]"),
    "objects": pd.Series(WHOLE, dtype=object),
    "objects of two types": pd.Series([int(k) if k % 2 else float(k) for k in WHOLE], dtype=object),
    "decimals": pd.Series([Decimal(int(k)) for k in WHOLE]),
    "arrow": of_arrow(WHOLE.tolist(), pa.int64()),
    "arrow floats": of_arrow(WHOLE.astype(float).tolist(), pa.float32()),
    "arrow decimals": of_arrow([Decimal(int(k)) for k in WHOLE], pa.decimal128(9, 2)),
}
TRUTH = {
    "nullable": pd.Series(WHOLE > 20, dtype="boolean"),
    "objects": pd.Series((WHOLE > 20).tolist(), dtype=object),
    "sparse": pd.Series(pd.arrays.SparseArray(WHOLE > 20)),
    "arrow": of_arrow((WHOLE > 20).tolist(), pa.bool_()),
}
LABELS = {
    "text": pd.Series(LEVEL),
    "objects": pd.Series(LEVEL.tolist(), dtype=object),
    "string": pd.Series(LEVEL, dtype="string"),
    "category": pd.Series(pd.Categorical(LEVEL)),
    "unused levels": pd.Series(pd.Categorical(LEVEL, list("abcdefg"))),
    "arrow": of_arrow(LEVEL.tolist(), pa.string()),
    "arrow dictionary": of_arrow(LEVEL.tolist(), pa.string()).astype(
        pd.ArrowDtype(pa.dictionary(pa.int32(), pa.string()))
    ),
}


def predicted(x: object) -> list[float]:
    data = pd.DataFrame({"y": RESPONSE, "x": x})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tree = odrf.odt("y ~ x", data, max_leaves=4, alpha=None, seed=1)
        first = tree.predict(data).tolist()
        assert first == tree.predict().tolist()
        assert tree.predict(data.iloc[[3]]).tolist() == first[3:4]
    return first


@pytest.mark.parametrize("column", NUMBERS.values(), ids=NUMBERS)
def test_numbers_of_any_type(column):
    assert predicted(column) == predicted(WHOLE.astype(float))


@pytest.mark.parametrize("column", TRUTH.values(), ids=TRUTH)
def test_truth_values_of_any_type(column):
    assert predicted(column) == predicted((WHOLE > 20).astype(float))


@pytest.mark.parametrize("column", LABELS.values(), ids=LABELS)
def test_labels_of_any_type(column):
    assert predicted(column) == predicted(LEVEL)


@pytest.mark.parametrize(
    ("column", "message"),
    [
        ([[1, 2]] * N, r"'x' holds lists .*pd\.DataFrame\(data\['x'\]\.tolist\(\)\)"),
        ([(1, 2)] * N, "'x' holds lists"),
        ([np.ones(2)] * N, "'x' holds arrays .*make a column of each part"),
        ([{"a": 1}] * N, r"'x' holds dictionaries .*pd\.json_normalize\(data\['x'\]\)"),
        ([{1}] * N, "'x' holds sets .*a column for each element"),
        (of_arrow([[1]] * N, pa.list_(pa.int64())), "'x' holds lists"),
        (of_arrow([{"a": 1}] * N, pa.struct([("a", pa.int64())])), "'x' holds dictionaries"),
        (WHOLE * 1j, "'x' holds complex numbers .*two columns"),
        ([b"a"] * N, "'x' holds bytes .*decode"),
        ([datetime.time(int(k) % 24) for k in WHOLE], "'x' holds times of day .*the hour"),
        ([1, "a"] * (N // 2), r"'x' holds mixed values .*pd\.to_numeric"),
        ([f"name {k}" for k in range(N)], "'x' is text with 60 different values in 60 rows.*leave"),
        (np.arange(N).astype(str), r"'x' is text .*numbers with pd\.to_numeric\(data\['x'\]\)"),
        (
            pd.date_range("2020-01-01", periods=N).strftime("%Y-%m-%d"),
            r"'x' is text .*dates with pd\.to_datetime\(data\['x'\]\)",
        ),
    ],
)
def test_what_cannot_be_a_predictor_is_refused_with_the_way_out(column, message):
    with pytest.raises(InputError, match=message):
        predicted(pd.Series(column))


def test_names_of_rows_are_a_factor_if_the_formula_says_so():
    data = pd.DataFrame({"y": RESPONSE, "x": [f"name {k}" for k in range(N)]})
    assert len(odrf.odt("y ~ C(x)", data, seed=1).design.columns) == N
    assert len(odrf.odt("y ~ x", data.astype({"x": "category"}), seed=1).design.columns) == N
    assert len(odrf.odt("y ~ x", data[:20], seed=1).design.columns) == 20


def test_thousands_of_levels_are_a_factor():
    rng = np.random.default_rng(3)
    x = [f"no. {k}" for k in rng.integers(5000, size=20_000)]
    data = pd.DataFrame({"y": rng.normal(size=20_000), "x": x})
    tree = odrf.odt("y ~ x", data, max_leaves=2, alpha=None, seed=1)
    assert len(tree.design.columns) == data["x"].nunique() > 4500
