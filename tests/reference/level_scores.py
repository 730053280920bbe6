"""Empirical Bayes scores of the levels of a factor, and how far they can be trusted."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from reference.directions import centred

PRIOR, FREE = 4, 5


class Scores(NamedTuple):
    """Scores of the levels, each row's score without itself, and the two covariances."""

    of_levels: NDArray
    of_rows: NDArray
    covariance: float
    excess: float


def score_levels(
    level: NDArray[np.int64], n_levels: int, t: NDArray, a: NDArray, others: int = 0
) -> Scores:
    """Scores for rows of levels 1 … n_levels, 0 for none, with targets t and weights a.

    The target was chosen by the levels among as many `others`.
    """
    n = len(t)
    nothing = Scores(np.zeros(n_levels), np.zeros(n), 0.0, 0.0)
    t = centred(t, a)
    present = [k for k in range(1, n_levels + 1) if a[level == k].sum() > 0]
    weight = {k: a[level == k].sum() for k in present}
    total = {k: (a * t)[level == k].sum() for k in present}
    squares = (a * t**2).sum()
    between = sum(total[k] ** 2 / weight[k] for k in present)
    freedom = max(len(present) - 1, 0)
    within = max(squares - between, 0) + PRIOR * squares / max(n - 1, 1)
    known = max(n - len(present), 0) + PRIOR
    noise = within / known
    evidence = between - freedom * noise
    choices = others if freedom > FREE else 0
    expected = edge(freedom, choices)
    std_error = noise * math.sqrt((0 if choices else 2 * freedom) + 2 * expected**2 / known)
    surplus = between - expected * noise
    if surplus <= (std_error if freedom > FREE else 1e-9 * squares):
        return nothing
    if choices:
        evidence = noise * strength(between / noise, freedom, choices)
    effective = a.sum() - sum(w**2 for w in weight.values()) / a.sum()
    shrinkage = noise * effective / max(evidence, noise)
    score = {k: total[k] / (weight[k] + shrinkage) for k in present}
    largest = max(abs(s) for s in score.values())
    of_levels = np.array([score.get(k, 0.0) for k in range(1, n_levels + 1)]) / largest
    of_rows = np.array(
        [
            (total[k] - a[i] * t[i]) / (weight[k] - a[i] + shrinkage) / largest if k > 0 else 0.0
            for i, k in enumerate(level)
        ]
    )
    apparent = sum(score[k] * total[k] for k in present) / largest
    allowed = edge(min(freedom, FREE), choices) * noise
    owed = between - freedom * noise - evidence
    covariance = min((a * t * of_rows).sum() + (allowed - owed) * apparent / between, apparent)
    return Scores(of_levels, of_rows, covariance / a.sum(), (apparent - covariance) / a.sum())


def edge(freedom: float, others: int) -> float:
    """The largest eigenvalue of noise alone, with a variance of 1."""
    return (math.sqrt(freedom) + math.sqrt(others)) ** 2


def strength(largest: float, freedom: float, others: int) -> float:
    """The larger S with (S + ν)·(S + q) / S = λ."""
    roots = np.roots([1, freedom + others - largest, freedom * others])
    return float(np.max(roots.real))


def reliability(theta: NDArray, covariance: NDArray, excess: NDArray) -> float:
    """The share of the covariance of a direction that is not noise."""
    remaining, apparent = abs(theta @ covariance), abs(theta @ (covariance + excess))
    return remaining / apparent if remaining < apparent else 1.0
