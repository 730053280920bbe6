"""Pruning by its definitions: every subtree tried, or the weakest link cut again and again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from odrf.engine.trees.forest import Forest
from odrf.engine.trees.routing import leaf_nodes
from problems import Problem

Children = Mapping[int, int]
"""The left child of each split; the right one is the next number."""


def below(children: Children, node: int) -> list[int]:
    """The splits from `node` on down."""
    if node not in children:
        return []
    left = children[node]
    return [node, *below(children, left), *below(children, left + 1)]


def all_subtrees(children: Children, node: int = 0) -> Iterator[frozenset[int]]:
    """The splits of every subtree with the same root, the root alone among them."""
    yield frozenset()
    if node not in children:
        return
    left = children[node]
    for one in all_subtrees(children, left):
        for other in all_subtrees(children, left + 1):
            yield frozenset({node}) | one | other


def weakest_links(children: Children, decrease: Mapping[int, float]) -> dict[int, float]:
    """The α at which each split is pruned when the weakest branch is cut until none is left."""
    left, gone = dict(children), {}
    while 0 in left:
        strength = {
            node: np.mean([decrease[split] for split in below(left, node)]) for node in left
        }
        weakest = min(left, key=lambda node: (strength[node], node))
        for split in below(left, weakest):
            gone[split] = strength[weakest]
            del left[split]
    return gone


def loss_in_leaves(problem: Problem, tree: Forest) -> float:
    """The training error of the leaves' means or majorities, leaf by leaf."""
    leaf = leaf_nodes(tree, problem.X, 1)[:, 0]
    loss = 0.0
    for node in np.unique(leaf):
        y, weights = problem.y[leaf == node], problem.weights[leaf == node]
        if weights.sum() == 0:
            continue
        if tree.value.shape[1] == 1:
            loss += np.sum(weights * (y - np.average(y, weights=weights)) ** 2)
        else:
            loss += weights.sum() - np.bincount(y.astype(int), weights).max()
    return loss / problem.weights.sum()
