"""Judging what out-of-bag rows have chosen: each row by the choice of the other rows.

A row whose own loss took part in the choice of α makes the pruned trees look too good.  So the rows
are divided into folds.  For the rows of a fold, α is chosen again by the rows of the other folds,
and the trees are pruned at that α to predict them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add

import numpy as np
from numpy.typing import NDArray

from odrf.pruning.choosing import chosen
from odrf.pruning.held_out import HeldOut

__all__ = ["JUDGED_FOLDS", "OutOfBagChoice", "chosen_elsewhere"]

JUDGED_FOLDS = 5


@dataclass(frozen=True, eq=False)
class OutOfBagChoice:
    """The α that the out-of-bag rows outside of each fold choose.

    Attributes
    ----------
    rule : {"weakest_link", "growth"}
        Which subtrees of each tree are candidates.
    fold : (n,) int64
        The fold of each training row.
    alphas : (F, B) or (F, 1) float64
        For the rows of each fold, the α of each tree, or of all of them.
    """

    rule: str
    fold: NDArray[np.int64]
    alphas: NDArray[np.float64]


def chosen_elsewhere(folds: Sequence[HeldOut], rule: str) -> list[int]:
    """Return for each of F folds which of k values of α the other folds choose.

    `folds` are the errors on the rows of each.  Where the others have no rows of positive weight,
    the first value, which prunes nothing.
    """
    rows = []
    for f in range(len(folds)):
        others = reduce(add, [held for g, held in enumerate(folds) if g != f])
        found = others.weight > 0
        rows.append(chosen(others.mean, others.standard_error, rule) if found else 0)
    return rows
