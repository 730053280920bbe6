"""The log-rank statistics of the splits of one tree: left against right rows of each node.

A split needs the rows of its node in the order of their times.  Those of leaves come from one sort
of all rows; those of other nodes from merging the rows of their children.  So n rows in a tree of
depth D take O(n·(log n + D)) steps, however many different times there are.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from odrf.engine.compiling import kernel, part
from odrf.engine.survival.event_ranks import EventRanks
from odrf.engine.trees.forest_arrays import Forest

__all__ = ["split_log_ranks"]


def split_log_ranks(
    tree: Forest, leaf: NDArray[np.integer], ranks: EventRanks, weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the log-rank statistic (m,) of each split of a forest of one tree; 0 at leaves.

    It is that of the log-rank test (Mantel 1966) of the rows of the node in two groups, with the
    variance of hypergeometric numbers of events: nearly χ² with 1 degree of freedom if both sides
    have the same hazard.  Events of several causes have a statistic each,
    those of the others being censored, and the sum of these is returned.  It is 0 where the sides
    cannot be compared.

    With ranks of the subdistribution of one cause it is the same with the risk sets of this, in
    which rows with an event of another cause stay, weighted as by Fine and Gray (1999).

    Parameters
    ----------
    tree : Forest
    leaf : (n,) int64
        The leaf of each row.
    ranks : EventRanks
    weights : (n,) float64
        Numbers of rows; rows of weight 0 count nowhere.
    """
    used = np.flatnonzero(weights > 0)
    exits = (ranks.code >> 1).astype(np.int64)
    cause = (ranks.cause if len(ranks.cause) else ranks.code & 1).astype(np.int64)
    m, n, truncated = tree.n_nodes, len(weights), len(ranks.entry) > 0
    entries = ranks.entry.astype(np.int64)
    of_leaves = np.bincount(leaf[used], minlength=m)
    left = np.where(tree.is_split(), tree.left, -1)
    first, last = np.empty(m, dtype=np.int64), np.empty(m, dtype=np.int64)
    _place_rows(left, tree.root[:-1], of_leaves, first, last)
    by_exit = _latest_first(used, exits, leaf, first)
    by_entry = _latest_first(used, entries, leaf, first) if truncated else used[:0]
    statistic = np.zeros(m)
    _write_statistics(
        left, first, last, by_exit, by_entry, exits, entries, cause, weights,
        ranks.staying * weights if len(ranks.staying) else ranks.staying, ranks.uncensored,
        np.zeros(n, dtype=np.int64), np.empty(len(used), dtype=np.int64),
        np.zeros((5, ranks.n_causes + 1)), statistic,
    )  # fmt: skip
    return statistic


def _latest_first(
    rows: NDArray[np.int64],
    rank: NDArray[np.int64],
    leaf: NDArray[np.integer],
    first: NDArray[np.int64],
) -> NDArray[np.int64]:
    """Return the rows leaf by leaf, in the order of the places of leaves, by falling ranks."""
    key = first[leaf[rows]] * (rank.max() + 1) - rank[rows]
    return rows[np.argsort(key, kind="stable")]


@kernel
def _place_rows(left, roots, number, first, last):
    """Write where the rows of each node begin and end if those below a node are together.

    `number` (m,) is that of the rows of each leaf.
    """
    for node in range(len(left) - 1, -1, -1):
        last[node] = number[node]
        if left[node] >= 0:
            last[node] = last[left[node]] + last[left[node] + 1]
    first[:] = 0
    begin = 0
    for root in roots:
        first[root] = begin
        begin += last[root]
    for node in range(len(left)):
        if left[node] >= 0:
            first[left[node]] = first[node]
            first[left[node] + 1] = first[node] + last[left[node]]
        last[node] += first[node]


@part
def _merge(rows, lo, mid, hi, rank, scratch):
    """Merge rows[lo:mid] and rows[mid:hi], both by falling ranks."""
    a, b = lo, mid
    for i in range(lo, hi):
        if b >= hi or (a < mid and rank[rows[a]] >= rank[rows[b]]):
            scratch[i] = rows[a]
            a += 1
        else:
            scratch[i] = rows[b]
            b += 1
    for i in range(lo, hi):
        rows[i] = scratch[i]


