"""Tests of importance: knockoffs, differences of losses, shadows.

A knockoff has the relation of a predictor to the others, but was drawn without the response.
Candès, Fan, Janson and Lv (2018), JRSS B 80; Gimenez and Zou (2019), AISTATS; Ledoit and Wolf
(2004), Journal of Multivariate Analysis 88.
"""

from __future__ import annotations

import math

import numpy as np
import scipy
from numpy.typing import NDArray

from odrf.engine.memory import require_memory
from odrf.engine.running import one_thread

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# Half of the share that is best for the covariance.  The more it is shrunk, the less are knockoffs
# like the neighbours of their predictors, and the more predictors without effect are selected: how
# many are, with this part, ``benchmarks/inference/importance_tests.py`` says.
PART = 0.5
SWEEPS = 200
CONVERGED = 1e-10


@one_thread()
def shrunken_covariance(Z: Floats, part: float) -> Floats:
    """Return the covariance (p, p) of Z (n, p), shrunk by a `part` of Ledoit and Wolf's share."""
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
def entropy_knockoff_gaps(correlation: Floats) -> Floats:
    """Return the gaps s (p,): each knockoff's correlation with its predictor is 1 - s_j.

    They maximise log det(2Σ - diag(s)) + Σ log s_j, one after the other (Gimenez and Zou 2019).
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
def knockoff_covariance(correlation: Floats, gaps: Floats) -> Floats:
    """Return the covariance (p, p) of Gaussian knockoffs given their predictors."""
    S = np.diag(gaps)
    return np.asarray(2 * S - S @ np.linalg.solve(correlation, S))


@one_thread()
def gaussian_knockoffs(values: Floats, rng: np.random.Generator) -> Floats:
    """Return a knockoff of each column of numbers (n, p), with the distribution of the column."""
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


def knockoff_values(W: Floats) -> Floats:
    """Return for each predictor (p,) the smallest false discovery rate at which it is selected.

    Estimated by (1 + number of W ≤ -t) / number of W ≥ t, knockoff+; 1 where W is not above 0.
    """
    positive = np.unique(W[W > 0])
    if not len(positive):
        return np.ones(len(W))
    rates = np.array([(1 + (-t >= W).sum()) / (t <= W).sum() for t in positive])
    smallest = np.minimum(1.0, np.minimum.accumulate(rates))
    at = np.searchsorted(positive, W, side="right") - 1
    return np.where(W > 0, smallest[np.maximum(at, 0)], 1.0)


def knockoff_threshold(W: Floats, fdr: float) -> float:
    """Return the smallest t > 0 with a rate, as in `knockoff_values`, of at most `fdr`, or ∞."""
    for t in np.unique(np.abs(W[W != 0])):
        selected = (t <= W).sum()
        # as in `knockoff_values`: a product with fdr would be rounded in another way
        if selected and (1 + (-t >= W).sum()) / selected <= fdr:
            return float(t)
    return float("inf")


# Tests that differences of losses are above 0.
T, WILCOXON = "t", "wilcoxon"
ROW_TESTS = (T, WILCOXON)
ADJUSTMENTS = {"holm": "holm", "bh": "fdr_bh"}
"""Names of adjustments for several tests, and those of statsmodels."""
# Sums that are smaller, compared with those of the absolute values, are 0.
ROUNDING = 1e-12


def evaluated_differences(
    difference: Floats,
    weights: Floats,
    groups: Integers,
    test: str,
    level: float,
    inflation: float = 1.0,
) -> tuple[float, float, float, float, float, float]:
    """Return estimate, error, statistic, p-value and interval of a mean of differences (n,).

    The rows of a group, of `groups` (n,), are one unit. `test` is "t", of the mean, or "wilcoxon",
    the signed ranks of the units' means, against a mean of 0 or less. If the sums of units are all
    0, so is all but the p-value of 1. `inflation` of the variance is above 1 if both losses are of
    trees that chance made better or worse.
    """
    _, unit = np.unique(groups, return_inverse=True)
    estimate = float(np.average(difference, weights=weights))
    off = np.bincount(unit, weights * (difference - estimate))
    G = len(off)
    std_error = float(np.sqrt(inflation * G / (G - 1) * (off**2).sum()) / weights.sum())
    half = float(scipy.stats.t.ppf((1 + level) / 2, G - 1)) * std_error
    sums = np.bincount(unit, weights * difference)
    if (np.abs(sums) <= ROUNDING * np.bincount(unit, weights * np.abs(difference))).all():
        return 0.0, 0.0, 0.0, 1.0, 0.0, 0.0
    if test == T:
        statistic = estimate / std_error if std_error > 0 else float(np.copysign(np.inf, estimate))
        p_value = float(scipy.stats.t.sf(statistic, G - 1))
    else:
        means = sums / np.bincount(unit, weights)
        statistic, of_rows = map(float, scipy.stats.wilcoxon(means, alternative="greater"))
        p_value = float(scipy.special.ndtr(scipy.special.ndtri(of_rows) / np.sqrt(inflation)))
    return estimate, std_error, statistic, p_value, estimate - half, estimate + half


# Selection of predictors: steps of backward elimination, and decisions by shadow predictors.
CONFIRMED, TENTATIVE, REJECTED = "confirmed", "tentative", "rejected"
LEVEL = 0.01


def most_important(importance: Floats, drop: float) -> Integers:
    """Return, ascending, the predictors kept when the share `drop` is dropped: at least one is."""
    order = np.argsort(-importance, kind="stable")
    return np.sort(order[: _kept(len(importance), drop)])


def steps_of_elimination(P: int, drop: float) -> int:
    """Return how many numbers of predictors there are, from P to 1, when shares are dropped."""
    steps = 1
    while P > 1:
        P, steps = _kept(P, drop), steps + 1
    return steps


def _kept(P: int, drop: float) -> int:
    return P - min(max(1, math.floor(drop * P)), P - 1)


def fewest_rounds(P: int) -> int:
    """Return in how many rounds P predictors can be decided on: with a hit in each, or in none."""
    return math.floor(math.log2(P / LEVEL)) + 1


def decisions(hits: Integers, rounds: Integers) -> list[str]:
    """Return the decision on each predictor (P,): confirmed, tentative or rejected.

    `hits` counts in how many `rounds` it beat the best shadow, without influence at most half of
    them: binomial tests at level 0.01 with Bonferroni's correction (Kursa and Rudnicki 2010).
    """
    level = LEVEL / len(hits)
    more = scipy.special.bdtrc(hits - 1, rounds, 0.5) < level
    fewer = scipy.special.bdtr(hits, rounds, 0.5) < level
    return [
        CONFIRMED if high else REJECTED if low else TENTATIVE
        for high, low in zip(more, fewer, strict=True)
    ]
