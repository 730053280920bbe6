"""A small table in a file."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest


@pytest.fixture(scope="session")
def rows():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(300, 4))
    frame = pd.DataFrame(X, columns=list("abcd"))
    return frame.assign(y=X[:, 0] + np.abs(X[:, 1]) + rng.normal(size=300))


@pytest.fixture(scope="session")
def written(rows, tmp_path_factory):
    path = tmp_path_factory.mktemp("table") / "table.csv"
    rows.to_csv(path, index=False)
    return path
