"""The votes of each tree for all coalitions of the few terms that it reads.

Along an order of the terms, a tree's votes change only as one of its own terms enters.  Where trees
read few terms each, a table of their votes for all coalitions makes this one look-up.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from odrf.engine.compiling import part
from odrf.engine.shapley.boxes import boxes_of, forget_players
from odrf.engine.shapley.tree_shares import differing

__all__ = ["VoteTables", "add_tabled_votes", "fill_box", "fill_tables", "vote_tables"]

# Terms of a tree with a table.
MOST_TERMS = 8


class VoteTables(NamedTuple):
    """Memory for the tables of one pair of rows.

    Attributes
    ----------
    votes : (B, 2^8, K) float64
        The votes of each tree by coalition of its terms.
    tabled : (B,) bool
        Whether a tree has a table: it reads no more than 8 of the terms that differ.
    bit : (B, P) int64
        Which bit of a tree's coalitions a term is; -1 for none.
    term : (P,) int64
        Terms of one tree.
    """

    votes: NDArray[np.float64]
    tabled: NDArray[np.bool_]
    bit: NDArray[np.int64]
    term: NDArray[np.int64]


def vote_tables(B: int, P: int, K: int) -> VoteTables:
    """Return the memory for B trees, P terms and K classes."""
    return VoteTables(
        np.empty((B, 1 << MOST_TERMS, K)),
        np.empty(B, dtype=np.bool_),
        np.empty((B, P), dtype=np.int64),
        np.empty(P, dtype=np.int64),
    )


@part
def fill_box(box, k, value, scratch, votes):
    """Add the votes of a leaf to all coalitions of k players that are in a box."""
    full = (np.uint64(1) << np.uint64(k)) - np.uint64(1)
    inside, leaf = scratch.inside[box], scratch.leaf[box]
    free = full & ~(inside | scratch.outside[box])
    rest = free
    while True:
        for c in range(value.shape[1]):
            votes[np.int64(inside | rest), c] += value[leaf, c]
        if rest == 0:
            break
        rest = (rest - np.uint64(1)) & free


@part
def fill_tables(
    rows, x, b, root, words, floats, level_words, level_floats, term_of, used, value, scratch,
    tables,
):  # fmt: skip
    """Write the tables of a pair of rows."""
    for tree in range(len(root)):
        k = differing(rows, x, b, term_of, used[tree], tables.term)
        tables.tabled[tree] = k <= MOST_TERMS
        tables.bit[tree] = -1
        if not tables.tabled[tree]:
            continue
        for i in range(k):
            scratch.player[i] = tables.term[i]
            scratch.number[tables.term[i]] = i
            tables.bit[tree, tables.term[i]] = i
        tables.votes[tree, : 1 << k] = 0.0
        n_boxes, _ = boxes_of(
            rows, x, b, root[tree], k, 1 << k, 0.0, words, floats, level_words, level_floats,
            term_of, scratch,
        )  # fmt: skip
        for box in range(n_boxes):
            fill_box(box, k, value, scratch, tables.votes[tree])
        forget_players(k, scratch)


@part
def add_tabled_votes(k, order, tables, votes):
    """Add to votes (≥ k + 1, K) those of the trees with tables, for each prefix of an order."""
    for tree in range(len(tables.tabled)):
        if not tables.tabled[tree]:
            continue
        coalition, first = 0, 0
        for i in range(k):
            bit = tables.bit[tree, order[i]]
            if bit >= 0:
                for r in range(first, i + 1):
                    for c in range(votes.shape[1]):
                        votes[r, c] += tables.votes[tree, coalition, c]
                coalition |= 1 << bit
                first = i + 1
        for r in range(first, k + 1):
            for c in range(votes.shape[1]):
                votes[r, c] += tables.votes[tree, coalition, c]
