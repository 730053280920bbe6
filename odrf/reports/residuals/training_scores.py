"""The error of training rows in words, which says where they are reproduced.

A tree that grows until its leaves are single rows, and boosting for many rounds, predict their
training rows as they are.  What rounding leaves of the error is no error, and says nothing of new
rows.
"""

from __future__ import annotations

import pandas as pd

from odrf.text.splits import number

__all__ = ["REPRODUCED", "training_score", "without_rounding"]

REPRODUCED = "the training rows are reproduced"
NEARLY = "the training rows are nearly reproduced"
# A share of the error of a constant that is next to nothing, and one that rounding leaves.
LITTLE, ROUNDING = 1e-3, 1e-12


def training_score(error: float, r_squared: float | None) -> dict[str, str]:
    """Return the training error, in words, under its name.

    Parameters
    ----------
    error : float
        The mean squared error or, of classes, the error rate.
    r_squared : float or None
        1 less the share that the error is of that of a constant; None for classes.

    Examples
    --------
    >>> training_score(4.7e-33, 1.0)
    {'Training MSE': '0 (the training rows are reproduced)'}
    >>> training_score(0.0312, None)
    {'Training error rate': '0.0312'}
    """
    name, words = "Training MSE", number(error)
    if r_squared is None:
        name, share = "Training error rate", error
    else:
        share = 1.0 - r_squared
    if error == 0 or share < ROUNDING:
        words = f"0 ({REPRODUCED})"
    elif share < LITTLE and r_squared is not None:
        words = f"{words} ({NEARLY})"
    return {name: words}


def without_rounding(losses: pd.DataFrame) -> pd.DataFrame:
    """Return losses after 0, 1, … rounds with 0 for what rounding leaves of those at the start."""
    return losses.mask(losses.abs() < ROUNDING * losses.iloc[0].abs(), 0.0)
