"""Folds of cross-validation: which rows are held out together."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from odrf.checks import is_whole
from odrf.errors import InputError

__all__ = ["checked_folds", "fold_of_rows"]

FEWEST_FOLDS = 2


def fold_of_rows(
    y: NDArray[np.float64],
    n_classes: int,
    k: int,
    seed: int,
    weights: NDArray[np.float64] | None = None,
) -> NDArray[np.int64]:
    """Return the random fold 0 … k - 1 of each row (n,); folds of classes are stratified.

    The rows of positive weight are divided evenly too, so that each fold leaves some of them.
    """
    order = np.random.default_rng(seed).permutation(len(y))
    if n_classes > 1:
        order = order[np.argsort(y[order], kind="stable")]
    if weights is not None:
        order = order[np.argsort(weights[order] == 0, kind="stable")]
    fold = np.empty(len(y), dtype=np.int64)
    fold[order] = np.arange(len(y)) % k
    return fold


def checked_folds(cv: Any, n: int, otherwise: str = "") -> int:
    """Return the number of folds `cv`; raise `InputError` unless it is from 2 to n.

    `otherwise` ends the message: what else than a number the argument may be.
    """
    if not is_whole(cv) or not FEWEST_FOLDS <= cv <= n:
        raise InputError(
            f"cv={cv!r} is not a number of folds: use {FEWEST_FOLDS} to {n} (the rows){otherwise}"
        )
    return int(cv)
