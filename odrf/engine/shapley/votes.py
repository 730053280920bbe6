"""Shapley values of shares of votes, which are no sum over the trees.

The votes of all trees are added up for each coalition, and divided by their total.  So the forest
is one game: of all terms on which two rows differ.  Its coalitions are enumerated where these are
few; otherwise votes are added up along random orders.
"""

from __future__ import annotations

import numpy as np

from odrf.engine.compiling import kernel, part
from odrf.engine.shapley.boxes import boxes_of, forget_players
from odrf.engine.shapley.interaction_shares import pair_weight
from odrf.engine.shapley.order_runs import branch_stream, draw_order, reverse_order, runs_of
from odrf.engine.shapley.tree_shares import differing
from odrf.engine.shapley.vote_tables import add_tabled_votes, fill_box, fill_tables
from odrf.engine.shapley.walk_memory import MOST_PLAYERS

__all__ = ["add_vote_interactions", "add_vote_shares"]


@part
def _to_shares(votes, n):
    """Divide each of the first n rows of votes by its sum."""
    for i in range(n):
        total = 0.0
        for c in range(votes.shape[1]):
            total += votes[i, c]
        for c in range(votes.shape[1]):
            votes[i, c] /= total


@part
def _share_table(k, weights, votes, scratch, total):
    """Add to total (P, K) the Shapley values of k players from the shares of all coalitions."""
    for coalition in range(1 << k):
        size = 0
        for i in range(k):
            size += (coalition >> i) & 1
        for i in range(k):
            weight = -weights[k - size, size]
            if (coalition >> i) & 1:
                weight = weights[size, k - size]
            for c in range(votes.shape[1]):
                total[scratch.player[i], c] += weight * votes[coalition, c]


@part
def _pair_table(k, weights, votes, scratch, total):
    """Add to total (P, P, K) the interaction values of k players from all coalitions."""
    for coalition in range(1 << k):
        size = 0
        for i in range(k):
            size += (coalition >> i) & 1
        for i in range(k):
            i_inside = (coalition >> i) & 1 > 0
            own = weights[size, k - size] if i_inside else -weights[k - size, size]
            for j in range(k):
                if i != j:
                    j_inside = (coalition >> j) & 1 > 0
                    weight = pair_weight(weights, size, k - size, i_inside, j_inside)
                    own -= weight
                    for c in range(votes.shape[1]):
                        added = weight * votes[coalition, c]
                        total[scratch.player[i], scratch.player[j], c] += added
            for c in range(votes.shape[1]):
                total[scratch.player[i], scratch.player[i], c] += own * votes[coalition, c]


@part
def _enumerate(
    rows, x, b, k, root, words, floats, level_words, level_floats, term_of, value, votes, scratch
):  # fmt: skip
    """Write to votes (≥ 2^k, K) the shares of votes of each coalition of scratch.player."""
    for i in range(k):
        scratch.player[i] = scratch.order[i]
        scratch.number[scratch.order[i]] = i
    votes[: 1 << k] = 0.0
    for tree in range(len(root)):
        n_boxes, _ = boxes_of(
            rows, x, b, root[tree], k, 1 << k, 0.0, words, floats, level_words, level_floats,
            term_of, scratch,
        )  # fmt: skip
        for box in range(n_boxes):
            fill_box(box, k, value, scratch, votes)
    forget_players(k, scratch)
    _to_shares(votes, 1 << k)


@part
def _add_order(
    rows, x, b, k, root, words, floats, level_words, level_floats, term_of, value, votes, tables,
    scratch,
):  # fmt: skip
    """Add to scratch.share half of what each term changes as it enters, in the order."""
    votes[: k + 1] = 0.0
    add_tabled_votes(k, scratch.order, tables, votes)
    for tree in range(len(root)):
        if tables.tabled[tree]:
            continue
        n_runs = runs_of(
            rows, x, b, root[tree], 0, k, 0, words, floats, level_words, level_floats, term_of,
            scratch,
        )  # fmt: skip
        for run in range(n_runs):
            lo, hi = np.int64(scratch.inside[run]), np.int64(scratch.outside[run])
            for r in range(lo, hi + 1):
                for c in range(value.shape[1]):
                    votes[r, c] += value[scratch.leaf[run], c]
    _to_shares(votes, k + 1)
    for i in range(k):
        for c in range(value.shape[1]):
            scratch.share[scratch.order[i], c] += 0.5 * (votes[i + 1, c] - votes[i, c])


