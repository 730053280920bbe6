"""Attach the branches that a tree has grown below its leaves; remove nodes below cuts."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from odrf.engine.trees.forest_arrays import OF_NODES, OF_TERMS, Forest

__all__ = ["compacted", "with_branches"]


def compacted(tree: Forest, n_at_split: NDArray[np.int32]) -> tuple[Forest, NDArray[np.int32]]:
    """Return a forest of one tree without the nodes below its cuts, and the rest of `n_at_split`.

    The nodes that were cut become leaves.  The remaining splits are ranked anew, in the order in
    which they grew.  Of `n_at_split` (m,), the entries of the remaining nodes are returned.
    """
    if not ((tree.left < 0) & (tree.order > 0)).any():
        return tree, n_at_split
    kept = tree.depth() >= 0
    splits = kept & (tree.left >= 0)
    number, sizes = np.cumsum(kept) - 1, np.diff(tree.start)
    order = np.zeros(tree.n_nodes, dtype=np.int32)
    order[np.flatnonzero(splits)[np.argsort(tree.order[splits])]] = 1 + np.arange(splits.sum())
    terms = np.repeat(splits, sizes)
    arrays: dict[str, Any] = {name: getattr(tree, name)[kept] for name in OF_NODES}
    arrays |= {name: getattr(tree, name)[terms] for name in OF_TERMS}
    arrays["left"] = np.where(splits, number[tree.left], -1)[kept]
    arrays["threshold"] = np.where(splits, tree.threshold, np.float32(np.nan))[kept]
    arrays["gain"] = np.where(splits, tree.gain, 0.0)[kept]
    arrays["order"] = order[kept]
    start = np.concatenate([[0], np.cumsum(np.where(splits, sizes, 0)[kept])])
    if tree.surrogates is not None:
        arrays["surrogates"] = tree.surrogates.of_nodes(np.flatnonzero(kept))
    root = np.array([0, int(kept.sum())])
    return replace(tree, root=root, start=start, **arrays), n_at_split[kept]


def with_branches(tree: Forest, leaves: NDArray[np.int64], branches: Forest) -> Forest:
    """Return the tree with the `branches` in place of these leaves.

    Parameters
    ----------
    tree : Forest
        A forest of one tree.
    leaves : (L,) int64
        Numbers of the leaves, ascending.
    branches : Forest
        A forest of one tree.  Its nodes 1 … L are the leaves, further nodes are below them, and
        node 0 stands for the rest of the tree.

    Returns
    -------
    Forest
        A forest of one tree; new nodes are numbered after the old ones.
    """
    L, m = len(leaves), tree.n_nodes
    below = np.where(branches.left < 0, -1, branches.left - (L + 1) + m)
    split = {"left": below, "threshold": branches.threshold, "gain": branches.gain}
    split["order"] = branches.order
    parts: dict[str, Any] = {}
    for name in OF_NODES:
        old = getattr(tree, name)
        if name in split:
            old = old.copy()
            old[leaves] = split[name][1 : L + 1]
        parts[name] = np.concatenate([old, split.get(name, getattr(branches, name))[L + 1 :]])
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
        merged = np.empty(len(terms), dtype=old.dtype)
        merged[~terms], merged[terms] = old, new[:first]
        parts[name] = np.concatenate([merged, new[first:]])
    if tree.surrogates is not None and branches.surrogates is not None:
        nodes = np.arange(m + branches.n_nodes)
        nodes[leaves] = m + 1 + np.arange(L)
        both = tree.surrogates.followed_by([branches.surrogates])
        parts["surrogates"] = both.of_nodes(np.delete(nodes, m + np.arange(L + 1)))
    return replace(tree, root=np.array([0, len(parts["left"])]), start=start, **parts)
