"""Sums over pairs of rows, one of which has an event while the other is at risk, by their scores.

A case is a row with an event, at a position: the rank of its time among those of all cases.  Every
row is compared with the cases whose positions are in an interval.  Rows enter and leave a tree of
partial sums (Fenwick 1994) over the ranks of scores as the positions pass: so n rows take
O(n log n) steps, not a step for each pair.
"""

from __future__ import annotations

from odrf.engine.compiling import kernel, part

__all__ = ["pair_sums"]


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
    """Add up, for each row, the pairs that it is in.

    Row j is compared with case i if first[j] ≤ case_at[i] < last[j].  A pair is in order if the
    case has the higher score.

    Parameters
    ----------
    cases : (c,) int64
        The cases, sorted by `case_at`.
    entering, leaving : (m,) int64
        The rows that are compared with some case, sorted by `first` and by `last`.
    case_at : (n,) int64
        The positions of the cases; that of other rows is not read.
    first, last : (n,) int64
        ``first < last`` for rows that are compared.
    rank : (n,) int64
        Ranks of the scores from 0, equal ones for equal scores.
    case_weight, weight : (n,) float64
        Of a row as a case, ≥ 0, and as one that is compared with cases.
    tree, mass : (ranks + 1,) and (ranks,) float64
        Zeros, to work on.
    sums : (5, n) float64
        Zeros, to be filled.  For a case the weights of compared rows with lower scores, with equal
        ones, and of all.  For rows that are compared the weights of their cases: those in order
        and half of those with equal scores, and all.
    """
    _sums_of_cases(cases, entering, leaving, case_at, first, last, rank, weight, tree, mass, sums)
    _sums_of_others(cases, leaving, last, 1.0, case_at, rank, case_weight, tree, mass, sums)
    _sums_of_others(cases, entering, first, -1.0, case_at, rank, case_weight, tree, mass, sums)
