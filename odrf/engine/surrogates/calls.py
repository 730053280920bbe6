"""How the kernel that grows a tree calls what is about surrogates.

It calls by address, with arguments that are stored for the tree: so it is compiled once for trees
with and without surrogates, and what is about these once for all responses.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import config, types
from numpy.typing import NDArray

from odrf.engine.compiling import ZERO, kernel, part
from odrf.engine.directions.candidates import Proposals
from odrf.engine.pointers import PLACE, ROOM, address_within, called_at, read_tuple, write_tuple
from odrf.engine.rows.rows import Rows
from odrf.engine.settings import Settings
from odrf.engine.surrogates.gains_on_complete_rows import remove_marks, score_on_complete_rows
from odrf.engine.surrogates.scratch import SurrogateScratch
from odrf.engine.surrogates.sending import send_with_new_surrogates

__all__ = [
    "NEVER_CALLED",
    "PlacedSurrogates",
    "SharedScratch",
    "SurrogateCalls",
    "leave_out_marks",
    "placed_surrogates",
    "score_round",
    "send_rows",
]


class SharedScratch(NamedTuple):
    """The part of the `Scratch` of a search for splits that its surrogates use too.

    Attributes
    ----------
    proposals : Proposals
    gains : (ROUND,) float64
    thresholds : (ROUND,) float32
        Of the candidates of a round.
    left : (K,) float64
        Scratch; empty if the gains are computed from moments.
    table : (≥ 4, ≥ K) float64
        Scratch.
    logs : (≥ 1,) float64
    columns : (1, W) int64; theta : (1, W) float32; projected : (n,) float32
        The split, and its projections.
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

    Where nothing is compiled, by NUMBA_DISABLE_JIT, there are functions instead of addresses, and
    a tuple instead of the place.

    Attributes
    ----------
    leave_out, score, send : int
        Addresses of what `leave_out_marks`, `score_round` and `send_rows` call.
    place : int
        Where the other arguments are stored.
    is_scored : (ROUND,) bool
        Which candidates of a round were scored on a part of the rows.
    """

    leave_out: Any
    score: Any
    send: Any
    place: Any
    is_scored: np.ndarray


NEVER_CALLED = SurrogateCalls(0, 0, 0, 0, np.empty(0, dtype=np.bool_))
"""Of a tree without surrogates."""


class PlacedSurrogates(NamedTuple):
    """Calls for a tree, whose other arguments are stored.

    Attributes
    ----------
    calls : SurrogateCalls
        Good as long as `kept` lives.
    kept : tuple
        What the calls use.
    """

    calls: SurrogateCalls
    kept: tuple[Any, ...]


def placed_surrogates(
    state: NDArray[np.uint64],
    rows: Rows,
    settings: Settings,
    shared: SharedScratch,
    work: SurrogateScratch,
) -> PlacedSurrogates:
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
    """Score those of a round's n candidates anew that some rows of the node have no value for.

    The node's m rows of this weight begin at `lo`.
    """
    _call_score(calls.score, (calls.place, lo, m, weight, n))


@part
def send_rows(calls, lo, m, size, cut):
    """Choose the surrogates of a new split and send the rows that need them; return its size."""
    return _call_send(calls.send, (calls.place, lo, m, size, cut))
