"""Times to an event as ranks, and sums over the rows at risk."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from odrf.engine.compiling import kernel, part

NO_WEIGHTS = np.empty(0)


class EventRanks(NamedTuple):
    """Ranks of n rows among the R different event times t_1 < … < t_R.

    A row is at risk at t_r if its entry rank is less than r and its exit rank at least r.

    `code` (n,): twice the exit rank, the number of event times up to the end of the observation;
      plus 1 if there was an event then.
    `entry` (n,): the number of event times up to the start of the observation; empty if no row is
      truncated.
    `n_times`: R.
    `cause` (n,): the cause 1 … C of each event, 0 for rows without one; empty if there is one
      cause.
    `n_causes`: C.
    `staying` (n,): of the subdistribution of one cause, whose events alone count: of rows that
      had an event of another cause, which stay at risk, 1/G(T-), G being the survival of censoring
      and T their time; 0 for others.  Empty if rows leave with their events.
    `uncensored` (R + 1,): then G(t_r-), and 1 for r = 0; else empty.
    """

    code: np.ndarray
    entry: np.ndarray
    n_times: int
    cause: np.ndarray
    n_causes: int
    staying: np.ndarray = NO_WEIGHTS
    uncensored: np.ndarray = NO_WEIGHTS


def event_ranks(
    time: NDArray[np.float64], event: NDArray[np.int64] | NDArray[np.bool_],
    start: NDArray[np.float64] | None, event_times: NDArray[np.float64], n_causes: int = 1,
) -> EventRanks:  # fmt: skip
    """Return the ranks of rows among `event_times` (R,), which ascend.

    `event_times` (R,).  `time`, `event` (n,): end of the observation, and the cause of the event
    that happened then; 0 if none did.  `start` (n,): the row is observed after this time.
    `n_causes`: C; if it is 1, every cause counts as the same.
    """
    code = 2 * np.searchsorted(event_times, time, side="right") + (event > 0)
    entry = np.empty(0, dtype=np.int32)
    if start is not None:
        entry = np.searchsorted(event_times, start, side="right").astype(np.int32)
    cause = event.astype(np.int32) if n_causes > 1 else np.empty(0, dtype=np.int32)
    return EventRanks(code.astype(np.int32), entry, len(event_times), cause, n_causes)


def subdistribution_ranks(
    time: NDArray[np.float64], event: NDArray[np.int64], cause: int,
    event_times: NDArray[np.float64], uncensored_to_end: NDArray[np.float64],
    uncensored: NDArray[np.float64],
) -> EventRanks:  # fmt: skip
    """Return the ranks of rows for the subdistribution of one cause (Fine and Gray 1999).

    `time`, `event` (n,): as for `event_ranks`; all rows are observed from the beginning.  `cause`:
    from 1.  `event_times` (R,): times of its events, ascending.  `uncensored_to_end` (n,): G(T-):
    the probability not to be censored before the end T of each row.  `uncensored` (R,): the same
    before each of the event times.
    """
    ranks = event_ranks(time, event == cause, None, event_times)
    stays = (event > 0) & (event != cause) & (uncensored_to_end > 0)
    staying = np.divide(1.0, uncensored_to_end, out=np.zeros(len(time)), where=stays)
    return ranks._replace(staying=staying, uncensored=np.concatenate([[1.0], uncensored]))


@part
def exit_rank(code):
    """Return the exit rank of a row, from its `EventRanks.code`."""
    return code >> 1


@part
def has_event(code):
    """Return 1 if the row has an event, else 0."""
    return code & 1


def hazards(ranks: EventRanks, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the increments (R,) of the Nelson–Aalen estimate of all rows, weighted."""
    R, rank = ranks.n_times, ranks.code >> 1
    deaths = np.bincount(rank, weights * (ranks.code & 1), R + 1)[1:]
    at_risk = np.cumsum(np.bincount(rank, weights, R + 1)[::-1])[::-1][1:]
    if len(ranks.entry):
        at_risk = at_risk - np.cumsum(np.bincount(ranks.entry, weights, R + 1)[::-1])[::-1][1:]
    at_risk = np.maximum(at_risk, deaths)
    return np.divide(deaths, at_risk, out=np.zeros(R), where=deaths > 0)


