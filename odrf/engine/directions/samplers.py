"""Direction samplers: how candidate directions are drawn, and their scratch.

A sampler is a named tuple.  Its first field, `number`, is its number of candidates at a node; the
other fields are parameters and scratch.  Its kernels are looked up by its type.  The kernel that
grows a tree calls them by their addresses, so that it is compiled once for all families.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np
from numba import config, types
from numba.extending import overload
from numpy.typing import NDArray

from odrf.engine.compiling import (
    MERGED,
    PLACE,
    ROOM,
    ZERO,
    address_within,
    called_at,
    inlined,
    kernel,
    part,
    read_tuple,
    write_tuple,
)
from odrf.engine.directions.candidates import FeatureGroups, Proposals
from odrf.engine.kernel_params import KernelParams
from odrf.engine.rows import Rows
from odrf.engine.survival.log_rank import NOT_SCORED, ScoreCall, placed_scores


class RandomEffects(NamedTuple):
    """Scratch for the effects of factors in a direction, on up to R rows, in up to L slots.

    `size` (2,): number of factors, and of slots: levels of all of them.
    `slot` (F, R): the slot of each row; 0 if it has no level.
    `slot_of` (W + 1,): the slot of each level of a factor; 0 between calls.
    `begin` (F + 1,): the first slot of each factor.
    `column`, `weight`, `moment` (L + 1,): the column of each slot, and sums over its rows.
    `effect`, `left` (L + 1,): the effect of each slot, and what others leave of its target.
    `variance` (F,): τ² of each factor.
    `numbers` (L + 1, D + 1): sums of the numbers over the rows of each slot.
    `A` (D + 1, D + 1), `c` (D + 1,): A·β = c without factors.
    """

    size: np.ndarray
    slot: np.ndarray
    slot_of: np.ndarray
    begin: np.ndarray
    column: np.ndarray
    weight: np.ndarray
    moment: np.ndarray
    effect: np.ndarray
    left: np.ndarray
    variance: np.ndarray
    numbers: np.ndarray
    A: np.ndarray
    c: np.ndarray


class LevelScores(NamedTuple):
    """Scratch for scoring the levels of factors, and the scores that a node keeps.

    `kept_columns` (F, L), `kept_scores` (F, L), `kept_rows` (F, R).
    `weight`, `moment` (W + 1,): sums over the rows of each level of a factor.
    `seen` (W + 1,): scratch, False between calls.
    `present` (W,): the levels that a node has.
    `dismissed` (F,): on how many rows of the node each factor, of many levels, was seen to differ
      by no more than chance for the present target; 0 if it was not.
    `kept` (F, 3): for each factor of many levels, on how many rows its levels were scored for the
      present target, how many of these rows are used, and how many levels were scored.  The first
      is 0 if they were not.
    `kept_covariance` (F, 2): their columns and scores, the scores of the rows, covariance and
      excess; for the next direction with the factor.  F is 0 if every direction has a target of its
      own.
    `freedom` (1,): in how many other directions the target could vary, if it was chosen by the
      levels that it scores, see `odrf.engine.directions.factors`; else 0.
    `effects`: scratch of directions of which factors are random effects.
    """

    weight: np.ndarray
    moment: np.ndarray
    seen: np.ndarray
    present: np.ndarray
    dismissed: np.ndarray
    kept: np.ndarray
    kept_columns: np.ndarray
    kept_scores: np.ndarray
    kept_rows: np.ndarray
    kept_covariance: np.ndarray
    freedom: np.ndarray
    effects: RandomEffects


class Workspace(NamedTuple):
    """Scratch for estimating directions on up to D terms, of up to W columns, and R rows.

    The levels of factors are scored on up to S rows, of which the first R are used for the rest.

    A term is a column, or the scores of a factor of many levels.  `Z`, `weighted` (D, R),
    `weights`, `target`, `moment` (S,), `product`, `eta`, `mean`, `variance`, `residual` (R,),
    `power` (R,), `term` (W,), `column` (W,), `A` (D + 1, D + 1), `theta`, `step`, `sums` (D + 1,).
    `scores` (W,): the term that each column of a direction belongs to, and its coefficient in that
    term.  `coefficient` (W,): the columns and their coefficients.  `levels`: none if no predictor
    has empty cells or is a factor: as None has a type of its own in Numba, such tables need no code
    for scores of levels.  `covariance`, `excess` (D,): covariance of each term with the target, and
    what is only noise besides; see `odrf.engine.directions.factors`.  `size` (5,): number of
    columns; of terms if one of them is a factor whose levels are scored with shrinkage, else 0; of
    free coefficients of factors of more than two levels that enter by indicators; of terms; and of
    rows on which the direction is estimated.
    """

    Z: np.ndarray
    weighted: np.ndarray
    weights: np.ndarray
    target: np.ndarray
    moment: np.ndarray
    product: np.ndarray
    eta: np.ndarray
    mean: np.ndarray
    variance: np.ndarray
    residual: np.ndarray
    power: np.ndarray
    term: np.ndarray
    scores: np.ndarray
    column: np.ndarray
    coefficient: np.ndarray
    levels: LevelScores | None
    covariance: np.ndarray
    excess: np.ndarray
    size: np.ndarray
    A: np.ndarray
    theta: np.ndarray
    step: np.ndarray
    sums: np.ndarray


def workspace(
    D: int, R: int, W: int | None = None, S: int | None = None, F: int = 1, L: int = 0
) -> Workspace:
    """Allocate scratch: D terms, W columns, R and S rows, F factors, L levels with kept scores."""
    W, S = D if W is None else W, R if S is None else S
    return Workspace(
        np.empty((D, R)), np.empty((D, R)), np.empty(S), np.empty(S), np.empty(S), np.empty(R),
        np.empty(R), np.empty(R), np.empty(R), np.empty(R), np.empty(R, dtype=np.int64),
        np.empty(W, dtype=np.int64), np.empty(W), np.empty(W, dtype=np.int64), np.empty(W),
        _level_scores(W, R, F, L, D) if F > 0 else None, np.empty(D), np.empty(D),
        np.zeros(5, dtype=np.int64), np.empty((D + 1, D + 1)), np.empty(D + 1), np.empty(D + 1),
        np.empty(D + 1),
    )  # fmt: skip


def _level_scores(W: int, R: int, F: int, L: int, D: int) -> LevelScores:
    kept = F if L > 0 else 0
    return LevelScores(
        np.empty(W + 1), np.empty(W + 1), np.zeros(W + 1, dtype=np.bool_),
        np.empty(W, dtype=np.int64), np.zeros(F, dtype=np.int64),
        np.zeros((kept, 3), dtype=np.int64), np.empty((kept, L), dtype=np.int64),
        np.empty((kept, L)), np.empty((kept, R)), np.empty((kept, 2)), np.zeros(1),
        _random_effects(W, R, F, D),
    )  # fmt: skip


def _random_effects(W: int, R: int, F: int, D: int) -> RandomEffects:
    slots = min(W, F * R) + 1  # no more levels than rows
    column, weight, moment, effect, left = np.empty((5, slots))
    return RandomEffects(
        np.zeros(2, dtype=np.int64), np.empty((F, R), dtype=np.int32),
        np.zeros(W + 1, dtype=np.int64), np.empty(F + 1, dtype=np.int64),
        column.view(np.int64), weight, moment, effect, left, np.empty(F),
        np.empty((slots, D + 1)), np.empty((D + 1, D + 1)), np.empty(D + 1),
    )  # fmt: skip


@part
def forget_levels(levels):
    """Forget what is kept of the levels of factors, for a new target."""
    if levels is None:
        return
    levels.dismissed[:], levels.kept[:, 0] = 0, 0


@part
def note_free_target(levels, another):
    """Note whether the target is `another` one, to which dismissed factors may be related."""
    if levels is None:
        return
    levels.freedom[0] = 0.0
    if another:
        levels.dismissed[:] = 0


# Direction samplers: how the engine draws candidate directions of one or several families.


class DirectionSampler(Protocol):
    """A named tuple of parameters and scratch, `number` first."""

    @property
    def number(self) -> int:
        """Number of candidate directions at a node."""


class SamplerMixture(Protocol):
    """The mixture of samplers from which the candidate directions of a forest are drawn."""

    @property
    def rotates(self) -> bool:
        """Whether the columns of whole trees are rotated."""

    def samplers(
        self, feature_groups: FeatureGroups, settings: KernelParams, n: int
    ) -> tuple[DirectionSampler, ...]:
        """Return the samplers, with scratch for a tree of n rows."""

    def widest(
        self, feature_groups: FeatureGroups, settings: KernelParams, n: int
    ) -> tuple[int, int]:
        """Return the most columns that a direction of a tree of n rows has.

        Also the most on which one is estimated; 0 if none is estimated.
        """

    def rotation(
        self, state: NDArray[np.uint64], rows: Rows, settings: KernelParams
    ) -> NDArray[np.float32] | None:
        """Return the orthogonal matrix (p, p) that rotates a tree's columns, or None."""

    def columns_read(self, feature_groups: FeatureGroups, settings: KernelParams, n: int) -> float:
        """Return about how many columns the candidates of a node read, counting repetitions."""


