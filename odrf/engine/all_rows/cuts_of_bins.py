"""The best cut between bins, and the best candidate of a node, from the sums of `bin_sums`."""

from __future__ import annotations

import numpy as np

from odrf.engine.all_rows.bin_sums import BINS, FINE, PASSED
from odrf.engine.compiling import kernel, part
from odrf.engine.kernel_params import NO_PENALTY
from odrf.engine.splits.impurity import (
    NEGLIGIBLE,
    class_gain,
    is_allowed,
    moment_gain,
    node_moments,
)
from odrf.engine.splits.splitter import penalised
from odrf.engine.splits.thresholds import midpoint

__all__ = ["best_cut_of_sums", "choose_candidate", "refined_cut_of_sums"]


@part
def _cut_of_moments(sums, first, last, start, node, min_leaf):
    weighted = sums.shape[1] > 2
    n_left, moment = start[0], start[1]
    left_weight = start[2] if weighted else n_left
    second, baseline = node_moments(node)
    best, at = baseline, -1
    for b in range(first, last):
        if sums[b, 0] == 0.0:
            continue
        n_left += sums[b, 0]
        moment += sums[b, 1]
        left_weight = left_weight + sums[b, 2] if weighted else n_left
        if _is_allowed(n_left, left_weight, node, min_leaf):
            gain = moment_gain(moment, left_weight, node.weight, second, node.criterion, node.logs)
            if gain > best:
                best, at = gain, b
    return node.factor * (best - baseline), at


@part
def _cut_of_classes(sums, first, last, start, left, node, min_leaf):
    n_left, left_weight, best, at = start[0], 0.0, 0.0, -1
    for k in range(len(left)):
        left[k] = start[1 + k]
        left_weight += left[k]
    for b in range(first, last):
        if sums[b, 0] == 0.0:
            continue
        n_left += sums[b, 0]
        for k in range(len(left)):
            left[k] += sums[b, 1 + k]
            left_weight += sums[b, 1 + k]
        if _is_allowed(n_left, left_weight, node, min_leaf):
            gain = class_gain(left, left_weight, node.value, node.weight, node.criterion)
            if gain > best:
                best, at = gain, b
    return best, at


@part
def _is_allowed(n_left, left_weight, node, min_leaf):
    return is_allowed(left_weight, n_left, node.weight, node.n_rows, min_leaf, node.lightest)


@kernel
def best_cut_of_sums(sums, first, last, start, left, node, min_leaf):
    """Return (gain, b) of the best cut after a bin `first` … `last` - 1; b is -1 for none.

    Parameters
    ----------
    sums : (bins, Q) float64
        See `odrf.engine.all_rows.bin_sums`.
    first, last : int
    start : (Q,) float64
        The sums of the rows left of bin `first`.
    left : (K,) float64
        Scratch.
    node : Node
        Without its rows.
    min_leaf : int
    """
    if node.factor > 0.0:
        return _cut_of_moments(sums, first, last, start, node, min_leaf)
    return _cut_of_classes(sums, first, last, start, left, node, min_leaf)


@part
def _next_with_rows(sums, b, last):
    """Return the next bin after b that has rows, not after `last`."""
    b += 1
    while b < last and sums[b, 0] == 0.0:
        b += 1
    return b


@kernel
def choose_candidate(
    sums, number, sizes, reliability, two_sided, penalty, min_leaf, node, start, left
):
    """Return the best candidate of a node, the bins beside its cut, and the side of empty cells.

    Parameters
    ----------
    sums : (C, BINS, Q) float64
        Those of a two-sided candidate are left as if its empty cells were below all values.
    number : int
        How many candidates the node has.
    sizes, reliability, two_sided : (C,)
        See `odrf.engine.all_rows.sampled_candidates.NodeCandidates`.
    penalty, min_leaf : int
        As in `odrf.engine.kernel_params.KernelParams`.
    node : Node
    start : (Q,) float64
        Zeros.
    left : (K,) float64
        Scratch.

    Returns
    -------
    c, at, above : int
        The candidate, -1 if none has a gain; the bin left of the cut, and the next one with rows.
    turned : bool
        Whether the cut is that with empty cells below all values.
    """
    last, best, chosen, at, above, turned = BINS - 1, 0.0, -1, -1, -1, False
    for c in range(number):
        found, b = best_cut_of_sums(sums[c], 0, last, start, left, node, min_leaf)
        following, below = _next_with_rows(sums[c], b, last), False
        if two_sided[c] and sums[c, last, 0] > 0.0:
            for q in range(len(start)):
                sums[c, 0, q] += sums[c, last, q]
                sums[c, last, q] = 0.0
            other, place = best_cut_of_sums(sums[c], 0, last, start, left, node, min_leaf)
            if other > found:
                found, b, below = other, place, True
                following = _next_with_rows(sums[c], b, last)
        gain = min(found, node.impurity)
        score = gain * reliability[c] ** 2
        if b < 0 or score <= NEGLIGIBLE * node.impurity:
            continue
        if penalty != NO_PENALTY:
            score = penalised(score, node.impurity, node.n_rows, sizes[c], penalty)
        if score > best:
            best, chosen, at, above, turned = score, c, b, following, below
    return chosen, at, above, turned


@kernel
def refined_cut_of_sums(sums, least, largest, min_leaf, node, left):
    """Return the gain, the threshold and the number of rows left of the best cut of fine bins.

    The arrays are those of `odrf.engine.all_rows.bin_sums.add_to_fine_bins`, for one node.  The
    threshold is in the middle of the values beside the cut.  The gain is 0 if there is no cut.
    """
    last = 2 * FINE
    gain, b = best_cut_of_sums(sums, 1, last, sums[PASSED], left, node, min_leaf)
    if b < 0:
        return 0.0, np.float32(0.0), 0.0
    n_left = sums[PASSED, 0]
    for before in range(1, b + 1):
        n_left += sums[before, 0]
    above = _next_with_rows(sums, b, last)
    return min(gain, node.impurity), midpoint(largest[b], least[above]), n_left
