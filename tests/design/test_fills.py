"""What empty cells are filled with."""

from __future__ import annotations

import pandas as pd
import pytest

from odrf.design.columns.fills import learn_fills
from odrf.errors import InputError


def test_numbers_have_a_median_others_a_commonest_value_the_first_of_several():
    frame = pd.DataFrame({"x": [1.0, None, 5.0, 6.0], "f": ["v", "u", "u", "v"]})
    frame["c"] = pd.Categorical(frame["f"], ["v", "u"])
    assert learn_fills(frame, ["x", "f", "c"]) == {"x": 5.0, "f": "u", "c": "v"}


def test_values_that_cannot_be_compared_are_refused_by_name():
    frame = pd.DataFrame({"x": pd.Series([pd.DataFrame(), pd.DataFrame()], dtype=object)})
    with pytest.raises(InputError, match="column 'x' holds values that cannot be compared"):
        learn_fills(frame, ["x"])
