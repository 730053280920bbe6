"""Grow a tree by the kernels: from where it is to its end, and into the arrays of a forest."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from odrf.engine.compiling import of_these_types
from odrf.engine.directions.candidates import FeatureGroups
from odrf.engine.directions.samplers import DirectionSampler, placed
from odrf.engine.growth.best_first_kernel import grow_best_first
from odrf.engine.growth.room import with_room
from odrf.engine.growth.tree_kernel import NEXT, NODES, TERMS, TreeBuffers, grow_tree
from odrf.engine.limits import MOST_PLACES
from odrf.engine.parallel import end_if_stopped
from odrf.engine.rows.rows import Rows
from odrf.engine.settings import Settings
from odrf.engine.splits.searching import Scratch
from odrf.engine.surrogates.calls import NEVER_CALLED
from odrf.engine.surrogates.surrogate_splits import SurrogateSplits
from odrf.engine.trees.forest_arrays import Forest

__all__ = [
    "BUDGET",
    "PER_ROW",
    "as_lean_tree",
    "as_tree",
    "grow_on",
    "grown_to_end",
    "growth_kernel",
    "stepper",
]

# Growth looks about every tenth of a second whether it is to stop: after so many numbers, a row
# counting as its terms and `PER_ROW` more.
BUDGET, PER_ROW = 10_000_000, 5


def grow_on(
    rows: Rows,
    feature_groups: FeatureGroups,
    settings: Settings,
    state: NDArray[np.uint64],
    buffers: TreeBuffers,
    scratch: Scratch,
    samplers: tuple[DirectionSampler, ...],
    reached: NDArray[np.int64],
    most: int,
) -> TreeBuffers:
    """Grow a tree to its end, from where it has `reached`; return its buffers.

    They are enlarged as needed, up to room for `most` nodes.  The other arguments are those of
    `grow_tree`.
    """
    step = stepper(rows, feature_groups, settings, state, scratch, samplers, reached)
    return grown_to_end(step, buffers, reached, scratch.columns.shape[1], most)


def grown_to_end(
    step: Callable[[TreeBuffers], object],
    buffers: TreeBuffers,
    reached: NDArray[np.int64],
    widest: int,
    most: int,
) -> TreeBuffers:
    """Grow a tree to its end by steps; return its buffers, which `step` is called with.

    The other arguments are those of `odrf.engine.growth.room.with_room`.
    """
    step(buffers)
    while reached[NEXT] < reached[NODES]:
        end_if_stopped()
        buffers = with_room(buffers, reached, widest, most)
        step(buffers)
    return buffers


def stepper(
    rows: Rows,
    feature_groups: FeatureGroups,
    settings: Settings,
    state: NDArray[np.uint64],
    scratch: Scratch,
    samplers: tuple[DirectionSampler, ...],
    reached: NDArray[np.int64],
) -> Callable[[TreeBuffers], None]:
    """Return what grows a tree further, until its buffers are full or some time has passed.

    It may be called again for the next tree in the same arrays.  From the second call on it no
    longer asks for the types of all arrays: of a small tree that takes as long as its growth.
    """
    in_place = placed(samplers, state, rows, feature_groups, scratch.proposals, scratch.work)
    budget = max(1, BUDGET // (PER_ROW + len(scratch.proposals.units)))
    grow, n_calls = growth_kernel(settings), 0

    def step(buffers: TreeBuffers) -> None:
        nonlocal grow, n_calls
        calls = in_place.calls, NEVER_CALLED
        arguments = (
            rows, feature_groups, settings, state, buffers, scratch, *calls, reached, budget
        )  # fmt: skip
        n_calls += 1
        if n_calls == 2:
            grow = of_these_types(grow, arguments)
        grow(*arguments)

    return step


def growth_kernel(settings: Settings) -> Callable[..., None]:
    """Return the kernel that grows trees in the order of these settings."""
    return grow_best_first if settings.best_first else grow_tree


def as_tree(
    buffers: TreeBuffers,
    reached: NDArray[np.int64],
    ordered: bool,
    surrogates: SurrogateSplits | None = None,
    root: NDArray[np.int64] | None = None,
) -> Forest:
    """Return the grown tree as a forest of one; `ordered` is whether its classes are ordered.

    With `root` (B + 1,), the buffers hold B trees, with the root of tree b at ``root[b]``.
    """
    n_nodes = reached[NODES]
    arrays = _arrays(buffers, reached)
    if root is not None:
        arrays["root"] = root
    return Forest(
        **arrays,
        weight=buffers.weight[:n_nodes].copy(),
        order=buffers.order[:n_nodes].copy(),
        ordered=np.bool_(ordered),
        surrogates=surrogates,
    )


def as_lean_tree(buffers: TreeBuffers, reached: NDArray[np.int64], ordered: bool) -> Forest:
    """Return the tree without weights of nodes and ranks of splits; see `Forest.lean`.

    They follow from the rest if rows have the weight 1 and the tree has grown breadth-first.
    """
    arrays = _arrays(buffers, reached)
    return Forest.of(arrays | {"ordered": np.bool_(ordered), "surrogates": None})


def _arrays(buffers: TreeBuffers, reached: NDArray[np.int64]) -> dict[str, NDArray[Any]]:
    """Return copies of the arrays of a `Forest`, without weights and ranks."""
    n_nodes, n_terms = reached[NODES], reached[TERMS]
    narrow = np.int32 if n_terms <= MOST_PLACES else np.int64
    return {
        "root": np.array([0, n_nodes]),
        "left": buffers.left[:n_nodes].copy(),
        "threshold": buffers.threshold[:n_nodes].copy(),
        "start": buffers.start[: n_nodes + 1].astype(narrow),
        "index": buffers.column[:n_terms].copy(),
        "coef": buffers.coef[:n_terms].copy(),
        "value": buffers.value[:n_nodes].copy(),
        "count": buffers.n_rows[:n_nodes].copy(),
        "impurity": buffers.impurity[:n_nodes].copy(),
        "gain": buffers.gain[:n_nodes].copy(),
    }