Kernel = Callable[..., Any]
BEGINNINGS: dict[type, Kernel] = {}
DRAWS: dict[type, Kernel] = {}


def begins(sampler: type) -> Callable[[Kernel], Kernel]:
    """Register a kernel (sampler, state, proposals) that prepares a sampler for each node."""

    def register(function: Kernel) -> Kernel:
        BEGINNINGS[sampler] = inlined(function)
        return BEGINNINGS[sampler]

    return register


def draws(sampler: type) -> Callable[[Kernel], Kernel]:
    """Register the kernel that draws a round of a sampler's candidates.

    Its arguments are (sampler, state, rows, lo, m, n_rows, first, feature_groups, proposals,
    work).  The node's m rows begin at `lo`; N(A) = `n_rows`, counting repetitions; the round begins
    with candidate number `first`.  The kernel writes up to `ROUND` directions to the proposals.  It
    returns how many it has written, as a candidate may give no direction, and the number of the
    next candidate.
    """

    def register(function: Kernel) -> Kernel:
        DRAWS[sampler] = inlined(function)
        return DRAWS[sampler]

    return register


class Calls(NamedTuple):
    """What the kernel that grows a tree knows of k samplers.

    Where nothing is compiled, by NUMBA_DISABLE_JIT, there are functions instead of addresses, and
    tuples instead of places.  `numbers` (k,): their numbers of candidates at a node.  `begin`,
    `draw` (k,): addresses of the kernels that prepare them for a node, and that draw a round.
    `place` (k,): where their arguments are stored.  `score`: what scores a node of times to an
    event.
    """

    numbers: Any
    begin: Any
    draw: Any
    place: Any
    score: ScoreCall


