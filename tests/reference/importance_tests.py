"""Tests of importance by definition: knockoffs, leave-one-out ridge regression, thresholds."""

from __future__ import annotations

import numpy as np

__all__ = ["entropy_slope", "joint_covariance", "left_out_residuals", "selected_by_knockoffs"]


def joint_covariance(correlation, gaps):
    """Covariance (2p, 2p) of predictors and knockoffs."""
    across = correlation - np.diag(gaps)
    return np.block([[correlation, across], [across, correlation]])


def entropy_slope(correlation, gaps):
    """Derivative of the log determinant of the joint covariance by each gap, by differences."""
    out, step = np.empty(len(gaps)), 1e-6
    for j in range(len(gaps)):
        ends = []
        for sign in (1, -1):
            moved = gaps.copy()
            moved[j] += sign * step
            ends.append(np.linalg.slogdet(joint_covariance(correlation, moved))[1])
        out[j] = (ends[0] - ends[1]) / (2 * step)
    return out


def left_out_residuals(X, y, penalty):
    """Residual of each row from the ridge fit to the others, in the scale of all rows."""
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    n, p = Z.shape
    D = np.column_stack([np.ones(n), Z])
    ridge = n * penalty * np.diag([0.0] + [1.0] * p)
    out = np.empty(n)
    for i in range(n):
        rest = np.arange(n) != i
        beta = np.linalg.solve(D[rest].T @ D[rest] + ridge, D[rest].T @ y[rest])
        out[i] = y[i] - D[i] @ beta
    return out


def selected_by_knockoffs(W, fdr):
    """Whether each predictor is selected by knockoff+ (Candès et al. 2018)."""
    for t in sorted({abs(w) for w in W if w != 0}):
        above, below = sum(w >= t for w in W), sum(w <= -t for w in W)
        if above and (1 + below) / above <= fdr:
            return [w >= t for w in W]
    return [False] * len(W)
