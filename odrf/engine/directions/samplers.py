"""Direction samplers: how the engine draws candidate directions of one or several families.

A sampler is a named tuple.  Its first field, `number`, is its number of candidates at a node; the
other fields are parameters and scratch.  Its kernels are looked up by its type when the kernel that
grows a tree is compiled: so only the samplers in use are compiled.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from numba.extending import overload
from numpy.typing import NDArray

from odrf.engine.compiling import MERGED, inlined
from odrf.engine.directions.candidates import FeatureGroups
from odrf.engine.rows.rows import Rows
from odrf.engine.settings import Settings

__all__ = ["DirectionSampler", "SamplerMixture", "begin_samplers", "begins", "draw_round", "draws"]


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
        self, feature_groups: FeatureGroups, settings: Settings, n: int
    ) -> tuple[DirectionSampler, ...]:
        """Return the samplers, with scratch for a tree of n rows."""

    def widest(self, feature_groups: FeatureGroups, settings: Settings, n: int) -> int:
        """Return the most columns that a direction of a tree of n rows has."""

    def estimated(self, feature_groups: FeatureGroups, settings: Settings, n: int) -> int:
        """Return the most columns on which a direction is estimated; 0 if none is estimated."""

    def rotation(
        self, state: NDArray[np.uint64], rows: Rows, settings: Settings
    ) -> NDArray[np.float32] | None:
        """Return the orthogonal matrix (p, p) that rotates a tree's columns, or None."""

    def columns_read(self, feature_groups: FeatureGroups, settings: Settings, n: int) -> float:
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


@inlined
def _nothing(sampler, state, proposals):
    pass


def begin_samplers(samplers, state, proposals):
    """Prepare all samplers for a node; return the total number of candidates.

    This body runs where nothing is compiled, by NUMBA_DISABLE_JIT; kernels have the overload below.
    """
    for sampler in samplers:
        BEGINNINGS.get(type(sampler), _nothing)(sampler, state, proposals)
    return sum(sampler.number for sampler in samplers)


@overload(begin_samplers, jit_options=MERGED)
def _begin_samplers(samplers, state, proposals):
    begin = BEGINNINGS.get(samplers[0].instance_class, _nothing)

    def of_one(samplers, state, proposals):
        begin(samplers[0], state, proposals)
        return samplers[0].number

    def of_several(samplers, state, proposals):
        begin(samplers[0], state, proposals)
        return samplers[0].number + begin_samplers(samplers[1:], state, proposals)

    return of_one if len(samplers) == 1 else of_several


def draw_round(samplers, state, rows, lo, m, n_rows, first, feature_groups, proposals, work):
    """Draw a round of candidates from the sampler that has candidate number `first`.

    Returns the number of directions written to the proposals, and the number of the next candidate.
    This body runs where nothing is compiled, by NUMBA_DISABLE_JIT; kernels have the overload below.
    """
    before, at = 0, 0
    while at < len(samplers) - 1 and first - before >= samplers[at].number:
        before, at = before + samplers[at].number, at + 1
    draw, of_sampler = DRAWS[type(samplers[at])], first - before
    n, following = draw(
        samplers[at], state, rows, lo, m, n_rows, of_sampler, feature_groups, proposals, work
    )
    return n, following + before


@overload(draw_round, jit_options=MERGED)
def _draw_round(samplers, state, rows, lo, m, n_rows, first, feature_groups, proposals, work):
    draw = DRAWS[samplers[0].instance_class]

    def of_one(samplers, state, rows, lo, m, n_rows, first, feature_groups, proposals, work):
        return draw(samplers[0], state, rows, lo, m, n_rows, first, feature_groups, proposals, work)

    def of_several(samplers, state, rows, lo, m, n_rows, first, feature_groups, proposals, work):
        sampler = samplers[0]
        if first < sampler.number:
            return draw(sampler, state, rows, lo, m, n_rows, first, feature_groups, proposals, work)
        n, following = draw_round(
            samplers[1:],
            state,
            rows,
            lo,
            m,
            n_rows,
            first - sampler.number,
            feature_groups,
            proposals,
            work,
        )
        return n, following + sampler.number

    return of_one if len(samplers) == 1 else of_several
