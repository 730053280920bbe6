"""Choosing among nested subtrees by their held-out errors."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf.checks import checked_choice

__all__ = ["CHOICES", "MINIMUM", "ONE_SE", "chosen", "chosen_row"]

MINIMUM, ONE_SE = "min", "1se"
CHOICES = (MINIMUM, ONE_SE)


def chosen(error: NDArray[np.float64], std_error: NDArray[np.float64], rule: str) -> int:
    """Return the number of the chosen subtree; subtrees go from the largest to the root.

    ``"min"`` chooses the smallest error, ``"1se"`` the smallest tree whose error is at most one
    standard error above it (Breiman et al. 1984, section 3.4.3).  Of ties the smallest tree; also
    where no error is known (NaN), because the rows held out have no weight.  Where no standard
    error is known, because one row judges, both choose the smallest error.
    """
    if np.isnan(error).all():
        return len(error) - 1
    best = len(error) - 1 - int(np.argmin(error[::-1]))
    limit = error[best] + (np.nan_to_num(std_error[best]) if rule == ONE_SE else 0.0)
    return int(np.flatnonzero(error <= limit)[-1])


def chosen_row(
    table: pd.DataFrame, rule: str, error: str = "error", std_error: str = "std_error"
) -> int:
    """Return the number of the row that `rule` chooses from a table, the largest size first.

    `error` and `std_error` name its columns.

    Raises
    ------
    InputError
        If `rule` is neither ``"min"`` nor ``"1se"``.
    """
    checked_choice("rule", rule, CHOICES)
    return chosen(table[error].to_numpy(), table[std_error].to_numpy(), rule)
