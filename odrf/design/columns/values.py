"""The values of an atom on a data frame, before they are encoded."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from patsy.categorical import _CategoricalBox

from odrf.design.columns.censored import Censored
from odrf.design.columns.listing import rows_listed
from odrf.errors import InputError

__all__ = ["Values", "column_values", "result_values"]


@dataclass(frozen=True, eq=False)
class Values:
    """Values of an atom.

    Attributes
    ----------
    name : str
        Their name in error messages.
    data : pandas.Series or pandas.DataFrame
        A series (n,), or a frame (n, k) for an expression with several columns.
    nominal : bool
        Whether ``C()`` makes them categories, whatever their type.
    levels : tuple, optional
        The levels given to ``C()``, if any.
    censored : bool
        Whether they are times and events, made by ``Surv()``.
    """

    name: str
    data: pd.Series | pd.DataFrame
    nominal: bool = False
    levels: tuple[object, ...] | None = None
    censored: bool = False


def column_values(frame: pd.DataFrame, name: str) -> Values:
    """Return the values of a column."""
    return Values(name, _indexable(frame[name]))


def result_values(result: object, name: str, index: pd.Index) -> Values:
    """Return the values of an evaluated expression.

    Parameters
    ----------
    result : object
        A series, frame, array or list of n rows, or patsy's box of categories.
    name : str
        The expression, for error messages.
    index : pandas.Index
        Labels of the n rows that it was evaluated on.

    Raises
    ------
    InputError
        The result does not have one value, or one row of values, for each of the n rows, or has
        missing values.
    """
    if isinstance(result, _CategoricalBox):
        boxed = result_values(result.data, name, index)
        levels = None if result.levels is None else tuple(result.levels)
        return Values(name, boxed.data, nominal=True, levels=levels)
    if isinstance(result, Censored):
        return Values(name, result_values(result.columns(), name, index).data, censored=True)
    data = result if isinstance(result, pd.Series | pd.DataFrame) else _tabulated(result)
    if data is None or len(data) != len(index):
        shape = f"a {type(result).__name__}" if data is None else f"{len(data)} rows"
        raise InputError(
            f"{name!r} gives {shape} where the data has {len(index)} rows: "
            "an expression must give one value for each row"
        )
    missing = np.asarray(pd.DataFrame(data).isna().any(axis=1), dtype=np.bool_)
    if missing.any():
        raise InputError(
            f"{name!r} is missing or not a number in {rows_listed(missing, index)}: change the "
            "expression, or leave these rows out"
        )
    return Values(name, _indexable(data.set_axis(index, axis=0)))


def _indexable(data: pd.Series | pd.DataFrame) -> pd.Series | pd.DataFrame:
    """Return floats of 16 bits and of more than 64, by which pandas cannot index, in 64 bits.

    Dictionaries of Arrow become categories of pandas.
    """
    if not isinstance(data, pd.Series):
        return data
    if data.dtype in (np.float16, np.longdouble):
        return data.astype(np.float64)
    if isinstance(data.dtype, pd.ArrowDtype) and str(data.dtype).startswith("dictionary"):
        return data.astype(object).astype("category")
    return data


def _tabulated(result: object) -> pd.Series | pd.DataFrame | None:
    """Return an array or list as a series or frame, or None for anything else."""
    if isinstance(result, pd.Categorical | pd.Index | pd.api.extensions.ExtensionArray):
        return pd.Series(result)
    array = np.asarray(result)
    if array.ndim == 0 or array.ndim > 2:
        return None
    return pd.Series(array) if array.ndim == 1 else pd.DataFrame(array)
