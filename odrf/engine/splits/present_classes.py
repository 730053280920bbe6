"""The classes of a node's rows, numbered among themselves.

Deep nodes have few of many classes.  The others have weight 0 on both sides of every cut and add
nothing to its gain, so that the best cut is found among the present ones, in the time of these.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from odrf.engine.compiling import part
from odrf.engine.splits.criteria import ORDINAL
from odrf.engine.splits.impurity import Node

__all__ = ["PresentClasses", "among_present", "present_classes_for"]

ABSENT = -1


class PresentClasses(NamedTuple):
    """Scratch for the present classes of a node, of up to n rows and K classes.

    Attributes
    ----------
    y : (n,) float64
        The class of each row, numbered among those present.
    value : (K,) float64
        The shares of the present classes.
    number : (K,) int64
        The number of each class; `ABSENT` of those that no row has.
    """

    y: np.ndarray
    value: np.ndarray
    number: np.ndarray


def present_classes_for(n: int, K: int) -> PresentClasses:
    """Allocate the scratch for nodes of up to n rows, and K classes."""
    return PresentClasses(np.empty(n), np.empty(K), np.empty(K, dtype=np.int64))


@part
def among_present(node, left, present):
    """Return the node with the present classes only, and left (K,) shortened to them.

    Gains of cuts are the same, to the last bit.  Not if classes are ordered: the share up to a
    class counts, even if no row has this class.  `left` and `present` are None if gains are
    computed from moments: then nothing is changed.
    """
    if left is None:
        return node, left
    number, y, n_present = present.number, present.y, 0
    for k in range(len(number)):
        number[k] = ABSENT
    for i in range(np.uint64(len(node.y))):
        number[np.uint64(node.y[i])] = 0
    for k in range(len(number)):
        if number[k] != ABSENT:
            number[k] = n_present
            present.value[n_present] = node.value[k]
            n_present += 1
    if n_present == len(number) or node.criterion == ORDINAL:
        return node, left
    for i in range(np.uint64(len(node.y))):
        y[i] = float(number[np.uint64(node.y[i])])
    few = Node(
        y[: len(node.y)], node.weights, node.counts, node.moments, present.value[:n_present],
        node.weight, node.n_rows, node.lightest, node.impurity, node.factor, node.criterion,
        node.unit, node.logs,
    )  # fmt: skip
    return few, left[:n_present]
