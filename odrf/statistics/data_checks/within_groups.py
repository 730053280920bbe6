"""How much columns vary within groups of rows, beside how much they vary at all."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Repetition", "repetition", "within_shares"]

# A column hardly varies within groups if its mean square there is below this share of the whole.
HARDLY = 0.3
# Of a table of repeated measurements, this share of the columns hardly vary; or the response and
# CONSTANTS columns that do not vary at all.
ALMOST_ALL, CONSTANTS = 0.8, 2
# Fewer columns, with the response, are no pattern.
FEWEST_COLUMNS = 4
# Groups of neighbouring numbers that are alike belong to a trend, not to subjects.
TREND = 0.2
# Most groups are discarded after a look at a few columns, of which half would vary less than this.
FIRST, LITTLE = 8, 0.5
ROUNDING = 1e-9


class Repetition(NamedTuple):
    """Of how many `columns` (with the response) how many `hardly` vary within groups.

    `mean` is that of the shares of variation within groups.
    """

    hardly: int
    columns: int
    mean: float


def within_shares(codes: NDArray[np.int64], columns: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the mean square of each column within groups, divided by that of all rows (q,).

    1 on average for groups that say nothing about a column, 0 for a column that is constant within
    each group, and NaN for one that is constant altogether.

    Parameters
    ----------
    codes : (m,) int64
        Groups 0, 1, …, fewer than rows.
    columns : (q, m) float64
    """
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


def repetition(
    codes: NDArray[np.int64], columns: NDArray[np.float64], numbered: bool
) -> Repetition | None:
    """Return how many columns hardly vary within groups, if so many do that rows are repeated.

    Parameters
    ----------
    codes : (m,) int64
        Groups 0, 1, …; if `numbered`, in the order of their numbers.
    columns : (q, m) float64
        The response, then other columns.
    numbered : bool
        Whether the groups are the values of a number.  Then columns that follow this number by a
        trend do not count.

    Returns
    -------
    Repetition or None
        None if the groups are no repeated measurements, or there are too few columns to tell.
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


def _follow_a_trend(
    codes: NDArray[np.int64], columns: NDArray[np.float64], shares: NDArray[np.float64]
) -> bool:
    """Return whether columns vary hardly more within two neighbouring groups than within one.

    Of subjects, whose numbers mean nothing, two together have about half of the variation between
    subjects.
    """
    joined = within_shares(codes // 2, columns)
    return bool(np.median((joined - shares) / (1 - shares)) < TREND)
