"""One term of projection pursuit: windows by comparison, lines by NumPy's least squares."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from reference.directions import RIDGE, centred, least_squares


def running_lines(u: NDArray, t: NDArray, a: NDArray, half: int) -> tuple[NDArray, NDArray]:
    """Fits and slopes at u of lines through the rows up to `half` places below and above."""
    single = u.astype(np.float32)
    ranked = np.sort(single)
    fit, slope = np.empty(len(u)), np.empty(len(u))
    for i, value in enumerate(single):
        lowest = ranked[max(np.sum(single < value) - half, 0)]
        highest = ranked[min(np.sum(single <= value) - 1 + half, len(u) - 1)]
        near = (single >= lowest) & (single <= highest)
        middle, height = (np.average(x[near], weights=a[near]) for x in (u, t))
        slope[i] = 0.0
        if lowest < highest:
            along = a[near] * (u[near] - middle)
            slope[i] = along @ t[near] / (along @ (u[near] - middle))
        fit[i] = height + slope[i] * (u[i] - middle)
    return fit, slope


def loss(Z: NDArray, t: NDArray, a: NDArray, half: int, theta: NDArray) -> float:
    """Squared error about the running lines along θ."""
    return float(a @ (t - running_lines(centred(Z, a) @ theta, t, a, half)[0]) ** 2)


def pursue(Z: NDArray, t: NDArray, a: NDArray, steps: int, half: int) -> NDArray:
    """Gauss and Newton's steps from least squares, while they lower the loss."""
    Z = centred(Z, a)
    theta = least_squares(Z, t, a)
    theta = theta / np.linalg.norm(theta)
    for _ in range(steps):
        fit, slope = running_lines(Z @ theta, t, a, half)
        changes = centred(slope[:, None] * Z, a)
        scatter = changes.T @ np.diag(a) @ changes
        scatter += RIDGE * np.mean(np.diag(scatter)) * np.eye(len(theta))
        trial = theta + np.linalg.solve(scatter, changes.T @ (a * (t - fit)))
        trial /= np.linalg.norm(trial)
        if not loss(Z, t, a, half, trial) < loss(Z, t, a, half, theta):
            break
        theta = trial
    return theta
