"""Log-rank scores of a node's rows: the responses on which its split is searched.

The score of a row is its martingale residual in the node, its event less the Nelson–Aalen
cumulative hazard of the node's rows over the time that it was observed.  The sum of the scores on
one side of a cut is the numerator of the log-rank statistic, observed less expected events there.
So the cut with the largest decrease of the squared error of the scores has the largest log-rank
statistic with its permutation variance (LeBlanc and Crowley 1993; Hothorn and Lausen 2003).  The
scores are computed once for a node, and every direction and cut is then judged as of any numeric
response.

Events of several causes have a score for each, in which those of other causes are censored.  A
node is split on their sum with random signs, drawn anew for it: the mean over the signs of the
squared statistic of a cut is the sum of the squared statistics of the causes.  So the splits serve
all causes, even where these pull in opposite directions, at the price of one search.  A node can
also be split for one cause, by ranks in which the others are censored, or by the scores of
`odrf.engine.survival.subdistribution_scores`.

The work is of the order of the rows of a node, or for nodes of few rows, of sorting them; it does
not grow with the number of different times.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from odrf.engine.compiling import ZERO, kernel, merged, part
from odrf.engine.randomness import uniform
from odrf.engine.sorting import POSITION, VALUE_SHIFT, key_of_rank, sort_keys
from odrf.engine.survival.event_ranks import exit_rank, has_event
from odrf.engine.survival.subdistribution_scores import write_subdistribution_scores

__all__ = ["RiskSums", "risk_sums_for", "score_node", "write_scores"]

# In a node with more rows than one in so many event times, sums over the ranks of all event times
# take less time than sorting its rows.
SPARSE = 8
# A uniform number has so many random bits.
SIGNS = 53


class RiskSums(NamedTuple):
    """Scratch for the scores of one node at a time.

    Attributes
    ----------
    deaths, leaving, entering : (R + 1,) float64
        Weights by rank: of rows with an event, of rows that end, and of rows that begin; `entering`
        is empty if no row is truncated.
    cumulative : (R + 1,) float64
        The cumulative hazard up to each rank.
    entries : (n,) uint64
        Sorting keys of the entries of rows; empty if no row is truncated.
    staying : (R + 1,) float64
        Weights by rank of rows that stay at risk; empty if rows leave with their events.
    """

    deaths: np.ndarray
    leaving: np.ndarray
    entering: np.ndarray
    cumulative: np.ndarray
    entries: np.ndarray
    staying: np.ndarray


def risk_sums_for(n_times: int, n: int, truncated: bool, subdistribution: bool = False) -> RiskSums:
    """Allocate scratch for R event times and nodes of up to n rows."""
    R = n_times + 1
    return RiskSums(
        np.empty(R),
        np.empty(R),
        np.empty(R if truncated else 0),
        np.empty(R),
        np.empty(n if truncated else 0, dtype=np.uint64),
        np.empty(R if subdistribution else 0),
    )


@part
def _mark(ranks, at, signs):
    """Return 0 for a row without an event, else 1; of several causes the sign of its cause.

    The bits of `signs`, 53 of them, are those of the causes.
    """
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

    Parameters
    ----------
    rows : Rows
    ranks : EventRanks
        Of all training rows, which `rows.at` points into.
    keys : (≥ m,) uint64
        Scratch.
    sums : RiskSums
    signs : int
        If events have several causes: the scores of those whose bit is set are subtracted, the
        others added.  The bit of a cause is its number.
    """
    if m * SPARSE > ranks.n_times:
        _scores_by_rank(rows, lo, m, ranks, sums, signs)
    else:
        _scores_by_sorting(rows, lo, m, ranks, keys, sums.entries, signs)


@merged
def score_node(state, rows, lo, m, ranks, keys, sums):
    """Write scores, with random signs if there are several causes, from the stream `state`.

    Nothing if `ranks` is None, as of a response that is no time.
    """
    if ranks is None:
        return
    if len(ranks.staying) > 0:
        write_subdistribution_scores(rows, lo, m, ranks, keys, sums, m * SPARSE > ranks.n_times)
        return
    signs = np.int64(uniform(state) * 2.0**SIGNS) if len(ranks.cause) > 0 else ZERO
    write_scores(rows, lo, m, ranks, keys, sums, signs)
