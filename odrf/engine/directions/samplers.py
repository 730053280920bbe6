"""Laws of candidate directions: what a family is to the engine, and how a node draws from several.

A law is a named tuple: its first field, `number`, says how many candidates it has at a node, the
others are its parameters and scratch.  Its kernels are found by its type when the kernel of a
tree is compiled, so that it is compiled for the laws that there are and for no others.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from numba.extending import overload
from numpy.typing import NDArray

from odrf.engine.compiling import OPTIONS, inlined
from odrf.engine.directions.candidates import Blocks
from odrf.engine.rows.rows import Rows
from odrf.engine.settings import Settings

__all__ = ["Law", "Source", "begin_laws", "begins", "draw_round", "draws"]


class Law(Protocol):
    """A named tuple of parameters and scratch."""

    @property
    def number(self) -> int:
        """Candidates at a node."""


class Source(Protocol):
    """Where the candidate directions of a forest come from."""

    def laws(self, blocks: Blocks, settings: Settings, n: int) -> tuple[Law, ...]:
        """Return the laws, with scratch for a tree of n rows."""

    def widest(self, blocks: Blocks, settings: Settings, n: int) -> int:
        """Return the most columns that a direction of a tree of n rows has."""

    def estimated(self, blocks: Blocks, settings: Settings, n: int) -> int:
        """Return the most columns that a direction is estimated on; 0 where none is."""

    def rotation(
        self, state: NDArray[np.uint64], rows: Rows, settings: Settings
    ) -> NDArray[np.float32] | None:
        """Return the orthogonal matrix (p, p) that turns a tree's columns; None for no such."""

    def looked_at(self, blocks: Blocks, settings: Settings, n: int) -> float:
        """Return about how many columns the candidates of a node look at."""


Kernel = Callable[..., Any]
COMPILED = {name: value for name, value in OPTIONS.items() if name != "cache"}
BEGINNINGS: dict[type, Kernel] = {}
DRAWS: dict[type, Kernel] = {}


def begins(law: type) -> Callable[[Kernel], Kernel]:
    """Make a kernel (law, state, proposals) what a law begins each node with."""

    def register(function: Kernel) -> Kernel:
        BEGINNINGS[law] = inlined(function)
        return BEGINNINGS[law]

    return register


def draws(law: type) -> Callable[[Kernel], Kernel]:
    """Make a kernel the one that draws a round of a law's candidates.

    Its arguments are (law, state, rows, lo, m, n_rows, first, blocks, proposals, work): the node's
    m rows, N(A) = `n_rows`, begin at `lo`, the round begins with the candidate numbered `first`.
    It writes up to `ROUND` directions to the proposals and returns how many, a candidate may give
    none, and which candidate comes next.
    """

    def register(function: Kernel) -> Kernel:
        DRAWS[law] = inlined(function)
        return DRAWS[law]

    return register


@inlined
def _nothing(law, state, proposals):
    pass


def begin_laws(laws, state, proposals):
    """Let each law begin a node; return how many candidates there are in all."""
    raise NotImplementedError  # what kernels call is below


@overload(begin_laws, jit_options=COMPILED)
def _begin_laws(laws, state, proposals):
    begin = BEGINNINGS.get(laws[0].instance_class, _nothing)

    def of_one(laws, state, proposals):
        begin(laws[0], state, proposals)
        return laws[0].number

    def of_several(laws, state, proposals):
        begin(laws[0], state, proposals)
        return laws[0].number + begin_laws(laws[1:], state, proposals)

    return of_one if len(laws) == 1 else of_several


def draw_round(laws, state, rows, lo, m, n_rows, first, blocks, proposals, work):
    """Draw a round of candidates from the law that has the one numbered `first`.

    Returns how many directions the proposals hold, and which candidate comes next.
    """
    raise NotImplementedError  # what kernels call is below


@overload(draw_round, jit_options=COMPILED)
def _draw_round(laws, state, rows, lo, m, n_rows, first, blocks, proposals, work):
    draw = DRAWS[laws[0].instance_class]

    def of_one(laws, state, rows, lo, m, n_rows, first, blocks, proposals, work):
        return draw(laws[0], state, rows, lo, m, n_rows, first, blocks, proposals, work)

    def of_several(laws, state, rows, lo, m, n_rows, first, blocks, proposals, work):
        law = laws[0]
        if first < law.number:
            return draw(law, state, rows, lo, m, n_rows, first, blocks, proposals, work)
        n, following = draw_round(
            laws[1:], state, rows, lo, m, n_rows, first - law.number, blocks, proposals, work
        )
        return n, following + law.number

    return of_one if len(laws) == 1 else of_several
