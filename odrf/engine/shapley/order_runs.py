"""All prefixes of an order of terms sent down one tree at once, in runs.

The prefix of length r of an order is the coalition of its first r terms.  A split sends runs of
consecutive lengths to one side.  So one walk finds the leaves of all prefixes, and visits the nodes
above a run once.
"""

from __future__ import annotations

import numpy as np

from odrf.engine.compiling import part
from odrf.engine.randomness import below
from odrf.engine.trees.packing import HEAD
from odrf.engine.trees.walking import term_at

__all__ = ["branch_stream", "draw_order", "reverse_order", "runs_of"]

# The increment and the multipliers of SplitMix64.
GOLDEN = 0x9E3779B97F4A7C15
FIRST, SECOND = 0xBF58476D1CE4E5B9, 0x94D049BB133111EB


@part
def branch_stream(origin, key, state):
    """Write to state (4,) the stream that an origin (4,) and a key determine (SplitMix64)."""
    for i in range(4):
        word = origin[i] + (np.uint64(key) + np.uint64(1)) * np.uint64(GOLDEN)
        word = (word ^ (word >> np.uint64(30))) * np.uint64(FIRST)
        word = (word ^ (word >> np.uint64(27))) * np.uint64(SECOND)
        state[i] = word ^ (word >> np.uint64(31))


@part
def draw_order(k, scratch):
    """Bring the first k terms of scratch.order into a random order; write their ranks."""
    order, rank = scratch.order, scratch.rank
    for i in range(k):
        j = i + below(scratch.state, k - i)
        order[i], order[j] = order[j], order[i]
        rank[order[i]] = i


@part
def reverse_order(k, scratch):
    """Reverse the first k terms of scratch.order, and their ranks."""
    order, rank = scratch.order, scratch.rank
    for i in range(k // 2):
        order[i], order[k - 1 - i] = order[k - 1 - i], order[i]
    for i in range(k):
        rank[order[i]] = i


@part
def _side(
    rows, x, b, place, r, words, floats, level_words, level_floats, term_of, rank
):  # fmt: skip
    """Return where the prefix of length r goes, and the next length that could go elsewhere."""
    projected, following = np.float32(0.0), np.int64(2**62)
    at = place + HEAD
    for t in range(at, at + 2 * words[place + 3], 2):
        column = words[t]
        of_x = term_at(rows, x, column, t + 1, words, floats, level_words, level_floats)
        of_b = term_at(rows, b, column, t + 1, words, floats, level_words, level_floats)
        value = of_b
        if of_x != of_b:
            enters = rank[term_of[column if column >= 0 else -1 - column]] + 1
            if enters <= r:
                value = of_x
            else:
                following = min(following, enters)
        projected += value
    return np.int64(not projected <= floats[place + 2]), following


@part
def runs_of(
    rows, x, b, place, shortest, longest, n_runs, words, floats, level_words, level_floats, term_of,
    scratch,
):  # fmt: skip
    """Write runs of prefixes of an order to scratch.leaf, inside and outside; return their end.

    The arguments are those of `odrf.engine.shapley.boxes.boxes_of`, but for these.

    Parameters
    ----------
    place : int
        The record where the prefixes begin.
    shortest, longest : int
        Their lengths; scratch.rank has the ranks of all terms on which x and b differ in the tree.
    n_runs : int
        Where the runs begin in scratch.leaf.
    """
    waiting, firsts, lasts = scratch.waiting, scratch.ins, scratch.outs
    top = 1
    waiting[0], firsts[0], lasts[0] = place, np.uint64(shortest), np.uint64(longest)
    while top > 0:
        top -= 1
        place, lo, hi = waiting[top], np.int64(firsts[top]), np.int64(lasts[top])
        while place >= 0:
            side, following = _side(
                rows, x, b, place, lo, words, floats, level_words, level_floats, term_of,
                scratch.rank,
            )  # fmt: skip
            while following <= hi:
                other, later = _side(
                    rows, x, b, place, following, words, floats, level_words, level_floats,
                    term_of, scratch.rank,
                )  # fmt: skip
                if other != side:
                    waiting[top] = place
                    firsts[top], lasts[top] = np.uint64(following), np.uint64(hi)
                    top += 1
                    hi = following - 1
                    break
                following = later
            child = np.int64(words[place + side])
            place = child if child < 0 else place + child
        scratch.leaf[n_runs] = -1 - place
        scratch.inside[n_runs], scratch.outside[n_runs] = np.uint64(lo), np.uint64(hi)
        n_runs += 1
    return n_runs
