"""Means over the trees of the curves of the leaves that rows reach."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from odrf.engine.compiling import kernel
from odrf.engine.memory import require_memory
from odrf.engine.parallel import in_blocks
from odrf.engine.rows.coded import Matrix
from odrf.engine.survival.leaf_curves import LeafCurves
from odrf.engine.trees.forest_arrays import Forest
from odrf.engine.trees.routing import EVERY_ROW, leaves_of, routing_blocks

__all__ = ["mean_curves"]


def mean_curves(
    forest: Forest,
    curves: LeafCurves,
    X: Matrix,
    grid: NDArray[np.int64],
    survival: bool,
    n_jobs: int,
    wanted: NDArray[np.bool_] = EVERY_ROW,
    advance: Callable[[int], object] = lambda n: None,
) -> NDArray[np.float64]:
    """Return the mean over the trees of survival, or of cumulative hazard, at some event times.

    Parameters
    ----------
    forest : Forest
    curves : LeafCurves
    X : Matrix (p, n)
    grid : (G,) int64
        Ranks of event times, ascending; 0 is the time before the first event.
    survival : bool
        Kaplan–Meier survival if true, else Nelson–Aalen cumulative hazard.
    n_jobs : int
    wanted : (B, n) bool, optional
        The trees whose mean is taken for each row; by default all.
    advance : callable
        It is told the rows that are done.

    Returns
    -------
    (n, G) float64
        NaN for a row that no tree is wanted for.
    """
    n = X.shape[1]
    require_memory(
        8.0 * n * len(grid),
        f"curves of {n} rows at {len(grid)} times",
        "predict fewer rows, or fewer times=",
    )
    out, packed = np.zeros((n, len(grid))), forest.packed_for(X)

    def run(block: slice) -> None:
        leaves = leaves_of(packed, X, block, wanted)
        _add_up(
            leaves, wanted, block.start, curves.start, curves.rank, curves.hazard, grid, survival,
            out[block],
        )  # fmt: skip

    for _ in in_blocks(run, routing_blocks(forest, X, n_jobs), n_jobs, advance):
        pass
    return out


@kernel
def _add_up(leaves, wanted, lo, start, rank, hazard, grid, survival, out):
    """Write to out (m, G), which must be 0, the mean curves of rows in the leaves (B, m)."""
    n_rows, G = len(out), len(grid)
    votes = 0
    for i in range(n_rows):
        votes = 0
        for b in range(len(leaves)):
            if len(wanted) > 0 and not wanted[b, lo + i]:
                continue
            votes += 1
            entry, last = start[leaves[b, i]], start[leaves[b, i] + 1]
            value = 1.0 if survival else 0.0
            for g in range(G):
                while entry < last and rank[entry] <= grid[g]:
                    if survival:
                        value *= 1.0 - hazard[entry]
                    else:
                        value += hazard[entry]
                    entry += 1
                out[i, g] += value
        for g in range(G):
            out[i, g] = out[i, g] / votes if votes > 0 else np.nan
