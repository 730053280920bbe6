"""Samples in which no predictor matters."""

from __future__ import annotations

import pandas as pd

__all__ = ["unrelated"]


def unrelated(n, rng):
    """Predictors of all kinds, unrelated to the response."""
    data = pd.DataFrame({"y": rng.normal(size=n), "number": rng.normal(size=n)})
    for levels in (2, 5, 20, 100):
        data[f"factor_{levels}"] = pd.Categorical(rng.integers(0, levels, n).astype(str))
    return data.assign(binary=rng.integers(0, 2, n))
