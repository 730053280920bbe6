"""What follows from proximities: prototypes, outlier scores, a map."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
import scipy
from numpy.typing import NDArray

from odrf.engine.running import one_thread

__all__ = ["PlaneOfRows", "covering_rows", "outlier_scores", "scaled_to_plane"]

Sparse: TypeAlias = "scipy.sparse.csr_array"


class PlaneOfRows(NamedTuple):
    """Rows in the plane.

    Attributes
    ----------
    at : (n, 2) float64
        The coordinates.
    share : (2,) float64
        The share of the squared distances that each coordinate explains.
    """

    at: NDArray[np.float64]
    share: NDArray[np.float64]


def covering_rows(proximity: Sparse, weights: NDArray[np.float64], k: int) -> list[int]:
    """Return k rows that are near all rows: each adds most to Σ weight_i · max proximity.

    This greedy choice reaches at least 63 % of the best sum (Nemhauser, Wolsey and Fisher 1978).

    Parameters
    ----------
    proximity : (n, n), symmetric
    weights : (n,) float64
    k : int
    """
    n = proximity.shape[0]
    row = np.repeat(np.arange(n), np.diff(proximity.indptr))
    reached: NDArray[np.float64] = np.zeros(n)
    chosen: list[int] = []
    for _ in range(min(k, n)):
        gain = np.maximum(proximity.data - reached[proximity.indices], 0.0)
        total = np.bincount(row, gain * weights[proximity.indices], n)
        total[chosen] = -1.0
        best = int(np.argmax(total))
        chosen.append(best)
        own = slice(proximity.indptr[best], proximity.indptr[best + 1])
        near = proximity.indices[own]
        reached[near] = np.maximum(reached[near], proximity.data[own])
    return chosen


def outlier_scores(
    proximity: Sparse, group: NDArray[np.int64], least: float
) -> NDArray[np.float64]:
    """Return Breiman's outlier score (n,) of each row within its group.

    The raw score is the number of rows of the group, divided by the sum of squared proximities to
    them.  The median of the group is subtracted, and the result divided by the mean absolute
    deviation from it; 0 in a group whose rows are all alike.

    Parameters
    ----------
    proximity : (n, n)
    group : (n,) int64
    least : float
        The least sum of squares that counts, for rows that are near no other.
    """
    row = np.repeat(np.arange(len(group)), np.diff(proximity.indptr))
    inside = group[row] == group[proximity.indices]
    squares = np.bincount(row[inside], proximity.data[inside] ** 2, len(group))
    size = np.bincount(group)[group]
    raw = size / np.maximum(squares, least)
    out = np.zeros(len(group))
    for g in np.unique(group):
        of_group = group == g
        off = raw[of_group] - np.median(raw[of_group])
        spread = float(np.abs(off).mean())
        out[of_group] = off / spread if spread > 0 else 0.0
    return out


@one_thread()
def scaled_to_plane(indicators: Sparse, n_trees: int, seed: int) -> PlaneOfRows:
    """Scale rows to the plane by their proximities: squared distance 1 - proximity.

    Classical scaling: the two largest eigenvalues of the centred matrix of proximities.  The matrix
    itself, which can be large, is not built.

    Parameters
    ----------
    indicators : (n, nodes)
        The leaves of the rows.
    n_trees : int
    seed : int
        Of the vector from which the eigenvectors are computed.
    """
    n = indicators.shape[0]
    columns = scipy.sparse.csc_array(indicators)

    def product(vector: NDArray[np.float64]) -> NDArray[np.float64]:
        centred = vector - vector.mean()
        image = np.asarray(columns @ (columns.T @ centred.ravel())) / (2 * n_trees)
        return np.asarray(image - image.mean())

    size = np.asarray(columns.sum(axis=0)).ravel()
    trace = (n * n_trees - float(size @ size) / n) / (2 * n_trees)
    if trace < 1e-9 * n:
        return PlaneOfRows(np.zeros((n, 2)), np.zeros(2))
    operator = scipy.sparse.linalg.LinearOperator((n, n), product, dtype=np.float64)
    start = np.random.default_rng(seed).normal(size=n)
    value, vector = scipy.sparse.linalg.eigsh(operator, k=2, v0=start)
    value, vector = np.maximum(value[::-1], 0.0), vector[:, ::-1]
    # an eigenvector has no sign: its largest entry is above 0
    largest = np.abs(vector).argmax(axis=0)
    vector = vector * np.sign(vector[largest, [0, 1]])
    return PlaneOfRows(vector * np.sqrt(value), value / trace)
