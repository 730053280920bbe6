"""Elo ratings of methods from their losses on tables.

Each pair of methods plays once on each table, and the smaller loss wins; equal losses are half a
win for both.  The ratings are those of Bradley and Terry's model (1952, Rank analysis of incomplete
block designs, Biometrika 39): a method that is rated 400 points above another one wins ten times as
often as it loses.
"""

from __future__ import annotations

import warnings
from itertools import combinations

import numpy as np
import pandas as pd
import statsmodels.api as sm
from numpy.typing import NDArray
from statsmodels.tools.sm_exceptions import PerfectSeparationWarning

__all__ = ["elo_ratings"]

POINTS_OF_TEN = 400
"""By how many points methods differ if one wins ten times as often as it loses."""
PRIOR = 0.5
"""Wins that each method has against each other one beforehand: without these, one that always wins
would be infinitely far ahead."""
DRAWS, LEVEL = 200, 0.95


def elo_ratings(losses: pd.DataFrame, anchor: str, at: float, seed: int = 0) -> pd.DataFrame:
    """Rate methods, with percentile intervals over bootstrap samples of the tables.

    Parameters
    ----------
    losses : DataFrame
        Losses of the methods (columns, two or more) on tables (rows), none missing.
    anchor, at : str, float
        The method whose rating is known, and its rating.
    seed : int
        Of the bootstrap samples.

    Returns
    -------
    DataFrame
        Index: methods, the best first.  Columns: ``elo``, ``conf_low``, ``conf_high``.
    """
    values, place = losses.to_numpy(), list(losses.columns).index(anchor)
    draw = np.random.default_rng(seed)
    samples = [values[draw.integers(len(values), size=len(values))] for _ in range(DRAWS)]
    ratings = np.array([_ratings(each) for each in [values, *samples]])
    ratings = ratings - ratings[:, [place]] + at
    ends = np.quantile(ratings[1:], [(1 - LEVEL) / 2, (1 + LEVEL) / 2], axis=0)
    columns = {"elo": ratings[0], "conf_low": ends[0], "conf_high": ends[1]}
    return pd.DataFrame(columns, index=losses.columns).sort_values("elo", ascending=False)


def _ratings(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the rating of each method, the first one's 0, from losses (tables, methods)."""
    pairs = np.array(list(combinations(range(values.shape[1]), 2)))
    first, second = values[:, pairs[:, 0]], values[:, pairs[:, 1]]
    wins = (first < second).sum(axis=0) + (first == second).sum(axis=0) / 2
    played = np.column_stack([wins, len(values) - wins]) + PRIOR
    design = np.eye(values.shape[1])[pairs[:, 0]] - np.eye(values.shape[1])[pairs[:, 1]]
    # ratings are known but for a constant
    with warnings.catch_warnings():  # of two methods the ratings tell the shares exactly
        warnings.simplefilter("ignore", PerfectSeparationWarning)
        fit = sm.GLM(played, design[:, 1:], family=sm.families.Binomial()).fit()
    return np.append(0.0, fit.params) * POINTS_OF_TEN / np.log(10)
