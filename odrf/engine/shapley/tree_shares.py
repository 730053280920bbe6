"""Shapley values of sums of trees: tree by tree, for one row and some background rows.

The Shapley value of a sum is the sum of the Shapley values.  So each tree is a game of its own, of
the few terms that it reads and on which the two rows differ.
"""

from __future__ import annotations

import numpy as np

from odrf.engine.compiling import kernel, part
from odrf.engine.shapley.boxes import TOO_MANY, boxes_of, forget_players, share_boxes
from odrf.engine.shapley.light_boxes import draw_boxes
from odrf.engine.shapley.order_runs import branch_stream
from odrf.engine.shapley.walk_memory import MOST_PLAYERS

__all__ = ["TRIALS", "add_shares", "count_failures", "differing"]

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


@kernel
def add_shares(
    rows, stride, x, n_background, first, last, root, words, floats, level_words, level_floats,
    term_of, used, value, n_outputs, weights, most, lightest, n_draws, origin, failed, scratch,
    total, variance, counts,
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
        Most boxes of a tree; if it has more, boxes of little weight are not divided, and their
        values are drawn.
    lightest : float
        The least weight of a box that is divided then.
    n_draws : int
        Random orders, each with its reverse, of each box that is not divided.
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
                    rows, x * stride, row * stride, root[tree], 0, most, 0.0, words, floats,
                    level_words, level_floats, term_of, scratch,
                )  # fmt: skip
                share_boxes(n_boxes, n_players, value, output, weights, scratch, total)
                forget_players(n_players, scratch)
            failed[tree] += n_boxes == TOO_MANY
            waited = 0
            if n_boxes == TOO_MANY:
                n_boxes, n_players = boxes_of(
                    rows, x * stride, row * stride, root[tree], 0, max(most, 1), lightest, words,
                    floats, level_words, level_floats, term_of, scratch,
                )  # fmt: skip
                share_boxes(n_boxes, n_players, value, output, weights, scratch, total)
                branch_stream(origin, tree * n_background + row, scratch.state)
                waited = draw_boxes(
                    rows, x * stride, row * stride, n_boxes, n_players, k, n_draws, value, output,
                    words, floats, level_words, level_floats, term_of, scratch, total, variance,
                )  # fmt: skip
                forget_players(n_players, scratch)
            counts[np.int64(waited > 0)] += 1


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
                rows, 2 * pair * stride, (2 * pair + 1) * stride, root[tree], 0, most, 0.0,
                words, floats, level_words, level_floats, term_of, scratch,
            )  # fmt: skip
            forget_players(n_players, scratch)
            failed[tree] += n_boxes == TOO_MANY
