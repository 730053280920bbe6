"""Log-rank and Gray's scores of a node's rows, and the log-rank statistics of splits.

The score of a row is its martingale residual in the node, its event less the Nelson–Aalen
cumulative hazard of the node's rows over the time that it was observed.  The sum of the scores on
one side of a cut is the numerator of the log-rank statistic, observed less expected events there.
So the cut with the largest decrease of the squared error of the scores has the largest log-rank
statistic with its permutation variance (LeBlanc and Crowley 1993; Hothorn and Lausen 2003).  The
scores are computed once for a node, and every direction and cut is then evaluated as of any numeric
response.

Events of several causes have a score for each, in which those of other causes are censored.  A
node is split on their sum with random signs, drawn anew for it: the mean over the signs of the
squared statistic of a cut is the sum of the squared statistics of the causes.  So the splits serve
all causes, even where these pull in opposite directions, at the price of one search.  A node can
also be split for one cause, by ranks in which the others are censored, or by the scores of
`write_subdistribution_scores`.

The work is of the order of the rows of a node, or for nodes of few rows, of sorting them; it does
not grow with the number of different times.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import config, types
from numpy.typing import NDArray

from odrf.engine.compiling import (
    PLACE,
    ROOM,
    ZERO,
    address_within,
    called_at,
    kernel,
    part,
    read_tuple,
    write_tuple,
)
from odrf.engine.numeric import POSITION, VALUE_SHIFT, key_of_rank, sort_keys, uniform
from odrf.engine.survival.event_ranks import EventRanks, exit_rank, has_event

# Scores of a node's rows for the subdistribution hazard of one cause: Gray's splits.
# A row that has an event of another cause at T stays at risk, and counts G(t-)/G(T-) at later times
# t, G being the survival of censoring among all training rows (Fine and Gray 1999).  The score of a
# row is its event of the cause, 1 or 0, less the sum of dΛ over the times at which it is at risk,
# each times what the row counts then, with dΛ the events of the cause divided by the weights at
# risk. So the sum of the scores on one side of a cut is the numerator of the log-rank statistic of
# the subdistribution hazards, and without censoring that of Gray's test (Gray 1988).


@part
def _by_rank(rows, lo, m, ranks, sums):
    """Write scores of many rows by sums for all ranks; ΣG(t-)·dΛ goes over used events."""
    deaths, leaving, staying = sums.deaths, sums.leaving, sums.staying
    deaths[:], leaving[:], staying[:] = 0.0, 0.0, 0.0
    at_risk = 0.0
    for i in range(lo, lo + m):
        at, weight = rows.at[i], rows.weights[i]
        rank = exit_rank(ranks.code[at])
        leaving[rank] += weight
        deaths[rank] += weight * has_event(ranks.code[at])
        staying[rank] += weight * ranks.staying[at]
        at_risk += weight
    hazard, weighted, stayed = 0.0, 0.0, 0.0
    sums.cumulative[0], deaths[0] = 0.0, 0.0
    for r in range(1, len(deaths)):
        at_risk -= leaving[r - 1]
        stayed += staying[r - 1]
        if deaths[r] > 0.0:
            step = deaths[r] / max(at_risk + ranks.uncensored[r] * stayed, deaths[r])
            hazard += step
            weighted += ranks.uncensored[r] * step
        sums.cumulative[r], deaths[r] = hazard, weighted
    for i in range(lo, lo + m):
        at = rows.at[i]
        rank = exit_rank(ranks.code[at])
        later = ranks.staying[at] * (weighted - deaths[rank])
        rows.y[i] = has_event(ranks.code[at]) - sums.cumulative[rank] - later


@part
def _by_sorting(rows, lo, m, ranks, keys):
    """Write the scores of a node of few rows, which are sorted by the ends of their observation."""
    at_risk = 0.0
    for i in range(m):
        keys[i] = key_of_rank(exit_rank(ranks.code[rows.at[lo + i]]), i)
        at_risk += rows.weights[lo + i]
    sort_keys(keys, m)
    hazard, weighted, stayed, first = 0.0, 0.0, 0.0, 0
    while first < m:
        rank = keys[first] >> VALUE_SHIFT
        last, deaths, leaving, staying = first, 0.0, 0.0, 0.0
        while last < m and keys[last] >> VALUE_SHIFT == rank:
            i = lo + np.int64(keys[last] & POSITION)
            at, weight = rows.at[i], rows.weights[i]
            leaving += weight
            deaths += weight * has_event(ranks.code[at])
            staying += weight * ranks.staying[at]
            last += 1
        if deaths > 0.0:
            step = deaths / max(at_risk + ranks.uncensored[rank] * stayed, deaths)
            hazard += step
            weighted += ranks.uncensored[rank] * step
        for j in range(first, last):
            i = lo + np.int64(keys[j] & POSITION)
            at = rows.at[i]
            rows.y[i] = has_event(ranks.code[at]) - hazard + ranks.staying[at] * weighted
        at_risk -= leaving
        stayed += staying
        first = last
    for i in range(lo, lo + m):
        rows.y[i] -= ranks.staying[rows.at[i]] * weighted


@kernel
def write_subdistribution_scores(rows, lo, m, ranks, keys, sums, by_rank):
    """Write the scores of the m rows from `lo` on to rows.y.

    `ranks` are those of all training rows, by
    `odrf.engine.survival.event_ranks.subdistribution_ranks`; keys (≥ m,) uint64 is scratch.
    `by_rank` says whether sums over the ranks of all event times take less time than sorting rows.
    """
    if by_rank:
        _by_rank(rows, lo, m, ranks, sums)
    else:
        _by_sorting(rows, lo, m, ranks, keys)


# Log-rank scores of a node's rows: the responses on which its split is searched.

# In a node with more rows than one in so many event times, sums over the ranks of all event times
# take less time than sorting its rows.
SPARSE = 8
# A uniform number has so many random bits.
SIGNS = 53


class RiskSums(NamedTuple):
    """Scratch for the scores of one node at a time.

    `deaths`, `leaving`, `entering` (R + 1,): weights by rank: of rows with an event, of rows that
    end, and of rows that begin; `entering` is empty if no row is truncated.  `cumulative` (R + 1,):
    the cumulative hazard up to each rank.  `entries` (n,): sorting keys of the entries of rows;
    empty if no row is truncated.  `staying` (R + 1,): weights by rank of rows that stay at risk;
    empty if rows leave with their events.
    """

    deaths: np.ndarray
    leaving: np.ndarray
    entering: np.ndarray
    cumulative: np.ndarray
    entries: np.ndarray
    staying: np.ndarray


def risk_sums_for(ranks: EventRanks, n: int) -> RiskSums:
    """Allocate scratch for the event times of the ranks and nodes of up to n rows."""
    R, truncated = ranks.n_times + 1, len(ranks.entry) > 0
    return RiskSums(
        np.empty(R), np.empty(R), np.empty(R if truncated else 0), np.empty(R),
        np.empty(n if truncated else 0, dtype=np.uint64),
        np.empty(R if len(ranks.staying) > 0 else 0),
    )  # fmt: skip


@part
def _mark(ranks, at, signs):
    """Return 0 for a row without an event, else 1 or its cause's sign in the bits of `signs`."""
    event = has_event(ranks.code[at])
    if len(ranks.cause) == 0:
        return event
    return event * (1 - 2 * ((signs >> (ranks.cause[at] % SIGNS)) & 1))


