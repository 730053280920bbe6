"""Sums over the rows of each value, of four columns of two values at a time.

An indicator of 0 and 1 needs no bins.  The rows of the lower value are marked, and their words and
weights are added up in SIMD lanes: words of 8 rows at once, as the order of whole numbers does not
matter; weights in the order of `odrf.engine.splits.binning.tally_bins`, of four columns at once.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from odrf.engine.compiling import ZERO, kernel, part
from odrf.engine.directions.candidates import ROUND
from odrf.engine.extremes import extremes
from odrf.engine.rows.rows import column_itself
from odrf.engine.splits.binning import MOST_BINS
from odrf.engine.splits.four_tallies import FOUR

__all__ = ["TwoValues", "has_two_values", "tally_two_values", "two_values", "write_larger_values"]

# Weights are marked for so many rows at a time, an even number, so that they stay in the cache.
BLOCK = 256


class TwoValues(NamedTuple):
    """The columns of two values whose sums are added up next, and scratch for it.

    Attributes
    ----------
    is_cut : (ROUND,) bool
        Which candidates of a round are columns of two values.
    candidates : (FOUR,) int64
        The numbers of their candidates.
    columns : (FOUR,) int64
    marked : (FOUR, BLOCK) float64
        Scratch.
    """

    is_cut: np.ndarray
    candidates: np.ndarray
    columns: np.ndarray
    marked: np.ndarray


def two_values() -> TwoValues:
    """Allocate them."""
    return TwoValues(
        np.empty(ROUND, dtype=np.bool_),
        np.empty(FOUR, dtype=np.int64),
        np.empty(FOUR, dtype=np.int64),
        np.empty((FOUR, BLOCK)),
    )


@kernel
def write_larger_values(X, high):
    """Write the larger value of each row of X (p, n) that has two values to high (p,), else NaN."""
    for j in range(len(X)):
        low, high[j] = extremes(X[j])
        other = False
        for value in X[j]:
            if low < value < high[j]:
                other = True
                break
        if other or not low < high[j]:
            high[j] = np.nan


@part
def has_two_values(rows, column):
    """Whether a column has two values among all rows, where rows.high is known."""
    return not np.isnan(rows.high[column])


@part
def _add_words(first, second, third, fourth, high, words, tallies):
    """Write the sums of words of both values to the first two entries of each of the tallies."""
    a = b = c = d = total = ZERO
    high_a, high_b, high_c, high_d = high
    for i in range(np.uint64(len(first))):
        word = words[i]
        a += word if first[i] < high_a else 0
        b += word if second[i] < high_b else 0
        c += word if third[i] < high_c else 0
        d += word if fourth[i] < high_d else 0
        total += word
    tallies[0, 0], tallies[1, 0], tallies[2, 0], tallies[3, 0] = a, b, c, d
    for k in range(FOUR):
        tallies[k, 1] = total - tallies[k, 0]
        tallies[k, MOST_BINS] = tallies[k, MOST_BINS + 1] = 0


@part
def _mark(values, high, weights, marked):
    """Write the weights of the rows of the lower value, and 0 for the others."""
    for i in range(np.uint64(len(values))):
        marked[i] = weights[i] if values[i] < high else 0.0


@part
def _add_marked(marked, m, tables):
    """Add the first m marked weights to the sums of even and of odd rows."""
    one, even = np.uint64(1), np.uint64(m) & ~np.uint64(1)
    first, second, third, fourth = marked[0], marked[1], marked[2], marked[3]
    a, b, c, d = tables[0, 0, 0], tables[1, 0, 0], tables[2, 0, 0], tables[3, 0, 0]
    odd_a, odd_b, odd_c, odd_d = tables[0, 0, 1], tables[1, 0, 1], tables[2, 0, 1], tables[3, 0, 1]
    for i in range(np.uint64(0), even, np.uint64(2)):
        j = i + one
        a += first[i]
        odd_a += first[j]
        b += second[i]
        odd_b += second[j]
        c += third[i]
        odd_c += third[j]
        d += fourth[i]
        odd_d += fourth[j]
    if even < m:
        a += first[even]
        b += second[even]
        c += third[even]
        d += fourth[even]
    tables[0, 0, 0], tables[1, 0, 0], tables[2, 0, 0], tables[3, 0, 0] = a, b, c, d
    tables[0, 0, 1], tables[1, 0, 1], tables[2, 0, 1], tables[3, 0, 1] = odd_a, odd_b, odd_c, odd_d


@kernel
def tally_two_values(rows, lo, two, words, node, tallies, tables):
    """Add up by value what `odrf.engine.splits.binning.tally_bins` does by bin, of four columns.

    Parameters
    ----------
    rows : Rows
        Copied, without factors; those of the node begin at `lo`.
    two : TwoValues
        Four columns of two values; some may be the same.
    words : (≥ m,) int64
        Those of `odrf.engine.splits.binning.write_words`.
    node : Node
        Its gains need moments.
    tallies : (4, 2·MOST_BINS) int64
    tables : (4, MOST_BINS, 2) float64
        Receive the sums, as if there were two bins.  Weights of the larger value are left out.
    """
    m, marked = len(node.y), two.marked
    a, b, c, d = two.columns[0], two.columns[1], two.columns[2], two.columns[3]
    _add_words(
        column_itself(rows, lo, m, a), column_itself(rows, lo, m, b),
        column_itself(rows, lo, m, c), column_itself(rows, lo, m, d),
        (rows.high[a], rows.high[b], rows.high[c], rows.high[d]), words, tallies,
    )  # fmt: skip
    if node.unit:
        return
    for k in range(FOUR):
        tables[k, 0, 0] = tables[k, 0, 1] = 0.0
    for begin in range(0, m, BLOCK):
        number = min(BLOCK, m - begin)
        for k in range(FOUR):
            column = two.columns[k]
            values = column_itself(rows, lo + begin, number, column)
            _mark(values, rows.high[column], node.weights[begin:], marked[k])
        _add_marked(marked, number, tables)
