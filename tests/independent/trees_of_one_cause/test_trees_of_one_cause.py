"""Trees whose splits are about one cause against R (``trees_of_one_cause.R``)."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

import odrf
from odrf.statistics.survival.observation import subdistribution_scale

FOLDER = Path(__file__).parent
ROWS, PATH = (
    pd.read_csv(FOLDER / f"{name}.csv", keep_default_na=False) for name in ("rows", "path")
)


def test_the_path_is_that_of_the_recoded_event():
    data = ROWS.assign(cause=pd.Categorical(ROWS["cause"], ["none", "one", "two"]))
    tree = odrf.odt(
        "Surv(time, cause) ~ V1 + V2 + V3", data, cause="one", criterion="exponential",
        projection="axis", min_leaf=8, alpha=None, split_search="exact", seed=1,
    )  # fmt: skip
    found, theirs = tree.pruning_path(cv=None).table, PATH.iloc[::-1]
    assert (found["leaves"] - 1).tolist() == theirs["nsplit"].tolist()
    np.testing.assert_allclose(found["relative_error"], theirs["relative_error"], atol=1e-11)
    alpha = found["alpha"] / found["error"].iloc[-1]
    np.testing.assert_allclose(alpha, theirs["cp"], atol=1e-11)


def test_rows_stay_at_risk_of_the_subdistribution_as_by_a_weighted_poisson_regression():
    time, cause = ROWS["time"].to_numpy(float), ROWS["cause"]
    code = cause.map({"none": 0, "one": 1, "two": 2}).to_numpy()
    found = subdistribution_scale(time, code, 1).exposure(time, code == 2)
    np.testing.assert_allclose(found, ROWS["exposure"], rtol=1e-9)
