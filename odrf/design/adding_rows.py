"""New training rows for an existing design."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from odrf.design.columns.missing import find_missing
from odrf.design.design import Design
from odrf.design.training_data import TrainingData
from odrf.design.weights import check_weights, in_unit_of_fit, raw_weights
from odrf.engine.factors import Matrix, layout_of, stored, with_layout
from odrf.engine.memory import MOST_ROWS, require_numbers
from odrf.errors import InputError, nearest

__all__ = ["rows_of_weight_added", "with_more_rows"]


def rows_of_weight_added(
    design: Design, newdata: pd.DataFrame, weights: str | ArrayLike | None
) -> tuple[pd.DataFrame, str | ArrayLike | None]:
    """Return new rows without those of weight 0, and the argument `weights` for them.

    Raises
    ------
    InputError
        `newdata` is no data frame, or lacks a column, or the weights are not numbers.
    """
    design.schema.select(newdata)
    given = design.weights if weights is None else weights
    of_rows = raw_weights(given, newdata)
    counted = of_rows != 0
    if counted.all():
        return newdata, weights
    return newdata[counted], given if isinstance(given, str) else of_rows[counted]


def with_more_rows(
    design: Design,
    data: TrainingData,
    newdata: pd.DataFrame,
    weights: str | ArrayLike | None = None,
) -> TrainingData:
    """Return the training rows followed by those of `newdata`, encoded by the same design.

    Parameters
    ----------
    design : Design
    data : TrainingData
        The training rows.
    newdata : pandas.DataFrame
        Rows with responses.
    weights : str or array-like, optional
        Case weights of the new rows; by default the column used for the training rows.

    Raises
    ------
    InputError
        The new rows cannot be used, or none of them is complete.
    """
    design.schema.select(newdata)  # raises unless newdata is a frame with all columns
    case_weights, by = _new_weights(design, data, newdata, weights)
    absent = [column for column in design.response.columns if column not in newdata.columns]
    if absent:
        raise InputError(
            f"newdata lacks column {absent[0]!r} of the response {design.response.name!r}"
            f"{nearest(absent[0], newdata.columns)}: new training rows need their responses"
        )
    used = [*design.response.columns, *by]
    if design.missing in ("raise", "drop"):
        used = [*design.schema.columns, *used]
    missing = find_missing(newdata, list(dict.fromkeys(used)))
    if design.missing == "raise":
        missing.require_none()
    if not missing.complete.any():
        raise InputError(
            "newdata has no complete rows: it is empty, or every row has a missing value in the "
            "columns used"
        )
    frame, w = missing.complete_rows(newdata), case_weights[missing.complete]
    check_weights(np.append(w, 1.0))  # the training rows do not all have the weight 0
    w = in_unit_of_fit(w, data.weight_unit)
    X, _ = design.matrix(frame)
    X = _without_empty_cells(X, data)
    y = design.response.numbers(frame)
    if data.class_weights is not None:
        w = w * data.class_weights[y.astype(np.int64)]
    what = "rows, old and new,"
    require_numbers(len(data.y) + len(y), MOST_ROWS, what, "add fewer rows of newdata")
    empty = find_missing(frame, design.schema.columns).counts
    kept = data.kept
    return TrainingData(
        with_layout(np.concatenate([stored(data.X), stored(X)], axis=1), layout_of(X)),
        np.concatenate([data.y, y]),
        np.concatenate([data.weights, w]),
        data.index.append(frame.index),
        np.concatenate([data.considered, missing.complete]),
        _both_counts(data.missing_columns, missing.counts),
        _both_counts(data.empty_cells, empty),
        data.class_weights,
        data.weight_unit,
        None if kept is None else pd.concat([kept, frame[list(kept.columns)]]),
        None if data.structure is None else data.structure.with_more(newdata, missing.complete),
    )


def _new_weights(
    design: Design, data: TrainingData, newdata: pd.DataFrame, weights: str | ArrayLike | None
) -> tuple[NDArray[np.float64], list[str]]:
    """Return the case weights (M,) of the new rows, and the columns that they come from."""
    weights = design.weights if weights is None else weights
    if weights is None and not np.allclose(_case_weights(data), 1.0):
        raise InputError(
            "the fit's case weights were given as numbers, or in an update: give weights=, a "
            "column of newdata or one number for each of its rows"
        )
    return raw_weights(weights, newdata), [weights] if isinstance(weights, str) else []


def _both_counts(old: dict[str, int], new: dict[str, int]) -> dict[str, int]:
    """Return the sums of numbers by column, the largest first."""
    return dict((Counter(old) + Counter(new)).most_common()) if new else old


def _without_empty_cells(X: Matrix, data: TrainingData) -> Matrix:
    """Return new rows X (p, m) with the training mean in empty cells of columns without others."""
    cells = stored(X)
    empty = np.isnan(cells)
    if not empty.any():
        return X
    means = stored(data.X).mean(axis=1, keepdims=True)
    return with_layout(np.where(empty, means, cells), layout_of(X))


def _case_weights(data: TrainingData) -> NDArray[np.float64]:
    """Return the weights of the rows as given: without their class weights, in their own unit."""
    weights = data.weights * data.weight_unit
    if data.class_weights is None:
        return weights
    return np.asarray(weights / data.class_weights[data.y.astype(np.int64)])
