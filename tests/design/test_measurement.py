from __future__ import annotations

from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from odrf.design.columns import contents, measurement
from odrf.errors import InputError


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
        (pd.date_range("2020", periods=2), "'x' holds dates.*dt.dayofyear"),
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
