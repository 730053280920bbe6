"""The price at which each split of a tree is given up when leaves cost more and more.

A split lowers the loss of a tree by its decrease and adds a leaf.  Pruning at a price α keeps
the splits that together lower the loss by more than α each, and a split can only be kept with
those above it.  So the prices are the decreases made monotone, falling from the root down, by
pooling: an isotonic regression, whose blocks are the branches that weakest-link pruning
(Breiman et al. 1984, section 3.3) cuts off, and whose values are its critical α.
"""

from __future__ import annotations

from odrf.engine.compiling import kernel, part

__all__ = ["pool_branches"]


@part
def _merged(first, second, price, low, high):
    """Join two skew heaps of nodes, the dearest on top; return the top, -1 if both are empty."""
    if first < 0 or second < 0:
        return max(first, second)
    if price[first] < price[second]:
        first, second = second, first
    top = first
    while True:
        rest = high[first]
        high[first] = low[first]
        if rest < 0:
            low[first] = second
            return top
        if price[rest] < price[second]:
            rest, second = second, rest
        low[first] = rest
        first = rest


@kernel
def pool_branches(left, decrease, price, size, block, top, low, high):
    """Write to price (m,) the α at which each split goes; 0 at nodes without a split.

    Children have higher numbers than their parents; `left` (m,) is -1 at nodes without a split,
    decrease (m,) what each split lowers the loss by.  A node's block of splits begins as itself
    and takes in the dearest blocks below as long as their price is no lower than its own; the
    dearest are found on heaps, so that m nodes take of the order of m log m steps.  The other
    arguments are scratch: size, block, top, low, high (m,) int64.
    """
    m = len(left)
    for node in range(m - 1, -1, -1):
        price[node], block[node], top[node] = 0.0, node, -1
        if left[node] < 0:
            continue
        below = _merged(top[left[node]], top[left[node] + 1], price, low, high)
        total, number = decrease[node], 1
        while below >= 0 and price[below] * number >= total:
            total += price[below] * size[below]
            number += size[below]
            block[below] = node
            below = _merged(low[below], high[below], price, low, high)
        price[node], size[node] = total / number, number
        low[node], high[node] = -1, -1
        top[node] = _merged(node, below, price, low, high)
    for node in range(m):
        price[node] = price[block[node]]
