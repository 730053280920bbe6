"""All coalitions of terms sent down one tree at once, in boxes and in runs.

A coalition says of which terms a mixed row has the values of the row x; of the others it has those
of the background row b.  All coalitions start at the root together.  At a node, a split that reads
x and b alike sends all of them to one side.  If not, a term of the split that is not yet decided
divides them: those with the term, and those without.  So a leaf is reached by boxes: all coalitions
with certain terms and without certain others.  Terms on which nothing depends are never decided,
so that there are far fewer boxes than coalitions.

For trees with splits on single predictors this is interventional TreeSHAP (Lundberg et al. 2020).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from odrf.engine.compiling import part
from odrf.engine.numeric import below
from odrf.engine.trees.packing import HEAD
from odrf.engine.trees.routing import term_at

# Coalitions are bits of a word.
MOST_PLAYERS = 64


class WalkMemory(NamedTuple):
    """Arrays that walks write to.

    `number` (P,): the number of each term among the players of a walk; -1 where it is none.
    `player` (P,): the terms that are players.
    `read` (P,): the last node that had the term undecided.
    `change`, `met` (P,): by how much terms that are undecided at a node change its projection;
      which terms these are.
    `clock` (1,): counts the nodes that are read.
    `waiting` (P + 66,): nodes that wait, in a stack.
    `ins`, `outs` (P + 66,): which players are in the coalitions that wait there, and which are
      not; of an order its first and last prefix.
    `leaf` (L,): leaves that were reached: by a box of coalitions, or by a run of prefixes.  There
      is room for boxes, and for the runs of one order behind them.
    `inside`, `outside` (L,): the players in every coalition of the box, and those in none; of a
      run its first and last prefix.
    `order`, `rank` (P,): the terms in a random order; the place of each term in it.
    `state` (4,): a stream of random numbers.
    `share`, `total`, `square` (P, K): what terms get from one order, from all orders, and the sum
      of its squares.
    """

    number: NDArray[np.int64]
    player: NDArray[np.int64]
    read: NDArray[np.int64]
    change: NDArray[np.float64]
    met: NDArray[np.int64]
    clock: NDArray[np.int64]
    waiting: NDArray[np.int64]
    ins: NDArray[np.uint64]
    outs: NDArray[np.uint64]
    leaf: NDArray[np.int64]
    inside: NDArray[np.uint64]
    outside: NDArray[np.uint64]
    order: NDArray[np.int64]
    rank: NDArray[np.int64]
    state: NDArray[np.uint64]
    share: NDArray[np.float64]
    total: NDArray[np.float64]
    square: NDArray[np.float64]


def walk_memory(P: int, K: int, most_boxes: int) -> WalkMemory:
    """Return the memory for P terms, K outputs and boxes up to so many in a tree."""
    room, leaves = P + MOST_PLAYERS + 2, most_boxes + P + 2
    whole, words = np.int64, np.uint64
    return WalkMemory(
        np.full(P, -1, dtype=whole), np.empty(P, dtype=whole), np.zeros(P, dtype=whole),
        np.empty(P), np.empty(P, dtype=whole), np.zeros(1, dtype=whole),
        np.empty(room, dtype=whole), np.empty(room, dtype=words), np.empty(room, dtype=words),
        np.empty(leaves, dtype=whole), np.empty(leaves, dtype=words), np.empty(leaves, dtype=words),
        np.empty(P, dtype=whole), np.empty(P, dtype=whole), np.empty(4, dtype=words),
        np.empty((P, K)), np.empty((P, K)), np.empty((P, K)),
    )  # fmt: skip


# All coalitions of terms sent down one tree at once, in boxes.

TOO_MANY = -1
# A bound of the relative rounding error of a sum in float32, for each of its terms.
ROUNDING = 2.0**-23


@part
def _read(
    rows, x, b, place, ins, outs, words, floats, level_words, level_floats, term_of, scratch
):  # fmt: skip
    """Return (side, -1) of a node's coalitions, or (0, term): an undecided term that moves most."""
    number, change, met, read = scratch.number, scratch.change, scratch.met, scratch.read
    scratch.clock[0] += 1
    clock, n_met = scratch.clock[0], 0
    projected, least, size = np.float32(0.0), 0.0, 0.0
    at, n_terms = place + HEAD, words[place + 3]
    for t in range(at, at + 2 * n_terms, 2):
        column = words[t]
        of_x = term_at(rows, x, column, t + 1, words, floats, level_words, level_floats)
        of_b = term_at(rows, b, column, t + 1, words, floats, level_words, level_floats)
        value = of_b
        if of_x != of_b:
            term = term_of[column if column >= 0 else -1 - column]
            player = number[term]
            bit = np.uint64(0)
            if player >= 0:
                bit = np.uint64(1) << np.uint64(player)
            if ins & bit:
                value = of_x
            elif not outs & bit:
                if read[term] != clock:
                    read[term], change[term], met[n_met] = clock, 0.0, term
                    n_met += 1
                change[term] += float(of_x) - float(of_b)
        projected += value
        least += float(value)
        size += max(abs(float(of_x)), abs(float(of_b)))
    threshold = floats[place + 2]
    if n_met == 0:
        return np.int64(not projected <= threshold), -1
    most, widest = least, met[0]
    for i in range(n_met):
        moved = change[met[i]]
        least += min(moved, 0.0)
        most += max(moved, 0.0)
        if abs(moved) > abs(change[widest]):
            widest = met[i]
    margin = ROUNDING * (n_terms + 1) * size
    if most + margin <= threshold:
        return 0, -1
    if least - margin > threshold:
        return 1, -1
    return 0, widest


