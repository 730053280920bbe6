"""The cut, or the set of levels, that sends most rows to the side where the primary split does.

As in rpart: a surrogate must be better than sending all rows to the larger side, and at least two
rows go either way of a cut (Breiman, Friedman, Olshen and Stone 1984, section 5.3).
"""

from __future__ import annotations

import numpy as np

from odrf.engine.compiling import kernel
from odrf.engine.radix_sorting import sort_by_digits
from odrf.engine.sorting import POSITION, VALUE_SHIFT, key_of, value_of
from odrf.engine.splits.scanning import midpoint

__all__ = ["LEFT", "RIGHT", "agreeing_cut", "agreeing_levels"]

LEFT, RIGHT = np.int8(1), np.int8(-1)
# Fewest rows either way of a cut, so that none follows a single row.
FEWEST = 2


@kernel
def agreeing_cut(values, side, known, weights, sorting):
    """Return (agreement, threshold, flipped) of the cut that agrees most with the `side` of rows.

    Parameters
    ----------
    values : (m,) float32
    side : (m,) int8
        `LEFT` or `RIGHT`; 0 for rows that do not count.  Cuts are tried between their values too.
    known : (m,) bool
        Which rows have a value.
    weights : (m,) float64
    sorting : DigitScratch
        Scratch for m keys.

    Returns
    -------
    agreement : float
        The weight of the rows that are sent to their side; 0 if no cut sends more of them there
        than sending all of them to one side.
    threshold : float32
    flipped : bool
        Whether values up to the threshold go right.
    """
    keys = sorting.keys
    n, above, left_above, right_above = 0, 0, 0.0, 0.0
    for i in range(len(values)):
        if known[i]:
            keys[n] = key_of(values[i], i)
            n += 1
            above += side[i] != 0
            left_above += weights[i] if side[i] == LEFT else 0.0
            right_above += weights[i] if side[i] == RIGHT else 0.0
    sort_by_digits(sorting, n)
    best, at, flipped = max(left_above, right_above), -1, False
    below, left_below, right_below = 0, 0.0, 0.0
    for i in range(n - 1):
        row = keys[i] & POSITION
        weight = weights[row]
        below += side[row] != 0
        if side[row] == LEFT:
            left_above -= weight
            left_below += weight
        elif side[row] == RIGHT:
            right_above -= weight
            right_below += weight
        is_cut = keys[i + 1] >> VALUE_SHIFT > keys[i] >> VALUE_SHIFT
        if not is_cut or below < FEWEST or above - below < FEWEST:
            continue
        if right_below + left_above > best:
            best, at, flipped = right_below + left_above, i, True
        elif left_below + right_above > best:
            best, at, flipped = left_below + right_above, i, False
    if at < 0:
        return 0.0, np.float32(0.0), False
    return best, midpoint(value_of(keys[at]), value_of(keys[at + 1])), flipped


@kernel
def agreeing_levels(levels, side, weights, left, right, n_rows, sent):
    """Write where each level of a factor is best sent; return the agreement.

    Parameters
    ----------
    levels : (m,) int32
        The level of each row, 1 … L; 0 for none.
    side : (m,) int8
        As in `agreeing_cut`.
    weights : (m,) float64
    left, right : (L + 1,) float64; n_rows : (L + 1,) int64
        Scratch.
    sent : (L + 1,) int8
        Receives `LEFT` or `RIGHT` for each level; 0 for levels that no row that counts has.

    Returns
    -------
    float
        The weight of the rows that are sent to their side.  A level whose rows are half and half
        goes with the larger side of the node.
    """
    for k in range(len(sent)):
        left[k], right[k], n_rows[k], sent[k] = 0.0, 0.0, 0, 0
    for i in range(len(levels)):
        k = levels[i]
        if side[i] == LEFT:
            left[k] += weights[i]
        elif side[i] == RIGHT:
            right[k] += weights[i]
        n_rows[k] += side[i] != 0
    all_left, all_right = 0.0, 0.0
    for k in range(1, len(sent)):
        all_left += left[k]
        all_right += right[k]
    agreement = 0.0
    for k in range(1, len(sent)):
        if n_rows[k] == 0:
            continue
        if left[k] > right[k] or (left[k] == right[k] and all_left > all_right):
            agreement += left[k]
            sent[k] = LEFT
        else:
            agreement += right[k]
            sent[k] = RIGHT
    return agreement
