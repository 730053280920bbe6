"""Shapley values and interactions of sums of trees: tree by tree.

The Shapley value of a sum is the sum of the Shapley values.  So each tree is a game of its own, of
the few terms that it reads and on which the two rows differ.
"""

from __future__ import annotations

import numpy as np

from odrf.engine.compiling import kernel, part
from odrf.engine.shapley_boxes import (
    MOST_PLAYERS,
    TOO_MANY,
    boxes_of,
    branch_stream,
    draw_boxes,
    draw_order,
    forget_players,
    members,
    reverse_order,
    runs_of,
    share_boxes,
)

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

    `rows`: row i begins at i · stride; x is the number of the row that is explained, and the
      first `n_background` are the background.
    `root`, `words`, `floats`, `level_words`, `level_floats`: the packed trees.
    `term_of` (r,): the term of each number of a row.
    `used` (B, P): which terms each tree reads.
    `value` (m, K): the values of leaves; if K is 1, tree b adds to output b modulo `n_outputs`.
    `weights` (65, 65): see `odrf.statistics.shapley.box_weights`.
    `most`: most boxes of a tree; if it has more, boxes of little weight are not divided, and
      their values are drawn.
    `lightest`: the least weight of a box that is divided then.
    `n_draws`: random orders, each with its reverse, of each box that is not divided.
    `origin` (4,): what random numbers follow from; those of a tree and a background row are the
      same for all rows that are explained.
    `failed` (B,): how often a tree has had too many boxes; from `TRIALS` on it is only tried
      where a pair of rows cannot have too many.
    `total`, `variance` (P, K): the values are added to `total`, the variances of those that are
      drawn to `variance`.
    `counts` (2,): counts the trees that are enumerated, and those that are not.
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
    """Write to failed (B,) how many of the pairs of rows 0 and 1, … have more than `most` boxes."""
    for tree in range(len(root)):
        failed[tree] = 0
        for pair in range(pairs):
            n_boxes, n_players = boxes_of(
                rows, 2 * pair * stride, (2 * pair + 1) * stride, root[tree], 0, most, 0.0,
                words, floats, level_words, level_floats, term_of, scratch,
            )  # fmt: skip
            forget_players(n_players, scratch)
            failed[tree] += n_boxes == TOO_MANY


# Shapley interaction values of sums of trees: for pairs of terms, tree by tree.
# The interaction value of a pair is half of its Shapley interaction index; so what two terms do
# together is divided between the entries (i, j) and (j, i), and what is left of the Shapley value
# of a term is on the diagonal (Lundberg et al. 2020).

# Ranks of a term that all prefixes of an order have, and of one that none has.
ALWAYS, NEVER = -1, 2**40


@part
def _pair_weight(weights, a, b, i_inside, j_inside):
    """Return half of the interaction index of two players of a box with a inside and b outside."""
    if i_inside and j_inside:
        return 0.5 * weights[a - 1, b]
    if not i_inside and not j_inside:
        return 0.5 * weights[b - 1, a]
    return -0.5 * weights[a, b - 1]


@part
def _pair_boxes(n_boxes, n_players, value, output, weights, scratch, total):
    """Add to total (P, P, K) the interaction values of boxes."""
    one, player = np.uint64(1), scratch.player
    for box in range(n_boxes):
        inside, outside, leaf = scratch.inside[box], scratch.outside[box], scratch.leaf[box]
        a, b = members(inside), members(outside)
        for i in range(n_players):
            bit = one << np.uint64(i)
            if not (inside | outside) & bit:
                continue
            own = weights[a, b] if inside & bit else -weights[b, a]
            for j in range(n_players):
                other = one << np.uint64(j)
                if i == j or not (inside | outside) & other:
                    continue
                weight = _pair_weight(weights, a, b, inside & bit > 0, inside & other > 0)
                own -= weight
                for c in range(value.shape[1]):
                    total[player[i], player[j], output + c] += weight * value[leaf, c]
            for c in range(value.shape[1]):
                total[player[i], player[i], output + c] += own * value[leaf, c]


