"""Grow a large tree in several threads: its branches grow at the same time.

A branch is a node with all nodes below it.  A node of many rows is split by itself; then each of
its children begins a branch of its own, with a random stream of its own.  A branch of few rows
grows in one piece.  So the tree depends on its rows and its stream, never on the number of threads.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from odrf.engine.growth.node_values import LEAVES, NEXT, NODES, TERMS, TreeBuffers
from odrf.engine.kernel_params import KernelParams
from odrf.engine.numeric import branched
from odrf.engine.running import with_all_that_follow

# A tree of more distinct rows than the first number grows in branches of at most the second.
LARGE_TREE, BRANCH_ROWS = 2**17, 2**14
LEFT, RIGHT = 0, 1


class GrowingBranch(NamedTuple):
    """A branch that is to grow.

    `number`: 1 for the whole tree; the branches that begin at the children of number b are 2·b and
    2·b + 1.  `begin`, `end`: it has the rows ``begin:end`` of the tree's `Rows`.  `depth`: depth of
    its first node.  `state` (4,): its random stream.
    """

    number: int
    begin: int
    end: int
    depth: int
    state: NDArray[np.uint64]

    @property
    def is_divided(self) -> bool:
        """Whether only its first node is split, so that its children begin other branches."""
        return self.end - self.begin > BRANCH_ROWS


class GrownBranch(NamedTuple):
    """A grown branch: what `grow_tree` has written, for the first `n_nodes` nodes.

    `n_nodes`: number of its nodes.  1 if it was divided: its children are in other branches.
    """

    number: int
    buffers: TreeBuffers
    n_nodes: int


def grows_in_branches(n: int, settings: KernelParams) -> bool:
    """Return whether a tree of n distinct rows grows in branches.

    It cannot if its size is limited to a number of leaves, as they are counted over the whole tree;
    and surrogate splits are kept for whole trees.
    """
    limited = settings.max_leaves < n or settings.best_first
    return n > LARGE_TREE and not limited and not settings.surrogates


def grow_branches(
    grow: Callable[[GrowingBranch], GrownBranch], n: int, state: NDArray[np.uint64], n_jobs: int
) -> tuple[TreeBuffers, NDArray[np.int64]]:
    """Grow a tree of n distinct rows in branches; return its buffers and how far they are filled.

    `grow`: grows a branch: all of it, or only its first node if it `is_divided`. `state` (4,): the
    tree's random stream.
    """

    def grown(branch: GrowingBranch) -> tuple[GrownBranch, list[GrowingBranch]]:
        part = grow(branch)
        return part, _begun(branch, part.buffers)

    whole = GrowingBranch(1, 0, n, 0, state)
    parts = sorted(with_all_that_follow(grown, whole, n_jobs), key=lambda part: part.number)
    return _joined(parts)


def _begun(branch: GrowingBranch, buffers: TreeBuffers) -> list[GrowingBranch]:
    """Return the branches that begin at the children of a branch, if it was divided."""
    if not branch.is_divided or buffers.left[0] < 0:
        return []
    return [
        GrowingBranch(
            2 * branch.number + side,
            int(buffers.begin[1 + side]),
            int(buffers.end[1 + side]),
            branch.depth + 1,
            branched(branch.state, side),
        )
        for side in (LEFT, RIGHT)
    ]


def _joined(parts: list[GrownBranch]) -> tuple[TreeBuffers, NDArray[np.int64]]:
    """Return the whole tree; its branches are given in the order of their numbers."""
    sizes = np.array([part.n_nodes for part in parts])
    first = np.append(0, np.cumsum(sizes))
    children = _children(parts, first)
    old = _breadth_first(children)
    lengths = np.concatenate([np.diff(part.buffers.start[: part.n_nodes + 1]) for part in parts])
    begins = np.append(0, np.cumsum(lengths))
    start = np.append(0, np.cumsum(lengths[old]))
    terms = np.repeat(begins[old] - start[:-1], lengths[old]) + np.arange(start[-1])
    split = children[old, LEFT] >= 0
    left, order = np.full(len(old), -1, np.int32), np.zeros(len(old), np.int32)
    left[split], order[split] = 1 + 2 * np.arange(split.sum()), 1 + np.arange(split.sum())
    buffers = parts[0].buffers._replace(
        left=left,
        order=order,
        start=start,
        **{name: _all_nodes(parts, name)[old] for name in NODE_ARRAYS},
        **{name: _all_terms(parts, name)[terms] for name in TERM_ARRAYS},
    )
    reached = np.empty(4, dtype=np.int64)
    reached[NEXT] = reached[NODES] = len(old)
    reached[LEAVES], reached[TERMS] = len(old) - split.sum(), start[-1]
    return buffers, reached


NODE_ARRAYS = (
    "threshold", "value", "n_rows", "weight", "impurity", "gain", "begin", "end", "depth",
)  # fmt: skip
TERM_ARRAYS = "column", "coef"


def _all_nodes(parts: list[GrownBranch], name: str) -> NDArray[np.generic]:
    return np.concatenate([getattr(part.buffers, name)[: part.n_nodes] for part in parts])


def _all_terms(parts: list[GrownBranch], name: str) -> NDArray[np.generic]:
    used = [part.buffers.start[part.n_nodes] for part in parts]
    return np.concatenate(
        [getattr(part.buffers, name)[:n] for part, n in zip(parts, used, strict=True)]
    )


def _children(parts: list[GrownBranch], first: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the numbers (m, 2) of the two children of each node, -1 for leaves.

    Nodes are numbered branch by branch; the nodes of the k-th branch begin with number `first[k]`.
    """
    children = np.full((first[-1], 2), -1)
    at = {part.number: int(first[k]) for k, part in enumerate(parts)}
    for k, part in enumerate(parts):
        left = part.buffers.left[: part.n_nodes]
        if 2 * part.number in at:
            children[first[k]] = at[2 * part.number], at[2 * part.number + 1]
        else:
            split = np.flatnonzero(left >= 0)
            children[first[k] + split] = first[k] + left[split, None] + np.array([0, 1])
    return children


def _breadth_first(children: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the numbers of all nodes, the first of which is 0, level by level."""
    level, levels = np.array([0]), []
    while len(level):
        levels.append(level)
        below = children[level].ravel()
        level = below[below >= 0]
    return np.concatenate(levels)
