"""The nearest values of one or two variables that change a prediction."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api.types import is_bool_dtype, is_numeric_dtype

from odrf.design.new_rows import training_frame, variables, with_levels, with_values
from odrf.engine.factors import with_rows
from odrf.fits.averaged.contrasts import deviation_of, is_exact
from odrf.fits.fit import AnyFit
from odrf.fits.prediction.expected_response import expected_response
from odrf.fits.raw_rows import RawRows

__all__ = ["Candidates", "candidates_of", "nearest_changes", "predicted_at"]

MOST_VALUES, VALUES_OF_PAIRS, VARIABLES_OF_PAIRS = 50, 9, 6
# Values are rounded to this many decimal places after the first digit of the standard deviation.
DIGITS_OF_SD = 3


class Candidates(NamedTuple):
    """Values that a variable may be set to, and how far each is from the row's own."""

    name: str
    values: list[Any]
    distance: NDArray[np.float64]


def candidates_of(fit: AnyFit, row: pd.DataFrame) -> list[Candidates]:
    """Return for each variable the values that are tried.

    Of numbers the values of training rows, or 50 quantiles of them, rounded to a thousandth of a
    standard deviation, so that they can be shown as they are; the distance is in standard
    deviations.  Of factors the levels, at the distance 1.  Whole numbers that floats do not hold
    are left out.
    """
    training = with_levels(fit.design, training_frame(fit.design, fit.data))
    found = []
    for name in variables(fit.design):
        own, known = row[name].iloc[0], training[name].dropna()
        if not is_exact(known) or not is_exact(row[name]):
            continue
        sd = deviation_of(training[name], fit.data.weights) if _is_number(known) else 0.0
        values = _values_tried(known, sd)
        others = [value for value in values if pd.isna(own) or value != own]
        distance: NDArray[np.float64] = np.ones(len(others))
        if sd > 0 and pd.notna(own):
            distance = np.abs(np.array(others, dtype=np.float64) - float(own)) / sd
        order = np.argsort(distance, kind="stable")
        found.append(Candidates(name, [others[i] for i in order], distance[order]))
    return found


def _values_tried(known: pd.Series, sd: float) -> list[Any]:
    """Return the values of a variable in training rows, of many numbers some quantiles."""
    if not sd > 0:
        return list(pd.unique(known.astype(object)))
    decimals = DIGITS_OF_SD - int(np.floor(np.log10(sd)))
    values = np.unique(np.round(known.to_numpy(dtype=np.float64), decimals))
    at = np.linspace(0, len(values) - 1, min(MOST_VALUES, len(values))).round().astype(np.int64)
    return list(values[at])


def predicted_at(fit: AnyFit, row: RawRows, values: dict[str, list[Any]]) -> NDArray[np.float64]:
    """Return the mean response or class probabilities (m, K) of m copies of a row with `values`."""
    m = len(next(iter(values.values())))
    same = np.zeros(m, dtype=int)
    copies = row.frame.iloc[same].reset_index(drop=True)
    rows = with_rows(row.X, same)
    new = {name: pd.Series(value, dtype=_type_of_labels(copies[name]))
           for name, value in values.items()}  # fmt: skip
    return expected_response(fit, with_values(fit.design, copies, rows, new), row.offset[same])


def nearest_changes(
    fit: AnyFit,
    row: RawRows,
    changes: Callable[[NDArray[np.float64]], NDArray[np.bool_]],
) -> pd.DataFrame:
    """Return the nearest value of each variable, and of pairs of them, that changes the prediction.

    Parameters
    ----------
    fit : AnyFit
    row : RawRows
        One row.
    changes : callable
        Tells of predictions (m, K) which of them are changed.

    Returns
    -------
    DataFrame
        Columns ``variables``, ``values`` (in words), ``distance``, the nearest first.  Pairs are
        tried of the six variables that move the prediction most, and kept if they are nearer than
        either alone.
    """
    now = expected_response(fit, row.X, row.offset)
    found: list[tuple[str, str, float]] = []
    alone: dict[str, float] = {}
    moves = []
    candidates = [each for each in candidates_of(fit, row.frame) if each.values]
    for each in candidates:
        predicted = predicted_at(fit, row, {each.name: each.values})
        moves.append(float(np.abs(predicted - now).max()))
        changed = np.flatnonzero(changes(predicted))
        alone[each.name] = float(each.distance[changed[0]]) if len(changed) else np.inf
        if len(changed):
            words = _said(each.values[changed[0]])
            found.append((each.name, words, alone[each.name]))
    strongest = [candidates[i] for i in np.argsort(moves)[::-1][:VARIABLES_OF_PAIRS]]
    for first, second in combinations([_few(each) for each in strongest], 2):
        i, j = (part.ravel() for part in np.indices((len(first.values), len(second.values))))
        values = {
            first.name: [first.values[k] for k in i],
            second.name: [second.values[k] for k in j],
        }
        distance = np.hypot(first.distance[i], second.distance[j])
        changed = np.flatnonzero(changes(predicted_at(fit, row, values)))
        if not len(changed):
            continue
        best = int(changed[np.argmin(distance[changed])])
        if distance[best] < min(alone[first.name], alone[second.name]):
            words = f"{_said(first.values[i[best]])}, {_said(second.values[j[best]])}"
            found.append((f"{first.name}, {second.name}", words, float(distance[best])))
    table = pd.DataFrame(found, columns=["variables", "values", "distance"])
    return table.sort_values("distance", kind="stable", ignore_index=True)


def _few(each: Candidates) -> Candidates:
    """Return some of the candidates, from the nearest to the farthest."""
    at = np.unique(np.linspace(0, len(each.values) - 1, VALUES_OF_PAIRS).round().astype(int))
    return Candidates(each.name, [each.values[i] for i in at], each.distance[at])


def _is_number(column: pd.Series) -> bool:
    return is_numeric_dtype(column.dtype) and not is_bool_dtype(column.dtype)


def _type_of_labels(column: pd.Series) -> Any:
    """Return the type of a column of labels; None for numbers, and for categories.

    Those of one row may be fewer than the values that are tried.
    """
    categories = isinstance(column.dtype, pd.CategoricalDtype)
    return None if categories or is_numeric_dtype(column.dtype) else column.dtype


def _said(value: Any) -> str:
    return repr(float(value)).removesuffix(".0") if isinstance(value, float) else str(value)
