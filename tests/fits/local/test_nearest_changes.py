"""The nearest values that change a prediction."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import odrf
from odrf.fits.explain import predicted_at
from odrf.fits.fit import raw_rows


@pytest.mark.parametrize("ordered", [False, True])
def test_a_row_with_its_own_category_alone_can_be_set_to_others(ordered):
    rng = np.random.default_rng(1)
    g = pd.Categorical(rng.choice(list("abc"), 90), ordered=ordered)
    data = pd.DataFrame({"x": rng.normal(size=90), "g": g})
    data["y"] = data["g"].cat.codes * 2.0 + data["x"]
    fit = odrf.odrf("y ~ x + g", data, n_trees=3, blend=False, seed=1)
    row = data[:1].assign(g=pd.Categorical([data["g"].iloc[0]], ordered=ordered))
    others = data[:1].loc[[0, 0, 0]].assign(g=pd.Categorical(list("abc"), ordered=ordered))
    found = predicted_at(fit.fit, raw_rows(fit.fit, row), {"g": list("abc")})
    np.testing.assert_array_equal(found[:, 0], fit.predict(others))