@part
def members(word):
    """Return how many bits of a word are set."""
    one, two, four = np.uint64(1), np.uint64(2), np.uint64(4)
    word -= (word >> one) & np.uint64(0x5555555555555555)
    pairs = np.uint64(0x3333333333333333)
    word = (word & pairs) + ((word >> two) & pairs)
    word = (word + (word >> four)) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((word * np.uint64(0x0101010101010101)) >> np.uint64(56))


@part
def box_weight(a, b):
    """Return the share of orders in which a given terms come before b given others."""
    few, many, weight = min(a, b), max(a, b), 1.0
    for i in range(1, few + 1):
        weight *= i / (many + i)
    return weight


@part
def forget_players(n, scratch):
    """Make the first n players terms like all others."""
    for k in range(n):
        scratch.number[scratch.player[k]] = -1


@part
def boxes_of(
    rows, x, b, root, n_players, most, lightest, words, floats, level_words, level_floats, term_of,
    scratch,
):  # fmt: skip
    """Write the boxes of a tree to scratch.leaf, inside and outside; return their number.

    `rows`: x and b are where the two rows begin.
    `root`: the first record of the packed tree.
    `n_players`: the first terms in scratch.player, which are numbered; others follow as they are
      decided.
    `most`: if there are more boxes, or more players than bits in a word, the number is
      `TOO_MANY`.
    `lightest`: if above 0, boxes that would be too many, or of less weight than this (see
      `box_weight`), are not divided: then scratch.leaf has -1 - i, i the record where the box
      waits.
    `term_of` (r,): the term of each number of a row.
    Returns (int, int): the numbers of boxes and of players.
    """
    number, player = scratch.number, scratch.player
    waiting, all_ins, all_outs = scratch.waiting, scratch.ins, scratch.outs
    n_boxes, top = 0, 1
    waiting[0], all_ins[0], all_outs[0] = root, np.uint64(0), np.uint64(0)
    while top > 0:
        top -= 1
        place, ins, outs = waiting[top], all_ins[top], all_outs[top]
        while place >= 0:
            side, term = _read(
                rows, x, b, place, ins, outs, words, floats, level_words, level_floats, term_of,
                scratch,
            )  # fmt: skip
            if term < 0:
                child = np.int64(words[place + side])
                place = child if child < 0 else place + child
                continue
            if lightest > 0.0 and (
                box_weight(members(ins), members(outs)) < lightest
                or n_boxes + top + 2 > most
                or (number[term] < 0 and n_players == MOST_PLAYERS)
            ):
                break
            if number[term] < 0:
                if n_players == MOST_PLAYERS:
                    return TOO_MANY, n_players
                number[term], player[n_players] = n_players, term
                n_players += 1
            bit = np.uint64(1) << np.uint64(number[term])
            waiting[top], all_ins[top], all_outs[top] = place, ins, outs | bit
            top += 1
            ins |= bit
        if n_boxes == most:
            return TOO_MANY, n_players
        scratch.leaf[n_boxes] = -1 - place
        scratch.inside[n_boxes], scratch.outside[n_boxes] = ins, outs
        n_boxes += 1
    return n_boxes, n_players


@part
def share_boxes(n_boxes, n_players, value, output, weights, scratch, total):
    """Add to total (P, K) the Shapley values of the boxes that have a leaf.

    The game that is 1 in a box and 0 elsewhere gives each of the a players inside weights[a, b],
    and takes weights[b, a] from each of the b players outside.
    """
    for box in range(n_boxes):
        inside, outside, leaf = scratch.inside[box], scratch.outside[box], scratch.leaf[box]
        if leaf < 0:
            continue
        a, b = members(inside), members(outside)
        gain, loss = weights[a, b], weights[b, a]
        for k in range(n_players):
            bit = np.uint64(1) << np.uint64(k)
            weight = gain if inside & bit else -loss if outside & bit else 0.0
            if weight != 0.0:
                for c in range(value.shape[1]):
                    total[scratch.player[k], output + c] += weight * value[leaf, c]


# All prefixes of an order of terms sent down one tree at once, in runs.
# The prefix of length r of an order is the coalition of its first r terms.  A split sends runs of
# consecutive lengths to one side.  So one walk finds the leaves of all prefixes, and visits the
# nodes above a run once.

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

    The arguments are those of `boxes_of`, but for these.  `place`: the record where the prefixes
    begin.  `shortest`, `longest`: their lengths; scratch.rank has the ranks of all terms on which x
    and b differ in the tree.  `n_runs`: where the runs begin in scratch.leaf.
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


# Boxes of coalitions of little weight: their Shapley values by random orders.
# Where a tree has too many boxes to divide all, those of little weight stay as they are.  Let a box
# have all of a terms and none of b others.  An order meets it if the a terms come before the b;
# then the prefixes that lie in the box have consecutive lengths.  Such orders are drawn, and what
# they give is multiplied by their share of all orders, the weight of the box.

# Ranks of a term that all prefixes have, and of one that none has.
ALWAYS, NEVER = -1, 2**40


@part
def _met_by(k, inside, outside, n_in, scratch):
    """Move the terms of a box such that an order meets it; return the lengths of prefixes there."""
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
    """Add what any of a terms inside, or b outside, change as a run is entered and left."""
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

    Of `n_boxes` boxes those with a leaf below 0 wait, see `boxes_of`.
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