@part
def _add_runs(n_runs, k, value, scratch):
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
def _draw_share(
    rows, x, b, root, k, value, words, floats, level_words, level_floats, term_of, scratch
):  # fmt: skip
    """Write to scratch.share what k terms change along an order and along its reverse, summed."""
    for i in range(k):
        scratch.share[scratch.order[i]] = 0.0
    draw_order(k, scratch)
    for _ in range(2):
        n_runs = runs_of(
            rows, x, b, root, 0, k, 0, words, floats, level_words, level_floats, term_of, scratch
        )
        _add_runs(n_runs, k, value, scratch)
        reverse_order(k, scratch)


@part
def _draw_pairs(
    rows, x, b, root, k, n_draws, value, output, words, floats, level_words, level_floats, term_of,
    scratch, drawn, total, variance,
):  # fmt: skip
    """Add interaction values of k terms from random orders, and their variance.

    `drawn` (3, P, P, K) is scratch: one draw, the sum of all, and the sum of their squares.
    """
    K = value.shape[1]
    terms = scratch.player
    for i in range(k):
        terms[i] = scratch.order[i]
    for i in range(k):
        for j in range(k):
            drawn[1:, terms[i], terms[j], :K] = 0.0
    for _ in range(n_draws):
        for i in range(k):
            scratch.order[i] = terms[i]
        _draw_share(
            rows, x, b, root, k, value, words, floats, level_words, level_floats, term_of, scratch
        )
        for i in range(k):
            for j in range(k):
                drawn[0, terms[i], terms[j], :K] = 0.0
            for c in range(K):
                drawn[0, terms[i], terms[i], c] = 0.5 * scratch.share[terms[i], c]
        for fixed in range(k):
            others = 0
            for i in range(k):
                if i != fixed:
                    scratch.order[others] = terms[i]
                    others += 1
            state = scratch.state[0], scratch.state[1], scratch.state[2], scratch.state[3]
            for side in range(2):
                for i in range(others):
                    scratch.order[i] = terms[i if i < fixed else i + 1]
                for i in range(4):
                    scratch.state[i] = state[i]
                scratch.rank[terms[fixed]] = ALWAYS if side == 0 else NEVER
                _draw_share(
                    rows, x, b, root, others, value, words, floats, level_words, level_floats,
                    term_of, scratch,
                )  # fmt: skip
                # half of a pair, the mean of an order and its reverse, of (i, j) and (j, i)
                weight = 0.125 if side == 0 else -0.125
                for i in range(others):
                    term = terms[i if i < fixed else i + 1]
                    for c in range(K):
                        change = weight * scratch.share[term, c]
                        drawn[0, terms[fixed], term, c] += change
                        drawn[0, term, terms[fixed], c] += change
        for i in range(k):
            for j in range(k):
                if i != j:
                    for c in range(K):
                        drawn[0, terms[i], terms[i], c] -= drawn[0, terms[i], terms[j], c]
        for i in range(k):
            for j in range(k):
                for c in range(K):
                    value_drawn = drawn[0, terms[i], terms[j], c]
                    drawn[1, terms[i], terms[j], c] += value_drawn
                    drawn[2, terms[i], terms[j], c] += value_drawn * value_drawn
    for i in range(k):
        for j in range(k):
            for c in range(K):
                mean = drawn[1, terms[i], terms[j], c] / n_draws
                spread = max(0.0, drawn[2, terms[i], terms[j], c] - n_draws * mean * mean)
                total[terms[i], terms[j], output + c] += mean
                variance[terms[i], terms[j], output + c] += spread / (n_draws - 1) / n_draws


@kernel
def add_interactions(
    rows, stride, x, n_background, first, last, root, words, floats, level_words, level_floats,
    term_of, used, value, n_outputs, weights, most, n_draws, origin, failed, scratch, drawn, total,
    variance, counts,
):  # fmt: skip
    """Add the interaction values of a row against the background rows first … last - 1.

    The arguments are those of `add_shares`, but `total` and
    `variance` are (P, P, K), and drawn (3, P, P, K) is scratch.
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
                _pair_boxes(n_boxes, n_players, value, output, weights, scratch, total)
                forget_players(n_players, scratch)
            failed[tree] += n_boxes == TOO_MANY
            counts[np.int64(n_boxes == TOO_MANY)] += 1
            if n_boxes == TOO_MANY:
                branch_stream(origin, tree * n_background + row, scratch.state)
                _draw_pairs(
                    rows, x * stride, row * stride, root[tree], k, n_draws, value, output, words,
                    floats, level_words, level_floats, term_of, scratch, drawn, total, variance,
                )  # fmt: skip
