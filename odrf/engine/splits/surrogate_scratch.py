"""Scratch for the surrogates of a node, and how growth calls what is about surrogates."""

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
from odrf.engine.directions.candidates import ROUND, Proposals
from odrf.engine.directions.samplers import Workspace, workspace
from odrf.engine.kernel_params import KernelParams
from odrf.engine.numeric import DigitScratch, digit_scratch
from odrf.engine.rows import Rows
from odrf.engine.splits.surrogate_choice import (
    remove_marks,
    score_on_complete_rows,
    send_with_new_surrogates,
)
from odrf.engine.splits.surrogates import MOST_SURROGATES, Marks, SurrogateSplits


class CompleteRows(NamedTuple):
    """Rows (n,) that have values for a direction; `unit`: gains are from numbers of rows."""

    y: np.ndarray
    weights: np.ndarray
    counts: np.ndarray
    unit: bool


class Ranked(NamedTuple):
    """The best surrogates so far; the s-th, in the order of their agreement, is in row place[s].

    `place` (MOST_SURROGATES,), `sizes` (MOST_SURROGATES,), `columns` (MOST_SURROGATES, W), `theta`
    (MOST_SURROGATES, W), `threshold` (MOST_SURROGATES,), `flipped` (MOST_SURROGATES,), `agree`,
    `adj` (MOST_SURROGATES,).
    """

    place: np.ndarray
    sizes: np.ndarray
    columns: np.ndarray
    theta: np.ndarray
    threshold: np.ndarray
    flipped: np.ndarray
    agree: np.ndarray
    adj: np.ndarray


class SurrogateScratch(NamedTuple):
    """Scratch for the surrogates of a tree of n rows, with p columns of P predictors.

    `values` (n,), `complete`, `waiting` (n,), `side` (n,), `levels` (n,).
    `tested` (1, p): a test as `odrf.engine.splits.surrogates.write_test` writes it.
    `columns` (1, p): a candidate.
    `sorting`: for n keys.
    `left`, `right` (L + 1,): for the levels of a factor.
    `used` (P,): the predictors of the split, False between calls.
    `complete_values` (n,): the values of these rows, and scratch for describing them.
    `is_scored` (ROUND,): which candidates of a round were scored on a part of the rows.
    `n_sent` (MOST_SURROGATES,): how many rows took each surrogate of a node.
    `n_incomplete` (1,): how many rows of a node did not have all values for its split.
    `chosen`: those of one node.
    `work`: for the direction of an oblique surrogate.
    `case_weights` (N,): what the training rows count for surrogates, by their numbers, where
      weights for splits are others; empty: the same.
    `weights` (n,): what the rows of a node count.
    """

    marks: Marks
    tested: np.ndarray
    ones: np.ndarray
    columns: np.ndarray
    theta: np.ndarray
    values: np.ndarray
    complete: np.ndarray
    waiting: np.ndarray
    side: np.ndarray
    sorting: DigitScratch
    levels: np.ndarray
    left: np.ndarray
    right: np.ndarray
    n_rows: np.ndarray
    sent: np.ndarray
    used: np.ndarray
    complete_node: CompleteRows
    complete_values: np.ndarray
    moments: np.ndarray
    mean: np.ndarray
    is_scored: np.ndarray
    ranked: Ranked
    n_sent: np.ndarray
    n_incomplete: np.ndarray
    chosen: SurrogateSplits
    work: Workspace
    case_weights: np.ndarray
    weights: np.ndarray


def surrogate_scratch(
    n: int, marks: Marks, K: int, case_weights: np.ndarray | None = None
) -> SurrogateScratch:
    """Allocate scratch for n rows, K classes; `case_weights` (N,) if weights for splits differ."""
    p, P, most = len(marks.predictor), len(marks.mark), MOST_SURROGATES
    widths = np.diff(marks.first)[marks.factor]
    L = 1 + int(widths.max(initial=0))
    ranked = Ranked(
        np.empty(most, dtype=np.int64), np.empty(most, dtype=np.int64),
        np.empty((most, p), dtype=np.int64), np.empty((most, p), dtype=np.float32),
        np.empty(most, dtype=np.float32), np.empty(most, dtype=np.bool_), np.empty(most),
        np.empty(most),
    )  # fmt: skip
    chosen = SurrogateSplits(
        np.zeros(2, dtype=np.int32), np.zeros(1, dtype=np.bool_),
        np.zeros(most + 1, dtype=np.int32), np.empty(most, dtype=np.float32),
        np.empty(most, dtype=np.bool_), np.empty(most), np.empty(most),
        np.empty(most, dtype=np.int32), np.empty(most * p, dtype=np.int32),
        np.empty(most * p, dtype=np.float32), marks,
    )  # fmt: skip
    return SurrogateScratch(
        marks, np.empty((1, p), dtype=np.int64), np.empty((1, p), dtype=np.float32),
        np.empty((1, p), dtype=np.int64), np.empty((1, p), dtype=np.float32),
        np.empty(n, dtype=np.float32), np.empty(n, dtype=np.bool_), np.empty(n, dtype=np.bool_),
        np.empty(n, dtype=np.int8),
        digit_scratch(np.empty(n, dtype=np.uint64), np.empty(n, dtype=np.uint64)),
        np.empty(n, dtype=np.int32), np.empty(L), np.empty(L), np.empty(L, dtype=np.int64),
        np.empty(L, dtype=np.int8), np.zeros(P, dtype=np.bool_),
        CompleteRows(np.empty(n), np.empty(n), np.empty(n, dtype=np.int32), False),
        np.empty(n, dtype=np.float32), np.empty(n), np.empty(K), np.zeros(ROUND, dtype=np.bool_),
        ranked, np.zeros(most, dtype=np.int32), np.zeros(1, dtype=np.int64), chosen,
        workspace(most, n), np.empty(0) if case_weights is None else case_weights, np.empty(n),
    )  # fmt: skip