class PlacedSamplers(NamedTuple):
    """Samplers whose arguments are stored for a tree.

    `calls`: valid as long as `kept` exists.  `kept`: what the calls use.  `rows`: as kernels take
    them, without the ranks of times to an event.
    """

    calls: Calls
    rows: Rows
    kept: tuple[Any, ...]


def placed(
    samplers: tuple[DirectionSampler, ...], state: NDArray[np.uint64], rows: Rows,
    feature_groups: FeatureGroups, proposals: Proposals, work: Workspace,
) -> PlacedSamplers:  # fmt: skip
    """Store what the samplers of a tree are called with."""
    ranks, rows = rows.ranks, rows._replace(ranks=None)
    score, scored = (NOT_SCORED, ()) if ranks is None else placed_scores(state, rows, ranks)
    k = len(samplers)
    numbers, memory = np.empty(k, dtype=np.int64), np.empty((k, ROOM), dtype=np.int64)
    begin, draw, place = np.empty((3, k), dtype=np.int64)
    arguments = []
    for s, sampler in enumerate(samplers):
        numbers[s] = sampler.number
        arguments.append((sampler, state, rows, feature_groups, proposals, work))
        if not config.DISABLE_JIT:
            begin[s], draw[s], place[s] = _store(arguments[s], memory[s])
    if config.DISABLE_JIT:
        plainly = [_begin_plainly] * k, [_draw_plainly] * k
        return PlacedSamplers(Calls(numbers, *plainly, arguments, score), rows, ())
    kept = arguments, memory, scored
    return PlacedSamplers(Calls(numbers, begin, draw, place, score), rows, kept)


