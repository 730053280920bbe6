"""Shapley values of sums of trees: tree by tree, for one row and some background rows.

The Shapley value of a sum is the sum of the Shapley values.  So each tree is a game of its own, of
the few terms that it reads and on which the two rows differ.
"""

from __future__ import annotations

import numpy as np

from odrf.engine.compiling import kernel, part
from odrf.engine.shapley.boxes import TOO_MANY, boxes_of, forget_players
from odrf.engine.shapley.order_runs import branch_stream, draw_order, reverse_order, runs_of
from odrf.engine.shapley.walk_memory import MOST_PLAYERS

__all__ = ["TRIALS", "add_runs", "add_shares", "count_failures", "differing", "members"]

# A tree with so many pairs of rows of too many boxes is not tried with others.
TRIALS = 2


@part
def differing(rows, x, b, term_of, used, order):
    """Write to `order` the terms that are `used` (P,) and on which two rows differ; return k."""
    k = 0
    for j in range(len(term_of)):
        term = term_of[j]
        if rows[x + j] != rows[b + j] and used[term]:
            known = False
            for i in range(k):
                known = known or order[i] == term
            if not known:
                order[k] = term
                k += 1
    return k


@part
def members(word, n):
    """Return how many of the first n bits of a word are set."""
    count = np.int64(0)
    for k in range(n):
        count += np.int64((word >> np.uint64(k)) & np.uint64(1))
    return count


@part
def _share_boxes(n_boxes, n_players, value, output, weights, scratch, total):
    """Add to total (P, K) the Shapley values of boxes.

    The game that is 1 in a box and 0 elsewhere gives each of the a players inside weights[a, b],
    and takes weights[b, a] from each of the b players outside.
    """
    for box in range(n_boxes):
        inside, outside, leaf = scratch.inside[box], scratch.outside[box], scratch.leaf[box]
        a, b = members(inside, n_players), members(outside, n_players)
        gain, loss = weights[a, b], weights[b, a]
        for k in range(n_players):
            bit = np.uint64(1) << np.uint64(k)
            weight = gain if inside & bit else -loss if outside & bit else 0.0
            if weight != 0.0:
                for c in range(value.shape[1]):
                    total[scratch.player[k], output + c] += weight * value[leaf, c]


@part
def add_runs(n_runs, k, value, scratch):
    """Add to scratch.share what each of k terms changes as it enters."""
    for run in range(n_runs):
        leaf = scratch.leaf[run]
        lo, hi = np.int64(scratch.inside[run]), np.int64(scratch.outside[run])
        for c in range(value.shape[1]):
            if lo > 0:
                scratch.share[scratch.order[lo - 1], c] += value[leaf, c]
            if hi < k:
                scratch.share[scratch.order[hi], c] -= value[leaf, c]


@part
def _draw_shares(
    rows, x, b, root, k, n_draws, value, output, words, floats, level_words, level_floats, term_of,
    scratch, total, variance,
):  # fmt: skip
    """Add the mean share over random orders of k terms and their reverses, and its variance."""
    K, share = value.shape[1], scratch.share
    for i in range(k):
        scratch.total[scratch.order[i], :K] = 0.0
        scratch.square[scratch.order[i], :K] = 0.0
    for _ in range(n_draws):
        for i in range(k):
            share[scratch.order[i], :K] = 0.0
        draw_order(k, scratch)
        for _ in range(2):
            n_runs = runs_of(
                rows, x, b, root, k, words, floats, level_words, level_floats, term_of, scratch
            )
            add_runs(n_runs, k, value, scratch)
            reverse_order(k, scratch)
        for i in range(k):
            term = scratch.order[i]
            for c in range(K):
                half = 0.5 * share[term, c]
                scratch.total[term, c] += half
                scratch.square[term, c] += half * half
    for i in range(k):
        term = scratch.order[i]
        for c in range(K):
            mean = scratch.total[term, c] / n_draws
            spread = max(0.0, scratch.square[term, c] - n_draws * mean * mean)
            total[term, output + c] += mean
            variance[term, output + c] += spread / (n_draws - 1) / n_draws


@kernel
def add_shares(
    rows, stride, x, n_background, first, last, root, words, floats, level_words, level_floats,
    term_of, used, value, n_outputs, weights, most, n_draws, origin, failed, scratch, total,
    variance, counts,
):  # fmt: skip
    """Add the Shapley values of a row against the background rows first … last - 1.

    Parameters
    ----------
    rows : flat float32
        Row i begins at i · stride; x is the number of the row that is explained, and the first
        `n_background` are the background.
    root, words, floats, level_words, level_floats
        The packed trees.
    term_of : (r,) int64
        The term of each number of a row.
    used : (B, P) bool
        Which terms each tree reads.
    value : (m, K) float64
        The values of leaves; if K is 1, tree b adds to output b modulo `n_outputs`.
    weights : (65, 65) float64
        See `odrf.statistics.shapley.box_weights.box_weights`.
    most : int
        Most boxes of a tree; with more, orders are drawn.
    n_draws : int
        Random orders, each with its reverse, of a tree that has more.
    origin : (4,) uint64
        What random numbers follow from; those of a tree and a background row are the same for all
        rows that are explained.
    failed : (B,) int64
        How often a tree has had too many boxes; from `TRIALS` on it is only tried where a pair of
        rows cannot have too many.
    total, variance : (P, K) float64
        The values are added to `total`, the variances of those that are drawn to `variance`.
    counts : (2,) int64
        Counts the trees that are enumerated, and those that are not.
    """
    n_trees = len(root)
    for tree in range(n_trees):
        output = tree % n_outputs if value.shape[1] == 1 else 0
        for row in range(first, last):
            k = differing(rows, x * stride, row * stride, term_of, used[tree], scratch.order)
            if root[tree] < 0 or k == 0:
                continue
            n_boxes = TOO_MANY
            if failed[tree] < TRIALS or (k < MOST_PLAYERS - 2 and 1 << k <= most):
                n_boxes, n_players = boxes_of(
                    rows, x * stride, row * stride, root[tree], 0, most, words, floats,
                    level_words, level_floats, term_of, scratch,
                )  # fmt: skip
                _share_boxes(n_boxes, n_players, value, output, weights, scratch, total)
                forget_players(n_players, scratch)
            failed[tree] += n_boxes == TOO_MANY
            counts[np.int64(n_boxes == TOO_MANY)] += 1
            if n_boxes == TOO_MANY:
                branch_stream(origin, tree * n_background + row, scratch.state)
                _draw_shares(
                    rows, x * stride, row * stride, root[tree], k, n_draws, value, output, words,
                    floats, level_words, level_floats, term_of, scratch, total, variance,
                )  # fmt: skip


@kernel
def count_failures(
    rows, stride, pairs, root, words, floats, level_words, level_floats, term_of, most, scratch,
    failed,
):  # fmt: skip
    """Write to failed (B,) how many of the `pairs` of rows, 0 and 1, 2 and 3, …, fail in each tree.

    A pair fails where it has more than `most` boxes.
    """
    for tree in range(len(root)):
        failed[tree] = 0
        for pair in range(pairs):
            n_boxes, n_players = boxes_of(
                rows, 2 * pair * stride, (2 * pair + 1) * stride, root[tree], 0, most, words,
                floats, level_words, level_floats, term_of, scratch,
            )  # fmt: skip
            forget_players(n_players, scratch)
            failed[tree] += n_boxes == TOO_MANY
