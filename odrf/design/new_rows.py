"""New rows for a design: as training rows, one by one, or with other values of some variables."""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Number
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from pandas.api.types import is_numeric_dtype

from odrf.design.columns import DATES, DURATIONS, LOGICAL, PERIODS, listed, selected
from odrf.design.design import Design, TrainingData
from odrf.design.encoding import Indicators, Numbers, Ranks, levels_set_in
from odrf.design.missing import LARGEST, find_missing
from odrf.design.predictors import readable_columns
from odrf.design.scaling import FARTHEST
from odrf.design.weights import check_weights, in_unit_of_fit, raw_weights
from odrf.engine.directions.candidates import FEW_LEVELS, has_levels
from odrf.engine.factors import EncodedColumns, Matrix, layout_of, stored, with_layout
from odrf.engine.memory import MOST_ROWS, require_numbers
from odrf.engine.trees.routing import scale_row
from odrf.errors import InputError, nearest

RawRow = NDArray | Sequence[Any] | Mapping[str, Any] | pd.Series
"""Values in the order of the predictors, or by the names of the predictors."""

Labels = dict[Any, float]

# The labels of a predictor such as a date, whose values the design reads: no value is among them.
READ_BY_DESIGN: Labels = {object(): 0.0}

# Types that are read as numbers.
NUMBERS = (float, int, np.floating, np.integer, np.bool_)


@dataclass(frozen=True, eq=False)
class RowPlan:
    """The steps of a `Design` whose predictors are columns of the data, for one row.

    `labels` (P,): by predictor, the code of each label; None for numbers.  `source` (r,): the
    predictor of each row of the matrix.  `level` (r,): the code of the label that an indicator
    stands for, else -1.  `low`, `range` (r,): the scaling; the range of missing indicators is 0.
    """

    design: Design
    labels: tuple[Labels | None, ...]
    source: NDArray[np.int32]
    level: NDArray[np.int32]
    low: NDArray[np.float64]
    range: NDArray[np.float64]

    def scaled(self, row: RawRow) -> NDArray[np.float32] | None:
        """Return the scaled predictors (r,) of a row, or None if it cannot be predicted.

        They are what a `odrf.engine.factors.Matrix` of the row stores.  Raises `InputError` as
        `Design.matrix`, or if the row does not have one value for each predictor.
        """
        values = self._in_order(row)
        raw = None if values is None else self._numbers(values)
        if raw is not None:
            x = np.empty(len(self.source), dtype=np.float32)
            scaling = self.low, self.range
            if scale_row(raw, self.source, self.level, *scaling, LARGEST, FARTHEST, x):
                return x
        # Missing and unknown values and other types than in training are rare; the design treats
        # them.
        return self._by_frame(row)

    def _in_order(self, row: RawRow) -> NDArray | Sequence[Any] | None:
        """Return the values in the order of the predictors; None if a mapping lacks one."""
        names = self.design.predictors
        if isinstance(row, np.ndarray):
            if row.shape != (len(names),):
                raise self._misshapen(f"an array of shape {row.shape}")
            return row
        if isinstance(row, list | tuple):
            if len(row) != len(names):
                raise self._misshapen(f"{len(row)} value{'s' * (len(row) != 1)}")
            return row
        if not isinstance(row, Mapping | pd.Series):
            raise self._misshapen(f"a {type(row).__name__}")
        named = dict(row.items())
        try:
            return [named[name] for name in names]
        except KeyError:
            return None

    def _misshapen(self, shape: str) -> InputError:
        names = self.design.predictors
        return InputError(
            f"the row is {shape}: give one value for each of the {len(names)} predictors, in "
            f"their order ({listed(names)}), or a mapping of their names to values"
        )

    def _numbers(self, values: NDArray | Sequence[Any]) -> NDArray[np.float64] | None:
        """Return the values (P,) as numbers and codes of labels; None if one is neither."""
        if not any(self.labels):
            raw = _number_array(values)
            if raw is not None:
                return raw
        try:
            return np.array(list(map(_number, values, self.labels)), dtype=np.float64)
        except (KeyError, TypeError, OverflowError):
            return None

    def _by_frame(self, row: RawRow) -> NDArray[np.float32] | None:
        """Encode the row by the design, as a data frame."""
        named = (
            row.items() if hasattr(row, "items") else zip(self.design.predictors, row, strict=True)
        )
        frame = pd.DataFrame({name: pd.Series([value]) for name, value in named})
        X, complete = self.design.matrix(frame)
        return np.ascontiguousarray(stored(X)[:, 0]) if complete.all() else None


def _number_array(values: NDArray | Sequence[Any]) -> NDArray[np.float64] | None:
    try:
        # always a copy: Numba would compile again for a strided or read-only array
        array = np.array(values)
    except ValueError:
        return None
    numeric = array.ndim == 1 and array.dtype.kind in "biuf"
    return array.astype(np.float64, copy=False) if numeric else None


