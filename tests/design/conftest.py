from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from patsy import EvalEnvironment


@pytest.fixture
def env() -> EvalEnvironment:
    """An environment in which the user has imported and defined nothing."""
    return EvalEnvironment([{}])


@pytest.fixture
def people() -> pd.DataFrame:
    """Thirty rows with a column of every kind that a formula may name."""
    rng = np.random.default_rng(1)
    n = 30
    return pd.DataFrame(
        {
            "y": rng.normal(size=n),
            "age": rng.integers(20, 80, n),
            "bmi": rng.gamma(9.0, 3.0, n),
            "sex": rng.choice(["male", "female"], n),
            "dose": pd.Categorical(
                rng.choice(["low", "high", "mid"], n), ["low", "mid", "high"], ordered=True
            ),
            "smoker": rng.random(n) > 0.6,
            "odd name": rng.normal(size=n),
            "Sepal.Length": pd.array(rng.integers(1, 9, n), dtype="Int64"),
        },
        index=pd.Index([f"r{i}" for i in range(n)]),
    )
