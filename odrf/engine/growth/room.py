"""Room for a tree that grows: its buffers are doubled, if memory suffices."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from odrf.engine.growth.tree_kernel import NODES, TERMS, TreeBuffers, enlarged
from odrf.engine.memory import require_memory

__all__ = ["with_room"]


def with_room(
    buffers: TreeBuffers, reached: NDArray[np.int64], widest: int, most: int
) -> TreeBuffers:
    """Return buffers with room for two more nodes, and a direction of the `widest`.

    Parameters
    ----------
    buffers : TreeBuffers
    reached : (4,) int64
        How far the tree has grown.
    widest : int
        The most terms of a direction.
    most : int
        The most nodes of the tree.

    Raises
    ------
    MemoryError
        There is no room, and memory does not suffice for a copy.
    """
    room, terms = len(buffers.left), len(buffers.column)
    if reached[NODES] + 2 <= room and reached[TERMS] + widest <= terms:
        return buffers
    require_memory(
        float(sum(array.nbytes for array in buffers)),
        f"a tree of more than {reached[NODES]} nodes",
        "use larger leaves (min_leaf=), or fewer of them (max_leaves=)",
    )
    # buffers of a tree before may be longer than this one needs
    return enlarged(buffers, max(room, min(2 * room, most)), 2 * terms)