@part
def _scores_by_rank(rows, lo, m, ranks, sums, signs):
    """Write the scores of a node of many rows, by sums for all ranks."""
    deaths, leaving, entering = sums.deaths, sums.leaving, sums.entering
    truncated = len(ranks.entry) > 0
    deaths[:], leaving[:], entering[:] = 0.0, 0.0, 0.0
    for i in range(np.uint64(lo), np.uint64(lo + m)):
        code, weight = ranks.code[rows.at[i]], rows.weights[i]
        leaving[exit_rank(code)] += weight
        deaths[exit_rank(code)] += weight * _mark(ranks, rows.at[i], signs)
        if truncated:
            entering[ranks.entry[rows.at[i]]] += weight
    at_risk, hazard = 0.0, 0.0
    if not truncated:
        for weight in leaving:
            at_risk += weight
    sums.cumulative[0] = 0.0
    for r in range(1, len(deaths)):
        at_risk -= leaving[r - 1]
        if truncated:
            at_risk += entering[r - 1]
        if deaths[r] != 0.0:
            hazard += deaths[r] / max(at_risk, abs(deaths[r]))
        sums.cumulative[r] = hazard
    for i in range(np.uint64(lo), np.uint64(lo + m)):
        code = ranks.code[rows.at[i]]
        expected = sums.cumulative[exit_rank(code)]
        if truncated:
            expected -= sums.cumulative[ranks.entry[rows.at[i]]]
        rows.y[i] = _mark(ranks, rows.at[i], signs) - expected


