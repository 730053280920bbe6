"""Values of columns replaced by others."""

from __future__ import annotations

import pandas as pd
import pytest

import odrf


@pytest.mark.filterwarnings("error:Constructing a Categorical")
def test_a_value_that_is_no_level_is_treated_as_in_new_rows():
    data = pd.DataFrame({"f": pd.Categorical(["u", "v"] * 20), "y": [0.0, 1.0] * 20})
    fit = odrf.odt("y ~ f", data, unseen="missing", seed=1, kind="regression")
    new = data.assign(f="w")
    assert fit.predictions(at={"f": "v"}).table["estimate"].iloc[0] == pytest.approx(1.0)
    found = fit.predictions(at={"f": "w"}).table["estimate"].iloc[0]
    assert found == pytest.approx(fit.predict(new).mean())
