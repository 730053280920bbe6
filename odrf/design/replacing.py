"""Other values of some variables, and what follows from them in the matrix."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Mapping
from numbers import Number
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api.types import is_numeric_dtype

from odrf.design.columns.frame import selected
from odrf.design.columns.measurement import DATES, DURATIONS, PERIODS
from odrf.design.columns.unseen_levels import levels_set_in
from odrf.design.design import Design
from odrf.engine.factors import Coded, Matrix, layout_of, stored, with_layout
from odrf.errors import InputError, nearest

__all__ = ["touched", "variables", "with_levels", "with_values"]

MOMENTS = (datetime.date, datetime.timedelta, pd.Period)


def variables(design: Design) -> tuple[str, ...]:
    """Return the columns of the data that the predictors are computed from.

    Of ``y ~ log(x) + x:z`` these are x and z.
    """
    return design.schema.columns


def with_levels(design: Design, frame: pd.DataFrame) -> pd.DataFrame:
    """Return columns of the data with numbers that the formula takes as levels as categories.

    Of ``y ~ C(k) + x`` this is k: between its values there is nothing to predict.
    """
    levels = {atom.column_of_levels for atom in design.recipe.variables}
    named = [name for name in frame.columns if name in levels and is_numeric_dtype(frame[name])]
    return frame.astype(dict.fromkeys(named, "category"))


def touched(design: Design, *names: str) -> list[int]:
    """Return the numbers of the predictors that are computed from any of these variables.

    Raises
    ------
    InputError
        No predictor is computed from a variable of one of these names.
    """
    for name in names:
        if name not in design.schema.columns:
            raise InputError(
                f"no predictor is computed from {name!r}: use one of the columns of the data that "
                f"the formula names{nearest(str(name), design.schema.columns)}"
            )
    return [
        j
        for j, term in enumerate(design.recipe.terms)
        if any(set(names) & set(design.recipe.variables[v].columns) for v in term)
    ]


def with_values(
    design: Design, frame: pd.DataFrame, X: Matrix, values: Mapping[str, Any]
) -> Matrix:
    """Return the matrix of rows in which some variables have other values.

    Parameters
    ----------
    design : Design
    frame : DataFrame
        The variables of n rows.
    X : Matrix (p, n)
        Their matrix.  Predictors that do not use the variables keep their bits.
    values : mapping of str to a value or (n,) values
        The new values of each variable, as they would be in the data frame; dates, durations and
        periods may be text.

    Returns
    -------
    Matrix (p, n)

    Raises
    ------
    InputError
        A variable is unknown, or a value is none that `Design.matrix` accepts, or no date.

    Warns
    -----
    UserWarning
        A variable is set to a level that no training row has; of the rows' own levels nothing is
        said.  `LevelsSaidOnce` says once what several calls find.
    """
    which = touched(design, *values)
    part = design.keeping(which)
    new = selected(frame, part.schema.columns).copy()
    for name, value in values.items():
        new[name] = _alike(value, frame[name])
    with levels_set_in(_atoms_of(part, values)):
        M, complete = part.matrix(new)
    if not complete.all():
        raise InputError(
            f"the new values of {', '.join(map(repr, values))} are missing in some rows, and the "
            "fit leaves such rows out: give values in all rows"
        )
    out = stored(X).copy()
    columns = design.recipe.columns_of(which)
    out[_places(X, columns)] = stored(M)[_places(M, np.arange(len(columns)))]
    return with_layout(out, layout_of(X))


def _atoms_of(design: Design, names: Iterable[str]) -> list[str]:
    """Return the names of the atoms that are computed from any of these columns."""
    return [
        atom.name for atom in design.recipe.variables if not set(names).isdisjoint(atom.columns)
    ]


def _alike(value: Any, column: pd.Series) -> Any:
    """Return a value or (n,) values; of a factor with its declared levels, of text as a date."""
    if not isinstance(column.dtype, pd.CategoricalDtype):
        if not isinstance(value, str | Number):
            return value
        known = column.array[column.notna().to_numpy().argmax()]
        return _moment(value, known, str(column.name)) if isinstance(known, MOMENTS) else value
    values = pd.Index([value] if np.ndim(value) == 0 else value)
    codes = column.cat.categories.get_indexer_for(values)
    if ((codes < 0) & values.notna()).any():
        return value  # an unknown level, which the design refuses or treats as missing
    return pd.Series(
        pd.Categorical.from_codes(np.broadcast_to(codes, len(column)), dtype=column.dtype),
        index=column.index,
    )


def _moment(value: Any, known: Any, name: str) -> Any:
    """Return the date, duration or period that a text says; `known` is one of the column."""
    period, span = isinstance(known, pd.Period), isinstance(known, datetime.timedelta)
    try:
        if isinstance(value, str) and period:
            return pd.Period(value, known.freq)
        if isinstance(value, str):
            said: Any = pd.Timedelta(value) if span else pd.Timestamp(value)
            zone = getattr(known, "tzinfo", None)
            return said if zone is None or said.tzinfo is not None else said.tz_localize(zone)
    except ValueError:
        pass
    held = PERIODS if period else DURATIONS if span else DATES
    raise InputError(
        f"{value!r} is none of the {held} that {name!r} holds: write it like {str(known)!r}"
    )


def _places(X: Matrix, columns: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the rows of the stored array that hold these columns, each once, in their order."""
    if not isinstance(X, Coded):
        return columns
    place = X.layout.place[columns].astype(np.int64)
    return place[np.sort(np.unique(place, return_index=True)[1])]
