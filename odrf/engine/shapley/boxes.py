"""All coalitions of terms sent down one tree at once, in boxes.

A coalition says of which terms a mixed row has the values of the row x; of the others it has those
of the background row b.  All coalitions start at the root together.  At a node, a split that reads
x and b alike sends all of them to one side.  If not, a term of the split that is not yet decided
divides them: those with the term, and those without.  So a leaf is reached by boxes: all coalitions
with certain terms and without certain others.  Terms on which nothing depends are never decided,
so that there are far fewer boxes than coalitions.

For trees with splits on single predictors this is interventional TreeSHAP (Lundberg et al. 2020).
"""

from __future__ import annotations

import numpy as np

from odrf.engine.compiling import part
from odrf.engine.shapley.walk_memory import MOST_PLAYERS
from odrf.engine.trees.packing import HEAD
from odrf.engine.trees.walking import term_at

__all__ = ["TOO_MANY", "box_weight", "boxes_of", "forget_players", "members", "share_boxes"]

TOO_MANY = -1
# A bound of the relative rounding error of a sum in float32, for each of its terms.
ROUNDING = 2.0**-23


@part
def _read(
    rows, x, b, place, ins, outs, words, floats, level_words, level_floats, term_of, scratch
):  # fmt: skip
    """Read a node; return where its coalitions go, or the term that divides them.

    Returns (side, -1), or (0, term) if the side depends on undecided terms: then the one that
    changes the projection most.
    """
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

    Parameters
    ----------
    rows : flat float32
        x and b are where the two rows begin.
    root : int
        The first record of the packed tree.
    n_players : int
        The first terms in scratch.player, which are numbered; others follow as they are decided.
    most : int
        If there are more boxes, or more players than bits in a word, the number is `TOO_MANY`.
    lightest : float
        If above 0, boxes that would be too many, or of less weight than this (see `box_weight`),
        are not divided: then scratch.leaf has -1 - i, i the record where the box waits.
    term_of : (r,) int64
        The term of each number of a row.

    Returns
    -------
    (int, int)
        The numbers of boxes and of players.
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
