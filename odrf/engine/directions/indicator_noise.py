"""How much of a direction's fit is chance, where factors enter it by an indicator for each level.

A number has one coefficient in a direction; a factor of which the rows have L levels has L - 1 free
ones.  With k free coefficients on m rows, a target without any relation has an expected R² of
k / (m - 1), which would favour directions on factors.  Of the gain of a cut along the direction the
share

    ρ² = max(0, 1 - 2·k / (m - 1 - k) · (1 - R²) / R²)

counts, with R² the squared correlation of direction and target.  With 1 in place of 2 it is the
adjusted R², divided by R².  The chance counts twice, as in the criteria of Mallows (1973) and
Akaike (1974): once for what the fit seems to explain, and once for the error of the coefficients in
new rows.
"""

from __future__ import annotations

import math

from odrf.engine.compiling import part

__all__ = ["beyond_chance", "free_coefficients"]

TWICE = 2.0


@part
def free_coefficients(Z, first, width, m):
    """Return how many free coefficients a factor has whose columns start with Z[first].

    These are one less than the levels that the m rows have; the other columns are constant.  The
    columns are shifted: their first value is 0.
    """
    varying = 0
    for j in range(first, first + width):
        for i in range(m):
            if Z[j, i] != 0.0:
                varying += 1
                break
    return max(varying - 1, 0)


@part
def beyond_chance(work, levels):
    """Return ρ of the direction work.theta on the terms in work.Z; 1 if no factor is free in it.

    `levels` is None where no predictor is a factor, so that it compiles to nothing.
    """
    if levels is None or work.size[2] == 0:
        return 1.0
    k, terms, m = work.size[2], work.size[3], work.size[4]
    left, total, weighted, squares, common, target = m - 1.0 - k, 0.0, 0.0, 0.0, 0.0, 0.0
    if left < 1.0:
        return 0.0
    for i in range(m):
        value, a = 0.0, work.weights[i]
        for j in range(terms):
            value += work.theta[j] * work.Z[j, i]
        total += a
        weighted += a * value
        squares += a * value * value
        common += work.moment[i] * value
        target += work.moment[i] * work.target[i]
    related = common * common
    unrelated = (squares - weighted * weighted / total) * target - related
    if not related > 0.0:
        return 0.0
    return math.sqrt(max(1.0 - TWICE * k / left * max(unrelated, 0.0) / related, 0.0))
