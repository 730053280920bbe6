"""Means over the trees of the cumulative incidences of causes in the leaves that rows reach."""

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

__all__ = ["mean_incidences"]


def mean_incidences(
    forest: Forest,
    curves: LeafCurves,
    X: Matrix,
    grid: NDArray[np.int64],
    causes: NDArray[np.int64],
    n_jobs: int,
    wanted: NDArray[np.bool_] = EVERY_ROW,
    advance: Callable[[int], object] = lambda n: None,
) -> NDArray[np.float64]:
    """Return the mean over the trees of the incidences of some causes at some event times.

    The incidence of a cause in a leaf is the Aalen–Johansen estimate from its rows: the sum over
    the event times of the survival just before, times the increment of the hazard of the cause.
    Incidences of all causes and survival add up to 1.

    Parameters
    ----------
    forest : Forest
    curves : LeafCurves
    X : Matrix (p, n)
    grid : (G,) int64
        Ranks of event times, ascending; 0 is the time before the first event.
    causes : (K,) int64
        Causes, from 0.
    n_jobs, wanted, advance
        As for `odrf.engine.survival.curve_means.mean_curves`.

    Returns
    -------
    (n, K, G) float64
        NaN for a row that no tree is wanted for.
    """
    n, K, G = X.shape[1], len(causes), len(grid)
    require_memory(
        8.0 * n * K * G,
        f"incidences of {K} causes for {n} rows at {G} times",
        "predict fewer rows, fewer times=, or one cause=",
    )
    out, packed = np.zeros((n, K, G)), forest.packed_for(X)

    def run(block: slice) -> None:
        leaves = leaves_of(packed, X, block, wanted)
        _add_up(
            leaves, wanted, block.start, curves.start, curves.rank, curves.hazard, curves.by_cause,
            grid, causes, np.empty(K), out[block],
        )  # fmt: skip

    for _ in in_blocks(run, routing_blocks(forest, X, n_jobs), n_jobs, advance):
        pass
    return out


@kernel
def _add_up(leaves, wanted, lo, start, rank, hazard, by_cause, grid, causes, incidence, out):
    """Write to out (m, K, G), which must be 0, the mean incidences of rows in the leaves (B, m).

    `incidence` (K,) is scratch.
    """
    for i in range(len(out)):
        votes = 0
        for b in range(len(leaves)):
            if len(wanted) > 0 and not wanted[b, lo + i]:
                continue
            votes += 1
            entry, last = start[leaves[b, i]], start[leaves[b, i] + 1]
            survival = 1.0
            incidence[:] = 0.0
            for g in range(len(grid)):
                while entry < last and rank[entry] <= grid[g]:
                    for k in range(len(causes)):
                        incidence[k] += survival * by_cause[entry, causes[k]]
                    survival *= 1.0 - hazard[entry]
                    entry += 1
                for k in range(len(causes)):
                    out[i, k, g] += incidence[k]
        for k in range(len(causes)):
            for g in range(len(grid)):
                out[i, k, g] = out[i, k, g] / votes if votes > 0 else np.nan
