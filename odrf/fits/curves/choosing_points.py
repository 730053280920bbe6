"""The points of a variable at which predictions are averaged."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from odrf.design.new_rows import touched, with_levels
from odrf.errors import InputError
from odrf.fits.averaged.beyond_training import warn_of_values_beyond
from odrf.fits.averaged.contrasts import require_exact
from odrf.fits.fit import AnyFit
from odrf.fits.raw_rows import RawRows
from odrf.statistics.curves import VariablePoints

__all__ = ["points_of"]

# Points lie between these quantiles: beyond them there are too few rows.
ENDS = (0.01, 0.99)
# Whole numbers beyond are points as floats.
LARGEST = 2.0**63


def points_of(
    fit: AnyFit, rows: RawRows, name: str, points: int, values: Sequence[Any] | None
) -> VariablePoints:
    """Return the points of a variable.

    Parameters
    ----------
    fit : AnyFit
    rows : RawRows
    name : str
    points : int
        How many points a variable of numbers has: all its values if these are not more, otherwise
        equally spaced ones between its 1 % and 99 % quantiles.
    values : sequence, optional
        The points themselves.

    Raises
    ------
    InputError
        No predictor is computed from the variable; it has no value, or holds neither numbers nor
        labels, or whole numbers that floats do not tell apart; `values` are missing or of another
        kind.

    Warns
    -----
    UserWarning
        One of the `values` is beyond the training rows.
    """
    touched(fit.design, name)
    column = with_levels(fit.design, rows.frame[[name]])[name]
    numeric = pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column)
    if pd.api.types.is_datetime64_any_dtype(column) or pd.api.types.is_timedelta64_dtype(column):
        raise InputError(
            f"{name!r} holds dates or times, which have no curve: fit with a number made of them, "
            "such as the day of the year"
        )
    if column.notna().sum() == 0:
        raise InputError(f"{name!r} is empty in all rows: give other rows as newdata=")
    if numeric:
        require_exact(name, column)
        found = _of_numbers(name, column, points, values)
        if values is not None:
            warn_of_values_beyond(fit, {name: found.values.tolist()})
        return found
    return _of_levels(name, column, values)


def _of_numbers(
    name: str, column: pd.Series, points: int, values: Sequence[Any] | None
) -> VariablePoints:
    observed = column.to_numpy(dtype=np.float64, na_value=np.nan)
    whole = pd.api.types.is_integer_dtype(column)
    if values is not None:
        try:
            chosen = np.unique(np.asarray(values, dtype=np.float64).ravel())
        except (TypeError, ValueError):
            chosen = np.array([np.nan])
        if len(chosen) == 0 or not np.isfinite(chosen).all():
            raise InputError(f"values= of {name!r}: give one finite number or more")
    else:
        known = observed[~np.isnan(observed)]
        chosen = np.unique(known)
        if len(chosen) > points:
            ends = np.quantile(known, ENDS)
            # of a number that is nearly constant, the whole range
            ends = ends if ends[1] > ends[0] else chosen[[0, -1]]
            chosen = np.linspace(float(ends[0]), float(ends[1]), points)
            chosen = np.unique(np.rint(chosen)) if whole else chosen
    fits_type = whole and (chosen == np.rint(chosen)).all() and (np.abs(chosen) < LARGEST).all()
    return VariablePoints(name, chosen.astype(np.int64) if fits_type else chosen, True, observed)


def _of_levels(name: str, column: pd.Series, values: Sequence[Any] | None) -> VariablePoints:
    if isinstance(column.dtype, pd.CategoricalDtype):
        found = column.cat.remove_unused_categories().cat.categories
    else:
        found = pd.Index(column.dropna().astype(object).unique()).sort_values()
    known = pd.Index(found.astype(object))
    chosen = known if values is None else pd.Index(list(values), dtype=object)
    if len(chosen) == 0 or chosen.isna().any() or not chosen.is_unique:
        raise InputError(f"values= of {name!r}: give one level or more, each once")
    at = chosen.get_indexer(pd.Index(column.astype(object))).astype(np.float64)
    return VariablePoints(name, chosen.to_numpy(), False, np.where(at < 0, np.nan, at))
