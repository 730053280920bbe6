"""From what scikit-learn's tools hand over to the data frame that the functions take."""

from __future__ import annotations

import inspect
import multiprocessing
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeVar

import numba
import numpy as np
import pandas as pd
from joblib.parallel import get_active_backend
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array, check_consistent_length, column_or_1d
from sklearn.utils.multiclass import check_classification_targets

from odrf.checks import checked_jobs
from odrf.design.columns import listed, rows_listed
from odrf.design.functions import EVENT, START, TIME
from odrf.design.weights import check_weights, row_numbers
from odrf.engine.running import usual_threads
from odrf.errors import InputError
from odrf.fits.stack.fit import StackedFit
from odrf.public import in_pandas
from odrf.public.frames import in_native_order
from odrf.statistics.survival.curves import StepCurve
from odrf.text.names import free_name

# The names of an argument of check_array since scikit-learn 1.6, and before.
_NAMES = inspect.signature(check_array).parameters
WITH_NAN = {
    name: "allow-nan" for name in ("ensure_all_finite", "force_all_finite") if name in _NAMES
}


def predictors_of(estimator: Any, X: Any, *, fitting: bool) -> pd.DataFrame:
    """Return X (n, p), a data frame of any library or an array, as a data frame of named columns.

    If `fitting`, the estimator receives the number of columns and their names; else X is compared
    with them.  Raises ValueError if X is no table, is empty, sparse or complex, has an infinite
    value, two columns of one name, or other columns than in training.
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

    Raises ValueError if y is None, or no column of n finite numbers.
    """
    values = check_array(
        _given(estimator, y), ensure_2d=False, dtype="numeric", input_name="y", estimator=estimator
    )
    check_consistent_length(values, range(n))
    return values


def class_column(estimator: Any, y: Any, n: int) -> NDArray | pd.Series:
    """Return the labels (n,); of ordered categories as they are, so that their order is known.

    Raises ValueError if y is None, no column of n labels, or holds measurements.
    """
    values = of_one_type(_given(estimator, y))
    check_classification_targets(values)
    check_consistent_length(values, range(n))
    if isinstance(y, pd.Series) and isinstance(y.dtype, pd.CategoricalDtype) and y.dtype.ordered:
        return y
    return values


def of_one_type(labels: NDArray) -> NDArray:
    """Return labels (n,), of objects as numbers or truth values if they are; else `InputError`."""
    if labels.dtype != object or pd.api.types.infer_dtype(labels) == "string":
        return labels
    typed = pd.Series(labels).infer_objects().to_numpy()
    if typed.dtype.kind not in "biuf":
        types = sorted({type(label).__name__ for label in labels.tolist()})
        raise InputError(
            f"y has labels of the types {', '.join(types)}: scikit-learn takes text, numbers, or "
            "True and False; convert all of them, as by y.astype(str)"
        )
    return typed


