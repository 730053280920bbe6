"""The columns of the data frame, read back from the matrix of the training rows.

A fit keeps the matrix, not the data frame.  A column that is a predictor by itself can be read from
it: numbers to about seven digits of their range, labels exactly.  Other columns, such as ``x`` in
``log(x)`` or ``a:b``, and dates, are kept beside the matrix.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf.design.columns.encoding import Indicators, Ranks
from odrf.design.columns.frame import selected
from odrf.design.columns.measurement import LOGICAL
from odrf.design.design import Design
from odrf.design.kept_columns import readable_columns
from odrf.design.training_data import TrainingData
from odrf.errors import InputError

__all__ = ["training_frame", "unscaled"]

# More digits, from the first one of the range of a column, are not in 32 bits.
MOST_DIGITS = 9


def training_frame(design: Design, data: TrainingData) -> pd.DataFrame:
    """Return the columns that the predictors are computed from, on the n training rows.

    Returns
    -------
    DataFrame
        One column for each of ``design.schema.columns``.  Numbers are right to about seven digits
        of their range; whole numbers and labels are those of the training rows.

    Raises
    ------
    InputError
        The fit was saved without its rows, or by a version that did not keep a column that cannot
        be read back.
    """
    kept = pd.DataFrame(index=data.index) if data.kept is None else data.kept
    readable = {name: j for name, j in readable_columns(design.recipe).items() if name not in kept}
    lost = [name for name in design.schema.columns if name not in readable and name not in kept]
    if lost:
        raise InputError(
            f"the fit does not hold column {lost[0]!r}, as it was saved by an earlier version: "
            "give the rows as newdata=, or fit again"
        )
    columns = {name: _column(design, data, name, j) for name, j in readable.items()}
    read = pd.DataFrame(columns, index=data.index)
    frame = pd.concat([read, kept.set_axis(data.index)], axis=1)
    return selected(frame, design.schema.columns)


def _column(design: Design, data: TrainingData, name: str, j: int) -> Any:
    """Return the column of the data that is predictor `j`."""
    at = design.schema.columns.index(name)
    dtype, contents = design.schema.dtypes[at], design.schema.contents[at]
    encoding = design.recipe.variables[design.recipe.terms[j][0]].encoding
    if isinstance(encoding, Indicators | Ranks):
        held = _labels(design, data, j, encoding)
        return held if dtype == "category" else held.astype(object)
    values = _numbers(design, data, j)
    return _in_type(values, dtype, contents == LOGICAL)


def _numbers(design: Design, data: TrainingData, j: int) -> NDArray[np.float64]:
    """Return the numbers (n,) of predictor `j`."""
    values = _unscaled(design, data, int(design.first[j]))
    values[_empty(design, data, j)] = np.nan
    return values


def _in_type(values: NDArray[np.float64], dtype: str, logical: bool) -> Any:
    """Return numbers (n,) in the type of the data: booleans, or whole if none is missing."""
    empty = np.isnan(values)
    if logical:
        booleans = values > 0.5
        return pd.arrays.BooleanArray(booleans, empty) if empty.any() else booleans
    if empty.any():
        return values
    try:
        kind = np.dtype(dtype.lower().removesuffix("[pyarrow]"))
    except (TypeError, ValueError):  # a type that NumPy does not have, such as decimal128(9, 2)
        return values
    return np.rint(values).astype(kind) if kind.kind in "iu" else values


def _labels(
    design: Design, data: TrainingData, j: int, encoding: Indicators | Ranks
) -> pd.Categorical:
    """Return the labels (n,) of predictor `j`."""
    if isinstance(encoding, Ranks):
        codes = np.rint(_unscaled(design, data, int(design.first[j]))).astype(np.int64) - 1
    else:
        codes = _codes(design, data, j, len(encoding.levels))
    codes = np.where(_empty(design, data, j), -1, codes)
    labels = pd.Index(encoding.levels.tolist())
    return pd.Categorical.from_codes(codes, labels, ordered=isinstance(encoding, Ranks))


def _codes(design: Design, data: TrainingData, j: int, n_levels: int) -> NDArray[np.int64]:
    """Return the number (n,) of the level of each row, from 0."""
    codes = np.full(data.n_rows, -1, dtype=np.int64)
    for level in range(n_levels):
        codes[_unscaled(design, data, int(design.first[j]) + level) > 0.5] = level
    return codes


def _unscaled(design: Design, data: TrainingData, column: int) -> NDArray[np.float64]:
    """Return a column (n,) of the matrix in the unit of the data; 0 or the mean in empty cells."""
    scaling = design.scaling
    return unscaled(data.X[column], float(scaling.low[column]), float(scaling.range[column]))


def unscaled(scaled: NDArray[np.float32], low: float, span: float) -> NDArray[np.float64]:
    """Return cells (n,) of a column of the matrix in the unit of the data.

    Each value is the number of the fewest decimals that is scaled to the same 32 bits.  So 0.1 is
    read back as 0.1.
    """
    values = np.asarray(low + span * scaled.astype(np.float64))
    if span == 0:
        return values
    out, found = values.copy(), np.isnan(values)
    first = -int(np.floor(np.log10(span)))
    for decimals in range(first, first + MOST_DIGITS):
        rounded = np.round(values, decimals) + 0.0  # no -0
        same = ~found & (((rounded - low) / span).astype(np.float32) == scaled)
        out[same] = rounded[same]
        found |= same
        if found.all():
            break
    return out


def _empty(design: Design, data: TrainingData, j: int) -> NDArray[np.bool_]:
    """Return the rows (n,) in which predictor `j` has an empty cell."""
    if not design.recipe.holes[j]:
        return np.zeros(data.n_rows, dtype=np.bool_)
    return np.asarray(data.X[int(design.first[j + 1]) - 1] > 0)
