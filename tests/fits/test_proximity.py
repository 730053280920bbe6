"""Empty cells filled by the values of near rows."""

from __future__ import annotations

import numpy as np
import pandas as pd

import odrf


def test_rows_may_have_fewer_categories_than_fill_them_or_no_value_at_all():
    rng = np.random.default_rng(1)
    data = pd.DataFrame({"x": rng.normal(size=90), "f": rng.choice(["u", "v"], 90)})
    data["g"] = pd.Categorical(np.where(data["x"] > 0.5, "a", "b"))
    data["y"] = data["x"] + (data["g"] == "a") + (data["f"] == "u")
    fit = odrf.odrf("y ~ x + f + g", data, n_trees=3, blend=False, seed=1)
    rows = pd.DataFrame({"x": [-1.0, -1.0], "f": [np.nan, np.nan]})
    rows["g"] = pd.Categorical(["a", None])
    found = fit.impute(rows)
    assert found["g"].tolist() == ["a", "b"]
    assert found["f"].isin(["u", "v"]).all()
    assert rows["g"].isna().tolist() == [False, True]