@kernel
def _store(arguments, memory):
    """Store the arguments of a sampler; return the addresses of its two kernels and the place."""
    return _address_of_begin(arguments), _address_of_draw(arguments), write_tuple(arguments, memory)


@part
def _begin_at(place):
    sampler, state, _, _, proposals, _ = read_tuple(place)
    _begin(sampler, state, proposals)
    return ZERO


@part
def _draw_at(place, lo, m, n_rows, first):
    sampler, state, rows, feature_groups, proposals, work = read_tuple(place)
    return _draw(sampler, state, rows, lo, m, n_rows, first, feature_groups, proposals, work)


# lo, m, n_rows and first of a round
ROUND_KINDS = types.int32, types.int64, types.int64, types.int64
_address_of_begin = address_within(_begin_at)
_address_of_draw = address_within(_draw_at, *ROUND_KINDS)
_call_begin = called_at(types.int64, PLACE)
_call_draw = called_at(types.UniTuple(types.int64, 2), PLACE, *ROUND_KINDS)


def _begin(sampler, state, proposals):
    """Prepare a sampler for a node."""


def _draw(sampler, state, rows, lo, m, n_rows, first, feature_groups, proposals, work):
    """Draw a round of a sampler."""


@inlined
def _nothing(sampler, state, proposals):
    pass


@overload(_begin, jit_options=MERGED)
def _begin_of_type(sampler, state, proposals):
    begin = BEGINNINGS.get(sampler.instance_class, _nothing)

    def of_sampler(sampler, state, proposals):
        begin(sampler, state, proposals)

    return of_sampler


@overload(_draw, jit_options=MERGED)
def _draw_of_type(sampler, state, rows, lo, m, n_rows, first, feature_groups, proposals, work):
    draw = DRAWS[sampler.instance_class]

    def of_sampler(sampler, state, rows, lo, m, n_rows, first, feature_groups, proposals, work):
        return draw(sampler, state, rows, lo, m, n_rows, first, feature_groups, proposals, work)

    return of_sampler


def _begin_plainly(arguments: Any) -> None:
    """Do the same where nothing is compiled."""
    sampler, state, _, _, proposals, _ = arguments
    BEGINNINGS.get(type(sampler), _nothing)(sampler, state, proposals)


def _draw_plainly(arguments: Any, lo: int, m: int, n_rows: int, first: int) -> Any:
    sampler, state, rows, feature_groups, proposals, work = arguments
    draw = DRAWS[type(sampler)]
    return draw(sampler, state, rows, lo, m, n_rows, first, feature_groups, proposals, work)


@part
def begin_samplers(calls):
    """Prepare all samplers for a node; return the total number of candidates."""
    total = ZERO
    for s in range(len(calls.numbers)):
        _call_begin(calls.begin[s], (calls.place[s],))
        total += calls.numbers[s]
    return total


@part
def draw_round(calls, lo, m, n_rows, first):
    """Draw a round from candidate `first` on; return how many were written, and the next number."""
    before, at = ZERO, ZERO
    while at < len(calls.numbers) - 1 and first - before >= calls.numbers[at]:
        before += calls.numbers[at]
        at += 1
    n, following = _call_draw(calls.draw[at], (calls.place[at], lo, m, n_rows, first - before))
    return n, following + before