@part
def _scores_by_sorting(rows, lo, m, ranks, keys, entries, signs):
    """Write the scores of a node of few rows, which are sorted by the ends of their observation."""
    truncated = len(ranks.entry) > 0
    at_risk = 0.0
    for i in range(m):
        at = rows.at[lo + i]
        keys[i] = key_of_rank(exit_rank(ranks.code[at]), i)
        if truncated:
            entries[i] = key_of_rank(ranks.entry[at], i)
            rows.y[lo + i] = 0.0
        else:
            at_risk += rows.weights[lo + i]
    sort_keys(keys, m)
    if truncated:
        sort_keys(entries, m)
    hazard, first, entered = 0.0, 0, 0
    while first < m:
        rank = keys[first] >> VALUE_SHIFT
        last, deaths, leaving = first, 0.0, 0.0
        while last < m and keys[last] >> VALUE_SHIFT == rank:
            i = lo + np.int64(keys[last] & POSITION)
            leaving += rows.weights[i]
            deaths += rows.weights[i] * _mark(ranks, rows.at[i], signs)
            last += 1
        if truncated:
            while entered < m and entries[entered] >> VALUE_SHIFT < rank:
                i = lo + np.int64(entries[entered] & POSITION)
                at_risk += rows.weights[i]
                rows.y[i] += hazard
                entered += 1
        if deaths != 0.0:
            hazard += deaths / max(at_risk, abs(deaths))
        for j in range(first, last):
            i = lo + np.int64(keys[j] & POSITION)
            mark = _mark(ranks, rows.at[i], signs)
            rows.y[i] = (rows.y[i] if truncated else 0.0) + (mark - hazard)
        at_risk -= leaving
        first = last
    if truncated:  # rows that were never at risk at an event time, the last ones to begin
        for j in range(entered, m):
            rows.y[lo + np.int64(entries[j] & POSITION)] += hazard


@kernel
def write_scores(rows, lo, m, ranks, keys, sums, signs):
    """Write the log-rank scores of the m rows from `lo` on to rows.y.

    `ranks` are those of all training rows, which `rows.at` points into; keys (≥ m,) uint64 is
    scratch.  If events have several causes, the scores of those whose bit is set in `signs` are
    subtracted, the others added.  The bit of a cause is its number.
    """
    if m * SPARSE > ranks.n_times:
        _scores_by_rank(rows, lo, m, ranks, sums, signs)
    else:
        _scores_by_sorting(rows, lo, m, ranks, keys, sums.entries, signs)


# How the kernel that grows a tree calls what scores a node: by its address, with arguments that are
# stored for the tree.  So it is compiled once for times to an event and for other responses.


class ScoreCall(NamedTuple):
    """Address of what scores a node, and place of its arguments; uncompiled: function and tuple."""

    address: Any
    place: Any


NOT_SCORED = ScoreCall(0, 0)
"""Of a response that is no time."""


def placed_scores(
    state: NDArray[np.uint64], rows: Any, ranks: EventRanks
) -> tuple[ScoreCall, tuple[Any, ...]]:
    """Store what scores the nodes of a tree on these `Rows`; return its call, and what it uses."""
    m = len(rows.at)
    arguments = state, rows, ranks, np.empty(m, dtype=np.uint64), risk_sums_for(ranks, m)
    if config.DISABLE_JIT:
        return ScoreCall(_score_at, arguments), ()
    memory = np.empty(ROOM, dtype=np.int64)
    return ScoreCall(*_store(arguments, memory)), (arguments, memory)


@kernel
def _store(arguments, memory):
    """Store the arguments; return the address of the kernel, and the place."""
    return _address_of_score(arguments), write_tuple(arguments, memory)


@part
def _score_at(place, lo, m):
    """Write the scores of a node; several causes have random signs, from the stream `state`."""
    state, rows, ranks, keys, sums = read_tuple(place)
    if len(ranks.staying) > 0:
        write_subdistribution_scores(rows, lo, m, ranks, keys, sums, m * SPARSE > ranks.n_times)
        return ZERO
    signs = np.int64(uniform(state) * 2.0**SIGNS) if len(ranks.cause) > 0 else ZERO
    write_scores(rows, lo, m, ranks, keys, sums, signs)
    return ZERO


# lo and m of a node
NODE_KINDS = types.int32, types.int64
_address_of_score = address_within(_score_at, *NODE_KINDS)
_call_score = called_at(types.int64, PLACE, *NODE_KINDS)


@part
def score_node(call, lo, m):
    """Write the scores of the m rows from `lo` on to their responses."""
    _call_score(call.address, (call.place, lo, m))


# The log-rank statistics of the splits of one tree: left against right rows of each node.
# A split needs the rows of its node in the order of their times.  Those of leaves come from one
# sort of all rows; those of other nodes from merging the rows of their children.  So n rows in a
# tree of depth D take O(n·(log n + D)) steps, however many different times there are.


