"""Case weights: from the argument `weights` to one number per row.

What a fit predicts does not depend on the unit of the weights.  But squares and sums of very large
or small ones leave the range of floats, so these are converted to another unit: a power of two,
which does not round them.
"""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from odrf.design.row_numbers import row_numbers
from odrf.errors import InputError

__all__ = ["check_weights", "in_unit_of_fit", "raw_weights", "rows_that_count", "unit_of"]

# Weights are converted only if the largest is outside these limits.
LEAST_TOP, MOST_TOP = 2.0**-40, 2.0**40
LARGEST = 1e200


def raw_weights(weights: str | ArrayLike | None, data: pd.DataFrame) -> NDArray[np.float64]:
    """Return the weights (n,) of the rows of `data`, missing ones as NaN.

    Parameters
    ----------
    weights : str, array-like or None
        The name of a column, n numbers (see `row_numbers`), or None for all ones.
    data : pandas.DataFrame
        The data frame.

    Raises
    ------
    InputError
        There is no such column, or the weights are not n numbers.
    """
    if weights is None:
        return np.ones(len(data))
    return row_numbers("weights", weights, data)


def rows_that_count(weights: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return which rows (n,) do not have the weight 0; missing weights are judged elsewhere.

    Raises
    ------
    InputError
        They are fewer than two.
    """
    counted = weights != 0
    if counted.sum() < 2:
        check_weights(weights)
        raise InputError(
            "weights are 0 in all rows but one, and at least 2 rows are needed: give more rows a "
            "positive weight"
        )
    return np.asarray(counted)


def unit_of(weights: NDArray[np.float64]) -> float:
    """Return the unit that checked `weights` (n,) are divided by.

    It is 1 unless the largest weight is above 2⁴⁰ or below 2⁻⁴⁰; then it is the power of two that
    brings the largest weight to between 1 and 2.
    """
    largest = float(weights.max())
    if LEAST_TOP <= largest <= MOST_TOP:
        return 1.0
    return math.ldexp(1.0, math.frexp(largest)[1] - 1)


def in_unit_of_fit(weights: NDArray[np.float64], unit: float) -> NDArray[np.float64]:
    """Return the weights (m,) of added rows in the `unit` of the training rows.

    Raises
    ------
    InputError
        One is so large beside those of the training rows that these would be lost in rounding.
    """
    if weights.max(initial=0.0) / MOST_TOP / MOST_TOP > unit:
        raise InputError(
            f"weights has values up to {weights.max():g}, far above those of the training rows: "
            "give both in the same unit"
        )
    return weights / unit


def check_weights(weights: NDArray[np.float64], name: str = "weights") -> None:
    """Raise `InputError` unless `weights` (n,) are finite, at least 0, and not all 0.

    Weights above 1e200 are refused, too, so that sums of them times class weights are finite.
    `name` is that of the argument.
    """
    bad = ~(np.abs(weights) <= LARGEST)
    if bad.any():
        are = "value that is" if bad.sum() == 1 else "values that are"
        raise InputError(
            f"{name} has {bad.sum()} {are} missing, infinite or above {LARGEST:g}: give every row "
            "a finite weight (a row of weight 0 has no influence)"
        )
    if (weights < 0).any():
        number = (weights < 0).sum()
        values = "value" if number == 1 else "values"
        raise InputError(
            f"{name} has {number} negative {values}, the smallest {weights.min():g}: weights must "
            "be at least 0"
        )
    if not weights.any():
        raise InputError(f"{name} are all zero: give at least one row a positive weight")