def null_residuals(ranks: EventRanks, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the martingale residuals (n,) of rows without predictors: the log-rank scores.

    Each is the number of events of the row, 0 or 1, less the cumulative hazard over the time that
    it was observed (Therneau, Grambsch and Fleming 1990).
    """
    cumulative = np.concatenate([[0.0], np.cumsum(hazards(ranks, weights))])
    expected = cumulative[ranks.code >> 1]
    if len(ranks.entry):
        expected = expected - cumulative[ranks.entry]
    return (ranks.code & 1) - expected


# Sums over the rows at risk at each event time, and over the event times of each row.
# They only add, and never subtract one sum from another: so a row of very large risk that leaves,
# or enters late, does not take the digits of the others.  Rows that are observed from the beginning
# take one addition; rows that enter later about 2 log₂ R, by a tree of sums over the R event times.


@part
def _spread(tree, low, high, value):
    """Add `value` to the leaves low … high - 1 of a tree of sums (2R,), by the nodes above them."""
    low += len(tree) >> 1
    high += len(tree) >> 1
    while low < high:
        if low & 1:
            tree[low] += value
            low += 1
        if high & 1:
            high -= 1
            tree[high] += value
        low >>= 1
        high >>= 1


@part
def _gathered(tree, low, high):
    """Return the sum of the leaves low … high - 1 of a tree of sums (2R,)."""
    total = 0.0
    low += len(tree) >> 1
    high += len(tree) >> 1
    while low < high:
        if low & 1:
            total += tree[low]
            low += 1
        if high & 1:
            high -= 1
            total += tree[high]
        low >>= 1
        high >>= 1
    return total


@kernel
def _over_rows(code, entry, values, tree, total):
    """Add the `values` (n,) of the rows at risk to total (R,); total and tree (2R,) are 0."""
    R = len(total)
    for i in range(len(code)):
        first = np.int64(entry[i]) if len(entry) else np.int64(0)
        last = np.int64(exit_rank(code[i]))
        if first > 0:
            _spread(tree, first, last, values[i])
        elif last > 0:
            total[last - 1] += values[i]
    for r in range(R - 2, -1, -1):
        total[r] += total[r + 1]
    if len(entry):
        for node in range(1, R):
            tree[2 * node] += tree[node]
            tree[2 * node + 1] += tree[node]
        for r in range(R):
            total[r] += tree[R + r]


@kernel
def _over_times(code, entry, values, own, cumulative, tree, total):
    """Write Σ `values` (R,), `own` (R,) at its event, over each row's times; scratch is 0."""
    R = len(values)
    for r in range(R):
        cumulative[r + 1] = cumulative[r] + values[r]
    if len(entry):
        for r in range(R):
            tree[R + r] = values[r]
        for node in range(R - 1, 0, -1):
            tree[node] = tree[2 * node] + tree[2 * node + 1]
    for i in range(len(code)):
        first = np.int64(entry[i]) if len(entry) else np.int64(0)
        last = np.int64(exit_rank(code[i]))
        at_end = 0.0
        if has_event(code[i]):
            last -= 1
            at_end = own[last]
        if first > 0:
            total[i] = _gathered(tree, first, last) + at_end
        else:
            total[i] = cumulative[last] + at_end


def sums_over_rows(ranks: EventRanks, values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the sums (R,) of `values` (n,) over the rows at risk at each event time."""
    R = ranks.n_times
    total = np.zeros(R)
    _over_rows(ranks.code, ranks.entry, values, np.zeros(2 * R), total)
    return total


def sums_over_times(
    ranks: EventRanks, values: NDArray[np.float64], own: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return Σ (n,) of `values` (R,) while a row is at risk; at its own event `own` (R,) counts."""
    R = ranks.n_times
    total = np.empty(len(ranks.code))
    _over_times(ranks.code, ranks.entry, values, own, np.zeros(R + 1), np.zeros(2 * R), total)
    return total
