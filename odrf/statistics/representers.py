"""Averages of the truth: representers, which take a forest's bias off averages of predictions.

A forest shrinks effects.  An average that is linear in the regression function m, such as a mean, a
contrast or a slope over rows, is θ(m) = Σ share_i·g_i(m).  It has a Riesz representer α, a function
of the predictors with θ(m) = E[α(X)·m(X)] for all m.  So θ(m̂) + Σ w_i·α_i·(y_i - m̂_i) / Σ w_i has
no bias of first order, if the prediction m̂_i has not used y_i: it is that of the trees that did not
sample the row.  Here α is linear in a `Dictionary` of functions of the predictors, with a ridge
penalty.  The estimate is then the average of the forest plus a ridge regression of its out-of-bag
residuals on the dictionary (Chernozhukov, Newey and Singh 2022, Econometrica 90, 967-1027;
Hirshberg and Wager 2021, Annals of Statistics 49, 3206-3227).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from odrf.engine.running import one_thread
from odrf.statistics.importance import effective_number

Floats = NDArray[np.float64]

# Hinges of a predictor stand at these quantiles.
KNOTS = (0.2, 0.4, 0.6, 0.8)
# The least penalty, of standardised columns, and the most rows that a parameter is estimated from.
LEAST_PENALTY = 1e-3
ROWS_A_PARAMETER, ROWS_A_COLUMN = 5, 10
# Smaller deviations of a column are rounding.
NO_SPREAD = 1e-9


@dataclass(frozen=True, eq=False)
class Dictionary:
    """Functions of predictors: each one standardised, its hinges, and whether it is missing.

    `centre`, `scale` (p,); `knots` (p, k), NaN where a predictor has no hinges; `gaps`: the numbers
    of the predictors that are missing in some row.
    """

    centre: Floats
    scale: Floats
    knots: Floats
    gaps: NDArray[np.int64]

    def linear(self, Z: Floats) -> Floats:
        """Return the standardised predictors (n, p) of rows Z (n, p); 0 where one is missing."""
        return np.nan_to_num((Z - self.centre) / self.scale, nan=0.0)

    def columns(self, Z: Floats) -> Floats:
        """Return all functions (n, D) of rows Z (n, p)."""
        linear = self.linear(Z)
        j, k = np.nonzero(np.isfinite(self.knots))
        hinges = np.maximum(linear[:, j] - self.knots[j, k], 0.0)
        return np.column_stack([linear, hinges, np.isnan(Z[:, self.gaps])])


def learned_dictionary(Z: Floats, weights: Floats) -> Dictionary:
    """Return the dictionary of rows Z (n, p); without hinges where rows are too few for them."""
    known = np.isfinite(Z) * weights[:, None]
    total = np.maximum(known.sum(axis=0), np.finfo(float).tiny)
    filled = np.nan_to_num(Z, nan=0.0)
    centre = (known * filled).sum(axis=0) / total
    spread = np.sqrt((known * (filled - centre) ** 2).sum(axis=0) / total)
    scale = np.where(spread > NO_SPREAD, spread, np.inf)
    numbers = np.array([len(np.unique(column[np.isfinite(column)])) > 2 for column in Z.T])
    knots = np.full((Z.shape[1], len(KNOTS)), np.nan)
    n_columns = Z.shape[1] + len(KNOTS) * int(numbers.sum())
    if n_columns * ROWS_A_COLUMN <= effective_number(weights, 2):
        standard = (Z[weights > 0] - centre) / scale
        for j in np.flatnonzero(numbers & (spread > NO_SPREAD)):
            # predictors of few values have fewer knots
            at = np.unique(np.nanquantile(standard[:, j], KNOTS))
            knots[j, : len(at)] = at
    return Dictionary(centre, scale, knots, np.flatnonzero(np.isnan(Z).any(axis=0)))


@dataclass(frozen=True, eq=False)
class Regression:
    """A weighted ridge regression on D columns, of which representers and residuals come.

    `basis` (n, D) has orthogonal columns of the rows, weighted by `weights` (n,) whose sum is 1;
    `turn` (D, D) makes it of the standardised columns, `shrunk` (D,) divides its variances.
    """

    basis: Floats
    turn: Floats
    shrunk: Floats
    centre: Floats
    scale: Floats
    weights: Floats

    @one_thread()
    def representers(self, of_columns: Floats, of_one: Floats) -> Floats:
        """Return α (n, M) of averages whose values for the columns are `of_columns` (M, D).

        `of_one` (M,) are their values for the constant 1: 1 of means, 0 of contrasts.
        """
        standard = (of_columns - of_one[:, None] * self.centre) / self.scale
        return np.asarray(of_one + self.basis @ ((standard @ self.turn) / self.shrunk).T)

    @one_thread()
    def residuals(self, of_forest: Floats) -> Floats:
        """Return what the columns leave of residuals (n, K), over the root of 1 - leverage."""
        off = of_forest - self.weights @ of_forest
        along = self.basis.T @ (self.weights[:, None] * off)
        left = off - self.basis @ (along / self.shrunk[:, None])
        leverage = self.weights * (1.0 + (self.basis**2 / self.shrunk).sum(axis=1))
        return np.asarray(left / np.sqrt(np.maximum(1.0 - leverage, 0.25))[:, None])


@one_thread()
def regression_on(columns: Floats, weights: Floats) -> Regression:
    """Return the ridge regression on columns (n, D), with few enough parameters for the rows."""
    share = weights / weights.sum()
    centre = share @ columns
    off = columns - centre
    spread = np.sqrt(share @ off**2)
    scale = np.where(spread > NO_SPREAD, spread, np.inf)
    standard = off / scale
    values, turn = np.linalg.eigh(standard.T @ (share[:, None] * standard))
    values = np.maximum(values, 0.0)
    most, penalty = effective_number(weights, 2) / ROWS_A_PARAMETER, LEAST_PENALTY
    while 1.0 + (values / (values + penalty)).sum() > most and penalty < 1 / LEAST_PENALTY:
        penalty *= 1.5
    return Regression(standard @ turn, turn, values + penalty, centre, scale, share)
