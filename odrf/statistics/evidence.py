"""What the data and the grown trees say of theory's conditions."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from odrf.engine.trees.forest_arrays import Forest
from odrf.engine.trees.routing import leaf_nodes
from odrf.text.units import node_of_terms

__all__ = ["leaf_diameters", "normal_quantiles", "predictors_per_split", "tail_index", "tail_p"]

# The largest deviations that the tail is judged by, and how often normal samples are drawn.
TAIL, DRAWS, LARGEST_DRAW = 0.05, 400, 5000
# Columns that diameters are measured on, at most.
COLUMNS = 50


def tail_index(residuals: NDArray[np.float64]) -> float:
    """Return Hill's estimate of the index ξ of the tails, from the largest 5 % of |residuals|.

    Tails that fall like x^(-1/ξ) have ξ > 0; those of a normal distribution fall faster than any
    power, ξ = 0, but in a sample the estimate is about 0.2.
    """
    size = np.sort(np.abs(residuals))[::-1]
    k = max(2, int(TAIL * len(size)))
    if len(size) <= k or not size[k] > 0:
        return 0.0
    return float(np.mean(np.log(size[:k] / size[k])))


def tail_p(residuals: NDArray[np.float64], seed: int) -> float:
    """Return how probable so large a tail index is in normal samples of this size (Monte Carlo)."""
    found = tail_index(residuals)
    n = len(residuals)
    rng = np.random.default_rng(seed)
    if n > LARGEST_DRAW:
        found = tail_index(rng.choice(residuals, LARGEST_DRAW, replace=False))
        n = LARGEST_DRAW
    drawn = [tail_index(rng.standard_normal(n)) for _ in range(DRAWS)]
    return float((1 + np.sum(np.array(drawn) >= found)) / (DRAWS + 1))


def normal_quantiles(residuals: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the sorted residuals (n,) in units of their median deviation, as a normal's would be.

    For a normal distribution these are its quantiles.
    """
    middle = np.median(residuals)
    spread = np.median(np.abs(residuals - middle)) / 0.6744897501960817
    return np.sort(residuals - middle) / (spread if spread > 0 else 1.0)


def leaf_diameters(forest: Forest, X: NDArray[np.float32], n_jobs: int) -> NDArray[np.float64]:
    """Return the diameter of the leaf of each row in each tree (n, B), the root's being 1.

    A leaf's diameter is the diagonal of the smallest box around its rows of X (p, n), relative to
    that of all rows.  Of many columns 50 are looked at.
    """
    leaves = leaf_nodes(forest, X, n_jobs)
    some = np.unique(np.linspace(0, len(X) - 1, min(len(X), COLUMNS)).astype(int))
    seen = X[some].astype(np.float64)
    whole = np.sqrt(np.sum(np.ptp(seen, axis=1) ** 2))
    each = np.column_stack([_diameters(seen, leaf) for leaf in leaves.T])
    return each / (whole if whole > 0 else 1.0)


def _diameters(X: NDArray[np.float64], leaf: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the diagonal of the box around the rows of X (q, n) that are in each row's leaf."""
    order = np.argsort(leaf, kind="stable")
    starts = np.flatnonzero(np.append(True, np.diff(leaf[order]) > 0))
    rows = np.diff(np.append(starts, len(leaf)))
    ordered = X[:, order]
    span = np.maximum.reduceat(ordered, starts, axis=1) - np.minimum.reduceat(
        ordered, starts, axis=1
    )
    found: NDArray[np.float64] = np.empty(len(leaf))
    found[order] = np.repeat(np.sqrt(np.sum(span**2, axis=0)), rows)
    return found


def predictors_per_split(forest: Forest, first: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return how many splits combine 1, 2, 3 … predictors (q,).

    Predictor j owns the columns ``first[j]:first[j + 1]``.
    """
    node = node_of_terms(forest)
    live = forest.is_split()[node]
    predictor = np.searchsorted(first, forest.index[live], side="right") - 1
    pairs = np.unique(node[live] * np.int64(len(first)) + predictor)
    sizes = np.bincount(pairs // len(first))
    return np.bincount(sizes[sizes > 0])[1:]
