"""Hinges: two planes that meet, and the side of the split on which each of them holds.

Breiman (1993); Li, Lin and Xu (2026).  The planes of both sides are fitted, the rows change to the
side of the plane where the larger (or the smaller) of both is on, and so on.  The split is the
difference of the planes, so that the fit is continuous there.
"""

from __future__ import annotations

import numpy as np

from odrf.engine.compiling import kernel, part
from odrf.engine.lines.moments import add_products, best_line, gather, mirror, ridge_plane

# Rounds of fitting planes and changing sides; most hinges are settled before.
ROUNDS = 12


@part
def _new_sides(table, weights, d, planes, left, goes_left, errors):
    """Write to goes_left (n,) the side of each row; return the hinge's error, rows on the left.

    Rows are on the left where the plane of the left side is below the other, or where it is above:
    whichever agrees with `left` (n,) for more weight.  Also returns the sign that makes the
    difference of the planes at most 0 on the left.  `errors` (2, n): scratch.
    """
    agree, last = 0.0, d - 1
    for i in range(len(weights)):
        first = second = 0.0
        for a in range(last):
            first += planes[0, a] * table[i, a]
            second += planes[1, a] * table[i, a]
        goes_left[i] = first <= second
        agree += weights[i] if goes_left[i] == left[i] else -weights[i]
        y = table[i, last]
        errors[0, i], errors[1, i] = (y - first) * (y - first), (y - second) * (y - second)
    sign, n_left, error = (-1.0 if agree < 0.0 else 1.0), 0, 0.0
    for i in range(len(weights)):
        if agree < 0.0:
            goes_left[i] = not goes_left[i]
        n_left += int(goes_left[i])
        error += weights[i] * errors[0 if goes_left[i] else 1, i]
    return error, n_left, sign


@part
def settle_hinge(
    table, weights, d, min_leaf, ridge, left, goes_left, errors, M, S, planes, split
):  # fmt: skip
    """Fit planes and change sides until the hinge is settled; return its least squared error.

    `table` (n, ≥ d): 1, the predictors and the response of each row.  `left` (n,): the sides at
    first, overwritten.  Writes the split of least error to split (d - 1,): rows go left where it is
    at most 0.  Infinity if no hinge has `min_leaf` rows on each side.
    """
    n, best, worse = len(weights), np.inf, 0
    for side in range(2):
        for a in range(d):
            for b in range(d):
                M[side, a, b] = 0.0
    for i in range(n):
        add_products(table[i], d, weights[i], M[0 if left[i] else 1])
    for _ in range(ROUNDS):
        for side in range(2):
            mirror(M[side], d)
            ridge_plane(M[side], d, ridge, S, planes[side])
        error, n_left, sign = _new_sides(table, weights, d, planes, left, goes_left, errors)
        if n_left < min_leaf or n - n_left < min_leaf:
            break
        if error < best:
            best, worse = error, 0
            for a in range(d - 1):
                split[a] = sign * (planes[0, a] - planes[1, a])
        else:
            worse += 1
        n_changed = 0
        for i in range(n):
            if goes_left[i] != left[i]:
                to = 0 if goes_left[i] else 1
                add_products(table[i], d, weights[i], M[to])
                add_products(table[i], d, -weights[i], M[1 - to])
                left[i] = goes_left[i]
                n_changed += 1
        if n_changed == 0 or worse == 2:
            break
    return best


@part
def _send(X, rows, columns, split, left):
    """Write which rows go left, where split (q + 1,) is at most 0; return how many."""
    n_left = 0
    for i in range(len(rows)):
        value = split[0]
        for a in range(len(columns)):
            value += split[a + 1] * X[rows[i], columns[a]]
        left[i] = value <= 0.0
        n_left += int(left[i])
    return n_left


@part
def _risk(X, rows, columns, y, weights, M, options, left, n_left, sides, S, used, line):
    """Return the penalised errors of the best lines of both sides; M has those of all rows."""
    min_leaf, least, price, most_terms = options
    n, q = len(rows), len(columns)
    d = q + 2
    if n_left < min_leaf or n - n_left < min_leaf:
        return np.inf
    smaller = 2 * n_left <= n  # whether the left side is
    for a in range(d):
        for b in range(d):
            sides[0, a, b] = 0.0
    for i in range(n):
        if left[i] == smaller:
            gather(X, rows[i], columns, q, y[rows[i]], line)
            add_products(line, d, weights[rows[i]], sides[0])
    mirror(sides[0], d)
    for a in range(d):
        for b in range(d):
            sides[1, a, b] = M[a, b] - sides[0, a, b]
    n_smaller = n_left if smaller else n - n_left
    first, _, _ = best_line(
        sides[0], d, n_smaller, least * n_smaller / n, price, most_terms, S, used, line
    )
    second, _, _ = best_line(
        sides[1], d, n - n_smaller, least * (n - n_smaller) / n, price, most_terms, S, used, line
    )
    return first + second


@kernel
def write_risks(
    X, rows, columns, y, weights, M, options, splits, left, sides, S, used, line, risks
):  # fmt: skip
    """Write to risks (c,) the penalised error of each of the splits (c, q + 1).

    `options`: fewest rows of a side, least error, price and most terms of a line, see
    `odrf.engine.lines.moments.penalised`.  M (q + 2, q + 2): moments of all rows.
    """
    for c in range(len(splits)):
        n_left = _send(X, rows, columns, splits[c], left)
        risks[c] = _risk(
            X, rows, columns, y, weights, M, options, left, n_left, sides, S, used, line
        )


@kernel
def write_hinges(
    X, rows, columns, y, weights, min_leaf, ridge, starts, subsets, sizes, left, goes_left, errors,
    table, of_rows, M, S, planes, own, split, splits,
):  # fmt: skip
    """Write the hinge of each start (s, q + 1) on each subset of columns to splits (s·t, q + 1).

    `subsets` (s, t, q): places among the columns, of which the first `sizes` (s, t) count, 0
    for no hinge.  A hinge that is not found is NaN.  `table` (n, q + 2), `of_rows` (n,): scratch.
    """
    n_subsets, q = subsets.shape[1], len(columns)
    for i in range(len(rows)):
        of_rows[i] = weights[rows[i]]
    for s in range(len(starts)):
        for t in range(n_subsets):
            at, size = s * n_subsets + t, sizes[s, t]
            splits[at] = np.nan
            if size == 0:
                continue
            for a in range(size):
                own[a] = columns[subsets[s, t, a]]
            for i in range(len(rows)):
                gather(X, rows[i], own, size, y[rows[i]], table[i])
            _send(X, rows, columns, starts[s], left)
            error = settle_hinge(
                table, of_rows, size + 2, min_leaf, ridge, left, goes_left, errors, M, S, planes,
                split,
            )  # fmt: skip
            if error < np.inf:
                for a in range(q + 1):
                    splits[at, a] = 0.0
                splits[at, 0] = split[0]
                for a in range(size):
                    splits[at, subsets[s, t, a] + 1] = split[a + 1]
