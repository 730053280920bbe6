"""Selection of predictors: steps of backward elimination, and decisions by shadow predictors."""

from __future__ import annotations

import math

import numpy as np
import scipy
from numpy.typing import NDArray

__all__ = [
    "CONFIRMED",
    "REJECTED",
    "TENTATIVE",
    "decisions",
    "fewest_rounds",
    "most_important",
    "steps_of_elimination",
]

CONFIRMED, TENTATIVE, REJECTED = "confirmed", "tentative", "rejected"
LEVEL = 0.01


def most_important(importance: NDArray[np.float64], drop: float) -> NDArray[np.int64]:
    """Return the numbers of the predictors kept when the share `drop` of them is dropped.

    The least important are dropped, at least one; at least one is kept.  The numbers are rising.
    """
    order = np.argsort(-importance, kind="stable")
    return np.sort(order[: _kept(len(importance), drop)])


def steps_of_elimination(P: int, drop: float) -> int:
    """Return how many numbers of predictors there are, from P to 1, when shares are dropped."""
    steps = 1
    while P > 1:
        P, steps = _kept(P, drop), steps + 1
    return steps


def _kept(P: int, drop: float) -> int:
    return P - min(max(1, math.floor(drop * P)), P - 1)


def fewest_rounds(P: int) -> int:
    """Return in how many rounds P predictors can be decided on: with a hit in each, or in none."""
    return math.floor(math.log2(P / LEVEL)) + 1


def decisions(hits: NDArray[np.int64], rounds: NDArray[np.int64]) -> list[str]:
    """Return the decision on each predictor (P,): confirmed, tentative or rejected.

    `hits` counts in how many of the `rounds` its importance exceeded that of the best shadow.  For
    a predictor without influence the probability of a hit is at most 1/2.  Two one-sided binomial
    tests, at level 0.01 with Bonferroni's correction for P predictors (Kursa and Rudnicki 2010).
    """
    level = LEVEL / len(hits)
    more = scipy.special.bdtrc(hits - 1, rounds, 0.5) < level
    fewer = scipy.special.bdtr(hits, rounds, 0.5) < level
    return [
        CONFIRMED if high else REJECTED if low else TENTATIVE
        for high, low in zip(more, fewer, strict=True)
    ]
