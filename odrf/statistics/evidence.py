"""Evidence on the conditions of theory: residual tails, leaf diameters, predictors per split."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from odrf.engine.factors import Matrix, indicated
from odrf.engine.trees.forest import Forest
from odrf.engine.trees.routing import leaf_nodes
from odrf.text.splits import node_of_terms

__all__ = [
    "DRAWS",
    "TAIL",
    "leaf_diameters",
    "normal_quantiles",
    "predictors_per_split",
    "tail_index",
    "tail_p",
]

# Share of the residuals that form the tail; number of normal samples, and their largest size.
TAIL, DRAWS, LARGEST_DRAW = 0.05, 400, 5000
# Largest number of columns that diameters are measured on.
COLUMNS = 50


def tail_index(residuals: NDArray[np.float64]) -> float:
    """Return Hill's estimate of the index ξ of the tails, from the largest 5 % of |residuals|.

    Tails that fall like x^(-1/ξ) have ξ > 0; those of a normal distribution fall faster than any
    power, ξ = 0, but the estimate from 5 % of a large sample is about 1/6.
    """
    size = np.sort(np.abs(residuals))[::-1]
    k = max(2, int(TAIL * len(size)))
    if len(size) <= k or not size[k] > 0:
        return 0.0
    return float(np.mean(np.log(size[:k] / size[k])))


def tail_p(residuals: NDArray[np.float64], seed: int) -> float:
    """Return the Monte Carlo p-value of the tail index, for residuals from a normal distribution.

    Of more than 5000 residuals a random sample of 5000 is used.
    """
    observed = tail_index(residuals)
    n = len(residuals)
    rng = np.random.default_rng(seed)
    if n > LARGEST_DRAW:
        observed = tail_index(rng.choice(residuals, LARGEST_DRAW, replace=False))
        n = LARGEST_DRAW
    simulated = [tail_index(rng.standard_normal(n)) for _ in range(DRAWS)]
    return float((1 + np.sum(np.array(simulated) >= observed)) / (DRAWS + 1))


def normal_quantiles(residuals: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the sorted residuals (n,), standardised by median and median absolute deviation.

    The latter is divided by 0.6745, so that it estimates the standard deviation of a normal
    distribution; normal residuals then follow the standard normal quantiles.
    """
    centre = np.median(residuals)
    scale = np.median(np.abs(residuals - centre)) / 0.6744897501960817
    return np.sort(residuals - centre) / (scale if scale > 0 else 1.0)


def leaf_diameters(forest: Forest, X: Matrix, n_jobs: int) -> NDArray[np.float64]:
    """Return the diameter of the leaf of each row in each tree (n, B); that of the root is 1.

    The diameter of a leaf is the diagonal of the smallest box around its rows of X (p, n),
    relative to that of all rows.  Of more than 50 columns, 50 evenly spaced ones are used.
    """
    leaves = leaf_nodes(forest, X, n_jobs)
    columns = np.unique(np.linspace(0, len(X) - 1, min(len(X), COLUMNS)).astype(int))
    values = indicated(X[columns]).astype(np.float64)
    whole = np.sqrt(np.sum(np.ptp(values, axis=1) ** 2))
    diameters = np.column_stack([_diameters(values, leaf) for leaf in leaves.T])
    return diameters / (whole if whole > 0 else 1.0)


def _diameters(X: NDArray[np.float64], leaf: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return for each row (n,) the diagonal of the box around the rows of X (q, n) in its leaf."""
    order = np.argsort(leaf, kind="stable")
    starts = np.flatnonzero(np.append(True, np.diff(leaf[order]) > 0))
    rows = np.diff(np.append(starts, len(leaf)))
    ordered = X[:, order]
    span = np.maximum.reduceat(ordered, starts, axis=1) - np.minimum.reduceat(
        ordered, starts, axis=1
    )
    diameters: NDArray[np.float64] = np.empty(len(leaf))
    diameters[order] = np.repeat(np.sqrt(np.sum(span**2, axis=0)), rows)
    return diameters


def predictors_per_split(forest: Forest, first: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the numbers of splits (q,) that combine 1, 2, 3 … predictors.

    Predictor j has the columns ``first[j]:first[j + 1]``.
    """
    node = node_of_terms(forest)
    is_split, P = forest.is_split(), len(first) - 1
    numbers = np.zeros(P + 1, dtype=np.int64)
    # Tree by tree: one call for the millions of terms of a guided forest could not be interrupted.
    bounds = pairwise(np.searchsorted(node, forest.root))
    for (begin, end), root in zip(bounds, forest.root, strict=False):
        of_tree, index = node[begin:end], forest.index[begin:end]
        in_split = is_split[of_tree]
        predictor = np.searchsorted(first, index[in_split], side="right") - 1
        pairs = (of_tree[in_split] - root) * np.int64(P + 1) + predictor
        if (np.diff(pairs) < 0).any():
            pairs = np.sort(pairs)
        distinct = pairs[np.diff(pairs, prepend=-1) > 0]
        sizes = np.bincount(distinct // (P + 1))
        numbers += np.bincount(sizes[sizes > 0], minlength=P + 1)
    return np.trim_zeros(numbers, "b")[1:]
