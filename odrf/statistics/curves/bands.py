"""Pointwise intervals and simultaneous bands of a curve, from the covariance of its values."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from odrf.engine.running import one_thread
from odrf.statistics.averaged.normal_tests import reach_in_errors
from odrf.statistics.jackknife import df_of_variances
from odrf.statistics.probabilities.limits_of_shares import limits_of_predicted_share

__all__ = ["Bands", "CurveSpread", "bands", "simultaneous_width", "typical_df"]

DRAWS = 10_000


class CurveSpread(NamedTuple):
    """How a curve at G points varies over training samples.

    Attributes
    ----------
    covariance : (G, G) float64
    raw : (G, G) float64
        What it was before its Monte Carlo bias was subtracted, see `odrf.statistics.jackknife`.
    n_units : int
        The number of rows, or of groups of rows, that it is a sum over.
    most_df : float
        Most degrees of freedom; infinite for rows.
    """

    covariance: NDArray[np.float64]
    raw: NDArray[np.float64]
    n_units: int
    most_df: float

    @property
    def df(self) -> float:
        """The degrees of freedom of the variances as estimates."""
        variance, raw = np.diagonal(self.covariance), np.diagonal(self.raw)
        return min(typical_df(df_of_variances(variance, raw, self.n_units)), self.most_df)

    @property
    def is_finite(self) -> bool:
        """Whether the covariance is within the range of floats."""
        return bool(np.isfinite(self.covariance).all() and np.isfinite(self.raw).all())

    def combined(self, D: NDArray[np.float64]) -> CurveSpread:
        """Return that of the linear combinations D (R, G) of the points."""
        return self._replace(covariance=D @ self.covariance @ D.T, raw=D @ self.raw @ D.T)


class Bands(NamedTuple):
    """Uncertainty of a curve at G points; NaN where it is unknown.

    Attributes
    ----------
    std_error : (G,) float64
    conf_low, conf_high : (G,) float64
        Each interval covers its value with the probability wanted.
    band_low, band_high : (G,) float64
        All intervals together cover the whole curve with this probability.
    """

    std_error: NDArray[np.float64]
    conf_low: NDArray[np.float64]
    conf_high: NDArray[np.float64]
    band_low: NDArray[np.float64]
    band_high: NDArray[np.float64]


def bands(
    estimate: NDArray[np.float64],
    spread: CurveSpread | None,
    level: float,
    probabilities: bool,
    seed: int,
) -> Bands:
    """Return intervals of a normal estimate (G,) with this spread; None if it is unknown.

    Intervals allow for the degrees of freedom of variances over few groups, bands also for those of
    variances from few trees.  Intervals of `probabilities` are those of
    `odrf.statistics.probabilities.limits_of_shares.limits_of_predicted_share`.
    """
    if spread is None:
        return Bands(*np.full((5, len(estimate)), np.nan))
    error = np.sqrt(np.maximum(np.diagonal(spread.covariance), 0.0))
    alone = reach_in_errors(level, spread.most_df) * error
    together = simultaneous_width(spread.covariance, level, seed, spread.df) * error
    if probabilities:
        ends = [
            end for reach in (alone, together) for end in limits_of_predicted_share(estimate, reach)
        ]
    else:
        ends = [estimate + width for width in (-alone, alone, -together, together)]
    return Bands(error, *ends)


def typical_df(df: NDArray[np.float64]) -> float:
    """Return the degrees of freedom of a curve: the median of its points, ∞ if all are NaN."""
    known = df[~np.isnan(df)]
    return float(np.median(known)) if len(known) else float("inf")


@one_thread()
def simultaneous_width(
    covariance: NDArray[np.float64], level: float, seed: int, df: float = np.inf
) -> float:
    """Return the quantile c of max |Z_g|/σ_g, Z normal with this covariance (G, G), by simulation.

    It is at least that of a single value.  If the covariance is estimated with finitely many
    degrees of freedom ν, `df`, it is that of max |Z_g|/(σ_g·√(χ²/ν)), a multivariate t: as if the
    errors of all σ_g were the same.
    """
    single = reach_in_errors(level, df)
    error = np.sqrt(np.maximum(np.diagonal(covariance), 0.0))
    known = error > 0
    if not known.any():
        return single
    correlation = covariance[np.ix_(known, known)] / np.outer(error[known], error[known])
    value, vector = np.linalg.eigh((correlation + correlation.T) / 2)
    root = vector * np.sqrt(np.maximum(value, 0.0))
    draws = np.random.default_rng(seed).standard_normal((DRAWS, len(root))) @ root.T
    largest = np.abs(draws).max(axis=1)
    if np.isfinite(df):
        # one χ² at equal steps of its distribution, in random order, for each draw
        order = np.random.default_rng((seed, len(root))).permutation(DRAWS)
        largest /= np.sqrt(scipy.special.chdtri(df, (order + 0.5) / DRAWS) / df)
    return max(single, float(np.quantile(largest, level)))
