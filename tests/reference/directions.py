"""Estimated directions: matrix formulas and NumPy's solver."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

RIDGE = 1e-3


def centred(Z: NDArray, a: NDArray) -> NDArray:
    return Z - np.average(Z, axis=0, weights=a)


def least_squares(Z: NDArray, t: NDArray, a: NDArray) -> NDArray:
    Z = centred(Z, a)
    scatter = Z.T @ np.diag(a) @ Z
    ridge = RIDGE * np.mean(np.diag(scatter))
    return np.linalg.solve(scatter + ridge * np.eye(Z.shape[1]), Z.T @ (a * centred(t, a)))


def logistic(Z: NDArray, t: NDArray, a: NDArray, steps: int) -> NDArray:
    """Newton's steps for the ridge-stabilised logistic likelihood, intercept last."""
    d = Z.shape[1]
    D = np.column_stack([centred(Z, a), np.ones(len(Z))])
    share = np.clip(np.average(t, weights=a), 1e-3, 1 - 1e-3)
    beta = np.append(np.zeros(d), np.log(share / (1 - share)))
    ridge = None
    for _ in range(steps):
        mu = 1 / (1 + np.exp(-np.clip(D @ beta, -30, 30)))
        hessian = D.T @ np.diag(a * np.maximum(mu * (1 - mu), 1e-4)) @ D
        if ridge is None:
            ridge = np.append(np.full(d, RIDGE * np.mean(np.diag(hessian)[:d])), 0)
        slope = D.T @ (a * (t - mu)) - ridge * beta
        hold = np.append(np.zeros(d), 1e-9 * a.sum())
        beta = beta + np.linalg.solve(hessian + np.diag(ridge + hold), slope)
    return beta[:d]


def lda(Z: NDArray, t: NDArray, a: NDArray, y: NDArray) -> NDArray:
    """Difference of the two groups' means over the scatter pooled within the classes y."""
    scatter = np.zeros((Z.shape[1], Z.shape[1]))
    for k in np.unique(y):
        within = centred(Z[y == k], a[y == k])
        scatter += within.T @ np.diag(a[y == k]) @ within
    one, other = (np.average(Z[t == side], axis=0, weights=a[t == side]) for side in (1, 0))
    ridge = RIDGE * np.mean(np.diag(scatter)) + 1e-12 * a.sum()
    return np.linalg.solve(scatter + ridge * np.eye(Z.shape[1]), one - other)


def level_means(Z: NDArray, t: NDArray, a: NDArray) -> NDArray:
    """Mean target of each level less the overall mean; 0 for a level with no rows."""
    levels = [column == 1 for column in Z.T]
    t = centred(t, a)
    return np.array([np.average(t[at], weights=a[at]) if at.any() else 0.0 for at in levels])
