"""Products of the values of different trees, for all pairs of kinds of trees."""

from __future__ import annotations

import numpy as np

from odrf.engine.compiling import kernel, summing

__all__ = ["products_of_pairs"]


@summing
def _product(a, b):
    """Return the scalar product of a and b (d,)."""
    total = 0.0
    for i in range(np.uint64(len(a))):
        total += a[i] * b[i]
    return total


@kernel
def products_of_pairs(values, sums, products):
    """Write the sums of the products of different trees' values, for each row and pair of kinds.

    Parameters
    ----------
    values : (G, m, b·K) float64
        For m rows, the K values of each of the b trees of G kinds, tree by tree.
    sums : (G, m, K) float64
        Their sums over the trees.
    products : (G, G, m) float64
        Receives the sums over all trees i of the first and j ≠ i of the second kind.
    """
    G, m = len(values), values.shape[1]
    for g in range(G):
        for h in range(g + 1):
            for r in range(m):
                # all pairs of trees, less those that share a random stream
                all_pairs = _product(sums[g, r], sums[h, r])
                products[g, h, r] = all_pairs - _product(values[g, r], values[h, r])
                products[h, g, r] = products[g, h, r]
