"""Checks of data: exact relations, order in time, groups of rows."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from odrf.engine.running import one_thread

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# A column hardly varies within groups if its mean square there is below this share of the whole.
HARDLY = 0.3
# Of a table of repeated measurements, this share of the columns hardly vary; or the response and
# CONSTANTS columns that do not vary at all.
ALMOST_ALL, CONSTANTS = 0.8, 2
# Fewer columns, with the response, are no pattern.
FEWEST_COLUMNS = 4
# Groups of neighbouring numbers that are alike belong to a trend, not to subjects.
TREND = 0.2
# Most groups are discarded after a check of a few columns, of which half would vary less than this.
FIRST, LITTLE = 8, 0.5
ROUNDING = 1e-9


class Repetition(NamedTuple):
    """How many `columns` `hardly` vary within groups; the `mean` share of variation there."""

    hardly: int
    columns: int
    mean: float


def within_shares(codes: Integers, columns: Floats) -> Floats:
    """Return the mean square (q,) of columns (q, m) within groups 0, 1, … over that of all rows."""
    counts = np.bincount(codes)
    m, n_groups = len(codes), np.count_nonzero(counts)
    # Squares of huge and tiny values have to be numbers, too; powers of two change no digit.
    _, power = np.frexp(np.abs(columns).max(axis=1, initial=0.0, keepdims=True))
    columns = np.ldexp(columns, -power)
    centred = columns - columns.mean(axis=1, keepdims=True)
    total = np.einsum("qm,qm->q", centred, centred)
    sums = np.empty((len(columns), len(counts)))
    for j, column in enumerate(centred):
        sums[j] = np.bincount(codes, column, len(counts))
    between = np.sum(sums**2 / np.maximum(counts, 1), axis=1)
    scale = np.abs(columns).max(axis=1, initial=0.0) ** 2 * m
    varies = total > ROUNDING**2 * scale
    shares = np.full(len(columns), np.nan)
    within = np.maximum(total - between, 0.0)[varies] / (m - n_groups)
    shares[varies] = within / (total[varies] / (m - 1))
    return shares


def repetition(codes: Integers, columns: Floats, numbered: bool) -> Repetition | None:
    """Return how many columns (q, m) hardly vary within groups; None if rows are not repeated.

    None also for too few columns. The response comes first. Groups are 0, 1, …; if `numbered`, they
    are in the order of a number, and columns that follow it by a trend do not count.
    """
    first = within_shares(codes, columns[:FIRST])
    if np.sum(first < LITTLE) < np.sum(first >= LITTLE):
        return None
    shares = np.concatenate([first, within_shares(codes, columns[FIRST:])])
    known = ~np.isnan(shares)
    hardly = known & (shares < HARDLY)
    if known.sum() < FEWEST_COLUMNS:
        return None
    constant = np.sum(shares[1:] < ROUNDING)
    if hardly.sum() < ALMOST_ALL * known.sum() and not (hardly[0] and constant >= CONSTANTS):
        return None
    if numbered and _follow_a_trend(codes, columns[hardly], shares[hardly]):
        return None
    return Repetition(int(hardly.sum()), int(known.sum()), float(shares[known].mean()))


def _follow_a_trend(codes: Integers, columns: Floats, shares: Floats) -> bool:
    """Return whether columns vary hardly more within two neighbouring groups than within one.

    Of subjects, two together have about half of the variation between subjects.
    """
    joined = within_shares(codes // 2, columns)
    return bool(np.median((joined - shares) / (1 - shares)) < TREND)


# Residuals of rows of one subject have at most this mean square, of that of all, and are this
# unlikely for independent rows. Most columns are discarded by that of the response.
ALIKE, UNLIKELY, RESPONSE_ALIKE = 0.7, 1e-6, 0.9
# So many pairs of rows of one group would have the same value of a predictor, if it were random.
FEWEST_EXPECTED = 10.0


def alike_within(codes: Integers, y: Floats, others: Floats, numbered: bool) -> float | None:
    """Return the share of the variation of residuals (m,) within groups; None if it is large.

    Residuals are those of y on other columns (q, m) by least squares. `numbered` groups are in the
    order of a number: residuals that follow it by a trend have no share.
    """
    n_groups, m = int(codes.max()) + 1, len(codes)
    if m - n_groups < 2:
        return None
    columns = np.vstack([np.ones(m), *map(_standardised, others)])
    # a ridge without weight: columns may be sums of others
    gram = columns @ columns.T + 1e-9 * m * np.eye(len(columns))
    residual = (y - np.linalg.solve(gram, columns @ y) @ columns)[np.newaxis]
    shares = within_shares(codes, residual)
    if not shares[0] < ALIKE or (numbered and _follow_a_trend(codes, residual, shares)):
        return None
    between, within = n_groups - 1, m - n_groups
    F = ((m - 1) / max(shares[0], ROUNDING) - within) / between
    return float(shares[0]) if scipy.special.fdtrc(between, within, F) < UNLIKELY else None


def measured_once(codes: Integers, values: Integers) -> bool:
    """Return whether rows of a group (m,) differ in a column, whose values all groups share.

    So it is with times at which each subject is measured. `values` (m,) are 0, 1, …
    """
    counts, shares = np.bincount(codes), np.bincount(values) / len(values)
    if len(shares) > len(counts):
        return False
    if (counts * (counts - 1) / 2).sum() * (shares**2).sum() < FEWEST_EXPECTED:
        return False
    return len(np.unique(codes * len(shares) + values)) == len(codes)


def same_within(codes: Integers, values: Integers) -> bool:
    """Return whether a column of several values 0, 1, … (m,) is constant in each group (m,)."""
    first = np.zeros(int(codes.max()) + 1, dtype=np.int64)
    first[codes] = values
    return bool((first[codes] == values).all() and values.max() > 0)


# Columns of 32 bits are rounded to about this part of their spread; what has less of a share in a
# sum is rounding, too.
EXACT, SHARE = 1e-6, 1e-4


def in_same_order(x: Floats, y: Floats) -> bool:
    """Return whether y (m,) is a function of x (m,) that never falls, or never rises."""
    order = np.argsort(x, kind="stable")
    steps_of_x, steps = np.diff(x[order]), np.diff(y[order])
    if steps[steps_of_x == 0].any():
        return False
    return bool((steps >= 0).all() or (steps <= 0).all())


def goes_with(labels: Integers, codes: Integers) -> bool:
    """Return whether labels (m,), -1 if missing, and codes (m,) match one to one."""
    n_codes = len(np.unique(codes))
    if labels.min() < 0 or len(np.unique(labels)) != n_codes:
        return False
    return len(np.unique(labels * (codes.max() + 1) + codes)) == n_codes


@one_thread()
def exact_sum(X: Floats, y: Floats, most: int) -> list[int]:
    """Return at most so many columns of X (m, q) whose weighted sum is y (m,) plus a constant."""
    varying = np.flatnonzero(np.ptp(X, axis=0) > 0)
    if not len(varying) or len(y) <= 2 * len(varying) + 2 or np.ptp(y) == 0:
        return []
    Z, target = _standardised(X[:, varying]), _standardised(y)
    weight = scipy.linalg.lstsq(Z, target, lapack_driver="gelsy", check_finite=False)[0]
    if np.abs(target - Z @ weight).max() > EXACT:
        return []
    used = varying[np.abs(weight) > SHARE]
    return used.tolist() if len(used) <= most else []


def _standardised(values: Floats) -> Floats:
    """Return columns, none of them constant, with mean 0 and standard deviation 1."""
    values = values / np.abs(values).max(axis=0)  # else squares of huge numbers are no numbers
    return (values - values.mean(axis=0)) / values.std(axis=0)


# Whether what a fit leaves unexplained follows itself in time.
def autocorrelation(runs: Floats) -> float:
    """Return the correlation of residuals in `runs` (r, w) with the next ones; NaN without."""
    known = ~np.isnan(runs)
    if not known.any():
        return float("nan")
    centred = np.where(known, runs - runs[known].mean(), 0.0)
    pairs = known[:, 1:] & known[:, :-1]
    variance = np.sum(centred**2) / known.sum()
    if not pairs.any() or variance <= 0:
        return float("nan")
    return float(np.sum(centred[:, 1:] * centred[:, :-1]) / pairs.sum() / variance)


# Equal rows of a matrix.
def distinct_rows(a: NDArray) -> tuple[Integers, Integers]:
    """Return the first of each set of equal rows (d,), and the number of its set for each row (n,).

    As by `numpy.unique` with ``axis=0``, which turns Ctrl-C into a `TypeError`.
    """
    order = np.lexsort(a.T[::-1])
    ordered = a[order]
    begins = np.ones(len(a), dtype=np.bool_)
    begins[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    number = np.empty(len(a), dtype=np.int64)
    number[order] = np.cumsum(begins) - 1
    return order[begins], number
