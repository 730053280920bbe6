"""Whole numbers that floats do not tell apart: no step or grid is made of them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import odrf
from odrf import InputError

K = np.random.default_rng(0).integers(0, 50, 200)
EFFECTS = {
    "sd": lambda fit: fit.comparisons("x", contrast="sd"),
    "iqr": lambda fit: fit.comparisons("x", contrast="iqr"),
    "unit": lambda fit: fit.comparisons("x", contrast="unit"),
    "all": lambda fit: fit.comparisons(),
    "slopes": lambda fit: fit.slopes("x"),
    "partial": lambda fit: fit.partial("x"),
    "two": lambda fit: fit.partial(["x", "z"]),
    "ice": lambda fit: fit.ice("x"),
    "ale": lambda fit: fit.ale("x"),
}


def fitted(x):
    z = np.random.default_rng(1).normal(size=len(K))
    return odrf.odrf("y ~ x + z", pd.DataFrame({"x": x, "z": z, "y": 1.0 * K}), seed=1, n_trees=5)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dtype", ["int64", "uint64", "Int64", "UInt64"])
def test_steps_and_grids_are_refused(dtype):
    fit = fitted(pd.Series(2**60 + K).astype(dtype))
    for effect in EFFECTS.values():
        with pytest.raises(InputError, match=r"'x' has whole numbers beyond 2\*\*53.*less the"):
            effect(fit)


@pytest.mark.filterwarnings("ignore")
def test_two_values_are_compared_exactly_and_smaller_numbers_as_ever():
    x = pd.Series(2**60 + K)
    pair = (2**60 + 2, 2**60 + 40)
    large = fitted(x).comparisons("x", contrast=pair).table["estimate"]
    small = fitted(x - 2**60).comparisons("x", contrast=(2, 40)).table["estimate"]
    assert large.tolist() == pytest.approx(small.tolist()) and large[0] > 10
    assert all(effect(fitted(x - 2**60)) is not None for effect in EFFECTS.values())
