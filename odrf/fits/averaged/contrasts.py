"""Contrasts: which two values of a variable are compared."""

from __future__ import annotations

from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api.types import is_bool_dtype, is_integer_dtype, is_numeric_dtype

from odrf.checks import is_word
from odrf.design.columns import DATES, DURATIONS, PERIODS, contents, listed
from odrf.engine.running import one_thread
from odrf.errors import InputError, allowed

__all__ = [
    "CONTRASTS",
    "Contrast",
    "contrasts_of",
    "deviation_of",
    "is_exact",
    "is_timed",
    "levels_of",
    "require_exact",
    "slope_of",
    "usual_contrast",
]

CONTRASTS = ("sd", "unit", "iqr", "reference", "pairwise")
OF_NUMBERS, OF_FACTORS = ("sd", "unit", "iqr"), ("reference", "pairwise")

# A slope's two ends are this share of a standard deviation apart.
BANDWIDTH = 0.5
# Relative tolerance of sums of shares, which are rounded.
SLACK = 1e-12
# Floats do not tell all whole numbers beyond apart.
LARGEST_EXACT = 2**53


class Contrast(NamedTuple):
    """Two values that a variable is set to.

    Attributes
    ----------
    label : str
        In words, such as "+1" or "b - a".
    low : a value, (n,) values, or None
        What the variable is set to in each row; None if it stays as it is.
    high : a value, or (n,) values
    width : (n,) float64 or None
        For a slope, high - low.
    """

    label: str
    low: Any
    high: Any
    width: NDArray[np.float64] | None = None


def contrasts_of(
    name: str, column: pd.Series, training: pd.Series, weights: NDArray[np.float64], contrast: Any
) -> list[Contrast]:
    """Return the contrasts of a variable.

    Parameters
    ----------
    name : str
        The variable.
    column : Series of length n
        Its values in the rows that are compared.
    training : Series
        Its values in the training rows, from which spread and levels are taken.
    weights : array
        The case weights of the training rows.
    contrast : str or pair
        One of `CONTRASTS`, or two values.

    Raises
    ------
    InputError
        The contrast is unknown, or does not fit the type of the variable.
    """
    if not isinstance(contrast, str):
        low, high = _pair(name, contrast)
        return [Contrast(f"{_said(high)} - {_said(low)}", low, high)]
    if contrast not in CONTRASTS:
        raise allowed("contrast", contrast, CONTRASTS)
    if not _is_numeric(training):
        return _of_levels(name, training, contrast)
    if is_bool_dtype(training.dtype):
        return [Contrast("True - False", False, True)]
    if contrast in OF_FACTORS:
        raise InputError(
            f"contrast={contrast!r} is for factors, and {name!r} holds numbers: use one of "
            f"{listed(OF_NUMBERS)}, or two values such as (1, 2)"
        )
    require_exact(name, column, training)
    return [_of_numbers(_floats(column), training.astype(float), weights, contrast)]


def usual_contrast(training: pd.Series, weights: NDArray[np.float64]) -> Any:
    """Return the contrast of a variable by default; of a number with two values, these."""
    if not _is_numeric(training):
        return "reference"
    require_exact(str(training.name), training)
    values = np.unique(_known(training, weights)[0])
    return tuple(values) if len(values) == 2 and not is_bool_dtype(training.dtype) else "sd"


def slope_of(
    name: str,
    column: pd.Series,
    training: pd.Series,
    weights: NDArray[np.float64],
    bandwidth: float | None,
) -> Contrast:
    """Return the contrast whose quotient by its width is a slope.

    The ends are half a bandwidth below and above the value of each row, and within the range of the
    training rows, as predictions do not change beyond it.  By default the ends are values of
    training rows: the next ones that are a quarter of a standard deviation or more away.  Between
    values of training rows a forest has steps, which ends there would miss or count twice.

    Raises
    ------
    InputError
        The variable is no number, or the same number in all training rows.
    """
    if not _is_numeric(training) or is_bool_dtype(training.dtype):
        raise InputError(
            f"{name!r} is no number in the fit, so that it has no slope: use comparisons()"
        )
    require_exact(name, column, training)
    numbers = training.astype(float)
    known, _ = _known(numbers, weights)
    if len(np.unique(known)) < 2:
        raise InputError(f"{name!r} has the same value in all training rows: it has no slope")
    low, high = float(known.min()), float(known.max())
    if bandwidth is None:
        half = BANDWIDTH / 2 * deviation_of(numbers, weights)
        return _slope_between(np.unique(known), _floats(column).clip(low, high), half)
    width = min(bandwidth, high - low)
    middle = _floats(column).clip(low + width / 2, high - width / 2)
    ends = middle - width / 2, middle + width / 2
    return Contrast("slope", *ends, np.full(len(middle), width))


