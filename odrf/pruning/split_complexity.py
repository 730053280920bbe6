"""Split complexity: trees for times to an event, pruned by the log-rank statistics of their splits.

With complexity parameter α a subtree T has the split complexity G(T) - α·(number of splits), where
G(T) is the sum of the log-rank statistics of its splits.  The optimally pruned subtree has the
largest one; of ties it is the smallest.  Statistics of splits take the place of decreases of a
loss; the weakest links are the same (LeBlanc and Crowley 1993, section 3).  A statistic is nearly
χ² with 1 degree of freedom if a split that was not searched for has no effect, so that α = 4 is a
level of nearly 0.05 of one such split.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from odrf.engine.trees.forest import Forest, add_up_branches

__all__ = ["with_split_statistics"]


def with_split_statistics(tree: Forest, statistic: NDArray[np.float64]) -> Forest:
    """Return a tree in which each split lowers the loss by its statistic (m,), at least 0.

    The loss of a node is the sum of the statistics of the splits that it has below, and its weight
    is 1.  So the training error R of a subtree is the sum over the splits of this tree that the
    subtree does not have, and α is on the scale of the statistics.
    """
    sums = np.where(tree.is_split(), statistic, 0.0)[:, np.newaxis]
    add_up_branches(np.where(tree.is_split(), tree.left, -1), sums)
    return replace(tree, weight=np.ones(tree.n_nodes), impurity=sums[:, 0].copy())
