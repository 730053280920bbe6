"""Direction samplers: what a family is to the engine, and how a node draws from several.

A sampler is a named tuple: its first field, `number`, says how many candidates it has at a node,
the others are its parameters and scratch.  Its kernels are found by its type when the kernel of a
tree is compiled, so that it is compiled for the samplers that there are and for no others.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from numba.extending import overload
from numpy.typing import NDArray

from odrf.engine.compiling import OPTIONS, inlined
from odrf.engine.directions.candidates import FeatureGroups
from odrf.engine.rows.rows import Rows
from odrf.engine.settings import Settings

__all__ = ["DirectionSampler", "SamplerMixture", "begin_samplers", "begins", "draw_round", "draws"]


class DirectionSampler(Protocol):
    """A named tuple of parameters and scratch."""

    @property
    def number(self) -> int:
        """Candidates at a node."""


class SamplerMixture(Protocol):
    """Where the candidate directions of a forest come from."""

    def samplers(
        self, feature_groups: FeatureGroups, settings: Settings, n: int
    ) -> tuple[DirectionSampler, ...]:
        """Return the samplers, with scratch for a tree of n rows."""

    def widest(self, feature_groups: FeatureGroups, settings: Settings, n: int) -> int:
        """Return the most columns that a direction of a tree of n rows has."""

    def estimated(self, feature_groups: FeatureGroups, settings: Settings, n: int) -> int:
        """Return the most columns that a direction is estimated on; 0 where none is."""

    def rotation(
        self, state: NDArray[np.uint64], rows: Rows, settings: Settings
    ) -> NDArray[np.float32] | None:
        """Return the orthogonal matrix (p, p) that turns a tree's columns; None for no such."""

    def looked_at(self, feature_groups: FeatureGroups, settings: Settings, n: int) -> float:
        """Return about how many columns the candidates of a node look at."""


Kernel = Callable[..., Any]
COMPILED = {name: value for name, value in OPTIONS.items() if name != "cache"}
BEGINNINGS: dict[type, Kernel] = {}
DRAWS: dict[type, Kernel] = {}


def begins(sampler: type) -> Callable[[Kernel], Kernel]:
    """Make a kernel (sampler, state, proposals) what a sampler begins each node with."""

    def register(function: Kernel) -> Kernel:
        BEGINNINGS[sampler] = inlined(function)
        return BEGINNINGS[sampler]

    return register


def draws(sampler: type) -> Callable[[Kernel], Kernel]:
    """Make a kernel the one that draws a round of a sampler's candidates.

    Its arguments are (sampler, state, rows, lo, m, n_rows, first, feature_groups, proposals,
    work): the node's m rows, N(A) = `n_rows`, begin at `lo`, the round begins with the candidate
    numbered `first`.  It writes up to `ROUND` directions to the proposals and returns how many, a
    candidate may give none, and which candidate comes next.
    """

    def register(function: Kernel) -> Kernel:
        DRAWS[sampler] = inlined(function)
        return DRAWS[sampler]

    return register


@inlined
def _nothing(sampler, state, proposals):
    pass


def begin_samplers(samplers, state, proposals):
    """Let each sampler begin a node; return how many candidates there are in all."""
    raise NotImplementedError  # what kernels call is below


@overload(begin_samplers, jit_options=COMPILED)
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
    """Draw a round of candidates from the sampler that has the one numbered `first`.

    Returns how many directions the proposals hold, and which candidate comes next.
    """
    raise NotImplementedError  # what kernels call is below


@overload(draw_round, jit_options=COMPILED)
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
