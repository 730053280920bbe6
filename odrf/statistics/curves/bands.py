"""Pointwise intervals and simultaneous bands of a curve, from the covariance of its values."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

__all__ = ["Bands", "bands", "simultaneous_width"]

DRAWS = 10_000


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
    covariance: NDArray[np.float64] | None,
    level: float,
    limits: tuple[float, float] | None,
    seed: int,
) -> Bands:
    """Return intervals of a normal estimate (G,) with this covariance (G, G); None if unknown.

    Intervals are cut at the `limits`, if there are any.
    """
    if covariance is None:
        return Bands(*np.full((5, len(estimate)), np.nan))
    error = np.sqrt(np.maximum(np.diagonal(covariance), 0.0))
    alone = scipy.special.ndtri((1 + level) / 2) * error
    together = simultaneous_width(covariance, level, seed) * error
    low, high = limits or (-np.inf, np.inf)
    ends = (estimate + width for width in (-alone, alone, -together, together))
    return Bands(error, *(np.clip(end, low, high) for end in ends))


def simultaneous_width(
    covariance: NDArray[np.float64], level: float, seed: int, df: float = np.inf
) -> float:
    """Return the quantile c of max |Z_g|/σ_g, Z normal with this covariance (G, G), by simulation.

    It is at least that of a single normal value.  If the covariance is estimated with finitely many
    degrees of freedom ν, `df`, it is that of max |Z_g|/(σ_g·√(χ²/ν)), a multivariate t: as if the
    errors of all σ_g were the same.
    """
    single = float(scipy.special.ndtri((1 + level) / 2))
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
