"""Lines by least squares from sums of products, with as many predictors as BIC allows.

The moments M (q + 2, q + 2) of some rows are the weighted sums of the products of 1, of q
predictors and of the response.  All lines follow from them by sweeps (Goodnight 1979): after the
sweep of a predictor the last column holds the coefficients, and its last entry the squared error.
"""

from __future__ import annotations

import math

import numpy as np

from odrf.engine.compiling import kernel, part

# A predictor whose variance, given those in the line, is a smaller share of its own is left out.
COLLINEAR = 1e-7
# The path of a line ends if so many predictors in a row have not lowered its criterion.
PATIENCE = 4
# Ridge of a plane, as a share of the variance of each predictor: planes of a few rows stay finite.
RIDGE = 1e-3


@part
def gather(X, row, columns, q, y, z):
    """Write 1, the q predictors of a row of X (n, p) and its response to z (q + 2,)."""
    z[0], z[q + 1] = 1.0, y
    for a in range(q):
        z[a + 1] = X[row, columns[a]]


@part
def add_products(z, d, weight, M):
    """Add the products of z (d,) to the upper half of M."""
    for a in range(d):
        x = weight * z[a]
        for b in range(a, d):
            M[a, b] += x * z[b]


@part
def mirror(M, d):
    """Write the lower half of M (d, d)."""
    for a in range(d):
        for b in range(a):
            M[a, b] = M[b, a]


@kernel
def write_moments(X, rows, columns, y, weights, z, M):
    """Write to M (q + 2, q + 2) the moments of these rows of X (n, p) and of y (n,); z: scratch."""
    M[:] = 0.0
    for i in range(len(rows)):
        row = rows[i]
        gather(X, row, columns, len(columns), y[row], z)
        add_products(z, len(M), weights[row], M)
    mirror(M, len(M))


@part
def sweep(S, d, k):
    """Sweep S (d, d) by its k-th row, whose pivot is positive."""
    pivot = S[k, k]
    for j in range(d):
        S[k, j] /= pivot
    for i in range(d):
        factor = S[i, k]
        if i != k and factor != 0.0:
            for j in range(d):
                S[i, j] -= factor * S[k, j]
            S[i, k] = -factor / pivot
    S[k, k] = 1.0 / pivot


@part
def penalised(error, n_terms, n, least, price):
    """Return the squared error of a line of so many terms on n rows, times n^(price·terms/n).

    Its logarithm, times n, is BIC at a price of 1.  Errors below `least` are rounding errors.
    """
    if n < n_terms + 3:
        return np.inf
    return max(error, least) * math.exp(price * n_terms * math.log(n) / n)


@part
def best_line(M, d, n, least, price, most_terms, S, used, line):
    """Write the best line of the forward path on M (d, d) of n rows to line (d - 1,).

    At each step of the path the predictor enters that lowers the squared error most.  Returns the
    penalised error, the squared error and the number of terms.  `S` (≥ d, ≥ d), `used` (≥ d,):
    scratch.
    """
    q, last = d - 2, d - 1
    for a in range(d):
        for b in range(d):
            S[a, b] = M[a, b]
    sweep(S, d, 0)
    error, terms = max(S[last, last], 0.0), 0
    best = penalised(error, 0, n, least, price)
    line[0], since = S[0, last], 0
    for j in range(q):
        line[j + 1], used[j] = 0.0, False
    for step in range(min(q, most_terms)):
        chosen, most = -1, 0.0
        for j in range(q):
            rest = S[j + 1, j + 1]
            if not used[j] and rest > COLLINEAR * variance_of(M, j):
                decrease = S[j + 1, last] * S[j + 1, last] / rest
                if decrease > most:
                    chosen, most = j, decrease
        if chosen < 0:
            break
        used[chosen] = True
        sweep(S, d, chosen + 1)
        after = max(S[last, last], 0.0)
        criterion = penalised(after, step + 1, n, least, price)
        if criterion < best:
            best, error, terms, since = criterion, after, step + 1, 0
            line[0] = S[0, last]
            for j in range(q):
                line[j + 1] = S[j + 1, last] if used[j] else 0.0
        else:
            since += 1
            if since == PATIENCE:
                break
    return best, error, terms


@part
def variance_of(M, j):
    """Return the weighted sum of squares of the j-th predictor around its mean."""
    return M[j + 1, j + 1] - M[0, j + 1] * M[0, j + 1] / M[0, 0] + 1e-9 * M[0, 0]


@part
def ridge_plane(M, d, ridge, S, plane):
    """Write the plane of all predictors in M (d, d) to plane (d - 1,); `ridge`: see `RIDGE`."""
    q, last = d - 2, d - 1
    for a in range(d):
        for b in range(d):
            S[a, b] = M[a, b]
    sweep(S, d, 0)
    for j in range(q):
        S[j + 1, j + 1] = (1.0 + ridge) * S[j + 1, j + 1] + 1e-9 * M[0, 0]
    for j in range(q):
        sweep(S, d, j + 1)
    for j in range(q + 1):
        plane[j] = S[j, last]


@kernel
def write_line(M, n, least, price, most_terms, S, used, line, found):
    """Write `best_line` of M, and its three numbers to found (3,)."""
    best, error, terms = best_line(M, len(M), n, least, price, most_terms, S, used, line)
    found[0], found[1], found[2] = best, error, terms


@kernel
def write_plane(M, ridge, S, plane):
    """Write `ridge_plane` of M to plane."""
    ridge_plane(M, len(M), ridge, S, plane)