def _given(estimator: Any, y: Any) -> NDArray:
    """Return y as an array (n,) without missing cells."""
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

    Raises `InputError` if they are not one number for each row, finite, at least 0 and, with
    `some_positive`, not all 0.
    """
    if sample_weight is None:
        return None
    weights = row_numbers("sample_weight", np.asarray(sample_weight), frame)
    check_weights(weights if some_positive else np.append(weights, 1.0), "sample_weight")
    return None if (weights == 1).all() else weights


# What a fit takes: the table, and what goes with its rows.


class TrainingTable(NamedTuple):
    """The rows of a fit: a table (n, p + responses) and the left side of the formula.

    `weights` (n,): None if all are 1.  `groups` (n,) of `fit`.  `held` (n,): which are validation
    rows.
    """

    table: pd.DataFrame
    response: str
    weights: NDArray[np.float64] | None = None
    groups: NDArray[Any] | None = None
    held: NDArray[np.bool_] | None = None

    @property
    def options(self) -> dict[str, Any]:
        """The arguments of the function that these rows give."""
        options: dict[str, Any] = {"weights": self.weights}
        if self.groups is not None:
            options["groups"] = self.groups
        if self.held is not None:
            options["validation"] = self.held
        return options

    def with_validation(self, further: pd.DataFrame) -> TrainingTable:
        """Return these rows and, below them, `further` ones with these columns, held out.

        Raises `InputError` if one of these has a class that no row here has.
        """
        n, m = len(self.table), len(further)
        alike = {name: self._as_here(further[name]) for name in self.table.columns}
        below = pd.DataFrame(alike, index=further.index)
        twice = self.table.index.isin(below.index).any()
        table = pd.concat([self.table, below], ignore_index=bool(twice))
        table.attrs = self.table.attrs
        weights = None if self.weights is None else np.append(self.weights, np.ones(m))
        held = np.repeat([False, True], [n, m])
        return TrainingTable(table, self.response, weights, None, held)

    def _as_here(self, column: pd.Series) -> pd.Series:
        """Return a column of further rows with the type, such as the categories, of that here."""
        here = self.table[column.name]
        if isinstance(here.dtype, pd.CategoricalDtype):
            typed = column.astype(object).astype(here.dtype)
        elif pd.api.types.is_bool_dtype(here.dtype) and column.isin([0, 1]).all():
            typed = column.astype(here.dtype)
        else:
            return column
        absent = column[typed.isna() & column.notna()]
        if len(absent) and column.name == self.table.columns[-1]:
            raise InputError(f"eval_set has class {absent.iloc[0]!r}, which no row of y has")
        return typed


def pair_of(eval_set: Any) -> tuple[Any, Any]:
    """Return X and y of validation rows: a pair, or a list with one pair; else `InputError`."""
    several = isinstance(eval_set, list) and all(isinstance(each, tuple) for each in eval_set)
    pair = eval_set[0] if several and len(eval_set) == 1 else () if several else eval_set
    if not isinstance(pair, list | tuple) or len(pair) != 2:
        raise InputError("eval_set must be one pair (X, y) of validation rows")
    return pair[0], pair[1]


# What the functions call otherwise than the estimators, in messages.

IN_OUR_WORDS = (
    (r"\bseed=", "random_state="),
    (r"(?<![_\w])weights\b(?!=)", "sample_weight"),
    (r", or the name of a column of numbers", ""),
    (r"\bnewdata\b(?!=)", "X"),
    (r"\b(the )?new data\b|\bthe data\b|\bthe formula\b", "X"),
    (r"^data(?= has)|\bdata(?=\[|\.)", "X"),
    (r"^grow\(\)(?= cannot)", "warm_start=True"),
)


@contextmanager
def named_as_here() -> Iterator[None]:
    """Within this context, errors name arguments as estimators do: `random_state`, not ``seed``."""
    try:
        yield
    except InputError as error:
        said = str(error)
        for word, here in IN_OUR_WORDS:
            said = re.sub(word, here, said)
        if said == str(error):
            raise
        raise type(error)(said).with_traceback(error.__traceback__) from None


# Threads beside the workers of joblib: together no more than there are cores.

Result = TypeVar("Result", bound=Any)


def threads_for(n_jobs: int | None) -> int | None:
    """Return the argument `n_jobs` of the functions for that of an estimator.

    It is the same, except for None and -1 in a worker of joblib.  joblib tells each of its worker
    processes how many threads it may use, by the variables that libraries read, Numba among them; a
    worker thread gets one.
    """
    checked_jobs(n_jobs)
    backend, _ = get_active_backend()
    if not backend.nesting_level or n_jobs not in (None, -1):
        return n_jobs
    if multiprocessing.parent_process() is None:
        return 1
    return min(usual_threads(), numba.config.NUMBA_NUM_THREADS)


def with_threads(results: Result, n_jobs: int | None) -> Result:
    """Return the results, which predict with so many threads; the predictions are the same."""
    fit, threads = results.fit, checked_jobs(n_jobs)
    if fit.control.n_jobs == threads:
        return results
    return type(results)(_threaded(fit, threads))


def _threaded(fit: Any, threads: int) -> Any:
    """Return the fit with so many threads; of a stack, also its models with trees."""
    threaded = replace(fit, control=replace(fit.control, n_jobs=threads))
    if not isinstance(fit, StackedFit):
        return threaded
    grown = {name: _threaded(part, threads) for name, part in fit.grown.items()}
    parts = tuple(part._replace(fit=grown.get(part.name, part.fit)) for part in fit.parts)
    return replace(threaded, parts=parts)


# Survival times as scikit-survival hands them over: a structured array, or a data frame.

FORMS = (
    "a structured array, or a data frame, with one column of events, bool or of 0 and 1, and one "
    "of times, as scikit-survival has it; or with two of times, start and stop"
)


class TimesAndEvents(NamedTuple):
    """Times and events of n rows, as `odrf.design.functions.Censored.columns` gives them.

    `names` are, by the names of these columns, those that they have in y.
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
    """Return the times and events of n rows, from a structured array or data frame y.

    One column is bool, or else holds 0 and 1 alone: the event.  Or it is categorical, with one
    category for each cause after the first one, which means censored.  The others are the time; or
    start and stop.  Raises ValueError, which names the estimator, if y is of another form or
    length, or has missing values.
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


# A predicted curve of one row, as scikit-survival's tools take it.


@dataclass(frozen=True, eq=False)
class StepFunction:
    """A right-continuous step function of time, with the attributes of scikit-survival's.

    Attributes
    ----------
    curve : StepCurve

    Examples
    --------
    >>> curve = StepFunction(StepCurve(np.array([1.0, 3.0]), np.array([0.5, 0.2]), 1.0))
    >>> curve([0.5, 1.0, 2.0, 3.0])
    array([1. , 0.5, 0.5, 0.2])
    >>> float(curve(2.0)), curve.domain
    (0.5, (0.0, 3.0))
    """

    curve: StepCurve

    @property
    def x(self) -> NDArray[np.float64]:
        """The times (R,) at which it steps, ascending."""
        return self.curve.times

    @property
    def y(self) -> NDArray[np.float64]:
        """Its values (R,) from each of these times on."""
        return self.curve.values

    @property
    def domain(self) -> tuple[float, float]:
        """0 and the last of these times, beyond which it stays as it is."""
        return 0.0, float(self.x[-1])

    def __call__(self, x: ArrayLike) -> NDArray[np.float64]:
        """Return the values at times of any shape.

        Raises
        ------
        InputError
            A time is negative, infinite or missing.
        """
        times = np.asarray(x, dtype=np.float64)
        if not (np.isfinite(times) & (times >= 0)).all():
            raise InputError("x must be one or more finite times of at least 0")
        return self.curve(times)


def step_functions(
    times: NDArray[np.float64], values: NDArray[np.float64], before: float
) -> NDArray[np.object_]:
    """Return n curves, from their values (n, R) at ascending times (R,) and `before` these."""
    functions = np.empty(len(values), dtype=object)
    functions[:] = [StepFunction(StepCurve(times, line, before)) for line in values]
    return functions
