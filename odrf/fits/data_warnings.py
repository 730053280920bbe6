"""The warnings about the data of a new fit."""

from __future__ import annotations

from collections.abc import Iterator
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
from odrf.design.response import Response
from odrf.design.survival_times import SurvivalTimes
from odrf.engine.factors import with_rows
from odrf.engine.trees.routing import leaf_nodes
from odrf.errors import warn_user
from odrf.fits.fit import AnyFit, Fit
from odrf.fits.responses import leaves_rows_out
from odrf.statistics.data_checks import (
    Repetition,
    autocorrelation,
    exact_sum,
    goes_with,
    in_same_order,
    repetition,
)

# ------------------------------------------------------------------------------------------------
# Columns of a table that could name subjects, and columns as numbers.
# ------------------------------------------------------------------------------------------------

# Most rows that are searched.  The few show whether a number is a whole one, and
# whether most rows share some values.
ROWS, FEW_ROWS, FEWEST_AT_FIRST = 2000, 64, 5
# Fewer groups, or groups of fewer rows on average, are no pattern.
FEWEST_GROUPS, FEWEST_EACH, FEWEST_ROWS = 6, 2, 30
MOST_CANDIDATES = 40


class CandidateGroups(NamedTuple):
    """A column that divides rows into groups.

    `row` numbers and group `codes` are (m,); groups are 0, 1, …, in the order of the numbers if the
    column is `numbered`.
    """

    name: str
    rows: NDArray[np.int64]
    codes: NDArray[np.int64]
    numbered: bool


def candidate_groups(
    data: pd.DataFrame, names: list[str], rows: NDArray[np.int64]
) -> Iterator[CandidateGroups]:
    """Yield the columns of few labels or whole numbers that divide the `rows` into groups.

    Of many rows only some are searched, and of a column of many values the rows of some of these.
    """
    if len(rows) < FEWEST_ROWS:
        return
    some = rows_drawn(rows, ROWS)
    first = data.iloc[rows_drawn(some, FEW_ROWS)]
    names = _without_fractions(first, names)
    names = [name for name in names if _could_name_groups(first[name])][:MOST_CANDIDATES]
    for name in names:
        found = _divided(data[name], rows, some)
        if found is not None:
            yield CandidateGroups(name, *found, is_numeric_dtype(data[name].dtype))


def rows_drawn(rows: NDArray[np.int64], most: int) -> NDArray[np.int64]:
    """Return at most so many of the rows, drawn at random, in their order."""
    if len(rows) <= most:
        return rows
    return np.sort(np.random.default_rng(0).choice(rows, most, replace=False))


def numpy_columns(data: pd.DataFrame, names: list[str], kinds: str = "iuf") -> list[str]:
    """Return the names of columns that have a NumPy type of one of these kinds.

    Of thousands of columns these can be read at once; one at a time takes as long as a fit.
    """
    dtypes = dict(zip(data.columns, data.dtypes, strict=True))
    return [
        name for name in names if isinstance(dtypes[name], np.dtype) and dtypes[name].kind in kinds
    ]


def plain_numbers(column: pd.Series) -> NDArray[np.float64] | None:
    """Return a column of real numbers (m,), missing ones as NaN; None for a column of others."""
    if not is_numeric_dtype(column.dtype) or is_complex_dtype(column.dtype):
        return None
    return column.to_numpy(dtype=np.float64, na_value=np.nan)


def numbers_or_labels(column: pd.Series) -> NDArray[np.float64] | None:
    """Return a column (m,) as numbers, missing ones as their mean; of labels the commonest is 1.

    None for a column of neither numbers nor labels, such as times.
    """
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


def _without_fractions(few: pd.DataFrame, names: list[str]) -> list[str]:
    """Return the names, without those of NumPy's floats that are not all whole numbers."""
    floats = numpy_columns(few, names, "f")
    with np.errstate(invalid="ignore"):
        whole = (few[floats].to_numpy() % 1 == 0).all(axis=0)
    fractions = {name for name, each in zip(floats, whole, strict=True) if not each}
    return [name for name in names if name not in fractions]


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


def _divided(
    column: pd.Series, rows: NDArray[np.int64], some: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]] | None:
    """Return rows and their groups; None if the values are too few or too many."""
    values = column.iloc[some]
    try:
        codes, labels = pd.factorize(values, sort=is_numeric_dtype(column.dtype))
    except TypeError:  # values that are no labels
        return None
    if (codes < 0).any() or len(labels) < FEWEST_GROUPS:
        return None
    if len(some) < len(rows) and FEWEST_EACH * len(labels) > len(some) / 2:
        return _of_some_values(column, rows, labels)
    return (some, codes.astype(np.int64)) if _are_few(len(labels), len(some)) else None


