"""Relations between columns and a response that hold in every row."""

from __future__ import annotations

import numpy as np
import scipy
from numpy.typing import NDArray

from odrf.engine.running import one_thread

__all__ = ["exact_sum", "goes_with", "in_same_order"]

# Columns of 32 bits are rounded to about this part of their spread; what has less of a share in a
# sum is rounding, too.
EXACT, SHARE = 1e-6, 1e-4


def in_same_order(x: NDArray[np.float64], y: NDArray[np.float64]) -> bool:
    """Return whether y (m,) is a function of x (m,) that never falls, or never rises."""
    order = np.argsort(x, kind="stable")
    steps_of_x, steps = np.diff(x[order]), np.diff(y[order])
    if steps[steps_of_x == 0].any():
        return False
    return bool((steps >= 0).all() or (steps <= 0).all())


def goes_with(labels: NDArray[np.int64], codes: NDArray[np.int64]) -> bool:
    """Return whether each label (m,) goes with one code (m,), and each code with one label.

    Both are 0, 1, …; missing labels, which are -1, go with none.
    """
    n_codes = len(np.unique(codes))
    if labels.min() < 0 or len(np.unique(labels)) != n_codes:
        return False
    return len(np.unique(labels * (codes.max() + 1) + codes)) == n_codes


@one_thread()
def exact_sum(X: NDArray[np.float64], y: NDArray[np.float64], most: int) -> list[int]:
    """Return the columns of X (m, q), at most so many, whose weighted sum is y (m,) up to rounding.

    The sum may have a constant.  The list is empty if there is no such sum, or it takes more
    columns; of columns that depend on each other, all that share in the sum count.
    """
    varying = np.flatnonzero(np.ptp(X, axis=0) > 0)
    if not len(varying) or len(y) <= 2 * len(varying) + 2 or np.ptp(y) == 0:
        return []
    Z, target = _standardised(X[:, varying]), _standardised(y)
    weight = scipy.linalg.lstsq(Z, target, lapack_driver="gelsy", check_finite=False)[0]
    if np.abs(target - Z @ weight).max() > EXACT:
        return []
    used = varying[np.abs(weight) > SHARE]
    return used.tolist() if len(used) <= most else []


def _standardised(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return columns, none of them constant, with mean 0 and standard deviation 1."""
    values = values / np.abs(values).max(axis=0)  # else squares of huge numbers are no numbers
    return (values - values.mean(axis=0)) / values.std(axis=0)
