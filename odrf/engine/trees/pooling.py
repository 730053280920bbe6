"""The critical α of each split: the complexity parameter at which cost-complexity pruning cuts it.

A split decreases the loss of a tree and adds a leaf, which costs α.  A branch is kept if its splits
decrease the loss by more than α each, on average; a split can only be kept with those above it.
Weakest-link pruning (Breiman et al. 1984, section 3.3) gives the α at which each branch is cut.
The same values are an isotonic regression of the decreases, which must not increase from the root
down; the branches cut together are its pooled blocks.
"""

from __future__ import annotations

from odrf.engine.compiling import kernel, part

__all__ = ["pool_branches"]


@part
def _merged(first, second, alpha, low, high):
    """Merge two skew heaps of nodes, the largest α on top; return the top, -1 if both are empty."""
    if first < 0 or second < 0:
        return max(first, second)
    if alpha[first] < alpha[second]:
        first, second = second, first
    top = first
    while True:
        rest = high[first]
        high[first] = low[first]
        if rest < 0:
            low[first] = second
            return top
        if alpha[rest] < alpha[second]:
            rest, second = second, rest
        low[first] = rest
        first = rest


@kernel
def pool_branches(left, decrease, alpha, size, block, top, low, high):
    """Write to alpha (m,) the α at which each split is pruned; 0 at nodes without a split.

    Children have higher numbers than their parents.  `left` (m,) is -1 at nodes without a split;
    decrease (m,) is the decrease of the loss by each split.  The block of a split starts as the
    split alone.  It absorbs the block below with the largest α as long as that α is not lower than
    the mean decrease of the block.  Blocks are kept on heaps, so that m nodes take O(m log m)
    steps.  The other arguments are scratch: size, block, top, low, high (m,) int64.
    """
    m = len(left)
    for node in range(m - 1, -1, -1):
        alpha[node], block[node], top[node] = 0.0, node, -1
        if left[node] < 0:
            continue
        below = _merged(top[left[node]], top[left[node] + 1], alpha, low, high)
        total, number = decrease[node], 1
        while below >= 0 and alpha[below] * number >= total:
            total += alpha[below] * size[below]
            number += size[below]
            block[below] = node
            below = _merged(low[below], high[below], alpha, low, high)
        alpha[node], size[node] = total / number, number
        low[node], high[node] = -1, -1
        top[node] = _merged(node, below, alpha, low, high)
    for node in range(m):
        alpha[node] = alpha[block[node]]
