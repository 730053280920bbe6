"""Which predictors to keep: how many a backward step drops, and what shadows decide."""

from __future__ import annotations

import math

import numpy as np
import scipy
from numpy.typing import NDArray

__all__ = ["CONFIRMED", "REJECTED", "TENTATIVE", "decisions", "most_important"]

CONFIRMED, TENTATIVE, REJECTED = "confirmed", "tentative", "rejected"
LEVEL = 0.01


def most_important(importance: NDArray[np.float64], drop: float) -> NDArray[np.int64]:
    """Return the numbers of the predictors that are left when a share `drop` goes, at least one.

    The least important go; they keep their order.
    """
    P = len(importance)
    dropped = min(max(1, math.floor(drop * P)), P - 1)
    order = np.argsort(-importance, kind="stable")
    return np.sort(order[: P - dropped])


def decisions(hits: NDArray[np.int64], rounds: NDArray[np.int64]) -> list[str]:
    """Return what is decided of each predictor (P,) that beat its shadows in so many rounds.

    A predictor without influence beats the best shadow at most every other time.  Binomial tests
    either way, at level 0.01 with Bonferroni's correction for P predictors (Kursa and Rudnicki
    2010).
    """
    level = LEVEL / len(hits)
    more = scipy.special.bdtrc(hits - 1, rounds, 0.5) < level
    fewer = scipy.special.bdtr(hits, rounds, 0.5) < level
    return [
        CONFIRMED if high else REJECTED if low else TENTATIVE
        for high, low in zip(more, fewer, strict=True)
    ]
