from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from odrf.design.missing import require_finite
from odrf.errors import InputError


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_the_first_bad_column_is_named(bad):
    columns = np.array([[1.0, 2.0, 3.0], [1.0, bad, bad], [bad, 1.0, 1.0]])
    message = "predictor 'b' is infinite or not a number in 2 rows .index 'v', 'w'."
    with pytest.raises(InputError, match=message):
        require_finite(columns, ["a", "b", "c"], pd.Index(["u", "v", "w"]), "predictor")


def test_finite_numbers_are_not_called_infinite():
    with pytest.raises(InputError, match=r"response 'a' is beyond 1e\+300 in 1 row .index 1"):
        require_finite(np.array([[1.0, -1e301]]), ["a"], pd.RangeIndex(2), "response")


def test_large_numbers_pass():
    require_finite(np.array([[1e299, -1e299]]), ["a"], pd.RangeIndex(2), "predictor")


def test_no_rows_pass():
    require_finite(np.empty((2, 0)), ["a", "b"], pd.RangeIndex(0), "predictor")
