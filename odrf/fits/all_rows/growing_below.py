"""The branches of a tree of all rows whose rows fit in memory, grown one after the other."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from odrf.engine.all_rows.bin_sums import order_by_slots
from odrf.engine.chunks import Recipe, TreeRows, growth_bytes
from odrf.engine.factors import stored, with_layout
from odrf.engine.growth.forest_builder import TreeGrower
from odrf.engine.kernel_params import KernelParams
from odrf.engine.memory import available_memory, require_memory
from odrf.engine.resamples import ALL_ROWS, Sampling
from odrf.engine.running import in_order
from odrf.engine.trees.forest import Forest
from odrf.fits.all_rows.growing_levels import LowerBranch
from odrf.fits.all_rows.row_file import RowFile

__all__ = ["branches_of_passes", "grow_below", "grown_in_memory", "rows_that_fit"]

# Bytes that the rows of a branch and its growth may take.  The number decides which nodes are split
# by passes over the file, and so the tree: it must not depend on the machine.
IN_MEMORY = 2**30
# Bytes of a response and a weight.
PER_ROW = 16.0
# Where the system does not tell what is free.
UNKNOWN = 4e9


def rows_that_fit(n_stored: int, n_classes: int) -> int:
    """Return how many rows of `n_stored` numbers grow in memory: the same on all machines."""
    return int(IN_MEMORY / _bytes(1.0, n_stored, n_classes))


def _bytes(n: float, n_stored: int, n_classes: int) -> float:
    return n * (4.0 * n_stored + PER_ROW) + growth_bytes(n, n_stored, n_classes)


def grown_in_memory(
    rows: TreeRows, recipe: Recipe, settings: KernelParams, state: NDArray[np.uint64], n_jobs: int
) -> Forest:
    """Return the tree of a random stream (4,), grown on all these rows in `n_jobs` threads."""
    grow = TreeGrower(
        rows.X, rows.y, rows.weights, recipe.feature_groups, Sampling(ALL_ROWS, 1.0, False),
        settings, recipe.mixture, 1, n_jobs,
    )  # fmt: skip
    return grow(state)


def grow_below(
    file: RowFile,
    recipe: Recipe,
    branches: list[LowerBranch],
    n_jobs: int,
    memory: float | None,
    advance: Callable[[int], object],
) -> dict[int, Forest]:
    """Return the tree below each branch, by the number of its node in the crown.

    As many branches as fit in the `memory`, by default half of what is free, gather their rows in
    one pass over the file.  `advance` is told the rows of each grown branch.

    Raises
    ------
    MemoryError
        One branch takes more memory than is free.
    """
    grown = {}
    K = recipe.settings.n_classes
    for some in branches_of_passes(file.n_stored, K, branches, memory):
        gathered = _gathered(file, some, n_jobs)
        for branch in some:
            depth = recipe.settings.max_depth - branch.depth
            grow = partial(
                grown_in_memory, recipe=recipe, settings=recipe.settings._replace(max_depth=depth),
                state=branch.state, n_jobs=n_jobs,
            )  # fmt: skip
            rows = gathered.pop(branch.number)
            grown[branch.number] = next(in_order(grow, [rows], 1, stored(rows.X).size))
            del rows
            advance(branch.n_rows)
    return grown


def branches_of_passes(
    n_stored: int, n_classes: int, branches: list[LowerBranch], memory: float | None
) -> Iterator[list[LowerBranch]]:
    """Yield the branches that gather their rows, of `n_stored` numbers, in one pass.

    Raises
    ------
    MemoryError
        One branch takes more memory than is free.
    """
    free = available_memory()
    sizes = [branch.n_rows * (4.0 * n_stored + PER_ROW) for branch in branches]
    growth = growth_bytes(max((b.n_rows for b in branches), default=0), n_stored, n_classes)
    require_memory(
        growth + max(sizes, default=0.0),
        "growing a part of the tree in memory",
        "use fewer columns",
    )
    budget = (memory or (free / 2 if math.isfinite(free) else UNKNOWN)) - growth
    some: list[LowerBranch] = []
    held = 0.0
    for branch, size in zip(branches, sizes, strict=True):
        if some and held + size > budget:
            yield some
            some, held = [], 0.0
        some.append(branch)
        held += size
    if some:
        yield some


def _gathered(file: RowFile, branches: list[LowerBranch], n_jobs: int) -> dict[int, TreeRows]:
    """Return the rows of these branches, in their order in the file."""
    slots = np.full(1 + max(branch.number for branch in branches), -1, dtype=np.int32)
    X, y, weights = [], [], []
    for s, branch in enumerate(branches):
        slots[branch.number] = s
        X.append(np.empty((file.n_stored, branch.n_rows), dtype=np.float32))
        y.append(np.empty(branch.n_rows))
        weights.append(np.ones(branch.n_rows) if file.unit else np.empty(branch.n_rows))
    last = len(slots)

    def found(k: int) -> list[TreeRows]:
        stripe = file.read(k)
        begin = np.empty(len(branches) + 1, dtype=np.int64)
        order = np.empty(len(stripe.y), dtype=np.int32)
        # nodes with larger numbers are others
        of_nodes = np.append(slots, np.int32(-1))
        order_by_slots(np.minimum(stripe.nodes, last), of_nodes, begin, order)
        pieces = [order[a:b] for a, b in pairwise(begin)]
        return [
            TreeRows(np.take(stored(stripe.X), at, axis=1), stripe.y[at], stripe.weights[at])
            for at in pieces
        ]

    filled = np.zeros(len(branches), dtype=np.int64)
    for pieces in in_order(found, range(file.n_stripes), n_jobs, file.n * file.n_stored):
        for s, piece in enumerate(pieces):
            begin, end = int(filled[s]), int(filled[s]) + len(piece.y)
            X[s][:, begin:end], y[s][begin:end] = stored(piece.X), piece.y
            if not file.unit:
                weights[s][begin:end] = piece.weights
            filled[s] = end
    return {
        branch.number: TreeRows(with_layout(X[s], file.layout), y[s], weights[s])
        for s, branch in enumerate(branches)
    }
