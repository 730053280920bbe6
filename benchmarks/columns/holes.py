"""Making holes: cells of the predictors are emptied by one of four mechanisms.

Each cell of a column gets a score: the rank, between 0 and 1, of what drives its holes, plus normal
noise.  The cells with the largest scores become empty, as many as the share says.  The mechanisms
(Rubin 1976, Inference and missing data, Biometrika 63) differ in the driver:

* ``random``: nothing; completely at random (MCAR);
* ``other``: another predictor, which has no holes itself; at random (MAR).  Half of the predictors
  get holes, each has one driver among the other half;
* ``itself``: the value of the cell; not at random (MNAR);
* ``response``: the response of the row, with more noise, because it drives all predictors.

Levels of a factor and classes are ranked in a random order.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd

__all__ = ["INFORMATIVE", "MECHANISMS", "with_holes"]

NOISE = {"random": 0.3, "other": 0.3, "itself": 0.3, "response": 1.0}
"""Standard deviations; that of ranks is 0.29."""
INFORMATIVE = ("itself", "response")
"""Mechanisms by which a hole says something that the other cells of its row do not."""

Drivers = dict[str, pd.Series]


def with_holes(data: pd.DataFrame, mechanism: str, share: float, seed: list[int]) -> pd.DataFrame:
    """Empty a share of the cells in every predictor that gets holes.

    The response is the last column.  With the same seed, a smaller share empties some of the cells
    that a larger share empties.
    """
    rng = np.random.default_rng(seed)
    numbers = data.columns[:-1][[pd.api.types.is_numeric_dtype(of) for of in data.dtypes[:-1]]]
    holed = data.astype(dict.fromkeys(numbers, float))
    for name, driver in MECHANISMS[mechanism](data, rng).items():
        score = driver.to_numpy() + NOISE[mechanism] * rng.normal(size=len(data))
        place = np.empty(len(data), dtype=int)
        place[np.argsort(-score, kind="stable")] = np.arange(len(data))
        holed[name] = holed[name].mask(place < round(share * len(data)))
    return holed


def _by_nothing(data: pd.DataFrame, rng: np.random.Generator) -> Drivers:
    return {name: pd.Series(0.0, data.index) for name in data.columns[:-1]}


def _by_another(data: pd.DataFrame, rng: np.random.Generator) -> Drivers:
    names = rng.permutation(data.columns[:-1].to_numpy(object))
    emptied, whole = np.array_split(names, 2)[::-1]
    return {name: _ranks(data[rng.choice(whole)], rng) for name in emptied}


def _by_itself(data: pd.DataFrame, rng: np.random.Generator) -> Drivers:
    return {name: _ranks(data[name], rng) for name in data.columns[:-1]}


def _by_the_response(data: pd.DataFrame, rng: np.random.Generator) -> Drivers:
    ranks = _ranks(data.iloc[:, -1], rng)
    return dict.fromkeys(data.columns[:-1], ranks)


def _ranks(column: pd.Series, rng: np.random.Generator) -> pd.Series:
    if not pd.api.types.is_numeric_dtype(column):
        codes, levels = pd.factorize(column, sort=True)
        column = pd.Series(rng.permutation(len(levels))[codes], column.index)
    return column.rank(pct=True)


MECHANISMS: dict[str, Callable[[pd.DataFrame, np.random.Generator], Drivers]] = {
    "random": _by_nothing,
    "other": _by_another,
    "itself": _by_itself,
    "response": _by_the_response,
}
