"""Weighted sums of predictions over groups of rows, for the whole fit and for each of its trees."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from odrf.engine.factors import Matrix
from odrf.engine.memory import require_memory
from odrf.engine.running import in_blocks, one_thread, row_blocks
from odrf.engine.trees.routing import leaves_of
from odrf.fits.fit import AnyFit, Fit
from odrf.fits.prediction.empty_cells import reading_empty_cells
from odrf.fits.prediction.expected_response import expected_response
from odrf.statistics.jackknife import distinguishes_rows

__all__ = ["Averages", "averages", "trees_vary"]

# A node is visited once for all rows of a block: most rows of one, fewest, and most predictions.
MOST_ROWS, FEWEST_ROWS, ROOM = 8192, 1024, 2**21


class Averages(NamedTuple):
    """Sums of predictions over C groups of n rows; K is 1 for numbers, else the number of classes.

    Attributes
    ----------
    mean : (C, K) float64
        Of the fit.
    of_trees : (B, C, K) float64 or None
        Of each tree; None for a fit whose trees do not tell how it varies.
    of_rows : (n, K) float64
        The predictions themselves.
    """

    mean: NDArray[np.float64]
    of_trees: NDArray[np.float64] | None
    of_rows: NDArray[np.float64]


def trees_vary(fit: AnyFit) -> bool:
    """Return whether the trees of a fit tell how it varies over training samples.

    They do if they are several, each grown on other rows, and their mean is the prediction.  Which
    rows each tree drew is not known of a fit without its rows.
    """
    if not isinstance(fit, Fit) or fit.forest.n_trees < 2 or not fit.data.has_rows:
        return False
    return distinguishes_rows(fit.draws)


@one_thread()
def averages(
    fit: AnyFit,
    X: Matrix,
    share: NDArray[np.float64],
    group: NDArray[np.int64],
    n_groups: int,
    offset: NDArray[np.float64] | None = None,
    advance: Callable[[int], object] = lambda n: None,
) -> Averages:
    """Return Σ share_i · prediction_i over the rows of each group.

    Parameters
    ----------
    fit : AnyFit
    X : Matrix (p, n)
        The rows; NaN for empty cells in columns without any in training.
    share : (n,) float64
        The weight of each row.
    group : (n,) int64
        The group of each row, from 0.
    n_groups : int
    offset : (n,) float64, optional
        The offsets of boosted trees; by default 0.
    advance : callable
        Called with numbers of rows when they are done.
    """
    if not (isinstance(fit, Fit) and trees_vary(fit)):
        of_rows = expected_response(fit, X, offset, advance)
        return Averages(_weights(share, group, n_groups).T @ of_rows, None, of_rows)
    reading, X = reading_empty_cells(fit, X)
    forest = reading.forest
    B, K = forest.n_trees, forest.value.shape[1]
    packed, value = forest.packed_for(X), np.ascontiguousarray(forest.value.T)
    require_memory(
        16.0 * B * n_groups * K, f"the means of {B} trees in {n_groups} groups", "use fewer groups"
    )
    of_rows, of_trees = np.empty((X.shape[1], K)), np.zeros((B, n_groups, K))

    def sums(block: slice) -> NDArray[np.float64]:
        leaves = leaves_of(packed, X, block)
        weights = _weights(share[block], group[block], n_groups)
        part = np.empty((B, n_groups, K))
        for k in range(K):
            predicted = value[k][leaves]
            of_rows[block, k] = predicted.mean(axis=0)
            part[:, :, k] = predicted @ weights
        return part

    size = max(FEWEST_ROWS, min(MOST_ROWS, ROOM // B))
    for part in in_blocks(sums, row_blocks(X.shape[1], size), fit.control.n_jobs, advance):
        of_trees += part
    return Averages(of_trees.mean(axis=0), of_trees, of_rows)


def _weights(
    share: NDArray[np.float64], group: NDArray[np.int64], n_groups: int
) -> NDArray[np.float64]:
    """Return the weight (n, C) of each row in each group."""
    weights = np.zeros((len(share), n_groups))
    weights[np.arange(len(share)), group] = share
    return weights
