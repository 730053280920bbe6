"""Scores of a node's rows for the subdistribution hazard of one cause: Gray's splits.

A row that has an event of another cause at T stays at risk, and counts G(t-)/G(T-) at later times
t, G being the survival of censoring among all training rows (Fine and Gray 1999).  The score of a
row is its event of the cause, 1 or 0, less the sum of dΛ over the times at which it is at risk,
each times what the row counts then, with dΛ the events of the cause divided by the weights at risk.
So the sum of the scores on one side of a cut is the numerator of the log-rank statistic of the
subdistribution hazards, and without censoring that of Gray's test (Gray 1988).
"""

from __future__ import annotations

import numpy as np

from odrf.engine.compiling import kernel, part
from odrf.engine.sorting import POSITION, VALUE_SHIFT, key_of_rank, sort_keys
from odrf.engine.survival.event_ranks import exit_rank, has_event

__all__ = ["write_subdistribution_scores"]


@part
def _by_rank(rows, lo, m, ranks, sums):
    """Write the scores of a node of many rows, by sums for all ranks.

    ΣG(t-)·dΛ up to each rank is written over the events of that rank, which are not needed again.
    """
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

    Parameters
    ----------
    rows : Rows
    ranks : EventRanks
        Of all training rows, as `odrf.engine.survival.event_ranks.subdistribution_ranks` gives
        them.
    keys : (≥ m,) uint64
        Scratch.
    sums : RiskSums
    by_rank : bool
        Whether sums over the ranks of all event times take less time than sorting the rows.
    """
    if by_rank:
        _by_rank(rows, lo, m, ranks, sums)
    else:
        _by_sorting(rows, lo, m, ranks, keys)