@part
def _draw(
    rows, x, b, k, n_draws, root, words, floats, level_words, level_floats, term_of, used, value,
    votes, tables, scratch, total, variance,
):  # fmt: skip
    fill_tables(
        rows, x, b, root, words, floats, level_words, level_floats, term_of, used, value, scratch,
        tables,
    )  # fmt: skip
    scratch.total[:], scratch.square[:] = 0.0, 0.0
    for _ in range(n_draws):
        scratch.share[:] = 0.0
        draw_order(k, scratch)
        for _ in range(2):
            _add_order(
                rows, x, b, k, root, words, floats, level_words, level_floats, term_of, value,
                votes, tables, scratch,
            )  # fmt: skip
            reverse_order(k, scratch)
        for i in range(k):
            for c in range(value.shape[1]):
                half = scratch.share[scratch.order[i], c]
                scratch.total[scratch.order[i], c] += half
                scratch.square[scratch.order[i], c] += half * half
    for i in range(k):
        term = scratch.order[i]
        for c in range(value.shape[1]):
            mean = scratch.total[term, c] / n_draws
            spread = max(0.0, scratch.square[term, c] - n_draws * mean * mean)
            total[term, c] += mean
            variance[term, c] += spread / (n_draws - 1) / n_draws


@kernel
def add_vote_shares(
    rows, stride, x, row, root, words, floats, level_words, level_floats, term_of, used, any_used,
    value, weights, most, n_draws, origin, votes, tables, scratch, total, variance, counts,
):  # fmt: skip
    """Add the Shapley values of shares of votes against a background row.

    The arguments are those of `odrf.engine.shapley.tree_shares.add_shares`, but for these.

    Parameters
    ----------
    row : int
        The background row.
    any_used : (P,) bool
        Which terms any tree reads.
    most : int
        Most coalitions that are enumerated.
    votes : (≥ most, ≥ P + 1; K) float64
        Scratch: the votes of each coalition, or of each prefix of an order.
    tables : VoteTables
        Scratch.
    """
    k = differing(rows, x * stride, row * stride, term_of, any_used, scratch.order)
    if k == 0:
        return
    exact = k < MOST_PLAYERS - 2 and 1 << k <= most
    counts[np.int64(not exact)] += 1
    if exact:
        _enumerate(
            rows, x * stride, row * stride, k, root, words, floats, level_words, level_floats,
            term_of, value, votes, scratch,
        )  # fmt: skip
        _share_table(k, weights, votes, scratch, total)
    else:
        branch_stream(origin, row, scratch.state)
        _draw(
            rows, x * stride, row * stride, k, n_draws, root, words, floats, level_words,
            level_floats, term_of, used, value, votes, tables, scratch, total, variance,
        )  # fmt: skip


@kernel
def add_vote_interactions(
    rows, stride, x, row, root, words, floats, level_words, level_floats, term_of, any_used, value,
    weights, most, votes, scratch, total,
):  # fmt: skip
    """Add to total (P, P, K) the interaction values of shares of votes against a background row.

    The other arguments are those of `add_vote_shares`.  Returns whether there were no more than
    `most` coalitions; else nothing is added.
    """
    k = differing(rows, x * stride, row * stride, term_of, any_used, scratch.order)
    if k >= MOST_PLAYERS - 2 or 1 << k > most:
        return False
    _enumerate(
        rows, x * stride, row * stride, k, root, words, floats, level_words, level_floats, term_of,
        value, votes, scratch,
    )  # fmt: skip
    _pair_table(k, weights, votes, scratch, total)
    return True
