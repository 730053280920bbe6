"""Times to an event as scikit-survival hands them over: a structured array, or a data frame."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn.utils import check_consistent_length

from odrf.design.columns import rows_listed
from odrf.design.functions import EVENT, START, TIME
from odrf.errors import InputError
from odrf.public import in_pandas
from odrf.text.names import free_name

__all__ = ["TimesAndEvents", "times_and_events"]

FORMS = (
    "a structured array, or a data frame, with one column of events, bool or of 0 and 1, and one "
    "of times, as scikit-survival has it; or with two of times, start and stop"
)


class TimesAndEvents(NamedTuple):
    """Times and events of n rows.

    Attributes
    ----------
    columns : DataFrame
        As `odrf.design.functions.Censored.columns` gives them.
    names : dict of str to str
        By the names of these columns those that they have in y.
    """

    columns: pd.DataFrame
    names: dict[str, str]

    def named_apart(self, others: pd.Index) -> dict[str, str]:
        """Return the names that they have in y, each different from those of `others`."""
        names: dict[str, str] = {}
        for column, given in self.names.items():
            names[column] = free_name(given or column, {*others, *names.values()})
        return names


def times_and_events(estimator: Any, y: Any, n: int) -> TimesAndEvents:
    """Return the times and events of n rows.

    Parameters
    ----------
    estimator : estimator
        The message names it.
    y : structured array (n,), or data frame of any library that narwhals knows
        One column is bool, or else holds 0 and 1 alone: the event.  Or it is categorical, with one
        category for each cause after the first one, which means censored.  The others are the time;
        or start and stop.
    n : int

    Returns
    -------
    TimesAndEvents

    Raises
    ------
    ValueError
        y is of another form, of another length, or has missing values.
    """
    frame = in_pandas(y)
    if isinstance(y, np.ndarray) and y.dtype.names is not None and y.ndim == 1:
        frame = pd.DataFrame({name: y[name] for name in y.dtype.names})
    if not isinstance(frame, pd.DataFrame):
        what = "None" if y is None else type(y).__name__
        raise InputError(f"{type(estimator).__name__} takes y as {FORMS}; it is {what}")
    check_consistent_length(frame, range(n))
    tells = [name for name in frame.columns if _tells_events(frame[name])]
    tells = tells or [name for name in frame.columns if _holds_0_and_1(frame[name])]
    if len(tells) != 1 or frame.shape[1] not in (2, 3):
        raise InputError(
            f"y has the columns {[str(name) for name in frame.columns]}, {len(tells)} of them "
            f"events: {type(estimator).__name__} takes {FORMS}"
        )
    empty = frame.isna().any(axis=1).to_numpy()
    if empty.any():
        raise InputError(f"y is missing in {rows_listed(empty, frame.index)}: leave these rows out")
    times = [name for name in frame.columns if name != tells[0]]
    names = dict(zip([TIME] if len(times) == 1 else [START, TIME], times, strict=True))
    names[EVENT] = tells[0]
    return TimesAndEvents(
        pd.DataFrame({column: frame[name].array for column, name in names.items()}),
        {column: str(name) for column, name in names.items()},
    )


def _holds_0_and_1(column: pd.Series) -> bool:
    numeric = pd.api.types.is_numeric_dtype(column.dtype)
    return numeric and bool(column.isin([0, 1]).all())


def _tells_events(column: pd.Series) -> bool:
    return bool(
        pd.api.types.is_bool_dtype(column.dtype) or isinstance(column.dtype, pd.CategoricalDtype)
    )
