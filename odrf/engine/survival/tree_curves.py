"""Survival, or incidence of a cause, of each tree at some times: curves of leaves of rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from odrf.engine.compiling import kernel
from odrf.engine.rows.coded import Matrix
from odrf.engine.survival.leaf_curves import LeafCurves
from odrf.engine.trees.forest_arrays import Forest
from odrf.engine.trees.routing import EVERY_ROW, leaves_of

__all__ = ["incidence_of_trees", "survival_of_trees"]


def survival_of_trees(
    forest: Forest,
    curves: LeafCurves,
    X: Matrix,
    grid: NDArray[np.int64],
    block: slice,
    wanted: NDArray[np.bool_] = EVERY_ROW,
) -> NDArray[np.float64]:
    """Return the survival (B, m, G) that each tree predicts for a block of rows.

    Parameters
    ----------
    forest : Forest
    curves : LeafCurves
    X : Matrix (p, n)
    grid : (G,) int64
        Ranks of event times, ascending; 0 is the time before the first event.
    block : slice
        Of m rows.
    wanted : (B, n) bool, optional
        The trees that predict each row, by default all; the values of others are 0.
    """
    leaves = leaves_of(forest.packed_for(X), X, block, wanted)
    out = np.zeros((*leaves.shape, len(grid)))
    _write_survival(
        leaves, wanted, block.start, curves.start, curves.rank, curves.hazard, grid, out
    )
    return out


def incidence_of_trees(
    forest: Forest,
    curves: LeafCurves,
    X: Matrix,
    grid: NDArray[np.int64],
    cause: int,
    block: slice,
    wanted: NDArray[np.bool_] = EVERY_ROW,
) -> NDArray[np.float64]:
    """Return the incidence (B, m, G) of a cause, from 0, that each tree predicts for rows.

    Other arguments as for `survival_of_trees`.  The incidence of a leaf is the Aalen–Johansen
    estimate; see `odrf.engine.survival.incidence_means.mean_incidences`.
    """
    leaves = leaves_of(forest.packed_for(X), X, block, wanted)
    out = np.zeros((*leaves.shape, len(grid)))
    _write_incidence(
        leaves, wanted, block.start, curves.start, curves.rank, curves.hazard,
        curves.by_cause[:, cause], grid, out,
    )  # fmt: skip
    return out


@kernel
def _write_survival(leaves, wanted, lo, start, rank, hazard, grid, out):
    """Write to out (B, m, G), which must be 0, the survival in the leaves (B, m)."""
    B, m, G = out.shape
    for b in range(B):
        for i in range(m):
            if len(wanted) > 0 and not wanted[b, lo + i]:
                continue
            entry, last = start[leaves[b, i]], start[leaves[b, i] + 1]
            value = 1.0
            for g in range(G):
                while entry < last and rank[entry] <= grid[g]:
                    value *= 1.0 - hazard[entry]
                    entry += 1
                out[b, i, g] = value


@kernel
def _write_incidence(leaves, wanted, lo, start, rank, hazard, of_cause, grid, out):
    """Write to out (B, m, G), which must be 0, the incidence in the leaves (B, m)."""
    B, m, G = out.shape
    for b in range(B):
        for i in range(m):
            if len(wanted) > 0 and not wanted[b, lo + i]:
                continue
            entry, last = start[leaves[b, i]], start[leaves[b, i] + 1]
            survival, value = 1.0, 0.0
            for g in range(G):
                while entry < last and rank[entry] <= grid[g]:
                    value += survival * of_cause[entry]
                    survival *= 1.0 - hazard[entry]
                    entry += 1
                out[b, i, g] = value
