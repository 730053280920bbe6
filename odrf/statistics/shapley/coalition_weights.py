"""What the prediction of each coalition counts in Shapley values, if all coalitions are known."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from odrf.statistics.shapley.box_weights import box_weights

__all__ = ["every_coalition", "interaction_weights", "value_weights"]


def every_coalition(d: int) -> NDArray[np.bool_]:
    """Return all coalitions (2^d, d) of d terms."""
    return (np.arange(2**d)[:, np.newaxis] >> np.arange(d)) & 1 > 0


def value_weights(d: int) -> NDArray[np.float64]:
    """Return the weights (d, 2^d) of `every_coalition` in the Shapley value of each term."""
    return _weights(every_coalition(d).T)


def interaction_weights(d: int) -> NDArray[np.float64]:
    """Return the weights (d, d, 2^d) of `every_coalition` in the Shapley interaction values.

    The index of a pair is the Shapley value of one term if the other is there, minus its value if
    the other is not.  One half of it counts for each order of the pair, and the rest of the value
    of a term is on the diagonal.
    """
    members = every_coalition(d).T
    weights = np.zeros((d, d, 2**d))
    for i in range(d):
        others = np.arange(d) != i
        half = _weights(members[others]) / 2
        weights[i, others] = np.where(members[i], half, -half)
    own = np.arange(d)
    weights[own, own] = _weights(members) - weights.sum(axis=1)
    return weights


def _weights(members: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return the weights (d, c) of coalitions in the Shapley values of d terms.

    `members` (d, c) tells which terms each coalition has.
    """
    inside = members.sum(axis=0)
    outside, of_boxes = len(members) - inside, box_weights()
    return np.where(members, of_boxes[inside, outside], -of_boxes[outside, inside])
