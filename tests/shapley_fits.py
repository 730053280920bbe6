"""Small fits of all kinds, whose Shapley values are looked at."""

from __future__ import annotations

from functools import cache

import numpy as np
import pandas as pd

import odrf
from odrf.results.boosted import ODBTResults

__all__ = [
    "CASES",
    "FITS",
    "FORMULAS",
    "TREES",
    "N",
    "fitted",
    "outputs",
    "rows",
    "wide_fitted",
    "wide_rows",
]

N = 120
TREES = {"n_trees": 6, "seed": 1}
FORMULAS = {"number": "y ~ a + b + f + g", "classes": "c ~ a + b + f + g"}
FITS = {
    "tree": lambda formula, data: odrf.odt(formula, data, alpha=None, seed=1),
    "forest": lambda formula, data: odrf.odrf(formula, data, **TREES),
    "boosted": lambda formula, data: odrf.odbt(formula, data, **TREES),
    "guided": lambda formula, data: odrf.graf(formula, data, subspace="all", **TREES),
}
# Probabilities of guided forests are shares of votes, which have no Shapley values here.
CASES = [
    (fit, response)
    for fit in FITS
    for response in FORMULAS
    if (fit, response) != ("guided", "classes")
]


@cache
def rows(holes=False):
    """A number, three classes, two numbers as predictors, a factor of few levels, one of many."""
    rng = np.random.default_rng(4)
    data = pd.DataFrame(rng.normal(size=(N, 2)), columns=["a", "b"])
    data["f"] = rng.choice(["x", "y", "z"], N)
    data["g"] = rng.choice([f"level {k}" for k in range(9)], N)
    score = data["a"] * data["b"] + (data["f"] == "x") + (data["g"] < "level 3")
    data["y"] = score + rng.normal(size=N) / 4
    data["c"] = np.select([score < 0, score < 1], ["low", "mid"], "top")
    if holes:
        data.loc[::7, "a"], data.loc[3::11, "f"] = np.nan, None
    return data


@cache
def fitted(fit, response, holes=False):
    return FITS[fit](FORMULAS[response], rows(holes))


@cache
def wide_rows(p, holes=False):
    """p predictors, among them a factor of few levels and one of many; a number, three classes."""
    data = rows().copy()
    rng = np.random.default_rng(p)
    for j in range(p - 4):
        data[f"x{j}"] = rng.normal(size=N)
        data["y"] += data[f"x{j}"] * data["a" if j % 2 else "b"]
    data["c"] = np.select([data["y"] < -1, data["y"] < 1], ["low", "mid"], "top")
    if holes:
        data.loc[::7, "a"], data.loc[1::5, "x0"], data.loc[3::11, "f"] = np.nan, np.nan, None
    return data[[*(f"x{j}" for j in range(p - 4)), "a", "b", "f", "g", "y", "c"]]


@cache
def wide_fitted(fit, response, p, holes=False):
    """A fit to all p predictors of `wide_rows`."""
    data = wide_rows(p, holes)
    return FITS[fit](f"{FORMULAS[response][0]} ~ {' + '.join(data.columns[:p])}", data)


def outputs(fit):
    """What is explained, as a function of data frames."""

    def predict(frame):
        kind = "link" if isinstance(fit, ODBTResults) else "response"
        if kind == "response" and fit.classes is not None:
            kind = "prob"
        found = fit.predict(frame, kind).to_numpy(dtype=float)
        return found.reshape(len(frame), -1)

    return predict