def _slope_between(known: NDArray[np.float64], at: NDArray[np.float64], half: float) -> Contrast:
    """Return a slope whose ends are known values, `half` or more off where that is possible."""
    last = len(known) - 1
    below = np.clip(np.searchsorted(known, at - half, side="right") - 1, 0, last - 1)
    above = np.clip(np.searchsorted(known, at + half), below + 1, last)
    empty = np.isnan(at)
    low, high = np.where(empty, np.nan, known[below]), np.where(empty, np.nan, known[above])
    return Contrast("slope", low, high, np.where(empty, 1.0, high - low))


def is_timed(column: pd.Series) -> bool:
    """Return whether a column holds dates, durations or periods, which have no usual contrast."""
    return contents(column) in (DATES, DURATIONS, PERIODS)


def require_exact(name: str, *columns: pd.Series) -> None:
    """Raise `InputError` if steps from whole numbers would be lost, as floats do not hold them."""
    if not all(map(is_exact, columns)):
        raise InputError(
            f"{name!r} has whole numbers beyond 2**53, of which floats lose the last digits: "
            "fit to the numbers less the smallest one, as in "
            f"data[{name!r}] - data[{name!r}].min()"
        )


def is_exact(column: pd.Series) -> bool:
    """Return whether floats hold all whole numbers of a column."""
    known = column.dropna() if is_integer_dtype(column.dtype) else column.iloc[:0]
    return not len(known) or max(-int(known.min()), int(known.max())) <= LARGEST_EXACT


def levels_of(column: pd.Series) -> list[Any]:
    """Return the levels of a factor, in their order."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        return list(column.cat.remove_unused_categories().cat.categories)
    return sorted(column.dropna().unique(), key=lambda level: (str(type(level)), level))


def _floats(column: pd.Series) -> NDArray[np.float64]:
    return column.to_numpy(dtype=np.float64, na_value=np.nan)


def _is_numeric(column: pd.Series) -> bool:
    return is_numeric_dtype(column.dtype)


def _pair(name: str, contrast: Any) -> tuple[Any, Any]:
    if isinstance(contrast, tuple | list) and len(contrast) == 2:
        return contrast[0], contrast[1]
    raise InputError(
        f"contrast={contrast!r} is no contrast of {name!r}: use one of {listed(CONTRASTS)}, or two "
        "values such as (1, 2)"
    )


def _of_numbers(
    values: NDArray[np.float64], training: pd.Series, weights: NDArray[np.float64], contrast: str
) -> Contrast:
    if contrast == "unit":
        return Contrast("+1", None, values + 1.0)
    if contrast == "sd":
        sd = deviation_of(training, weights)
        return Contrast(f"+1 sd ({sd:.4g})", values - sd / 2, values + sd / 2)
    low, high = _quartiles(training, weights)
    return Contrast(f"Q3 - Q1 ({low:.4g} to {high:.4g})", float(low), float(high))


def _of_levels(name: str, training: pd.Series, contrast: str) -> list[Contrast]:
    if is_timed(training):
        raise InputError(
            f"{name!r} holds {contents(training)}: give two of them as contrast=(first, second)"
        )
    levels = levels_of(training)
    pairs = [(levels[0], level) for level in levels[1:]]
    if is_word(contrast, "pairwise"):
        pairs = list(combinations(levels, 2))
    return [Contrast(f"{_said(high)} - {_said(low)}", low, high) for low, high in pairs]


@one_thread()
def deviation_of(training: pd.Series, weights: NDArray[np.float64]) -> float:
    """Return the weighted standard deviation of numbers without empty cells; of no number, 0."""
    values, share = _known(training, weights)
    if not len(values) or (values == values[0]).all():
        return 0.0
    largest = float(np.abs(values).max()) or 1.0
    # squares of very large and very small numbers are out of the range of floats
    off = values / largest - share @ (values / largest)
    return largest * float(np.sqrt(share @ off**2))


def _quartiles(training: pd.Series, weights: NDArray[np.float64]) -> tuple[float, float]:
    """Return the smallest numbers up to which a quarter, or three, of the weight lies."""
    values, share = _known(training, weights)
    if not len(values):
        raise InputError(
            f"{training.name!r} is empty in all training rows of positive weight, and so has no "
            "quartiles: give two values as contrast=(first, second)"
        )
    order = np.argsort(values, kind="stable")
    reached = share[order].cumsum() * (1 + SLACK)
    low, high = values[order][np.searchsorted(reached, (0.25, 0.75))]
    return float(low), float(high)


def _known(
    training: pd.Series, weights: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return numbers without empty cells, and their shares of the weight."""
    known = training.notna().to_numpy() & (weights > 0)
    return training[known].to_numpy(np.float64), weights[known] / weights[known].sum()


def _said(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)
