"""The warnings about the data of a new fit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api.types import (
    is_bool_dtype,
    is_complex_dtype,
    is_datetime64_any_dtype,
    is_float_dtype,
    is_numeric_dtype,
)

from odrf.design import Design
from odrf.design.chunks import StreamedRows
from odrf.design.columns import listed, meant_as
from odrf.design.encoding import Indicators
from odrf.design.formula import quoted
from odrf.design.survival_times import SurvivalTimes
from odrf.engine.factors import with_rows
from odrf.engine.trees.routing import leaf_nodes
from odrf.errors import warn_user
from odrf.fits.fit import AnyFit, Fit
from odrf.fits.responses import leaves_rows_out
from odrf.statistics import data_checks

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# Most rows that are searched.  The few show whether a number is a whole one, and
# whether most rows share some values.
ROWS, FEW_ROWS, FEWEST_AT_FIRST = 2000, 64, 5
# Fewer groups, or groups of fewer rows on average, are no pattern.
FEWEST_GROUPS, FEWEST_EACH, FEWEST_ROWS = 6, 2, 30
MOST_CANDIDATES = 40


class CandidateGroups(NamedTuple):
    """A column that divides rows (m,) into groups 0, 1, …, of numbers in their order."""

    name: str
    rows: Integers
    codes: Integers
    numbered: bool


def candidate_groups(
    data: pd.DataFrame, names: list[str], rows: Integers
) -> Iterator[CandidateGroups]:
    """Yield the columns of few labels or whole numbers that divide the `rows` into groups."""
    if len(rows) < FEWEST_ROWS:
        return
    some = rows_drawn(rows, ROWS)
    few = data.iloc[rows_drawn(some, FEW_ROWS)]
    floats = numpy_columns(few, names, "f")
    with np.errstate(invalid="ignore"):
        whole = (few[floats].to_numpy() % 1 == 0).all(axis=0)
    fractions = {name for name, each in zip(floats, whole, strict=True) if not each}
    names = [name for name in names if name not in fractions and _could_name_groups(few[name])]
    for name in names[:MOST_CANDIDATES]:
        groups = _divided(data[name], rows, some)
        if groups is not None:
            yield CandidateGroups(name, *groups, is_numeric_dtype(data[name].dtype))


def rows_drawn(rows: Integers, most: int) -> Integers:
    """Return at most so many of the rows, drawn at random, in their order."""
    if len(rows) <= most:
        return rows
    return np.sort(np.random.default_rng(0).choice(rows, most, replace=False))


def numpy_columns(data: pd.DataFrame, names: list[str], kinds: str = "iuf") -> list[str]:
    """Return the names of columns of these NumPy types, which can be read at once."""
    dtypes = dict(zip(data.columns, data.dtypes, strict=True))
    return [
        name for name in names if isinstance(dtypes[name], np.dtype) and dtypes[name].kind in kinds
    ]


def plain_numbers(column: pd.Series) -> Floats | None:
    """Return a column of real numbers (m,), missing ones as NaN; None for a column of others."""
    if not is_numeric_dtype(column.dtype) or is_complex_dtype(column.dtype):
        return None
    return column.to_numpy(dtype=np.float64, na_value=np.nan)


def numbers_or_labels(column: pd.Series) -> Floats | None:
    """Return a column (m,) as numbers, missing ones as the mean, or 1 for the commonest label."""
    values = plain_numbers(column)
    if values is not None:
        known = np.isfinite(values)
        if known.all():
            return values
        return np.where(known, values, values[known].mean() if known.any() else 0.0)
    if not _has_labels(column):
        return None
    codes = pd.factorize(column)[0]
    commonest = np.bincount(codes[codes >= 0], minlength=1).argmax()
    return (codes == commonest).astype(np.float64)


def _has_labels(column: pd.Series) -> bool:
    dtype = column.dtype
    text = pd.api.types.is_string_dtype(dtype) or pd.api.types.is_object_dtype(dtype)
    return text or isinstance(dtype, pd.CategoricalDtype)


def _is_known(dtype: Any) -> bool:
    """Return whether pandas knows the type of a column; for some types of Arrow it does not."""
    try:
        return dtype.type is not None
    except NotImplementedError:
        return False


def _could_name_groups(few: pd.Series) -> bool:
    """Return whether the first rows have several labels or whole numbers, none missing."""
    dtype = few.dtype
    if not _is_known(dtype) or is_bool_dtype(dtype) or is_complex_dtype(dtype):
        return False
    if is_float_dtype(dtype):
        values = few.to_numpy(dtype=np.float64, na_value=np.nan)
        if not np.isfinite(values).all() or (values % 1 != 0).any():
            return False
    elif not (is_numeric_dtype(dtype) or _has_labels(few)):
        return False
    try:
        return len(pd.unique(few)) >= FEWEST_AT_FIRST
    except TypeError:  # values that are no labels
        return False


def _divided(column: pd.Series, rows: Integers, some: Integers) -> tuple[Integers, Integers] | None:
    """Return rows and their groups; None if the values are too few or too many."""
    sort = is_numeric_dtype(column.dtype)
    try:
        codes, labels = pd.factorize(column.iloc[some], sort=sort)
    except TypeError:  # values that are no labels
        return None
    if (codes < 0).any() or len(labels) < FEWEST_GROUPS:
        return None
    if len(some) < len(rows) and FEWEST_EACH * len(labels) > len(some) / 2:
        some = rows[np.asarray(column.iloc[rows].isin(labels[: len(labels) // 2]))]
        codes, labels = pd.factorize(column.iloc[some], sort=sort)
    are_few = len(labels) >= FEWEST_GROUPS and FEWEST_EACH * len(labels) <= len(some)
    return (some, codes.astype(np.int64)) if are_few else None


# Of large tables so many cells are read, but so many rows at least.
CELLS, FEWEST_ROWS_READ = 4_000_000, 2000


class CheckedRows:
    """Some rows (m,) of a new fit, with their response `y` and all `numbers` (m,) by name."""

    def __init__(self, design: Design, data: pd.DataFrame, row: Integers, y: Floats) -> None:
        self.data, self.row, self.y, self.response = data, row, y, design.response
        self.predictors = _predictors(design, data)
        numbers = numpy_columns(data, self.predictors)
        table = data[numbers] if len(row) == len(data) else data[numbers].iloc[row]
        values = np.ascontiguousarray(table.to_numpy(dtype=np.float64).T)
        self.numbers: dict[str, Floats] = dict(zip(numbers, values, strict=True))

    def column(self, name: str) -> pd.Series:
        """Return the rows of a column of any type."""
        return self.data[name].iloc[self.row]

    def numbers_in(self, name: str) -> Floats | None:
        """Return the rows of a column of real numbers, missing ones as NaN; None for others."""
        known = self.numbers.get(name)
        return plain_numbers(self.column(name)) if known is None else known


def _predictors(design: Design, data: pd.DataFrame) -> list[str]:
    there = set(data.columns)
    return [name for name in design.schema.columns if name in there]


# Two nines or more, with either sign, mark missing cells in many tables.  One such cell may be an
# error, and few different other values may be codes themselves.
CODES = frozenset(sign * (10.0**digits - 1) for digits in range(2, 10) for sign in (-1, 1))
FEWEST, DIFFERENT = 2, 3


def warn_of_codes_for_missing(checked: CheckedRows) -> None:
    """Warn of predictors, or a response, in which a number such as -999 may mean missing."""
    names, response = checked.predictors, checked.response
    if response.classes is None:
        names = [*(name for name in response.columns if name in checked.data), *names]
    codes: dict[str, tuple[float, Floats]] = {}
    for name in names:
        values = checked.numbers_in(name)
        code = None if values is None else code_for_missing(values)
        if values is not None and code is not None:
            codes[name] = code, values[np.isfinite(values) & (values != code)]
    if not codes:
        return
    name, (code, others) = next(iter(codes.items()))
    more = f"; so it is in {listed([*codes][1:])}" if len(codes) > 1 else ""
    column = f"data[{name!r}]"
    warn_user(
        f"{name!r} has {code:.0f} in several rows, unlike all its other values "
        f"({others.min():.6g} to {others.max():.6g}){more}: if this stands for a missing value, "
        f"make it one with {column} = {column}.replace({code:.0f}, np.nan)"
    )


def code_for_missing(values: Floats) -> float | None:
    """Return the number, such as -999, that seems to stand for missing cells (n,), or None."""
    ends = {float(np.fmin.reduce(values)), float(np.fmax.reduce(values))} if len(values) else set()
    for code in sorted(ends & CODES):
        others = values[np.isfinite(values) & (values != code)]
        if np.count_nonzero(values == code) < FEWEST or len(np.unique(others)) < DIFFERENT:
            continue
        if code < 0 <= others.min() or np.abs(others - code).min() > np.ptp(others):
            return code
    return None


# Rows that are searched, first a few of them, and numbers whose sums are.  With fewer rows or
# values of the response, an exact relation may be chance.
ROWS_FOR_RELATION, FEW_ROWS_AT_FIRST, MOST_SUMMED = 1000, 16, 100
FEWEST_ROWS_FOR_RELATION, FEWEST_VALUES = 30, 5
# A sum of more columns may be what the user simulates.
MOST_IN_SUM = 3


def warn_of_leaking_predictors(checked: CheckedRows) -> None:
    """Warn of predictors, not all, from which the response can be computed exactly."""
    leaking = leaking_predictors(checked)
    if not leaking:
        return
    names = " and ".join(repr(name) for name in leaking)
    without = " ".join(f"- {quoted(name)}" for name in leaking)
    they_are, tell, them = "they are", "together tell", "them"
    if len(leaking) == 1:
        they_are, tell, them = "it is", "tells", "it"
    warn_user(
        f"{names} {tell} the response exactly: if {they_are} computed from it, or known only after "
        f"it, leave {them} out (in a formula with {without}), else errors are far too small for "
        "new rows"
    )


def leaking_predictors(checked: CheckedRows) -> list[str]:
    """Return the predictors, up to three, from which the response can be computed, if any."""
    n, is_number = len(checked.y), checked.response.classes is None
    if len(checked.predictors) < 2 or n < FEWEST_ROWS_FOR_RELATION:
        return []
    if len(np.unique(checked.y)) < (FEWEST_VALUES if is_number else 2):
        return []
    place = np.linspace(0, n - 1, min(n, ROWS_FOR_RELATION)).astype(np.int64)
    if is_number:
        return _numbers_that_tell(checked, place)
    codes = checked.y.astype(np.int64)
    for name in checked.predictors:
        if _goes_with(name, checked, place, codes):
            return [name]
    return []


def _goes_with(name: str, checked: CheckedRows, place: Integers, codes: Integers) -> bool:
    """Return whether the values of a column match the classes one to one, in some rows."""
    few = place[codes[place] == codes[place[0]]][:FEW_ROWS_AT_FIRST]
    numbers = checked.numbers.get(name)
    if numbers is not None and (numbers[few] != numbers[few[0]]).any():
        return False
    values = checked.column(name).iloc[place] if numbers is None else numbers[place]
    try:
        return data_checks.goes_with(pd.factorize(values)[0].astype(np.int64), codes[place])
    except TypeError:  # values that are no labels
        return False


def _numbers_that_tell(checked: CheckedRows, place: Integers) -> list[str]:
    known, y = {}, checked.y[place]
    for name in checked.predictors:
        values = checked.numbers_in(name)
        if values is not None and np.isfinite(values[place]).all():
            known[name] = values[place]
            if data_checks.in_same_order(known[name], y):
                return [name]
    if not 2 <= len(known) <= MOST_SUMMED:
        return []
    summed = list(known)
    used = [
        summed[j]
        for j in data_checks.exact_sum(np.stack(list(known.values()), axis=1), y, MOST_IN_SUM)
    ]
    return used if len(used) < len(checked.predictors) else []


# Few levels may be those of a small table; with fewer rows a level, on average, one has little
# information.
FEWEST_LEVELS, FEW_ROWS_OF_LEVEL = 30, 3


def warn_of_rare_levels(fit: AnyFit, data: pd.DataFrame) -> None:
    """Warn of predictors of text that have fewer than three rows a level, on average."""
    n = int(np.count_nonzero(fit.data.complete))
    for variable in fit.design.recipe.variables:
        name, factor = variable.name, variable.encoding
        if variable.evaluation is not None or not isinstance(factor, Indicators):
            continue
        levels = factor.levels
        if len(levels) < FEWEST_LEVELS or FEW_ROWS_OF_LEVEL * len(levels) <= n:
            continue
        if isinstance(data[name].dtype, pd.CategoricalDtype) or meant_as(name, levels):
            continue
        warn_user(
            f"{name!r} is text with {len(levels)} different values in {n} rows, such as "
            f"{listed(levels, 2)}; new rows will have others, of which nothing is known: leave it "
            f"out; if its values are subjects with several rows, use groups={name!r}; write "
            f"C({quoted(name)}) if it is a factor nevertheless"
        )


# Of more predictors some are used.
MOST_PREDICTORS = 30


def _response_numbers(fit: AnyFit) -> Floats:
    """Return the response (n,), or 1 for the commonest class."""
    if fit.design.response.classes is None:
        return fit.data.y
    codes = fit.data.y.astype(np.int64)
    return (codes == np.bincount(codes).argmax()).astype(np.float64)


def repeated_rows(
    fit: AnyFit, data: pd.DataFrame, candidates: Sequence[CandidateGroups]
) -> tuple[str, data_checks.Repetition] | None:
    """Return the column of `data` by which the training rows are repeated measurements, or None."""
    predictors = _predictors(fit.design, data)
    predictors = predictors[:: max(1, -(-len(predictors) // MOST_PREDICTORS))]
    of_rows = np.zeros(len(data))
    of_rows[fit.data.complete] = _response_numbers(fit)
    repeated: list[tuple[str, data_checks.Repetition]] = []
    read: tuple[Integers | None, dict[str, Floats | None]] = None, {}
    for name, rows, codes, numbered in candidates:
        if rows is not read[0]:
            read = rows, {each: numbers_or_labels(data[each].iloc[rows]) for each in predictors}
        others = [values for each, values in read[1].items() if each != name and values is not None]
        of_column = data_checks.repetition(codes, np.array([of_rows[rows], *others]), numbered)
        if of_column is not None:
            repeated.append((name, of_column))
    return min(repeated, key=lambda each: each[1].mean, default=None)


def subjects_by_response(
    fit: AnyFit, data: pd.DataFrame, candidates: Sequence[CandidateGroups]
) -> str | None:
    """Return the column whose values have responses alike beside the predictors, or None.

    Labels of a factor do so, too. Of subjects, a predictor is measured once at each of its values,
    as in the same weeks; or, if the formula leaves the column out, a predictor is constant.
    """
    predictors = _predictors(fit.design, data)
    used = set(predictors)
    predictors = predictors[:: max(1, -(-len(predictors) // MOST_PREDICTORS))]
    of_rows = np.zeros(len(data))
    of_rows[fit.data.complete] = _response_numbers(fit)
    found: list[tuple[float, str]] = []
    for name, some, codes, numbered in candidates:
        y = of_rows[some]
        if not data_checks.within_shares(codes, y[np.newaxis])[0] < data_checks.RESPONSE_ALIKE:
            continue
        others = [each for each in predictors if each != name]
        read = {each: numbers_or_labels(data[each].iloc[some]) for each in others}
        numbers = np.array([one for one in read.values() if one is not None]).reshape(-1, len(y))
        share = data_checks.alike_within(codes, y, numbers, numbered)
        if share is not None and _belong_to_subjects(data, others, some, codes, name in used):
            found.append((share, name))
    return min(found, default=(0.0, None))[1]


def _belong_to_subjects(
    data: pd.DataFrame, predictors: list[str], rows: Integers, codes: Integers, used: bool
) -> bool:
    """Return whether a predictor is measured once at its values, or constant, by group (m,)."""
    for name in predictors:
        column = data[name].iloc[rows]
        try:
            values = pd.factorize(column)[0].astype(np.int64)
        except TypeError:  # values that are no labels
            continue
        if (values < 0).any():
            continue
        if is_numeric_dtype(column.dtype) and data_checks.measured_once(codes, values):
            return True
        if not used and data_checks.same_within(codes, values):
            return True
    return False


# Fewer such rows are no pattern; nor are few of the pairs of rows of one subject.
FEWEST_GOING_ON, SHARE = 5, 0.5
# A column is discarded if these rows of one subject overlap.
FIRST_ROWS = 2000


def column_of_subjects(fit: AnyFit, data: pd.DataFrame) -> str | None:
    """Return the column of subjects whose rows follow each other in time, or None."""
    times = fit.data.times
    if times is None or times.start is None:
        return None
    response = set(fit.design.response.columns)
    for name in data.columns:
        if isinstance(name, str) and name not in response and _go_on(data[name], fit, times):
            return name
    return None


def _go_on(column: pd.Series, fit: AnyFit, times: SurvivalTimes) -> bool:
    try:
        codes = pd.factorize(column[fit.data.complete])[0].astype(np.int64)
    except TypeError:  # values that are no labels
        return False
    first = slice(FIRST_ROWS)
    if _adjoining(codes[first], times.keeping(np.arange(len(times))[first])) is None:
        return False
    adjoining = _adjoining(codes, times)
    return adjoining is not None and adjoining[0] >= max(FEWEST_GOING_ON, SHARE * adjoining[1])


def _adjoining(codes: Integers, times: SurvivalTimes) -> tuple[int, int] | None:
    """Return how many successive rows of a code (n,), of how many, adjoin; None if some overlap."""
    assert times.start is not None
    order = np.lexsort((times.start, codes))
    order = order[codes[order] >= 0]
    code, start, stop = codes[order], times.start[order], times.time[order]
    pair = code[1:] == code[:-1]
    begins, ended = start[1:][pair], stop[:-1][pair]
    if (begins < ended).any():
        return None
    return int(np.sum(begins == ended)), len(begins)


# Residuals are those of some runs of successive rows, by some trees.
RUNS, LENGTH, TREES = 6, 50, 24
# Residuals of independent rows have a correlation of 0.0 ± 0.06 with the next ones.
STRONG = 0.4
FEWEST_ROWS_IN_TIME, FEW_ROWS_IN_TIME, MOST_COLUMNS = 2 * LENGTH, 64, 500


def followed_in_time(fit: Fit, data: pd.DataFrame) -> tuple[str, float] | None:
    """Return the column of times, and how strongly residuals follow each other in it, or None."""
    rows = np.flatnonzero(fit.data.complete)
    if len(rows) < FEWEST_ROWS_IN_TIME:
        return None
    y, is_number = fit.data.y, fit.design.response.classes is None
    is_sorted = is_number and (np.mean(np.diff(y) >= 0) > 0.95 or np.mean(np.diff(y) <= 0) > 0.95)
    response = set(fit.design.response.columns)
    names = [name for name in data.columns[:MOST_COLUMNS] if name not in response]
    for name in names:
        column = data[name]
        is_time = is_datetime64_any_dtype(column.dtype)
        # A number can be that of the row in a table that is sorted by its classes.
        if (is_time or (is_number and not is_sorted)) and _runs_through(column, rows):
            correlation = data_checks.autocorrelation(_residuals(fit))
            return (str(name), correlation) if correlation > STRONG else None
    return None


def _runs_through(column: pd.Series, rows: Integers) -> bool:
    """Return whether values rise, or fall, from row to row, with few ties."""
    dtype = column.dtype
    is_number = is_numeric_dtype(dtype) and not is_bool_dtype(dtype)
    if not (is_number or is_datetime64_any_dtype(dtype)):
        return False
    if is_number:
        # as an index, which some types of numbers cannot be
        column = column.astype(np.float64)
    few = column.iloc[rows[np.linspace(0, len(rows) - 1, FEW_ROWS_IN_TIME).astype(np.int64)]]
    if not (few.is_monotonic_increasing or few.is_monotonic_decreasing):
        return False
    used = column.iloc[rows]
    one_way = used.is_monotonic_increasing or used.is_monotonic_decreasing
    return bool(one_way and 2 * used.nunique() > len(used))


def _residuals(fit: Fit) -> Floats:
    """Return residuals (r, w) of runs of successive rows; NaN where every tree sampled the row."""
    n, forest = len(fit.data.y), fit.forest
    starts = np.linspace(0, n - LENGTH, min(RUNS, n // LENGTH)).astype(np.int64)
    rows = (starts[:, np.newaxis] + np.arange(LENGTH)).ravel()
    X = with_rows(fit.data.X, rows)
    sums, votes = np.zeros((len(rows), forest.value.shape[1])), np.zeros(len(rows))
    evaluates_others = leaves_rows_out(fit)
    for b in range(min(TREES, forest.n_trees)):
        tree = forest.tree(b)
        counts = fit.draws.unseen(b)[rows] if evaluates_others else np.ones(len(rows), dtype=bool)
        sums[counts] += tree.value[leaf_nodes(tree, X, 1)[:, 0]][counts]
        votes += counts
    with np.errstate(invalid="ignore", divide="ignore"):
        value = sums / votes[:, np.newaxis]
    y = fit.data.y[rows]
    if value.shape[1] > 1:
        common = np.bincount(fit.data.y.astype(np.int64)).argmax()
        residual = (y == common) - value[:, common]
    else:
        residual = y - value[:, 0]
    return residual.reshape(len(starts), LENGTH)


# The warning about rows that are visibly no independent observations.
def warn_of_repeated_rows(fit: AnyFit, data: pd.DataFrame) -> None:
    """Warn if rows look like repeated measurements, and the fit has neither groups nor an order."""
    structure = fit.data.structure
    if structure is not None and (structure.groups is not None or structure.order is not None):
        return
    subjects = column_of_subjects(fit, data)
    if subjects is not None:
        warn_user(
            f"rows follow each other in time: each begins when another of the same {subjects!r} "
            "ends, as those of one subject do; validation rows a fit then have others of their "
            f"subject in it, and errors are too small for new ones: use groups={subjects!r}"
        )
        return
    response = set(fit.design.response.columns)
    names = [name for name in data.columns if isinstance(name, str) and name not in response]
    candidates = list(candidate_groups(data, names, np.flatnonzero(fit.data.complete)))
    repeated = repeated_rows(fit, data, candidates)
    if repeated is not None:
        column, (hardly, columns, _) = repeated
        warn_user(
            f"rows look like repeated measurements: {hardly} of {columns} columns hardly vary "
            f"within the values of {column!r}; validation rows a fit then have twins in "
            f"it, and errors are too small for new values of {column!r}: use "
            f"groups={column!r} if these are subjects or the like"
        )
        return
    subjects = subjects_by_response(fit, data, candidates)
    if subjects is not None:
        warn_user(
            f"rows look like repeated measurements: responses of the same {subjects!r} are much "
            "more alike than others with the same predictors; errors and intervals of rows as if "
            f"these were independent are too small for new values of {subjects!r}: use "
            f"groups={subjects!r} if these are subjects or the like"
        )
        return
    if not isinstance(fit, Fit) or fit.data.times is not None:
        return
    in_time = followed_in_time(fit, data)
    if in_time is not None:
        column, correlation = in_time
        warn_user(
            f"rows are in the order of {column!r}, and residuals of successive rows have a "
            f"correlation of {correlation:.2f}; errors are then too small for later rows: use "
            f"order={column!r} if this is time"
        )


# The warnings about the data of a new fit.
AFit = TypeVar("AFit", bound=AnyFit)


def warned_of_data(fit: AFit, data: pd.DataFrame) -> AFit:
    """Return the fit; warn of what is visibly wrong with the rows it was made from."""
    used = np.flatnonzero(fit.data.complete)
    most = max(FEWEST_ROWS_READ, CELLS // max(1, len(_predictors(fit.design, data))))
    place = rows_drawn(np.arange(len(used)), most)
    checked = CheckedRows(fit.design, data, used[place], fit.data.y[place])
    if fit.data.times is None:
        warn_of_leaking_predictors(checked)
    warn_of_codes_for_missing(checked)
    warn_of_rare_levels(fit, data)
    warn_of_repeated_rows(fit, data)
    return fit


def warn_of_chunks(rows: StreamedRows) -> None:
    """Warn of what is visibly wrong with the first rows in chunks; other checks need all."""
    frame = rows.reader.frame(rows.first)
    # a chunk without any response may have no value that distinguishes it from text
    y = rows.reader.responses(frame)[0] if len(frame) else np.empty(0)
    checked = CheckedRows(rows.design, frame, np.arange(len(frame)), y)
    warn_of_leaking_predictors(checked)
    warn_of_codes_for_missing(checked)
