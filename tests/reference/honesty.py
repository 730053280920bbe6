"""The numbers stored in the nodes of an honest tree, from the rows that reach each node."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from odrf.engine.trees.forest import Forest
from reference.forests import direction, goes_left
from reference.impurity import impurity


@dataclass
class NodeNumbers:
    """A node's numbers."""

    count: int
    weight: float
    value: NDArray
    impurity: float
    gain: float = 0.0


def filled(
    tree: Forest, X: NDArray, y: NDArray, weights: NDArray, counts: NDArray[np.int64],
    criterion: int, n_classes: int,
) -> dict[int, NodeNumbers]:  # fmt: skip
    """The numbers of every node of a forest of one, filled by the rows that count."""
    w = weights * counts
    numbers: dict[int, NodeNumbers] = {}

    def visit(node: int, rows: NDArray[np.int64], above: NodeNumbers | None) -> None:
        if len(rows):
            value = [
                np.average(y[rows] if n_classes == 1 else y[rows] == k, weights=w[rows])
                for k in range(n_classes)
            ]
            node_impurity = impurity(y[rows], w[rows], criterion)
            here = NodeNumbers(
                int(counts[rows].sum()), w[rows].sum(), np.array(value), node_impurity
            )
        else:
            here = NodeNumbers(0, 0.0, above.value, above.impurity)
        numbers[node] = here
        child = int(tree.left[node])
        if child < 0:
            return
        left = goes_left(X[:, rows], *direction(tree, node), tree.threshold[node])
        visit(child, rows[left], here)
        visit(child + 1, rows[~left], here)
        if len(rows):
            sides = [numbers[child], numbers[child + 1]]
            kept = sum(side.weight * side.impurity for side in sides)
            here.gain = here.impurity - kept / here.weight

    visit(0, np.flatnonzero(counts), None)
    return numbers
