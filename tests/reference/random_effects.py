"""Factors as random effects of a regression: indicators of all levels, and NumPy's solver."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from reference.directions import RIDGE, centred

PRIOR, ROUNDS, NEGLIGIBLE, NOISELESS = 4, 3, 1e-9, 1e-6


class Effects(NamedTuple):
    """Coefficients of the numbers, effects of each factor's levels, and ρ."""

    beta: NDArray
    of_levels: list[NDArray]
    reliability: float


def random_effects(Z: NDArray, factors: list[NDArray], t: NDArray, a: NDArray) -> Effects | None:
    """Regress t with weights a on the numbers Z (m, p) and the levels 1, 2, …; 0 for none.

    None if no factor has an effect.
    """
    t, levels = centred(t, a), [np.unique(level[level > 0]) for level in factors]
    indicators = [
        (level[:, None] == known).astype(float)
        for level, known in zip(factors, levels, strict=True)
    ]
    m, p = Z.shape
    X = np.column_stack([centred(Z, a), np.ones(m)])
    ridge = np.zeros(p + 1)
    if p > 0:
        ridge[:p] = RIDGE * np.mean(a @ X[:, :p] ** 2)
    total, alone = a @ t**2, t - X @ _solved(X, np.empty((m, 0)), ridge, t, a)[0]
    variances = [_variances(D, alone, a, p) for D in indicators]
    tau = [variance for _, variance in variances]
    sigma = min((noise for noise, variance in variances if variance > 0), default=np.inf)
    if sigma == np.inf:
        return None
    least = NOISELESS * total / m
    sigma = max(sigma, least)
    beta, effects = np.zeros(p + 1), [np.zeros(D.shape[1]) for D in indicators]
    free, explained = 0.0, 0.0
    for _ in range(ROUNDS):
        free = 0.0
        for f, D in enumerate(indicators):
            if tau[f] <= 0:
                continue
            fits = [E @ u for E, u in zip(indicators, effects, strict=True)]
            left = t - sum(fits) + fits[f]
            ratio, counted = sigma / tau[f], a @ D
            penalty = np.append(ridge, np.full(D.shape[1], ratio))
            beta, effects[f] = _solved(X, D, penalty, left, a)
            k = np.sum(counted / (counted + ratio))
            tau[f] = np.sum(effects[f] ** 2) / k
            free += k * (1 - 1 / D.shape[1])
        fit = X[:, :p] @ beta[:p] + sum(D @ u for D, u in zip(indicators, effects, strict=True))
        explained = np.sum(a * t * fit)
        sigma = max((total - explained) / max(m - 1 - p, 1), least)
    if explained <= 0:
        return None
    by_level = [np.zeros(level.max(initial=0) + 1) for level in factors]
    for known, found, u in zip(levels, by_level, effects, strict=True):
        found[known] = u
    return Effects(beta[:p], by_level, math.sqrt(max(1 - free * sigma / explained, 0)))


def _solved(
    X: NDArray, D: NDArray, penalty: NDArray, t: NDArray, a: NDArray
) -> tuple[NDArray, NDArray]:
    """The penalised least squares; coefficients of X are 0 if these are not determined."""
    both, p = np.column_stack([X, D]), X.shape[1]
    matrix, right = both.T @ (a[:, None] * both) + np.diag(penalty), both.T @ (a * t)
    if np.any(np.diag(matrix)[:p] == 0):
        u = right[p:] / np.diag(matrix)[p:]
        return np.zeros(p), u
    solution = np.linalg.solve(matrix, right)
    return solution[:p], solution[p:]


def _variances(D: NDArray, t: NDArray, a: NDArray, p: int) -> tuple[float, float]:
    """The variances of noise and of effects by moments, of residuals t."""
    m, weight = len(t), a @ D
    between = np.sum((D.T @ (a * t))[weight > 0] ** 2 / weight[weight > 0])
    freedom, squares = D.shape[1] - 1, np.sum(a * t**2)
    noise = max(squares - between, 0) + PRIOR * squares / max(m - 1, 1)
    noise /= max(m - p - freedom - 1, 0) + PRIOR
    above = between - freedom * noise
    if freedom < 1 or above <= NEGLIGIBLE * squares:
        return noise, 0.0
    return noise, above / (weight.sum() - np.sum(weight**2) / weight.sum())
