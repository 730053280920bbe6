"""New training rows for an existing design."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from odrf.design.columns.missing import find_missing
from odrf.design.design import Design
from odrf.design.training_data import TrainingData
from odrf.design.weights import check_weights, in_unit_of_fit, raw_weights
from odrf.engine.limits import MOST_ROWS, require_numbers
from odrf.engine.rows.coded import Matrix, layout_of, stored, with_layout
from odrf.errors import InputError, nearest

__all__ = [
    "Known",
    "NewRows",
    "both_counts",
    "encoded_rows",
    "require_room",
    "rows_of_weight_added",
    "with_more_rows",
]


class Known(NamedTuple):
    """What new rows need to know of the training rows.

    Attributes
    ----------
    weighted : bool
        Whether some of them have case weights other than 1.
    class_weights, weight_unit
        As in `TrainingData`.
    kept : sequence of str or None
        The columns that are kept of them.
    means : callable
        Returns the mean (r, 1) of each row of the stored matrix.
    """

    weighted: bool
    class_weights: NDArray[np.float64] | None
    weight_unit: float
    kept: Sequence[Any] | None
    means: Callable[[], NDArray[np.float32]]

    @classmethod
    def of(cls, data: TrainingData) -> Known:
        """Return what is known of these training rows."""
        return cls(
            not np.allclose(_case_weights(data), 1.0),
            data.class_weights,
            data.weight_unit,
            None if data.kept is None else list(data.kept.columns),
            lambda: stored(data.X).mean(axis=1, keepdims=True),
        )


class NewRows(NamedTuple):
    """New training rows, encoded; see `TrainingData`.

    Attributes
    ----------
    X : Matrix (p, m)
    y, weights : (m,) float64
    labels : Index
    complete : (M,) bool
        Which of the M rows of the data frame they are.
    missing_columns, empty_cells : dict
    kept : DataFrame or None
    """

    X: Matrix
    y: NDArray[np.float64]
    weights: NDArray[np.float64]
    labels: pd.Index
    complete: NDArray[np.bool_]
    missing_columns: dict[str, int]
    empty_cells: dict[str, int]
    kept: pd.DataFrame | None


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


def encoded_rows(
    design: Design, known: Known, newdata: pd.DataFrame, weights: str | ArrayLike | None = None
) -> NewRows:
    """Return new training rows, encoded by the design.

    Parameters
    ----------
    design : Design
    known : Known
        Of the rows before.
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
    weights = design.weights if weights is None else weights
    if weights is None and known.weighted:
        raise InputError(
            "the fit's case weights were given as numbers, or in an update: give weights=, a "
            "column of newdata or one number for each of its rows"
        )
    case_weights = raw_weights(weights, newdata)
    absent = [column for column in design.response.columns if column not in newdata.columns]
    if absent:
        raise InputError(
            f"newdata lacks column {absent[0]!r} of the response {design.response.name!r}"
            f"{nearest(absent[0], newdata.columns)}: new training rows need their responses"
        )
    used = [*design.response.columns, *([weights] if isinstance(weights, str) else [])]
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
    w = in_unit_of_fit(w, known.weight_unit)
    X, _ = design.matrix(frame)
    X = _without_empty_cells(X, known)
    y = design.response.numbers(frame)
    if known.class_weights is not None:
        w = w * known.class_weights[y.astype(np.int64)]
    empty = find_missing(frame, design.schema.columns).counts
    kept = None if known.kept is None else frame[list(known.kept)]
    return NewRows(X, y, w, frame.index, missing.complete, missing.counts, empty, kept)


def with_more_rows(
    design: Design,
    data: TrainingData,
    newdata: pd.DataFrame,
    weights: str | ArrayLike | None = None,
) -> TrainingData:
    """Return the training rows followed by those of `newdata`, encoded by the same design.

    The arguments are those of `encoded_rows`; `data` are the training rows.

    Raises
    ------
    InputError
        The new rows cannot be used, or none of them is complete.
    """
    new = encoded_rows(design, Known.of(data), newdata, weights)
    require_room(len(data.y) + len(new.y))
    return TrainingData(
        with_layout(np.concatenate([stored(data.X), stored(new.X)], axis=1), layout_of(new.X)),
        np.concatenate([data.y, new.y]),
        np.concatenate([data.weights, new.weights]),
        data.index.append(new.labels),
        np.concatenate([data.considered, new.complete]),
        both_counts(data.missing_columns, new.missing_columns),
        both_counts(data.empty_cells, new.empty_cells),
        data.class_weights,
        data.weight_unit,
        None if data.kept is None else pd.concat([data.kept, new.kept]),
        None if data.structure is None else data.structure.with_more(newdata, new.complete),
    )


def require_room(n: int) -> None:
    """Raise `InputError` if there are more than `MOST_ROWS` rows."""
    require_numbers(n, MOST_ROWS, "rows, old and new,", "add fewer rows of newdata")


def both_counts(old: dict[str, int], new: dict[str, int]) -> dict[str, int]:
    """Return the sums of numbers by column, the largest first."""
    return dict((Counter(old) + Counter(new)).most_common()) if new else old


def _without_empty_cells(X: Matrix, known: Known) -> Matrix:
    """Return new rows X (p, m) with the training mean in empty cells of columns without others."""
    cells = stored(X)
    empty = np.isnan(cells)
    if not empty.any():
        return X
    return with_layout(np.where(empty, known.means(), cells), layout_of(X))


def _case_weights(data: TrainingData) -> NDArray[np.float64]:
    """Return the weights of the rows as given: without their class weights, in their own unit."""
    weights = data.weights * data.weight_unit
    if data.class_weights is None:
        return weights
    return np.asarray(weights / data.class_weights[data.y.astype(np.int64)])
