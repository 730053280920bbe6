"""Best-first growth by its definition: the open splits in a dictionary, the best of them made."""

from __future__ import annotations

from typing import Protocol

from numpy.typing import NDArray

from odrf.engine.directions.candidates import FeatureGroups
from odrf.engine.resamples import Sampling
from problems import Recipe
from reference.growing import (
    FirstBest,
    Node,
    Search,
    Split,
    first_node,
    first_orders,
    make_split,
    may_split,
    searched,
)
from reference.randomness import Stream


class Choosing(Search, Protocol):
    """How splits are found, and which of the open ones is made next."""

    def chosen(self, nodes: list[Node], open_splits: dict[int, Split], leaves: int) -> int:
        """The number of the node to split."""


def decrease(node: Node, split: Split) -> float:
    """What a split takes from the sum of the impurities of the rows."""
    return node.w.sum() * split.gain


class BestOpen(FirstBest):
    """The open split with the largest decrease, the first of equals."""

    def chosen(self, nodes: list[Node], open_splits: dict[int, Split], leaves: int) -> int:
        return max(open_splits, key=lambda number: decrease(nodes[number], open_splits[number]))


def grow_best_first(
    X: NDArray,
    y: NDArray,
    weights: NDArray,
    feature_groups: FeatureGroups,
    sampling: Sampling,
    settings: Recipe,
    stream: Stream,
    search: Choosing,
) -> list[Node]:
    """Search new nodes in the order of their numbers, then split the one that gains most."""
    nodes, open_splits = [first_node(y, weights, sampling, stream)], {}
    orders, leaves = first_orders(feature_groups), 1
    while True:
        for number, node in enumerate(nodes):
            if node.candidates is not None or not may_split(node, nodes[0], leaves, settings):
                continue
            split = searched(stream, X, nodes, number, feature_groups, orders, settings, search)
            if split is not None:
                open_splits[number] = split
        if not open_splits or leaves >= settings.max_leaves:
            return nodes
        number = search.chosen(nodes, open_splits, leaves)
        make_split(nodes, number, open_splits.pop(number), leaves)
        leaves += 1