@part
def _staying(by_exit, lo, hi, staying, side):
    """Return weight and number of the rows that stay at risk, of all and on the left."""
    weight, weight_left, rows, rows_left = 0.0, 0.0, 0, 0
    for i in range(lo, hi):
        row = by_exit[i]
        if staying[row] > 0.0:
            weight += staying[row]
            weight_left += staying[row] * (1 - side[row])
            rows += 1
            rows_left += 1 - side[row]
    return weight, weight_left, rows, rows_left


@part
def _statistic(
    by_exit, by_entry, lo, hi, exits, entries, cause, weights, staying, uncensored, side, sums
):
    """Return the sum of the log-rank statistics of the causes, for sides 0 and 1 of rows.

    Risk sets are summed up from the last time back: so the smallest ones are sums of few weights.
    """
    dead, dead_left, number, difference, variance = sums
    difference[:], variance[:] = 0.0, 0.0
    present, present_left, rows, rows_left = 0.0, 0.0, 0, 0
    stay, stay_left = 0.0, 0.0
    if len(staying) > 0:
        stay, stay_left, rows, rows_left = _staying(by_exit, lo, hi, staying, side)
    i, entered = lo, lo
    while i < hi:
        rank = exits[by_exit[i]]
        if rank == 0:  # these leave before the first event
            break
        dead[:], dead_left[:], number[:] = 0.0, 0.0, 0.0
        while i < hi and exits[by_exit[i]] == rank:
            row = by_exit[i]
            on_left = 1 - side[row]
            present += weights[row]
            present_left += weights[row] * on_left
            if len(staying) > 0 and staying[row] > 0.0:  # counted: it only stays from now on
                stay -= staying[row]
                stay_left -= staying[row] * on_left
            else:
                rows += 1
                rows_left += on_left
            dead[cause[row]] += weights[row]
            dead_left[cause[row]] += weights[row] * on_left
            number[cause[row]] += 1.0
            i += 1
        if len(by_entry) > 0:
            while entered < hi and entries[by_entry[entered]] >= rank:
                row = by_entry[entered]
                on_left = 1 - side[row]
                present -= weights[row]
                present_left -= weights[row] * on_left
                rows -= 1
                rows_left -= on_left
                entered += 1
        if rows_left == 0 or rows_left == rows:  # one side is alone: nothing is compared
            present_left = 0.0 if rows_left == 0 else present
            continue
        at_risk, at_risk_left = present, present_left
        if len(staying) > 0:
            at_risk += uncensored[rank] * max(stay, 0.0)
            at_risk_left += uncensored[rank] * max(stay_left, 0.0)
        for c in range(1, len(dead)):
            d = dead[c]
            if d > 0.0:
                share = min(at_risk_left / at_risk, 1.0)
                difference[c] += dead_left[c] - d * share
                if at_risk > 1.0 and number[c] < rows:
                    spread = d * max(at_risk - d, 0.0) / (at_risk - 1.0)
                    variance[c] += spread * share * (1.0 - share)
    total = 0.0
    for c in range(1, len(dead)):
        if variance[c] > 0.0:
            total += difference[c] * difference[c] / variance[c]
    return total


@kernel
def _write_statistics(
    left, first, last, by_exit, by_entry, exits, entries, cause, weights, staying, uncensored, side,
    scratch, sums, out,
):  # fmt: skip
    """Write the statistic of each split to out (m,), which must be 0.

    `by_exit`, and of truncated rows `by_entry`, have the rows of each leaf by falling ranks, and
    in the end those of the root.  `staying` (n,) are weights with which rows stay at risk, times
    `uncensored` (R + 1,); empty if none does.  side (n,), scratch (n,) and sums (5, C + 1) are
    scratch.
    """
    for node in range(len(left) - 1, -1, -1):
        if left[node] < 0:
            continue
        lo, mid, hi = first[node], last[left[node]], last[node]
        for i in range(lo, hi):
            side[by_exit[i]] = 1 if i >= mid else 0
        _merge(by_exit, lo, mid, hi, exits, scratch)
        if len(by_entry) > 0:
            _merge(by_entry, lo, mid, hi, entries, scratch)
        out[node] = _statistic(
            by_exit, by_entry, lo, hi, exits, entries, cause, weights, staying, uncensored, side,
            sums,
        )  # fmt: skip
