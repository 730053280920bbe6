"""Knockoffs of numbers by a Gaussian copula, and what is selected with them.

A knockoff of a predictor is a column that stands to the other predictors as the predictor does, but
was drawn without the response.

References
----------
E. Candès, Y. Fan, L. Janson and J. Lv (2018). Panning for gold: 'model-X' knockoffs for high
dimensional controlled variable selection. JRSS B 80.

A. Gimenez and J. Zou (2019). Improving the stability of the knockoff procedure: multiple
simultaneous knockoffs and entropy maximization. AISTATS.

O. Ledoit and M. Wolf (2004). A well-conditioned estimator for large-dimensional covariance
matrices. Journal of Multivariate Analysis 88.
"""

from __future__ import annotations

import numpy as np
import scipy
from numpy.typing import NDArray

from odrf.engine.memory import require_memory
from odrf.engine.running import one_thread

__all__ = [
    "entropy_knockoff_gaps",
    "gaussian_knockoffs",
    "knockoff_covariance",
    "knockoff_threshold",
    "knockoff_values",
    "shrunken_covariance",
]

# Half of the share that is best for the covariance.  The more it is shrunk, the less are knockoffs
# like the neighbours of their predictors, and the more predictors without effect are selected: how
# many are, with this part, ``benchmarks/inference/importance_tests.py`` says.
PART = 0.5
SWEEPS = 200
CONVERGED = 1e-10


@one_thread()
def shrunken_covariance(Z: NDArray[np.float64], part: float) -> NDArray[np.float64]:
    """Return the covariance (p, p) of rows Z (n, p), shrunk to a multiple of the identity.

    The share of the multiple is a part of the one that Ledoit and Wolf (2004) estimate.
    """
    n, p = Z.shape
    require_memory(40.0 * p * p, f"the covariance of {p} columns", "use fewer predictors")
    Z = Z - Z.mean(axis=0)
    S = Z.T @ Z / n
    mu = np.trace(S) / p
    apart = ((S - mu * np.eye(p)) ** 2).sum()
    noise = (((Z**2).T @ (Z**2)).sum() / n - (S**2).sum()) / n
    share = part * (1.0 if apart == 0 else min(noise / apart, 1.0))
    return np.asarray((1 - share) * S + share * mu * np.eye(p))


@one_thread()
def entropy_knockoff_gaps(correlation: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the gaps s (p,): each knockoff's correlation with its predictor is 1 - s_j.

    They maximise the entropy of predictors and knockoffs together, log det(2Σ - diag(s)) +
    Σ log s_j, by one coordinate after the other (Gimenez and Zou 2019).
    """
    p = len(correlation)
    lowest = float(np.linalg.eigvalsh(correlation)[0])
    s = np.full(p, min(1.0, lowest))
    inverse = np.linalg.inv(2 * correlation - np.diag(s))
    for _ in range(SWEEPS):
        moved = 0.0
        for j in range(p):
            a = inverse[j, j]
            step = (1 - a * s[j]) / (2 * a)
            inverse += step / (1 - step * a) * np.outer(inverse[:, j], inverse[j])
            s[j] += step
            moved = max(moved, abs(step))
        if moved < CONVERGED:
            break
    return s


@one_thread()
def knockoff_covariance(
    correlation: NDArray[np.float64], gaps: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the covariance (p, p) of Gaussian knockoffs given their predictors."""
    S = np.diag(gaps)
    return np.asarray(2 * S - S @ np.linalg.solve(correlation, S))


@one_thread()
def gaussian_knockoffs(
    values: NDArray[np.float64], rng: np.random.Generator
) -> NDArray[np.float64]:
    """Return a knockoff of each column of numbers (n, p), with the distribution of the column.

    The columns are made Gaussian by their ranks, knockoffs are drawn with the shrunken covariance,
    and turned back by the quantiles of the columns.  Where all columns are constant, so are these.
    """
    if not np.ptp(values, axis=0).any():
        return values.copy()
    n = len(values)
    Z = scipy.special.ndtri(scipy.stats.rankdata(values, axis=0) / (n + 1))
    covariance = shrunken_covariance(Z, PART)
    scale = np.sqrt(np.diag(covariance))
    correlation = covariance / np.outer(scale, scale)
    Z = Z / scale
    gaps = entropy_knockoff_gaps(correlation)
    mean = Z - np.linalg.solve(correlation, Z.T).T * gaps
    w, V = np.linalg.eigh(knockoff_covariance(correlation, gaps))
    noise = rng.standard_normal(Z.shape) @ (V * np.sqrt(np.maximum(w, 0.0))).T
    share = scipy.special.ndtr((mean + noise) * scale)
    columns = [np.quantile(column, of) for column, of in zip(values.T, share.T, strict=True)]
    return np.column_stack(columns)


def knockoff_values(W: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return for each predictor (p,) the smallest false discovery rate at which it is selected.

    At a threshold t the rate is estimated by (1 + number of W ≤ -t) / number of W ≥ t: knockoff+.
    It is 1 where W is 0 or below: these are never selected.
    """
    positive = np.unique(W[W > 0])
    if not len(positive):
        return np.ones(len(W))
    rates = np.array([(1 + (-t >= W).sum()) / (t <= W).sum() for t in positive])
    smallest = np.minimum(1.0, np.minimum.accumulate(rates))
    at = np.searchsorted(positive, W, side="right") - 1
    return np.where(W > 0, smallest[np.maximum(at, 0)], 1.0)


def knockoff_threshold(W: NDArray[np.float64], fdr: float) -> float:
    """Return the smallest t > 0 at which the estimated rate is at most `fdr`, or infinity.

    The rate is that of `knockoff_values`.
    """
    for t in np.unique(np.abs(W[W != 0])):
        found = (t <= W).sum()
        # as in `knockoff_values`: a product with fdr would be rounded in another way
        if found and (1 + (-t >= W).sum()) / found <= fdr:
            return float(t)
    return float("inf")
