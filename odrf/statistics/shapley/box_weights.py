"""Weights of boxes of coalitions in Shapley values."""

from __future__ import annotations

from math import comb

import numpy as np
from numpy.typing import NDArray

from odrf.engine.shapley_boxes import MOST_PLAYERS

__all__ = ["box_weights"]


def box_weights() -> NDArray[np.float64]:
    """Return the weights (65, 65) of a player of a box of coalitions.

    Let a game be 1 for the coalitions that have all of a players and none of b others, and 0 else.
    The Shapley value of each of the a players is (a - 1)! b! / (a + b)!, the entry [a, b]; that of
    each of the b players is minus the entry [b, a].  Entries with a = 0 are 0.
    """
    weights = np.zeros((MOST_PLAYERS + 1, MOST_PLAYERS + 1))
    for a in range(1, MOST_PLAYERS + 1):
        for b in range(MOST_PLAYERS + 1):
            weights[a, b] = 1 / (a * comb(a + b, a))
    return weights