def _number(value: Any, labels: Labels | None) -> float:
    if labels is not None:
        return labels[value]
    if not isinstance(value, NUMBERS):
        raise TypeError
    return float(value)


class _Source(NamedTuple):
    """A row of the matrix: its predictor, level, and scaling, as in `RowPlan`."""

    predictor: int
    level: int
    low: float
    range: float


def plan_row(design: Design) -> RowPlan:
    """Return the plan of a design, whose predictors must be columns of the data."""
    labels: list[Labels | None] = []
    numbers: list[_Source] = []
    codes: list[_Source] = []
    scaling, first, many = (
        design.scaling,
        design.first,
        has_levels(design.feature_groups, FEW_LEVELS),
    )
    for j, (name, term) in enumerate(zip(design.predictors, design.recipe.terms, strict=True)):
        variable = design.recipe.variables[term[0]]
        if len(term) > 1 or variable.evaluation is not None:
            raise InputError(
                f"predictor {name!r} is computed from columns of the data, which needs a data "
                "frame: use predict, or add it to the data as a column before fitting"
            )
        low, span = (each[first[j] : first[j + 1]] for each in (scaling.low, scaling.range))
        match variable.encoding:
            case Indicators(levels) if many[j]:
                code = np.where(span[: len(levels)] > 0, np.arange(1.0, len(levels) + 1), 0.0)
                labels.append(dict(zip(levels, code.tolist(), strict=True)))
                codes.append(_Source(j, -1, 0.0, 1.0))
                continue
            case Indicators(levels):
                labels.append({label: float(code) for code, label in enumerate(levels)})
                of_level = list(range(len(levels)))
            case Ranks(levels):
                labels.append({label: 1.0 + rank for rank, label in enumerate(levels)})
                of_level = [-1]
            case Numbers():
                labels.append(None)
                of_level = [-1]
            case _:
                labels.append(READ_BY_DESIGN)
                of_level = [-1]
        if design.recipe.holes[j]:
            of_level.append(len(of_level))
            span = np.append(span[:-1], 0.0)
        numbers += [_Source(j, *each) for each in zip(of_level, low, span, strict=True)]
    source, level, low, span = (np.array(each) for each in zip(*numbers, *codes, strict=True))
    return RowPlan(
        design, tuple(labels), source.astype(np.int32), level.astype(np.int32), low, span
    )


def rows_of_weight_added(
    design: Design, newdata: pd.DataFrame, weights: str | ArrayLike | None
) -> tuple[pd.DataFrame, str | ArrayLike | None]:
    """Return new rows without those of weight 0, and the argument `weights` for them."""
    design.schema.select(newdata)
    source = design.weights if weights is None else weights
    of_rows = raw_weights(source, newdata)
    counted = of_rows != 0
    if counted.all():
        return newdata, weights
    return newdata[counted], source if isinstance(source, str) else of_rows[counted]


def with_more_rows(
    design: Design,
    data: TrainingData,
    newdata: pd.DataFrame,
    weights: str | ArrayLike | None = None,
) -> TrainingData:
    """Return the training rows followed by those of `newdata`, encoded by the same design.

    Case `weights` are by default of the column used for the training rows.
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
    """Return new rows X (p, m) with the training mean in missing cells where training has none."""
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


MOMENTS = (datetime.date, datetime.timedelta, pd.Period)


def variables(design: Design) -> tuple[str, ...]:
    """Return the columns that predictors are computed from: of ``y ~ log(x) + x:z`` x and z."""
    return design.schema.columns


def with_levels(design: Design, frame: pd.DataFrame) -> pd.DataFrame:
    """Return columns of the data, with those taken as levels, as in ``C(k)``, as categories."""
    levels = {atom.column_of_levels for atom in design.recipe.variables}
    named = [name for name in frame.columns if name in levels and is_numeric_dtype(frame[name])]
    return frame.astype(dict.fromkeys(named, "category"))


def touched(design: Design, *names: str) -> list[int]:
    """Return the numbers of the predictors that are computed from any of these variables."""
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
    """Return the matrix (p, n) of rows in which some variables have other values.

    `frame` holds the variables of the n rows and X (p, n) is their matrix; other predictors keep
    their bits.  `values` are one or (n,) for each variable, as in the data frame; dates may be
    text.  Raises `InputError` if a variable is unknown, or a value none that `Design.matrix`
    accepts.  Warns of levels set that no training row has; `LevelsSaidOnce` gives one warning for
    several calls.
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
    """Return the date, duration or period that a text stands for; `known` is one of the column."""
    period, span = isinstance(known, pd.Period), isinstance(known, datetime.timedelta)
    try:
        if isinstance(value, str) and period:
            return pd.Period(value, known.freq)
        if isinstance(value, str):
            moment: Any = pd.Timedelta(value) if span else pd.Timestamp(value)
            zone = getattr(known, "tzinfo", None)
            return moment if zone is None or moment.tzinfo is not None else moment.tz_localize(zone)
    except ValueError:
        pass
    held = PERIODS if period else DURATIONS if span else DATES
    raise InputError(
        f"{value!r} is none of the {held} that {name!r} holds: write it like {str(known)!r}"
    )


