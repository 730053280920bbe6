"""Ridge regression by its hat matrix, and discriminants by SciPy's generalised eigenvectors."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh

from reference.directions import RIDGE, centred


def scatter(Z: NDArray, a: NDArray) -> NDArray:
    Z = centred(Z, a)
    return Z.T @ np.diag(a) @ Z


def between(Z: NDArray, y: NDArray, a: NDArray) -> NDArray:
    overall, B = np.average(Z, axis=0, weights=a), 0.0
    for k in np.unique(y):
        apart = np.average(Z[y == k], axis=0, weights=a[y == k]) - overall
        B = B + a[y == k].sum() * np.outer(apart, apart)
    return B


def with_ridge(A: NDArray, share: float) -> NDArray:
    return A + share * np.mean(np.diag(A)) * np.eye(len(A))


def ridge(Z: NDArray, t: NDArray, a: NDArray, penalty: float) -> NDArray:
    return np.linalg.solve(with_ridge(scatter(Z, a), penalty), centred(Z, a).T @ (a * t))


def ridge_criterion(Z: NDArray, t: NDArray, a: NDArray, penalty: float) -> float:
    """Generalised cross-validation from fitted values and the trace of the hat matrix."""
    middle, A = centred(Z, a), with_ridge(scatter(Z, a), penalty)
    hat = middle @ np.linalg.solve(A, middle.T @ np.diag(a)) + a / a.sum()
    if np.trace(hat) >= len(t):
        return np.inf
    return np.sum(a * (t - hat @ t) ** 2) / (1 - np.trace(hat) / len(t)) ** 2


def canonical(Z: NDArray, y: NDArray, a: NDArray) -> tuple[NDArray, NDArray]:
    """Squared correlations, the largest first, and the directions as columns."""
    values, vectors = eigh(between(Z, y, a), with_ridge(scatter(Z, a), RIDGE))
    return values[::-1], vectors[:, ::-1]


def penalised_within(Z: NDArray, y: NDArray, a: NDArray, penalty: float) -> NDArray:
    W = scatter(Z, a) - between(Z, y, a)
    W = (1 - penalty) * W + penalty * np.diag(np.diag(W))
    return with_ridge(W, RIDGE) + 1e-12 * a.sum() * np.eye(len(W))


def index(theta: NDArray, Z: NDArray, y: NDArray, a: NDArray, penalty: float) -> float:
    """The index of penalised discriminant analysis of one direction."""
    W = theta @ penalised_within(Z, y, a, penalty) @ theta
    return 1 - W / (W + theta @ between(Z, y, a) @ theta)


def first_discriminant(Z: NDArray, y: NDArray, a: NDArray, penalty: float) -> NDArray:
    return eigh(between(Z, y, a), penalised_within(Z, y, a, penalty))[1][:, -1]


def two_groups(Z: NDArray, y: NDArray, a: NDArray, penalty: float) -> tuple[NDArray, float]:
    """Rows above the widest gap between projected means, and by how much it is the widest."""
    present = np.unique(y)
    if len(present) == 2:
        return y == present[1], np.inf
    at = Z @ first_discriminant(Z, y, a, penalty)
    means = np.array([np.average(at[y == k], weights=a[y == k]) for k in present])
    order = np.argsort(means)
    gaps = np.diff(means[order])
    last, widest = np.sort(gaps)[-2:]
    above = present[order[np.argmax(gaps) + 1 :]]
    return np.isin(y, above), (widest - last) / np.ptp(means)


def penalised(Z: NDArray, y: NDArray, a: NDArray, penalty: float) -> NDArray:
    group, _ = two_groups(Z, y, a, penalty)
    return first_discriminant(Z, group, a, penalty)
