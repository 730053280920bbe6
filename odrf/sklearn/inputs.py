"""From what scikit-learn's tools hand over to the data frame that the functions take."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.utils import check_array, check_consistent_length, column_or_1d
from sklearn.utils.multiclass import check_classification_targets

from odrf.design.columns import listed, rows_listed
from odrf.design.weights import check_weights, row_numbers
from odrf.errors import InputError
from odrf.public import in_pandas
from odrf.public.frames import in_native_order
from odrf.text.names import free_name

__all__ = [
    "class_column",
    "feature_names",
    "number_column",
    "predictors_of",
    "response_name",
    "weights_of",
    "with_columns",
]

# The names of an argument of check_array since scikit-learn 1.6, and before.
_NAMES = inspect.signature(check_array).parameters
WITH_NAN = {
    name: "allow-nan" for name in ("ensure_all_finite", "force_all_finite") if name in _NAMES
}


def predictors_of(estimator: Any, X: Any, *, fitting: bool) -> pd.DataFrame:
    """Return X as a data frame of named columns.

    Parameters
    ----------
    estimator : estimator
        Receives, if `fitting`, the number of columns and their names; else X is compared with them.
    X : data frame of any library that narwhals knows, or array-like of shape (n, p)
    fitting : bool

    Raises
    ------
    ValueError
        X is no table, is empty, sparse or complex, has an infinite value, two columns of one name,
        or other columns than in training.
    """
    frame = in_pandas(X)
    if isinstance(frame, pd.DataFrame):
        twice = frame.columns[frame.columns.duplicated()].unique()
        if len(twice):
            raise InputError(
                f"X has more than one column named {listed(twice)}: rename or drop the others"
            )
        _note_columns(estimator, frame, fitting)
    else:
        least = 2 if fitting else 1
        array = check_array(
            _with_nan(X),
            dtype="numeric",
            ensure_min_samples=least,
            estimator=estimator,
            **WITH_NAN,
        )
        _note_columns(estimator, array, fitting)
        frame = pd.DataFrame(in_native_order(array))
    return frame.set_axis(feature_names(estimator), axis=1)


def _with_nan(X: Any) -> Any:
    """Return an array of objects with NaN for pd.NA and NaT; anything else as it is."""
    if isinstance(X, list | tuple):
        X = np.asarray(X)
    if isinstance(X, np.ndarray) and X.dtype == object:
        return np.where(pd.isna(X), np.nan, X)
    return X


def feature_names(estimator: Any) -> pd.Index:
    """Return the names of the columns of X (p,): x0, x1, … if they have none."""
    names = getattr(estimator, "feature_names_in_", None)
    if names is None:
        names = [f"x{j}" for j in range(estimator.n_features_in_)]
    return pd.Index(names, dtype=object)


def _note_columns(estimator: Any, X: Any, fitting: bool) -> None:
    """Set number and names of the columns on the estimator, or compare them."""
    try:
        from sklearn.utils.validation import validate_data  # noqa: PLC0415
    except ImportError:  # scikit-learn 1.5
        estimator._validate_data(X, reset=fitting, cast_to_ndarray=False)
    else:
        validate_data(estimator, X, reset=fitting, skip_check_array=True)


def response_name(y: Any, columns: pd.Index) -> str:
    """Return the name of y if it is a series with one, else ``"y"``; never that of a column."""
    given = getattr(y, "name", None)
    return free_name(given if isinstance(given, str) and given else "y", columns)


def with_columns(frame: pd.DataFrame, columns: Mapping[str, Any]) -> pd.DataFrame:
    """Return the frame and further columns, each with one value for each row, whatever its index.

    They are joined at once: a frame of many blocks, as of `pandas.read_csv`, warns of each new one.
    """
    added = [pd.Series(values, frame.index, name=name) for name, values in columns.items()]
    table = pd.concat([frame, *added], axis=1)
    table.attrs = frame.attrs
    return table


def number_column(estimator: Any, y: Any, n: int) -> NDArray:
    """Return the responses (n,) of a regression.

    Raises
    ------
    ValueError
        y is None, no column of n finite numbers.
    """
    values = check_array(
        _given(estimator, y), ensure_2d=False, dtype="numeric", input_name="y", estimator=estimator
    )
    check_consistent_length(values, range(n))
    return values


def class_column(estimator: Any, y: Any, n: int) -> NDArray | pd.Series:
    """Return the labels (n,); of ordered categories as they are, so that their order is known.

    Raises
    ------
    ValueError
        y is None, no column of n labels, or holds measurements.
    """
    values = _given(estimator, y)
    check_classification_targets(values)
    check_consistent_length(values, range(n))
    if isinstance(y, pd.Series) and isinstance(y.dtype, pd.CategoricalDtype) and y.dtype.ordered:
        return y
    return values


def _given(estimator: Any, y: Any) -> NDArray:
    """Return y as an array (n,) without empty cells."""
    if y is None:
        raise InputError(
            f"{type(estimator).__name__} requires y to be passed, but the target y is None"
        )
    values = in_native_order(column_or_1d(y, warn=True))
    empty = pd.isna(values)
    if empty.any():
        rows = rows_listed(empty, pd.RangeIndex(len(values)))
        raise InputError(f"y is missing in {rows}: leave these rows out")
    return values


def weights_of(
    sample_weight: Any, frame: pd.DataFrame, *, some_positive: bool = True
) -> NDArray[np.float64] | None:
    """Return the weights of the rows by position; None if all are 1.

    Raises
    ------
    InputError
        They are not one number for each row, finite, at least 0 and, with
        `some_positive`, not all 0.
    """
    if sample_weight is None:
        return None
    weights = row_numbers("sample_weight", np.asarray(sample_weight), frame)
    check_weights(weights if some_positive else np.append(weights, 1.0), "sample_weight")
    return None if (weights == 1).all() else weights
