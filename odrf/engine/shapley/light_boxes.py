"""Boxes of coalitions of little weight: their Shapley values by random orders.

Where a tree has too many boxes to divide all, those of little weight stay as they are.  Let a box
have all of a terms and none of b others.  An order meets it if the a terms come before the b; then
the prefixes that lie in the box have consecutive lengths.  Such orders are drawn, and what they
give is multiplied by their share of all orders, the weight of the box.
"""

from __future__ import annotations

import numpy as np

from odrf.engine.compiling import part
from odrf.engine.shapley.boxes import box_weight, members
from odrf.engine.shapley.order_runs import draw_order, reverse_order, runs_of

__all__ = ["draw_boxes"]

# Ranks of a term that all prefixes have, and of one that none has.
ALWAYS, NEVER = -1, 2**40


@part
def _met_by(k, inside, outside, n_in, scratch):
    """Make an order of k terms meet a box; return the lengths of its prefixes in the box.

    The terms of the box keep their places among the others, but those inside come first.
    """
    order, rank, number = scratch.order, scratch.rank, scratch.number
    seen, shortest, longest = 0, 0, k
    for i in range(k):
        term = order[i]
        if number[term] < 0:
            continue
        bit = np.uint64(1) << np.uint64(number[term])
        if (inside | outside) & bit:
            seen += 1
            if seen == n_in:
                shortest = i + 1
            elif seen == n_in + 1:
                longest = i
            rank[term] = ALWAYS if inside & bit else NEVER
    return shortest, longest


@part
def _add_run(run, shortest, longest, a, b, n_players, inside, outside, value, scratch):
    """Add to scratch.share what terms change as a run is entered and left.

    Any of the a terms inside may be the last of them, and any of the b outside the first.
    """
    lo, hi = np.int64(scratch.inside[run]), np.int64(scratch.outside[run])
    leaf, share, player = scratch.leaf[run], scratch.share, scratch.player
    for c in range(value.shape[1]):
        if lo > shortest:
            share[scratch.order[lo - 1], c] += value[leaf, c]
        if hi < longest:
            share[scratch.order[hi], c] -= value[leaf, c]
    if (lo == shortest and a > 0) or (hi == longest and b > 0):
        for i in range(n_players):
            bit = np.uint64(1) << np.uint64(i)
            if lo == shortest and inside & bit:
                for c in range(value.shape[1]):
                    share[player[i], c] += value[leaf, c] / a
            elif hi == longest and outside & bit:
                for c in range(value.shape[1]):
                    share[player[i], c] -= value[leaf, c] / b


@part
def draw_boxes(
    rows, x, b, n_boxes, n_players, k, n_draws, value, output, words, floats, level_words,
    level_floats, term_of, scratch, total, variance,
):  # fmt: skip
    """Add the values of the boxes that wait, each from random orders and their reverses.

    Of `n_boxes` boxes those with a leaf below 0 wait, see `odrf.engine.shapley.boxes.boxes_of`.
    Adds to total (P, K) the mean over `n_draws` orders of the k terms, and its variance.  Returns
    how many boxes wait.
    """
    K, share, waited = value.shape[1], scratch.share, 0
    for box in range(n_boxes):
        if scratch.leaf[box] >= 0:
            continue
        waited += 1
        inside, outside = scratch.inside[box], scratch.outside[box]
        n_in, n_out = members(inside), members(outside)
        half = 0.5 * box_weight(n_in, n_out)
        for i in range(k):
            scratch.total[scratch.order[i], :K] = 0.0
            scratch.square[scratch.order[i], :K] = 0.0
        for _ in range(n_draws):
            for i in range(k):
                share[scratch.order[i], :K] = 0.0
            draw_order(k, scratch)
            for _ in range(2):
                shortest, longest = _met_by(k, inside, outside, n_in, scratch)
                end = runs_of(
                    rows, x, b, -1 - scratch.leaf[box], shortest, longest, n_boxes, words, floats,
                    level_words, level_floats, term_of, scratch,
                )  # fmt: skip
                for run in range(n_boxes, end):
                    _add_run(
                        run, shortest, longest, n_in, n_out, n_players, inside, outside, value,
                        scratch,
                    )  # fmt: skip
                reverse_order(k, scratch)
            for i in range(k):
                term = scratch.order[i]
                for c in range(K):
                    drawn = half * share[term, c]
                    scratch.total[term, c] += drawn
                    scratch.square[term, c] += drawn * drawn
        for i in range(k):
            term = scratch.order[i]
            for c in range(K):
                mean = scratch.total[term, c] / n_draws
                spread = max(0.0, scratch.square[term, c] - n_draws * mean * mean)
                total[term, output + c] += mean
                variance[term, output + c] += spread / (n_draws - 1) / n_draws
    return waited
