"""Further training rows for a design that has been learned."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from odrf.design.columns.missing import find_missing
from odrf.design.design import Design, TrainingData
from odrf.design.weights import check_weights, raw_weights
from odrf.errors import InputError, nearest

__all__ = ["with_more_rows"]


def with_more_rows(
    design: Design,
    data: TrainingData,
    newdata: pd.DataFrame,
    weights: str | ArrayLike | None = None,
) -> TrainingData:
    """Return the training rows followed by those of `newdata`, taken through the same recipe.

    Parameters
    ----------
    design : Design
    data : TrainingData
        What it was learned from.
    newdata : pandas.DataFrame
        Rows with responses.
    weights : str or array-like, optional
        Their case weights; by default the column that the first ones had theirs from.

    Raises
    ------
    InputError
        Anything is wrong with the new rows, or none is complete.
    """
    design.schema.select(newdata)  # whether it is a frame and has the columns
    name = design.weights if weights is None else weights
    if name is None and not np.allclose(_case_weights(data), 1.0):
        raise InputError(
            "the fit's case weights were given as numbers: give weights=, one for each row of "
            "newdata"
        )
    given = raw_weights(name, newdata)
    absent = [column for column in design.response.columns if column not in newdata.columns]
    if absent:
        raise InputError(
            f"newdata lacks {absent[0]!r}, from which the response {design.response.name!r} comes"
            f"{nearest(absent[0], newdata.columns)}: to learn from, rows need their responses"
        )
    used = [*design.schema.columns, *design.response.columns]
    used += [name] if isinstance(name, str) else []
    found = find_missing(newdata, list(dict.fromkeys(used)))
    if design.missing == "raise":
        found.require_none()
    if not found.complete.any():
        raise InputError("newdata has no complete rows: there is nothing to learn from")
    frame, w = found.complete_rows(newdata), given[found.complete]
    check_weights(np.concatenate([data.weights, w]))
    X, _ = design.matrix(frame)
    y = design.response.numbers(frame)
    if data.class_weights is not None:
        w = w * data.class_weights[y.astype(np.int64)]
    missing = Counter(data.missing_columns) + Counter(found.counts)
    return TrainingData(
        np.concatenate([data.X, X], axis=1),
        np.concatenate([data.y, y]),
        np.concatenate([data.weights, w]),
        data.index.append(frame.index),
        np.concatenate([data.complete, found.complete]),
        dict(missing.most_common()),
        data.class_weights,
    )


def _case_weights(data: TrainingData) -> NDArray[np.float64]:
    """Return the rows' weights without those of their classes."""
    if data.class_weights is None:
        return data.weights
    return np.asarray(data.weights / data.class_weights[data.y.astype(np.int64)])