def _places(X: Matrix, columns: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the rows of the stored array that hold these columns, each once, in their order."""
    if not isinstance(X, EncodedColumns):
        return columns
    place = X.layout.place[columns].astype(np.int64)
    return place[np.sort(np.unique(place, return_index=True)[1])]


# A fit keeps the matrix, not the data frame.  A column that is a predictor by itself can be read
# from it: numbers to about seven digits of their range, labels exactly.  Other columns, such as
# ``x`` in ``log(x)`` or ``a:b``, and dates, are kept beside the matrix.

# More digits, from the first one of the range of a column, are not in 32 bits.
MOST_DIGITS = 9


def training_frame(design: Design, data: TrainingData) -> pd.DataFrame:
    """Return the columns ``design.schema.columns`` of the n training rows.

    Numbers are right to about seven digits of their range; whole numbers and labels are exact.
    """
    kept = pd.DataFrame(index=data.index) if data.kept is None else data.kept
    readable = {name: j for name, j in readable_columns(design.recipe).items() if name not in kept}
    lost = [name for name in design.schema.columns if name not in readable and name not in kept]
    if lost:
        raise InputError(
            f"the fit does not hold column {lost[0]!r}, as it was saved by an earlier version: "
            "give the rows as newdata=, or fit again"
        )
    columns = {name: _column(design, data, name, j) for name, j in readable.items()}
    read = pd.DataFrame(columns, index=data.index)
    frame = pd.concat([read, kept.set_axis(data.index)], axis=1)
    return selected(frame, design.schema.columns)


def _column(design: Design, data: TrainingData, name: str, j: int) -> Any:
    """Return the column of the data that is predictor `j`."""
    at, first, scaling = design.schema.columns.index(name), int(design.first[j]), design.scaling
    dtype, contents = design.schema.dtypes[at], design.schema.contents[at]
    encoding = design.recipe.variables[design.recipe.terms[j][0]].encoding
    empty = np.zeros(data.n_rows, dtype=np.bool_)
    if design.recipe.holes[j]:
        empty = np.asarray(data.X[int(design.first[j + 1]) - 1] > 0)

    def numbers(column: int) -> NDArray[np.float64]:
        low, span = float(scaling.low[column]), float(scaling.range[column])
        return unscaled(data.X[column], low, span)

    if isinstance(encoding, Indicators):
        codes = np.full(data.n_rows, -1, dtype=np.int64)
        for level in range(len(encoding.levels)):
            codes[numbers(first + level) > 0.5] = level
    elif isinstance(encoding, Ranks):
        codes = np.rint(numbers(first)).astype(np.int64) - 1
    else:
        values = numbers(first)
        values[empty] = np.nan
        return _in_type(values, dtype, contents == LOGICAL)
    labels = pd.Categorical.from_codes(
        np.where(empty, -1, codes),
        pd.Index(encoding.levels.tolist()),
        ordered=isinstance(encoding, Ranks),
    )
    return labels if dtype == "category" else labels.astype(object)


def _in_type(values: NDArray[np.float64], dtype: str, logical: bool) -> Any:
    """Return numbers (n,) in the type of the data: booleans, or whole if none is missing."""
    empty = np.isnan(values)
    if logical:
        booleans = values > 0.5
        return pd.arrays.BooleanArray(booleans, empty) if empty.any() else booleans
    if empty.any():
        return values
    try:
        kind = np.dtype(dtype.lower().removesuffix("[pyarrow]"))
    except (TypeError, ValueError):  # a type that NumPy does not have, such as decimal128(9, 2)
        return values
    return np.rint(values).astype(kind) if kind.kind in "iu" else values


def unscaled(scaled: NDArray[np.float32], low: float, span: float) -> NDArray[np.float64]:
    """Return cells (n,) of a column of the matrix in the unit of the data.

    Each is the number of the fewest decimals that is scaled to the same 32 bits: 0.1 is read as
    0.1.
    """
    values = np.asarray(low + span * scaled.astype(np.float64))
    if span == 0:
        return values
    out, is_read = values.copy(), np.isnan(values)
    first = -int(np.floor(np.log10(span)))
    for decimals in range(first, first + MOST_DIGITS):
        rounded = np.round(values, decimals) + 0.0  # no -0
        same = ~is_read & (((rounded - low) / span).astype(np.float32) == scaled)
        out[same] = rounded[same]
        is_read |= same
        if is_read.all():
            break
    return out
