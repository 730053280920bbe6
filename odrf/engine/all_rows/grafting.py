"""A tree put together: its upper nodes, and the branches that grew below some of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from odrf.engine.all_rows.sending_rows import LEFT, RIGHT, NodeSums
from odrf.engine.trees.forest import OF_NODES, OF_TERMS, Forest

__all__ = ["Crown", "CrownSplit", "grafted"]


class CrownSplit(NamedTuple):
    """The split of a node.

    Attributes
    ----------
    left : int
        The number of its left child; the right one is the next.
    threshold : float32
    columns : (size,) int64
    theta : (size,) float32
        The direction.
    gain : float
        Decrease of the impurity.
    """

    left: int
    threshold: np.float32
    columns: NDArray[np.int64]
    theta: NDArray[np.float32]
    gain: float


@dataclass
class Crown:
    """The upper nodes of a tree, numbered as they were made: breadth-first.

    Attributes
    ----------
    sums : list of NodeSums
        Of each node.
    splits : dict
        The splits of some nodes, by number.
    """

    sums: list[NodeSums] = field(default_factory=list)
    splits: dict[int, CrownSplit] = field(default_factory=dict)

    def as_forest(self, ordered: bool) -> Forest:
        """Return the nodes as a forest of one tree."""
        T = len(self.sums)
        left, threshold = np.full(T, -1), np.full(T, np.nan, dtype=np.float32)
        gain, lengths, order = np.zeros(T), np.zeros(T, dtype=np.int64), np.zeros(T, dtype=np.int32)
        columns, theta = [np.empty(0, dtype=np.int64)], [np.empty(0, dtype=np.float32)]
        for rank, (i, split) in enumerate(sorted(self.splits.items())):
            left[i], threshold[i], gain[i], order[i] = split.left, split.threshold, split.gain, rank
            nonzero = split.theta != 0
            lengths[i] = nonzero.sum()
            columns.append(split.columns[nonzero])
            theta.append(split.theta[nonzero])
        order[left >= 0] += 1
        return Forest(
            root=np.array([0, T]),
            left=left,
            threshold=threshold,
            start=np.append(0, np.cumsum(lengths)),
            index=np.concatenate(columns).astype(np.int32),
            coef=np.concatenate(theta),
            value=np.stack([each.value for each in self.sums]),
            count=np.array([each.n_rows for each in self.sums], dtype=np.int32),
            weight=np.array([each.weight for each in self.sums]),
            impurity=np.array([each.impurity for each in self.sums]),
            gain=gain,
            order=order,
            ordered=np.bool_(ordered),
            surrogates=None,
        )


def grafted(crown: Forest, branches: Mapping[int, Forest], max_leaves: int) -> Forest:
    """Return the whole tree, its nodes breadth-first.

    Parameters
    ----------
    crown : Forest
        One tree.
    branches : mapping of int to Forest
        Trees that take the place of leaves of the crown, by their numbers.
    max_leaves : int
        Only so many leaves are made, by the first splits breadth-first: as if the tree had grown in
        one piece.
    """
    parts = [crown, *branches.values()]
    first = np.append(0, np.cumsum([part.n_nodes for part in parts]))
    children = _children(parts, first, list(branches))
    root = int(first[1]) if 0 in branches else 0
    old, split = _breadth_first(children, root, max_leaves)
    begins = np.append(0, np.cumsum([len(part.index) for part in parts]))
    start = np.concatenate(
        [part.start[:-1] + begin for part, begin in zip(parts, begins, strict=False)]
    )
    lengths = np.concatenate([np.diff(part.start) for part in parts])[old]
    lengths[~split] = 0
    new = np.append(0, np.cumsum(lengths))
    terms = np.repeat(start[old] - new[:-1], lengths) + np.arange(new[-1])
    named = [name for name in OF_NODES if name not in ("left", "order")]
    arrays: dict[str, Any] = {name: _joined(parts, name)[old] for name in named}
    arrays |= {name: _joined(parts, name)[terms] for name in OF_TERMS}
    left, order = np.full(len(old), -1), np.zeros(len(old), dtype=np.int32)
    left[split], order[split] = 1 + 2 * np.arange(split.sum()), 1 + np.arange(split.sum())
    arrays["threshold"][~split], arrays["gain"][~split] = np.nan, 0.0
    return Forest(
        root=np.array([0, len(old)]), left=left, start=new, order=order, ordered=crown.ordered,
        surrogates=None, **arrays,
    )  # fmt: skip


def _joined(parts: list[Forest], name: str) -> NDArray[np.generic]:
    return np.concatenate([getattr(part, name) for part in parts])


def _children(
    parts: list[Forest], first: NDArray[np.int64], grafts: list[int]
) -> NDArray[np.int64]:
    """Return the numbers (m, 2) of the children of all nodes, part by part; -1 for leaves.

    The root of a branch takes the place of the node that it is grafted on.
    """
    children = np.full((first[-1], 2), -1)
    for part, begin in zip(parts, first, strict=False):
        split = np.flatnonzero(part.left >= 0)
        children[begin + split, LEFT] = begin + part.left[split]
        children[begin + split, RIGHT] = begin + part.left[split] + 1
    place = np.arange(len(parts[0].left))
    place[grafts] = first[1:-1]
    upper = children[: len(place)]
    upper[upper >= 0] = place[upper[upper >= 0]]
    return children


def _breadth_first(
    children: NDArray[np.int64], root: int, max_leaves: int
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return the numbers of the nodes level by level, and which of them are split."""
    level, levels, splits, left = np.array([root]), [], [], max_leaves - 1
    while len(level):
        split = children[level, LEFT] >= 0
        split &= np.cumsum(split) <= left
        left -= int(split.sum())
        levels.append(level)
        splits.append(split)
        level = children[level[split]].ravel()
    return np.concatenate(levels), np.concatenate(splits)
