"""From the buffers that a tree has grown into to the tree."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from odrf.engine.growth.tree_kernel import NODES, TERMS, TreeBuffers
from odrf.engine.limits import MOST_PLACES
from odrf.engine.surrogates.surrogate_splits import SurrogateSplits
from odrf.engine.trees.forest_arrays import Forest

__all__ = ["as_tree"]


def as_tree(
    buffers: TreeBuffers,
    reached: NDArray[np.int64],
    ordered: bool,
    surrogates: SurrogateSplits | None = None,
    root: NDArray[np.int64] | None = None,
) -> Forest:
    """Return the grown tree as a forest of one; `ordered` is whether its classes are ordered.

    With `root` (B + 1,), the buffers hold B trees, with the root of tree b at ``root[b]``.
    """
    n_nodes, n_terms = reached[NODES], reached[TERMS]
    return Forest(
        root=np.array([0, n_nodes]) if root is None else root,
        left=buffers.left[:n_nodes].copy(),
        threshold=buffers.threshold[:n_nodes].copy(),
        start=buffers.start[: n_nodes + 1].astype(np.int32 if n_terms <= MOST_PLACES else np.int64),
        index=buffers.column[:n_terms].copy(),
        coef=buffers.coef[:n_terms].copy(),
        value=buffers.value[:n_nodes].copy(),
        count=buffers.n_rows[:n_nodes].copy(),
        weight=buffers.weight[:n_nodes].copy(),
        impurity=buffers.impurity[:n_nodes].copy(),
        gain=buffers.gain[:n_nodes].copy(),
        order=buffers.order[:n_nodes].copy(),
        ordered=np.bool_(ordered),
        surrogates=surrogates,
    )
