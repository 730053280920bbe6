"""Trees whose leaves are lines, in plain NumPy: lines, cuts and hinges by least squares."""

from __future__ import annotations

from itertools import pairwise

import numpy as np


def moments(Z, y, weights):
    """Return the weighted sums of the products of 1, the predictors and the response."""
    table = np.column_stack([np.ones(len(y)), Z, y])
    return table.T @ (weights[:, None] * table)


def fitted(Z, y, weights):
    """Return the least-squares line (1 + q,) and its squared error."""
    design = np.column_stack([np.ones(len(y)), Z])
    root = np.sqrt(weights)
    line = np.linalg.lstsq(design * root[:, None], y * root, rcond=None)[0]
    return line, float(weights @ (y - design @ line) ** 2)


def penalised(error, n_terms, n, least, price):
    """Return the squared error times n^(price·terms/n); infinite with too few rows."""
    if n < n_terms + 3:
        return np.inf
    return max(error, least) * n ** (price * n_terms / n)


def best_line(Z, y, weights, least, price, most_terms, patience=4):
    """Return criterion, squared error and line of the best step of the forward path."""
    n, q = Z.shape
    chosen: list[int] = []
    line, error = fitted(Z[:, chosen], y, weights)
    best = penalised(error, 0, n, least, price), error, np.append(line, np.zeros(q))
    since = 0
    while len(chosen) < min(q, most_terms) and since < patience:
        rest = [j for j in range(q) if j not in chosen]
        errors = [fitted(Z[:, [*chosen, j]], y, weights)[1] for j in rest]
        chosen.append(rest[int(np.argmin(errors))])
        line, error = fitted(Z[:, chosen], y, weights)
        criterion = penalised(error, len(chosen), n, least, price)
        since += 1
        if criterion < best[0]:
            whole = np.zeros(q + 1)
            whole[0], whole[1 + np.array(chosen)] = line[0], line[1:]
            best, since = (criterion, error, whole), 0
    return best


def cut_errors(x, y, weights, min_leaf, lines):
    """Return the sums of squares before and after each cut with enough rows, and the cuts' ends."""

    def error(rows):
        columns = x[rows, None] if lines and len(np.unique(x[rows])) > 1 else x[rows, None][:, :0]
        return fitted(columns, y[rows], weights[rows])[1]

    values = np.unique(x)
    found = []
    for low, high in pairwise(values):
        left = x <= low
        if min_leaf <= left.sum() <= len(x) - min_leaf:
            found.append((error(left) + error(~left), low, high))
    return error(np.ones(len(x), dtype=bool)), found


def ridge_plane(Z, y, weights, ridge):
    """Return the plane whose penalty on each predictor is a share of its sum of squares."""
    mean, centre = np.average(Z, axis=0, weights=weights), np.average(y, weights=weights)
    C, r = Z - mean, y - centre
    A = C.T @ (weights[:, None] * C)
    A[np.diag_indices(len(A))] += ridge * np.diag(A) + 1e-9 * weights.sum()
    slopes = np.linalg.solve(A, C.T @ (weights * r))
    return np.append(centre - mean @ slopes, slopes)


def hinge(Z, y, weights, left, min_leaf, ridge, rounds=12):
    """Return the split (1 + q,) of the least squared error, and the errors that were the least."""
    design = np.column_stack([np.ones(len(y)), Z])
    best, split, worse = [], None, 0
    for _ in range(rounds):
        planes = [ridge_plane(Z[s], y[s], weights[s], ridge) for s in (left, ~left)]
        first, second = design @ planes[0], design @ planes[1]
        new, sign = first <= second, 1.0
        if weights @ np.where(new == left, 1.0, -1.0) < 0.0:
            new, sign = ~new, -1.0
        if not min_leaf <= new.sum() <= len(y) - min_leaf:
            break
        error = float(weights @ (y - np.where(new, first, second)) ** 2)
        if not best or error < best[-1]:
            best.append(error)
            split, worse = sign * (planes[0] - planes[1]), 0
        else:
            worse += 1
        if worse == 2 or (new == left).all():
            break
        left = new
    return split, best


def values(Z, intercept, slopes, low, high):
    """Return what a line predicts, truncated."""
    return np.clip(intercept + Z @ slopes, low, high)