# How the kernel that grows a tree calls what is about surrogates.
# It calls by address, with arguments that are stored for the tree: so it is compiled once for trees
# with and without surrogates, and what is about these once for all responses.


class SharedScratch(NamedTuple):
    """The part of the `Scratch` of a search for splits that its surrogates use too.

    `gains` (ROUND,).  `thresholds` (ROUND,): of the candidates of a round.  `left` (K,): scratch;
    empty if the gains are computed from moments.  `table`: scratch.  `columns` (1, W): the split,
    and its projections.
    """

    proposals: Proposals
    gains: np.ndarray
    thresholds: np.ndarray
    left: np.ndarray
    table: np.ndarray
    logs: np.ndarray
    columns: np.ndarray
    theta: np.ndarray
    projected: np.ndarray


class SurrogateCalls(NamedTuple):
    """What the kernel that grows a tree knows of surrogates.

    Where nothing is compiled, by NUMBA_DISABLE_JIT, there are functions instead of addresses, and a
    tuple instead of the place.  `leave_out`, `score`, `send`: addresses of what `leave_out_marks`,
    `score_round` and `send_rows` call.  `place`: where the other arguments are stored.  `is_scored`
    (ROUND,): which candidates of a round were scored on a part of the rows.
    """

    leave_out: Any
    score: Any
    send: Any
    place: Any
    is_scored: np.ndarray


NEVER_CALLED = SurrogateCalls(0, 0, 0, 0, np.empty(0, dtype=np.bool_))
"""Of a tree without surrogates."""


class PlacedSurrogates(NamedTuple):
    """Calls for a tree, valid as long as `kept`, which they use, exists."""

    calls: SurrogateCalls
    kept: tuple[Any, ...]


def placed_surrogates(
    state: NDArray[np.uint64], rows: Rows, settings: KernelParams, shared: SharedScratch,
    work: SurrogateScratch,
) -> PlacedSurrogates:  # fmt: skip
    """Store what the kernels of a tree's surrogates are called with."""
    arguments = state, rows, settings, shared, work
    if config.DISABLE_JIT:
        calls = SurrogateCalls(_leave_out_at, _score_at, _send_at, arguments, work.is_scored)
        return PlacedSurrogates(calls, ())
    memory = np.empty(ROOM, dtype=np.int64)
    leave_out, score, send, place = _store(arguments, memory)
    calls = SurrogateCalls(leave_out, score, send, place, work.is_scored)
    return PlacedSurrogates(calls, (arguments, memory))


@kernel
def _store(arguments, memory):
    """Store the arguments; return the addresses of the three kernels, and the place."""
    return (
        _address_of_leave_out(arguments),
        _address_of_score(arguments),
        _address_of_send(arguments),
        write_tuple(arguments, memory),
    )


@part
def _leave_out_at(place, n):
    _, _, _, shared, work = read_tuple(place)
    remove_marks(shared.proposals, n, work.marks)
    return ZERO


@part
def _score_at(place, lo, m, weight, n):
    state, rows, settings, shared, work = read_tuple(place)
    score_on_complete_rows(state, rows, lo, m, weight, n, settings, shared, work)
    return ZERO


@part
def _send_at(place, lo, m, size, cut):
    _, rows, _, shared, work = read_tuple(place)
    return send_with_new_surrogates(
        rows, lo, m, size, cut, shared.columns, shared.theta, shared.projected, work
    )


# lo, m, weight and n of a round; lo, m, size and cut of a split
ROUND_KINDS = types.int32, types.int64, types.float64, types.int64
SPLIT_KINDS = types.int32, types.int64, types.int64, types.float32
_address_of_leave_out = address_within(_leave_out_at, types.int64)
_address_of_score = address_within(_score_at, *ROUND_KINDS)
_address_of_send = address_within(_send_at, *SPLIT_KINDS)
_call_leave_out = called_at(types.int64, PLACE, types.int64)
_call_score = called_at(types.int64, PLACE, *ROUND_KINDS)
_call_send = called_at(types.int64, PLACE, *SPLIT_KINDS)


@part
def leave_out_marks(calls, n):
    """Remove the terms that only rows with empty cells have from the n proposals of a round."""
    _call_leave_out(calls.leave_out, (calls.place, n))


@part
def score_round(calls, lo, m, weight, n):
    """Score again those of n candidates that some of the node's m rows have no value for."""
    _call_score(calls.score, (calls.place, lo, m, weight, n))


@part
def send_rows(calls, lo, m, size, cut):
    """Choose the surrogates of a new split and send the rows that need them; return its size."""
    return _call_send(calls.send, (calls.place, lo, m, size, cut))
