"""What tests have in common: time limits, drawings closed, small fits to look at."""

from __future__ import annotations

import sys

import numpy as np
import pandas as pd
import pytest
from hypothesis import settings

import odrf

# Kernels compile within an example, and other tests run beside it: time says nothing of it.
settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")


@pytest.fixture(autouse=True)
def closed_figures():
    """Close what a test draws."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


@pytest.fixture(scope="session")
def table():
    """120 rows with a number, three classes, a factor and two numeric predictors."""
    rng = np.random.default_rng(3)
    data = pd.DataFrame(
        {
            "a": rng.normal(size=120),
            "b": rng.normal(size=120) * 100,
            "f": rng.choice(["x", "y", "z"], 120),
        },
        index=[f"row{i}" for i in range(120)],
    )
    score = data["a"] + data["b"] / 100 + (data["f"] == "x")
    data["y"] = score + rng.normal(size=120) / 4
    data["c"] = np.select([score < 0, score < 1], ["low", "mid"], "top")
    return data


@pytest.fixture(scope="session")
def number_tree(table):
    return odrf.odt("y ~ a + b + f", table, seed=1)


@pytest.fixture(scope="session")
def class_tree(table):
    return odrf.odt("c ~ a + b + f", table, seed=1)


@pytest.fixture(scope="session")
def number_forest(table):
    return odrf.odrf("y ~ a + b + f", table, n_trees=12, seed=1)


@pytest.fixture(scope="session")
def class_forest(table):
    return odrf.odrf("c ~ a + b + f", table, n_trees=12, seed=1)