def split_log_ranks(
    left: NDArray[np.integer],
    leaf: NDArray[np.integer],
    ranks: EventRanks,
    weights: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return the log-rank statistic (m,) of each split of a tree; 0 at leaves.

    It is that of the log-rank test (Mantel 1966) of the rows of the node in two groups, with the
    variance of hypergeometric numbers of events: nearly χ² with 1 degree of freedom if both sides
    have the same hazard.  Each cause has its own statistic, with events of the others censored,
    and their sum is returned.  It is 0 where the sides cannot be compared.  With ranks of the
    subdistribution of one cause its risk sets are used: rows with an event of another cause stay,
    weighted as by Fine and Gray (1999).  left (m,) is the number of the left child of each split
    that rows can reach, -1 at other nodes, and node 0 is the root.  leaf (n,) is the leaf of each
    row; weights (n,) are numbers of rows, and rows of weight 0 are ignored.
    """
    used = np.flatnonzero(weights > 0)
    exits = (ranks.code >> 1).astype(np.int64)
    cause = (ranks.cause if len(ranks.cause) else ranks.code & 1).astype(np.int64)
    m, n, truncated = len(left), len(weights), len(ranks.entry) > 0
    entries = ranks.entry.astype(np.int64)
    of_leaves = np.bincount(leaf[used], minlength=m)
    first, last = np.empty(m, dtype=np.int64), np.empty(m, dtype=np.int64)
    _place_rows(left, of_leaves, first, last)
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
def _place_rows(left, number, first, last):
    """Write where the rows below each node begin and end; `number` (m,) has those of leaves."""
    for node in range(len(left) - 1, -1, -1):
        last[node] = number[node]
        if left[node] >= 0:
            last[node] = last[left[node]] + last[left[node] + 1]
    first[:] = 0
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
    """Return Σ over causes of log-rank statistics of two sides, risk sets summed from the end."""
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


# Sums over pairs of rows, one of which has an event while the other is at risk, by their scores.
# A case is a row with an event, at a position: the rank of its time among those of all cases.
# Every row is compared with the cases whose positions are in an interval.  Rows enter and leave a
# tree of partial sums (Fenwick 1994) over the ranks of scores as the positions pass: so n rows take
# O(n log n) steps, not a step for each pair.


@part
def _add(tree, mass, rank, weight):
    mass[rank] += weight
    node = rank + 1
    while node < len(tree):
        tree[node] += weight
        node += node & -node


@part
def _below(tree, rank):
    total = 0.0
    node = rank
    while node > 0:
        total += tree[node]
        node -= node & -node
    return total


@part
def _sums_of_cases(cases, entering, leaving, case_at, first, last, rank, weight, tree, mass, sums):
    m = len(entering)
    total = 0.0
    e, q = 0, 0
    for i in cases:
        while e < m and first[entering[e]] <= case_at[i]:
            j = entering[e]
            _add(tree, mass, rank[j], weight[j])
            total += weight[j]
            e += 1
        while q < m and last[leaving[q]] <= case_at[i]:
            j = leaving[q]
            _add(tree, mass, rank[j], -weight[j])
            total -= weight[j]
            q += 1
        if e == q:  # nobody is there, whatever rounding has left of the sums
            total = 0.0
            continue
        sums[0, i] = _below(tree, rank[i])
        sums[1, i] = mass[rank[i]]
        sums[2, i] = total


@part
def _sums_of_others(cases, others, bound, sign, case_at, rank, weight, tree, mass, sums):
    tree[:], mass[:] = 0.0, 0.0
    total = 0.0
    c = 0
    for j in others:
        while c < len(cases) and case_at[cases[c]] < bound[j]:
            i = cases[c]
            _add(tree, mass, rank[i], weight[i])
            total += weight[i]
            c += 1
        if total > 0.0:
            same = mass[rank[j]]
            sums[3, j] += sign * (total - _below(tree, rank[j]) - same / 2)
            sums[4, j] += sign * total


@kernel
def pair_sums(
    cases, entering, leaving, case_at, first, last, rank, case_weight, weight, tree, mass, sums
):  # fmt: skip
    """Add up, for each row, the pairs that it is in, to sums (5, n), zeros at first.

    Row j is compared with case i if first[j] ≤ case_at[i] < last[j].  A pair is in order if the
    case has the higher score.  cases (c,) are sorted by `case_at`; entering, leaving (m,) are the
    rows compared with some case, sorted by `first` and by `last`, with ``first < last``.
    case_at (n,) is not read for other rows.  rank (n,) counts from 0, equal for equal scores.
    case_weight, weight (n,) are of a row as a case, ≥ 0, and as one compared with cases.
    tree (ranks + 1,) and mass (ranks,) are zeros to work on.  For a case the sums are the weights
    of compared rows with lower scores, with equal ones, and of all.  For compared rows they are
    the weights of their cases: those in order and half of those with equal scores, and all.
    """
    _sums_of_cases(cases, entering, leaving, case_at, first, last, rank, weight, tree, mass, sums)
    _sums_of_others(cases, leaving, last, 1.0, case_at, rank, case_weight, tree, mass, sums)
    _sums_of_others(cases, entering, first, -1.0, case_at, rank, case_weight, tree, mass, sums)
