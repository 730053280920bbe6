"""Trees whose leaves are divided further: the arrays of both, put together."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from odrf.engine.trees.forest_arrays import OF_NODES, OF_TERMS, Forest

__all__ = ["whole", "with_branches"]


def whole(tree: Forest, n_at_split: NDArray[np.int32]) -> tuple[Forest, NDArray[np.int32]]:
    """Return a forest of one without the nodes under its cuts, which become leaves.

    Its splits have their ranks in growth among those that are left.  What `n_at_split` (m,) says of
    the nodes is returned for those that are kept.
    """
    if not ((tree.left < 0) & (tree.order > 0)).any():
        return tree, n_at_split
    kept = tree.depth() >= 0
    splits = kept & (tree.left >= 0)
    number, sizes = np.cumsum(kept) - 1, np.diff(tree.start)
    order = np.zeros(tree.n_nodes, dtype=np.int32)
    order[np.flatnonzero(splits)[np.argsort(tree.order[splits])]] = 1 + np.arange(splits.sum())
    terms = np.repeat(splits, sizes)
    own = {name: getattr(tree, name)[kept] for name in OF_NODES}
    own |= {name: getattr(tree, name)[terms] for name in OF_TERMS}
    own["left"] = np.where(splits, number[tree.left], -1)[kept]
    own["threshold"] = np.where(splits, tree.threshold, np.float32(np.nan))[kept]
    own["gain"] = np.where(splits, tree.gain, 0.0)[kept]
    own["order"] = order[kept]
    start = np.concatenate([[0], np.cumsum(np.where(splits, sizes, 0)[kept])])
    return replace(tree, root=np.array([0, int(kept.sum())]), start=start, **own), n_at_split[kept]


def with_branches(tree: Forest, leaves: NDArray[np.int64], branches: Forest) -> Forest:
    """Return a forest of one whose leaves of these numbers have the `branches`.

    Parameters
    ----------
    tree : Forest
    leaves : (L,) int64
        Rising.
    branches : Forest
        One as well: its nodes 1 … L are the leaves, the further ones are below them, and node 0
        stands for the rest of the tree.

    Returns
    -------
    Forest
        New nodes are numbered after the old ones.
    """
    L, m = len(leaves), tree.n_nodes
    below = np.where(branches.left < 0, -1, branches.left - (L + 1) + m)
    own = {"left": below, "threshold": branches.threshold, "gain": branches.gain}
    own["order"] = branches.order
    parts: dict[str, Any] = {}
    for name in OF_NODES:
        old = getattr(tree, name)
        if name in own:
            old = old.copy()
            old[leaves] = own[name][1 : L + 1]
        parts[name] = np.concatenate([old, own.get(name, getattr(branches, name))[L + 1 :]])
    sizes = np.diff(tree.start)
    sizes[leaves] = np.diff(branches.start)[1 : L + 1]
    start = np.concatenate([[0], np.cumsum(sizes), np.zeros(branches.n_nodes - L - 1, np.int64)])
    first = branches.start[L + 1]
    start[m:] = start[m] + branches.start[L + 1 :] - first
    of_leaf = np.zeros(m, dtype=np.bool_)
    of_leaf[leaves] = True
    terms = np.repeat(of_leaf, sizes)
    for name in OF_TERMS:
        old, new = getattr(tree, name), getattr(branches, name)
        among = np.empty(len(terms), dtype=old.dtype)
        among[~terms], among[terms] = old, new[:first]
        parts[name] = np.concatenate([among, new[first:]])
    return replace(tree, root=np.array([0, len(parts["left"])]), start=start, **parts)
