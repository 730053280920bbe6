"""The numbers of leaves as a prediction of survival fits."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import odrf
from odrf.fits.predicting import rows_of
from odrf.fits.survival.curves import predict_survival


@pytest.mark.parametrize("n_trees", [1, 3])
def test_a_row_that_is_not_predicted_has_no_leaf(n_trees):
    rng = np.random.default_rng(1)
    data = pd.DataFrame({"a": rng.normal(size=60), "b": rng.normal(size=60)})
    data["y"] = data["a"] + rng.normal(size=60)
    # how the trees were grown is of no matter here
    forest = odrf.odrf("y ~ a + b", data, n_trees=n_trees, blend=False, missing="drop", seed=1)
    new = data[:4].assign(a=[0.0, np.nan, 1.0, -1.0])
    found = predict_survival(rows_of(forest.fit, new), None, "leaf", None, None, None, False)
    assert found.shape == (4, n_trees)
    assert found.isna().any(axis=1).tolist() == [False, True, False, False]
    own = forest.predict(new, type="leaf")
    assert found.equals(own.to_frame(0) if n_trees == 1 else own)
