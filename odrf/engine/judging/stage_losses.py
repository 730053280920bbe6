"""The loss of a forest at many stages of pruning, in one walk up each tree.

At each stage a row ends at some node between its leaf and the root.  A node predicts for the stages
from the first one at which rows end in it up to the one at which they end in its parent.  So one
walk from the leaf to the root gives the predictions of all stages.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from odrf.engine.compiling import allocating, part
from odrf.engine.judging.out_of_bag_losses import loss_of
from odrf.engine.parallel import ROWS_PER_BLOCK, in_blocks, row_blocks
from odrf.engine.rows.coded import Matrix
from odrf.engine.trees.forest_arrays import Forest
from odrf.engine.trees.routing import EVERY_ROW, leaves_of

__all__ = ["stage_losses"]

# Most numbers in the sums of a block: one for each row, class and stage.
ROOM = 2**21


@part
def _add_values(leaves, above, first, value, lo, wanted, total, trees):
    """Add to total (m, K, k) each tree's values for the m rows from `lo` on, at all k stages.

    leaves (B, m) are their leaves; above (n_nodes,) is each node's parent, -1 for a root.  It goes
    tree by tree, so that the nodes stay in the cache.  trees (m,) counts the `wanted` trees.
    """
    n_stages, n_values = np.uint64(total.shape[2]), np.uint64(total.shape[1])
    for b in range(np.uint64(leaves.shape[0])):
        for i in range(np.uint64(leaves.shape[1])):
            if len(wanted) > 0 and not wanted[b, lo + i]:
                continue
            trees[i] += 1
            node, stage = np.int64(leaves[b, i]), np.uint64(0)
            while node >= 0:
                here = np.uint64(node)
                node = above[here]
                until = np.uint64(first[np.uint64(node)]) if node >= 0 else n_stages
                for k in range(n_values):
                    node_value = value[here, k]
                    for j in range(stage, until):
                        total[i, k, j] += node_value
                stage = until


@allocating
def _add_losses(leaves, above, first, value, y, weights, lo, wanted, prediction_rule, mass, sums):
    """Add the rows from `lo` on to mass (2,) and sums (3, k); see `stage_losses`."""
    n_rows, n_stages, n_values = leaves.shape[1], sums.shape[1], value.shape[1]
    total, mean = np.zeros((n_rows, n_values, n_stages)), np.empty(n_values)
    trees = np.zeros(n_rows, dtype=np.int64)
    _add_values(leaves, above, first, value, np.uint64(lo), wanted, total, trees)
    for i in range(n_rows):
        if trees[i] == 0:
            continue
        row = lo + i
        weight = weights[row]
        mass[0] += weight
        mass[1] += weight**2
        for j in range(n_stages):
            for k in range(n_values):
                mean[k] = total[i, k, j] / trees[i]
            loss = loss_of(mean, y[row], prediction_rule)
            sums[0, j] += weight * loss
            sums[1, j] += weight**2 * loss
            sums[2, j] += (weight * loss) ** 2


def stage_losses(
    forest: Forest,
    first: NDArray[np.int64],
    n_stages: int,
    X: Matrix,
    y: NDArray[np.float64],
    weights: NDArray[np.float64],
    n_jobs: int,
    wanted: NDArray[np.bool_] = EVERY_ROW,
    advance: Callable[[int], object] = lambda n: None,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the losses of the forest at each of k stages on the rows of X (p, n).

    Parameters
    ----------
    forest : Forest
    first : (m,) int64
        The first stage at which rows end in each node: 0 for leaves, k if they never do.
        It must not decrease from a node to its parent.
    n_stages : int
        The number of stages k.
    X : (p, n) float32
        Scaled predictors.
    y : (n,) float64
        Response, or class codes.
    weights : (n,) float64
        Weights w of the rows.
    n_jobs : int
        Threads; the result is the same for any number.
    wanted : (B, n) bool, optional
        Which trees predict which rows; by default all.  A row that no tree predicts is left out.
    advance : callable
        Called with numbers of rows when they are done.

    Returns
    -------
    mass : (2,) float64
        Σw and Σw² over the rows.
    sums : (3, k) float64
        Σwl, Σw²l and Σw²l² of the losses l: squared errors, or for classes the 0-1 loss.
    """
    packed, above = forest.packed_for(X), forest.parents()
    prediction_rule = forest.prediction_rule
    mass, sums = np.zeros(2), np.zeros((3, n_stages))

    def run(block: slice) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        block_mass, block_sums = np.zeros_like(mass), np.zeros_like(sums)
        leaves = leaves_of(packed, X, block, wanted)
        _add_losses(
            leaves, above, first, forest.value, y, weights, block.start, wanted, prediction_rule,
            block_mass, block_sums,
        )  # fmt: skip
        return block_mass, block_sums

    size = min(ROWS_PER_BLOCK, max(1, ROOM // (forest.value.shape[1] * n_stages)))
    blocks = row_blocks(X.shape[1], size)
    for block_mass, block_sums in in_blocks(run, blocks, n_jobs, advance):
        mass += block_mass
        sums += block_sums
    return mass, sums
