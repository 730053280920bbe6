"""What is left to gain in the leaves of an updated tree, one node at a time."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from odrf.engine.trees.forest import Forest
from problems import Problem
from reference.forests import direction, goes_left
from reference.growing import NEGLIGIBLE, Candidate, Node, best_split
from reference.impurity import impurity


def parts(tree: Forest, X: NDArray, counts: NDArray[np.int64]) -> dict[int, NDArray[np.int64]]:
    """The rows that count at each node of a forest of one."""
    rows = {0: np.flatnonzero(counts)}
    for node in range(tree.n_nodes):
        child = int(tree.left[node])
        if child >= 0:
            here = rows[node]
            left = goes_left(X[:, here], *direction(tree, node), tree.threshold[node])
            rows[child], rows[child + 1] = here[left], here[~left]
    return rows


def rows_of_leaves(tree: Forest, X: NDArray, counts: NDArray[np.int64]) -> dict[int, int]:
    """How many rows, repetitions counted, end in each leaf."""
    rows = parts(tree, X, counts)
    return {node: int(counts[here].sum()) for node, here in rows.items() if tree.left[node] < 0}


def missed_gains(
    tree: Forest, problem: Problem, counts: NDArray[np.int64], n: int, since: int
) -> Iterator[float]:
    """What more the best split on a column would gain than the tree's, for each node in question.

    Those are the splits of rank `since` or more, and the leaves that a row numbered n or more has
    reached, if they may be split.
    """
    options = problem.settings
    rows = parts(tree, problem.X, counts)
    w = problem.weights * counts
    everything = impurity(problem.y[rows[0]], w[rows[0]], options.criterion)
    for number, here in rows.items():
        is_leaf = tree.left[number] < 0
        if not (here >= n).any() if is_leaf else tree.order[number] < since:
            continue
        node = Node(here, problem.y[here], w[here], counts[here], 0)
        node_impurity = impurity(node.y, node.w, options.criterion)
        if node.counts.sum() < 2 * options.min_leaf or node_impurity <= NEGLIGIBLE * everything:
            continue
        node.candidates = [Candidate([j], np.ones(1)) for j in range(len(problem.X))]
        best = best_split(node, problem.X, options)
        yield (best.gain if best else 0.0) - float(tree.gain[number])