def _of_some_values(
    column: pd.Series, rows: NDArray[np.int64], labels: pd.Index
) -> tuple[NDArray[np.int64], NDArray[np.int64]] | None:
    """Return all rows of some of the values, and their groups."""
    kept = rows[np.asarray(column.iloc[rows].isin(labels[: len(labels) // 2]))]
    codes, found = pd.factorize(column.iloc[kept], sort=is_numeric_dtype(column.dtype))
    return (kept, codes.astype(np.int64)) if _are_few(len(found), len(kept)) else None


def _are_few(n_values: int, n_rows: int) -> bool:
    return n_values >= FEWEST_GROUPS and FEWEST_EACH * n_values <= n_rows


# ------------------------------------------------------------------------------------------------
# Some rows of the columns that a fit uses, read once for all checks of its data.
# ------------------------------------------------------------------------------------------------

# Of large tables so many cells are read, but so many rows at least.
CELLS, FEWEST_ROWS_READ = 4_000_000, 2000


class RowsLookedAt(NamedTuple):
    """Some rows of a new fit, which are searched for faults of the data.

    `row` (m,), `y` (m,).  `numbers` (m,): one at a time takes as long as a fit.
    """

    data: pd.DataFrame
    row: NDArray[np.int64]
    response: Response
    y: NDArray[np.float64]
    predictors: list[str]
    numbers: dict[str, NDArray[np.float64]]

    def column(self, name: str) -> pd.Series:
        """Return the rows of a column of any type."""
        return self.data[name].iloc[self.row]

    def numbers_in(self, name: str) -> NDArray[np.float64] | None:
        """Return the rows of a column of real numbers, missing ones as NaN; None for others."""
        known = self.numbers.get(name)
        return plain_numbers(self.column(name)) if known is None else known


def rows_looked_at(fit: AnyFit, data: pd.DataFrame) -> RowsLookedAt:
    """Return the rows of the table `data` that are checked: all, or of a large one some."""
    used = np.flatnonzero(fit.data.complete)
    n_columns = max(1, len(_predictors(fit.design, data)))
    place = rows_drawn(np.arange(len(used)), max(FEWEST_ROWS_READ, CELLS // n_columns))
    return _looked_at(fit.design, data, used[place], fit.data.y[place])


def first_rows_looked_at(rows: StreamedRows) -> RowsLookedAt:
    """Return the first of the rows in chunks, which are checked before trees are grown."""
    frame = rows.reader.frame(rows.first)
    # a chunk without any response may have no value that distinguishes it from text
    y = rows.reader.responses(frame)[0] if len(frame) else np.empty(0)
    return _looked_at(rows.design, frame, np.arange(len(frame)), y)


def _predictors(design: Design, data: pd.DataFrame) -> list[str]:
    there = set(data.columns)
    return [name for name in design.schema.columns if name in there]


def _looked_at(
    design: Design, data: pd.DataFrame, row: NDArray[np.int64], y: NDArray[np.float64]
) -> RowsLookedAt:
    names = _predictors(design, data)
    numbers = numpy_columns(data, names)
    table = data[numbers]
    values = (table if len(row) == len(data) else table.iloc[row]).to_numpy(dtype=np.float64)
    columns = dict(zip(numbers, np.ascontiguousarray(values.T), strict=True))
    return RowsLookedAt(data, row, design.response, y, names, columns)


# ------------------------------------------------------------------------------------------------
# The warning about numbers that mean missing cells, such as -999.
# ------------------------------------------------------------------------------------------------

# Two nines or more, with either sign, mark missing cells in many tables.  One such cell may be an
# error, and few different other values may be codes themselves.
CODES = frozenset(sign * (10.0**digits - 1) for digits in range(2, 10) for sign in (-1, 1))
FEWEST, DIFFERENT = 2, 3


def warn_of_codes_for_missing(looked_at: RowsLookedAt) -> None:
    """Warn of predictors, or a response, in which a number such as -999 may mean missing."""
    names, response = looked_at.predictors, looked_at.response
    if response.classes is None:
        names = [*(name for name in response.columns if name in looked_at.data), *names]
    found = [each for name in names for each in _found(name, looked_at)]
    if not found:
        return
    name, code, others = found[0]
    more = f"; so it is in {listed([each.name for each in found[1:]])}" if found[1:] else ""
    column = f"data[{name!r}]"
    warn_user(
        f"{name!r} has {code:.0f} in several rows, unlike all its other values ({others[0]:.6g} "
        f"to {others[1]:.6g}){more}: if this stands for an empty cell, make it one "
        f"with {column} = {column}.replace({code:.0f}, np.nan)"
    )


class CodeForMissing(NamedTuple):
    """The number that seems to mean missing cells of a column, and the range of the others."""

    name: str
    code: float
    others: tuple[float, float]


def _found(name: str, looked_at: RowsLookedAt) -> list[CodeForMissing]:
    values = looked_at.numbers_in(name)
    code = None if values is None else code_for_missing(values)
    if values is None or code is None:
        return []
    others = values[np.isfinite(values) & (values != code)]
    return [CodeForMissing(name, code, (float(others.min()), float(others.max())))]


def code_for_missing(values: NDArray[np.float64]) -> float | None:
    """Return the number among values (n,) that seems to stand for missing cells; None without one.

    It is a code such as -999 in several rows: the only negative number, or farther from all others
    than these are from each other.
    """
    ends = {float(np.fmin.reduce(values)), float(np.fmax.reduce(values))} if len(values) else set()
    for code in sorted(ends & CODES):
        others = values[np.isfinite(values) & (values != code)]
        if np.count_nonzero(values == code) < FEWEST or len(np.unique(others)) < DIFFERENT:
            continue
        if code < 0 <= others.min() or np.abs(others - code).min() > np.ptp(others):
            return code
    return None


# ------------------------------------------------------------------------------------------------
# The warning about predictors that determine the response exactly.
# ------------------------------------------------------------------------------------------------

# Rows that are searched, first a few of them, and numbers whose sums are.  With fewer rows or
# values of the response, an exact relation may be chance.
ROWS_FOR_RELATION, FEW_ROWS_AT_FIRST, MOST_SUMMED = 1000, 16, 100
FEWEST_ROWS_FOR_RELATION, FEWEST_VALUES = 30, 5
# A sum of more columns may be what the user simulates.
MOST_IN_SUM = 3


def warn_of_leaking_predictors(looked_at: RowsLookedAt) -> None:
    """Warn of predictors from which the response can be computed, if there are others beside them.

    Either a single one, of which the response is a function that never falls or never rises, or
    whose values match the classes one to one; or two or three numbers, of which the response is a
    weighted sum.
    """
    found = leaking_predictors(looked_at)
    if not found:
        return
    names = " and ".join(repr(name) for name in found)
    without = " ".join(f"- {quoted(name)}" for name in found)
    they_are, told, them = "they are", "together tell", "them"
    if len(found) == 1:
        they_are, told, them = "it is", "tells", "it"
    warn_user(
        f"{names} {told} the response exactly: if {they_are} computed from it, or known only after "
        f"it, leave {them} out (in a formula with {without}), else errors are far too small for "
        "new rows"
    )


def leaking_predictors(looked_at: RowsLookedAt) -> list[str]:
    """Return the predictor, or the two or three, from which the response can be computed.

    The list is empty if there are none, if there are no other predictors, or too few rows.
    """
    n, is_number = len(looked_at.y), looked_at.response.classes is None
    if len(looked_at.predictors) < 2 or n < FEWEST_ROWS_FOR_RELATION:
        return []
    if len(np.unique(looked_at.y)) < (FEWEST_VALUES if is_number else 2):
        return []
    place = np.linspace(0, n - 1, min(n, ROWS_FOR_RELATION)).astype(np.int64)
    if is_number:
        return _numbers_that_tell(looked_at, place)
    codes = looked_at.y.astype(np.int64)
    for name in looked_at.predictors:
        if _goes_with(name, looked_at, place, codes):
            return [name]
    return []


def _goes_with(
    name: str, looked_at: RowsLookedAt, place: NDArray[np.int64], codes: NDArray[np.int64]
) -> bool:
    """Return whether the values of a column match the classes one to one, in some rows."""
    few = place[codes[place] == codes[place[0]]][:FEW_ROWS_AT_FIRST]
    numbers = looked_at.numbers.get(name)
    if numbers is not None and (numbers[few] != numbers[few[0]]).any():
        return False
    values = looked_at.column(name).iloc[place] if numbers is None else numbers[place]
    try:
        return goes_with(pd.factorize(values)[0].astype(np.int64), codes[place])
    except TypeError:  # values that are no labels
        return False


def _numbers_that_tell(looked_at: RowsLookedAt, place: NDArray[np.int64]) -> list[str]:
    known, y = {}, looked_at.y[place]
    for name in looked_at.predictors:
        values = looked_at.numbers_in(name)
        if values is not None and np.isfinite(values[place]).all():
            known[name] = values[place]
            if in_same_order(known[name], y):
                return [name]
    if not 2 <= len(known) <= MOST_SUMMED:
        return []
    summed = list(known)
    found = [summed[j] for j in exact_sum(np.stack(list(known.values()), axis=1), y, MOST_IN_SUM)]
    return found if len(found) < len(looked_at.predictors) else []


# ------------------------------------------------------------------------------------------------
# The warning about text that is shared by so few rows that it seems to name them.
# ------------------------------------------------------------------------------------------------

# Few levels may be those of a small table; with fewer rows a level, on average, one has little
# information.
FEWEST_LEVELS, FEW_ROWS_OF_LEVEL = 30, 3


def warn_of_rare_levels(fit: AnyFit, data: pd.DataFrame) -> None:
    """Warn of predictors of text that have fewer than three rows a level, on average.

    Text that is a number or a date has a warning of its own; ``C()`` and categories show that a
    column is meant as a factor.
    """
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


# ------------------------------------------------------------------------------------------------
# Whether the rows of a fit are repeated measurements, by a column of the data.
# ------------------------------------------------------------------------------------------------

# Of more predictors some are used.
MOST_PREDICTORS = 30


class RepeatedRows(NamedTuple):
    """The column within whose values others hardly vary, and how many of these do."""

    column: str
    found: Repetition


def repeated_rows(fit: AnyFit, data: pd.DataFrame) -> RepeatedRows | None:
    """Return the column of `data` by which the training rows are repeated measurements, or None.

    Of several, the one within which the others vary least.  Columns outside of the formula count,
    too: a subject is often left out of the predictors.
    """
    response = set(fit.design.response.columns)
    names = [name for name in data.columns if isinstance(name, str) and name not in response]
    rows = np.flatnonzero(fit.data.complete)
    table, all_found = _Table(fit, data), []
    for candidate in candidate_groups(data, names, rows):
        found = repetition(candidate.codes, table.columns(candidate), candidate.numbered)
        if found is not None:
            all_found.append(RepeatedRows(candidate.name, found))
    return min(all_found, key=lambda each: each.found.mean, default=None)


class _Table:
    """The response and some predictors of rows, as numbers."""

    def __init__(self, fit: AnyFit, data: pd.DataFrame) -> None:
        predictors = [name for name in fit.design.schema.columns if name in data.columns]
        step = -(-len(predictors) // MOST_PREDICTORS) if predictors else 1
        self.names, self.data = predictors[::step], data
        y = fit.data.y
        codes = y.astype(np.int64) if fit.design.response.classes is not None else None
        of_used = y if codes is None else (codes == np.bincount(codes).argmax()).astype(np.float64)
        self.y = np.zeros(len(data))
        self.y[fit.data.complete] = of_used
        self.rows: NDArray[np.int64] = np.empty(0, dtype=np.int64)
        self.read: dict[str, NDArray[np.float64]] = {}

    def columns(self, candidate: CandidateGroups) -> NDArray[np.float64]:
        """Return the columns (q, m) of the rows of a candidate, without itself."""
        if candidate.rows is not self.rows:
            self.rows = candidate.rows
            found = {
                name: numbers_or_labels(self.data[name].iloc[self.rows]) for name in self.names
            }
            self.read = {name: values for name, values in found.items() if values is not None}
        others = [values for name, values in self.read.items() if name != candidate.name]
        return np.array([self.y[candidate.rows], *others])


# ------------------------------------------------------------------------------------------------
# Whether rows that enter late continue the times of subjects of other rows.
# ------------------------------------------------------------------------------------------------

# Fewer such rows are no pattern; nor are few of the pairs of rows of one subject.
FEWEST_GOING_ON, SHARE = 5, 0.5
# A column is discarded if these rows of one subject overlap.
FIRST_ROWS = 2000


def column_of_subjects(fit: AnyFit, data: pd.DataFrame) -> str | None:
    """Return the column of subjects whose rows follow each other in time, or None.

    One row of a subject begins when another one ends, and its rows never overlap.  None if there is
    no such column, or no row enters late.
    """
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
    found = _adjoining(codes, times)
    return found is not None and found[0] >= max(FEWEST_GOING_ON, SHARE * found[1])


def _adjoining(codes: NDArray[np.int64], times: SurvivalTimes) -> tuple[int, int] | None:
    """Return in how many pairs of successive rows of one code (n,) one begins as the other ends.

    Also the number of pairs.  None if rows of one code overlap.  A code of -1 is none.
    """
    assert times.start is not None
    order = np.lexsort((times.start, codes))
    order = order[codes[order] >= 0]
    code, start, stop = codes[order], times.start[order], times.time[order]
    pair = code[1:] == code[:-1]
    begins, ended = start[1:][pair], stop[:-1][pair]
    if (begins < ended).any():
        return None
    return int(np.sum(begins == ended)), len(begins)


# ------------------------------------------------------------------------------------------------
# Whether the rows of a fit are in the order of time, and its residuals follow each other.
# ------------------------------------------------------------------------------------------------

# Residuals are those of some runs of successive rows, by some trees.
RUNS, LENGTH, TREES = 6, 50, 24
# Residuals of independent rows have a correlation of 0.0 ± 0.06 with the next ones.
STRONG = 0.4
FEWEST_ROWS_IN_TIME, FEW_ROWS_IN_TIME, MOST_COLUMNS = 2 * LENGTH, 64, 500


def followed_in_time(fit: Fit, data: pd.DataFrame) -> tuple[str, float] | None:
    """Return the column of times, and how strongly residuals follow each other in it.

    None if no column rises or falls from row to row, or residuals are hardly correlated.  Tables
    that are sorted by the response are no series.  Residuals are those of out-of-bag rows; of a
    single tree on all rows those of its leaves.
    """
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
            found = autocorrelation(_residuals(fit))
            return (str(name), found) if found > STRONG else None
    return None


def _runs_through(column: pd.Series, rows: NDArray[np.int64]) -> bool:
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


def _residuals(fit: Fit) -> NDArray[np.float64]:
    """Return residuals (r, w) of runs of successive rows; NaN where every tree drew the row."""
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


# ------------------------------------------------------------------------------------------------
# The warning about rows that are visibly no independent observations.
# ------------------------------------------------------------------------------------------------


def warn_of_repeated_rows(fit: AnyFit, data: pd.DataFrame) -> None:
    """Warn if rows look like repeated measurements, and the fit has neither groups nor an order.

    Either a column divides the rows into groups, within which almost all other columns hardly vary;
    or rows that enter late begin when others end; or the rows are in the order of a column, and the
    residuals of a tree or forest are correlated with the next ones.
    """
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
    found = repeated_rows(fit, data)
    if found is not None:
        hardly, columns, _ = found.found
        warn_user(
            f"rows look like repeated measurements: {hardly} of {columns} columns hardly vary "
            f"within the values of {found.column!r}; validation rows a fit then have twins in it, "
            f"and errors are too small for new values of {found.column!r}: use "
            f"groups={found.column!r} if these are subjects or the like"
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


# ------------------------------------------------------------------------------------------------
# The warnings about the data of a new fit.
# ------------------------------------------------------------------------------------------------

AFit = TypeVar("AFit", bound=AnyFit)


def warned_of_data(fit: AFit, data: pd.DataFrame) -> AFit:
    """Return the fit; warn of what is visibly wrong with the rows it was made from.

    These are predictors that determine the response exactly, numbers that stand for missing cells,
    text with few rows a level, and rows that are repeated measurements.
    """
    looked_at = rows_looked_at(fit, data)
    if fit.data.times is None:
        warn_of_leaking_predictors(looked_at)
    warn_of_codes_for_missing(looked_at)
    warn_of_rare_levels(fit, data)
    warn_of_repeated_rows(fit, data)
    return fit


def warn_of_chunks(rows: StreamedRows) -> None:
    """Warn of what is visibly wrong with the first rows of a fit on rows in chunks.

    These are predictors that determine the response exactly, and numbers that stand for missing
    cells.  The other checks of `warned_of_data` need all rows.
    """
    looked_at = first_rows_looked_at(rows)
    warn_of_leaking_predictors(looked_at)
    warn_of_codes_for_missing(looked_at)
