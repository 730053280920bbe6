"""Types of columns are those that pandas lists, however it keeps the columns."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pandas as pd
import pytest

from odrf.public.frames import types_of_columns

TABLE = pd.DataFrame(
    {
        "real": [1.5, 2.5],
        "whole": [1, 2],
        "flag": [True, False],
        "text": ["a", "b"],
        "factor": pd.Categorical(["x", "y"]),
        "day": pd.to_datetime(["2020-01-01", "2021-01-01"]),
        "short": np.array([1, 2], dtype=np.int16),
        "nullable": pd.array([1, None], dtype="Int64"),
        "object": [{}, None],
    }
)


@pytest.mark.parametrize(
    "table",
    [TABLE, TABLE[["real"]], TABLE[[]], TABLE.iloc[:0], TABLE.iloc[1:, ::2], TABLE.T],
)
def test_types_are_those_that_pandas_lists(table):
    assert types_of_columns(table) == set(table.dtypes)


def test_types_of_columns_that_were_replaced_added_or_deleted():
    table = TABLE.copy()
    table["real"] = table["real"].astype("float32")
    table["more"] = [1 + 2j, 3j]
    del table["flag"], table["day"]
    table.insert(0, "whole again", table.pop("whole"))
    assert types_of_columns(table) == set(table.dtypes)


def test_pandas_is_asked_where_its_blocks_are_unknown():
    frame = SimpleNamespace(dtypes=[np.dtype(float), np.dtype(int), np.dtype(float)])
    assert types_of_columns(cast(Any, frame)) == {np.dtype(float), np.dtype(int)}
