"""Sums by bin of four projections at a time.

To add a row to the sum of its bin waits for the row before it, if that is in the same bin: and in
columns of few values, or with one value in most rows, it nearly always is.  The sums of four
projections do not wait for each other.  Those of each are added up in the same order as alone.
"""

from __future__ import annotations

import numpy as np

from odrf.engine.compiling import kernel, part
from odrf.engine.splits.binning import MOST_BINS

__all__ = ["FOUR", "tally_four"]

FOUR = 4


@part
def _add_words(first, second, third, fourth, words, tallies):
    m, one, odd = np.uint64(len(first)), np.uint64(1), np.uint64(MOST_BINS)
    a, b, c, d = tallies[0], tallies[1], tallies[2], tallies[3]
    even = m & ~one
    for i in range(np.uint64(0), even, np.uint64(2)):
        j = i + one
        word, other = words[i], words[j]
        a[np.uint64(first[i])] += word
        b[np.uint64(second[i])] += word
        c[np.uint64(third[i])] += word
        d[np.uint64(fourth[i])] += word
        a[odd + np.uint64(first[j])] += other
        b[odd + np.uint64(second[j])] += other
        c[odd + np.uint64(third[j])] += other
        d[odd + np.uint64(fourth[j])] += other
    if even < m:
        word = words[even]
        a[np.uint64(first[even])] += word
        b[np.uint64(second[even])] += word
        c[np.uint64(third[even])] += word
        d[np.uint64(fourth[even])] += word


@part
def _add_weights(first, second, third, fourth, weights, tables):
    m, zero, one = np.uint64(len(first)), np.uint64(0), np.uint64(1)
    a, b, c, d = tables[0], tables[1], tables[2], tables[3]
    even = m & ~one
    for i in range(zero, even, np.uint64(2)):
        j = i + one
        weight, other = weights[i], weights[j]
        a[np.uint64(first[i]), zero] += weight
        b[np.uint64(second[i]), zero] += weight
        c[np.uint64(third[i]), zero] += weight
        d[np.uint64(fourth[i]), zero] += weight
        a[np.uint64(first[j]), one] += other
        b[np.uint64(second[j]), one] += other
        c[np.uint64(third[j]), one] += other
        d[np.uint64(fourth[j]), one] += other
    if even < m:
        weight = weights[even]
        a[np.uint64(first[even]), zero] += weight
        b[np.uint64(second[even]), zero] += weight
        c[np.uint64(third[even]), zero] += weight
        d[np.uint64(fourth[even]), zero] += weight


@kernel
def tally_four(bins, words, node, n_bins, tallies, tables):
    """Add up by bin what `odrf.engine.splits.binning.tally_bins` does, of four projections.

    Parameters
    ----------
    bins : (≥ 4 m,) uint8
        The bins of the node's m rows by the first projection, then those by the others.
    words : (≥ m,) int64
        Those of `odrf.engine.splits.binning.write_words`.
    node : Node
        Its gains need moments.
    n_bins : int
    tallies : (4, 2·MOST_BINS) int64
        Receives the sums of words.
    tables : (4, MOST_BINS, 2) float64
        Receives those of weights, unless all case weights are 1.
    """
    m = len(node.y)
    first, second, third, fourth = bins[:m], bins[m : 2 * m], bins[2 * m : 3 * m], bins[3 * m :]
    for c in range(FOUR):
        for b in range(n_bins):
            tallies[c, b] = tallies[c, MOST_BINS + b] = 0
    _add_words(first, second, third, fourth, words, tallies)
    if not node.unit:
        for c in range(FOUR):
            for b in range(n_bins):
                tables[c, b, 0] = tables[c, b, 1] = 0.0
        _add_weights(first, second, third, fourth, node.weights, tables)
