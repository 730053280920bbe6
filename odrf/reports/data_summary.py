"""What each column was taken as, and the kinds of trees in a blend."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from odrf.design import INDICATORS, Design, TrainingData
from odrf.design.columns import LOGICAL
from odrf.design.encoding import Durations, Encoding, Indicators, Moments, Numbers, Ranks
from odrf.design.new_rows import unscaled
from odrf.design.ranks import OwnRanks
from odrf.design.variables import Variable
from odrf.fits.blending import Blend
from odrf.fits.fit import AnyFit, Fit, GuidedFit
from odrf.fits.survival.fit import EstimandFit
from odrf.options.tree import ResolvedOptions
from odrf.public import public
from odrf.text.layouts import quantity
from odrf.text.splits import number
from odrf.text.summary import Card, Summary, TableReport

# Levels of a factor that are named.
SHOWN = 4
# Words for types of which several are not one with an s.
PLURALS = {
    "several numbers": "columns of several numbers",
    "True or False": "True or False",
    "combinations of levels": "combinations of levels",
}
EMPTY_CELL = {
    "raise": "an error",
    "drop": "no prediction",
    "split": "the node's mean",
    "surrogate": "the surrogates of each split",
}
BY_SPLIT, OF_PLANES = "the fill of each split", "the mean, and a column that marks it"
# Columns whose missing values are counted in a note.
MOST_COLUMNS = 10
MISSING_IN_WORDS = {
    "split": "which each split sends left or right",
    "surrogate": "for which surrogates decide",
    "median": "filled by the median or the most frequent level",
}
MISSING_OF_PLANES = "which count as the mean, with a coefficient of their own in planes"


@public
class DataSummary(TableReport):
    """What each predictor of a fit was taken as, and what happens to it in new rows.

    Returned by the method ``data_summary`` of every result.

    Attributes
    ----------
    fit : AnyFit
    table : DataFrame
        One row for each predictor.  Columns: ``taken_as``, such as "number", "ordered factor" or
        "date"; ``columns``, its number of columns; ``values``, the range or the first levels in the
        training rows; ``missing``, the training rows without a value; ``empty_cell`` and
        ``new_level``, how a new row with a missing value, or with a level that no training row has,
        is treated.

    Examples
    --------
    >>> import odrf
    >>> data = odrf.load_data("penguins").dropna()
    >>> tree = odrf.odt("species ~ island + year", data, seed=1)
    >>> tree.data_summary().table[["taken_as", "values", "missing"]]
           taken_as                              values  missing
    island   factor  3 levels: Biscoe, Dream, Torgersen        0
    year     number                        2007 to 2009        0
    """

    _title = "Data of the fit"
    _heading = "Predictors"

    def __init__(self, fit: AnyFit) -> None:
        self.fit, self._of_data = fit, _facts(fit.design, fit.data)
        names = fit.design.predictors
        lines = [_line(fit, j) for j in range(len(names))]
        self.table = pd.DataFrame(lines, index=pd.Index(names))

    def _facts(self) -> dict[str, str]:
        return self._of_data

    def _notes(self) -> tuple[str, ...]:
        return _notes(self.table)

    def _card(self) -> Card:
        of_type = self.table["taken_as"].value_counts()
        words = ", ".join(_of_type(count, str(name)) for name, count in of_type.items())
        title = f"Data of the fit: {quantity(len(self.table), 'predictor')}"
        shown = self.table[["taken_as", "values", "missing"]]
        return Card(title, {**self._facts(), "Taken as": words}, shown)


def with_data(summary: Summary, fit: AnyFit) -> Summary:
    """Return the summary of a fit with the table of its data."""
    report = DataSummary(fit)
    sections = {**summary.sections, "Predictors as they were taken": report.table}
    return replace(summary, sections=sections, notes=(*summary.notes, *_notes(report.table)))


def _facts(design: Design, data: TrainingData) -> dict[str, str]:
    dropped = f" ({data.n_dropped} dropped)" if data.n_dropped else ""
    return {
        "Response": _response(design, data),
        "Rows": f"{len(data.y)}{dropped}",
        "Missing": design.missing,
    }


def _notes(table: pd.DataFrame) -> tuple[str, ...]:
    """Return what ranks and dates mean, if there are any."""
    kinds, notes = table["taken_as"], []
    if kinds.str.contains("by rank").any():
        notes.append("By rank: 32 bits cannot tell the values apart, so that their ranks are used.")
    if kinds.str.startswith("date").any():
        notes.append("A date counts as the seconds since the first one of the training rows.")
    return tuple(notes)


def _of_type(count: int, name: str) -> str:
    """Return a number of predictors of one type in words, such as "2 numbers (computed)"."""
    word, bracket, rest = name.partition(" (")
    return f"{quantity(count, word, PLURALS.get(word, ''))}{bracket}{rest}"


def _line(fit: AnyFit, j: int) -> dict[str, Any]:
    """Return the row of predictor j."""
    design, data, recipe = fit.design, fit.data, fit.design.recipe
    variables = [recipe.variables[v] for v in recipe.terms[j]]
    first, last = (int(at) for at in design.first[j : j + 2])
    return {
        "taken_as": _taken_as(design, variables, j),
        "columns": last - first,
        "values": _values(design, data, variables, first),
        "missing": _missing(design, data, variables, j),
        "empty_cell": _empty_cell(fit, variables, j),
        "new_level": _new_level(design, variables),
    }


def _taken_as(design: Design, variables: list[Variable], j: int) -> str:
    if len(variables) > 1:
        factors = design.types[j] == INDICATORS
        return "combinations of levels" if factors else "product"
    (variable,) = variables
    kind = _kind(variable.encoding)
    held = dict(zip(design.schema.columns, design.schema.contents, strict=True))
    if variable.is_number_column and held[variable.name] == LOGICAL:
        kind = "True or False"
    return kind if variable.evaluation is None else f"{kind} (computed)"


def _kind(encoding: Encoding) -> str:
    match encoding:
        case Indicators():
            return "factor"
        case Ranks():
            return "ordered factor"
        case Moments():
            return "date"
        case Durations():
            return "duration"
        case OwnRanks(_, base):
            return f"{_kind(base)} (by rank)"
    return "number" if len(encoding.suffixes) == 1 else "several numbers"


def _values(design: Design, data: TrainingData, variables: list[Variable], first: int) -> str:
    """Return the range, or the first levels, of the predictor with this first column."""
    if len(variables) > 1:
        return ""
    match variables[0].encoding:
        case Indicators(levels, absent):
            unused = f" ({len(absent)} without rows)" if len(absent) else ""
            return f"{_levels(levels)}{unused}"
        case Ranks(levels):
            return _levels(levels, " < ")
        case OwnRanks(own, base):
            return _range([_own(base, own[0]), _own(base, own[-1])])
        case Numbers(suffixes) if len(suffixes) > 1:
            return ""
    ends = _ends(design, data, first)
    match variables[0].encoding:
        case Moments() as dates:
            return _range([_day(dates.stamp(end).round("s")) for end in ends])
        case Durations():
            return _range([f"{number(end)} s" for end in ends])
    return _range([number(end) for end in ends])


def _ends(design: Design, data: TrainingData, column: int) -> list[float]:
    """Return the smallest and the largest number of a column of the matrix."""
    scaling, X = design.scaling, data.X[column]
    low, span = float(scaling.low[column]), float(scaling.range[column])
    ends = np.array([X.min(), X.max()])
    # with missing values the ends are not 0 and 1, and 32 bits have rounded them
    numbers = (
        unscaled(ends, low, span) if scaling.holes[column] else low + span * ends.astype(float)
    )
    return [float(end) for end in numbers]


def _own(base: Encoding, value: Any) -> str:
    match base:
        case Moments():
            return _day(base.stamp_of(int(value)))
        case Durations():
            return f"{number(float(base.seconds(np.array([value]))[0]))} s"
    return str(value)


def _day(stamp: pd.Timestamp) -> str:
    return str(stamp).removesuffix(" 00:00:00")


def _range(ends: list[str]) -> str:
    return f"{ends[0]} to {ends[1]}" if ends[0] != ends[1] else ends[0]


def _levels(levels: pd.Index, between: str = ", ", one: str = "level", more: str = "") -> str:
    named = between.join(str(level) for level in levels[:SHOWN])
    rest = ", …" if len(levels) > SHOWN else ""
    return f"{quantity(len(levels), one, more)}: {named}{rest}"


def _missing(design: Design, data: TrainingData, variables: list[Variable], j: int) -> int:
    """Return the number of training rows in which predictor j has no value."""
    if design.recipe.holes[j]:
        return int(data.X[int(design.first[j + 1]) - 1].sum())
    columns = dict.fromkeys(name for variable in variables for name in variable.columns)
    return sum(data.empty_cells.get(name, 0) for name in columns)


def _empty_cell(fit: AnyFit, variables: list[Variable], j: int) -> str:
    design = fit.design
    if design.missing == "split" and design.recipe.holes[j]:
        return OF_PLANES if isinstance(fit, GuidedFit) else BY_SPLIT
    if design.missing in EMPTY_CELL:
        return EMPTY_CELL[design.missing]
    columns = dict.fromkeys(name for variable in variables for name in variable.columns)
    fills = [f"{_written(design.fills[name])}" for name in columns if name in design.fills]
    return f"filled: {', '.join(fills)}" if fills else "an error"


def _written(fill: Any) -> str:
    return number(float(fill)) if isinstance(fill, float | int | np.number) else str(fill)


def _new_level(design: Design, variables: list[Variable]) -> str:
    encodings = [variable.encoding for variable in variables]
    if any(isinstance(encoding, Ranks) for encoding in encodings):
        return "an error"
    if any(isinstance(encoding, Indicators) for encoding in encodings):
        return "an error" if design.unseen == "raise" else "as missing"
    return ""


def _response(design: Design, data: TrainingData) -> str:
    response, y = design.response, data.y
    if data.times is not None:
        times = data.times
        first = times.time.min() if times.start is None else times.start.min()
        span = _range([number(first), number(times.time.max())])
        return f"{response.name}: survival time, {span}"
    if response.classes is None:
        return f"{response.in_words}: number, {_range([number(y.min()), number(y.max())])}"
    between, ordered = (" < ", "ordered ") if response.ordered else (", ", "")
    words = f"{ordered}class", f"{ordered}classes"
    return f"{response.in_words}: {_levels(response.classes, between, *words)}"


def missing_notes(fit: AnyFit) -> list[str]:
    """Return notes on the rows that were dropped for missing values, and on those that were not."""
    notes = []
    if fit.training.missing_columns:
        notes.append(
            f"Missing values in the rows dropped: {_counted(fit.training.missing_columns)}."
        )
    if fit.training.empty_cells and fit.design.missing in MISSING_IN_WORDS:
        of_planes = fit.design.missing == "split" and isinstance(fit, GuidedFit)
        words = MISSING_OF_PLANES if of_planes else MISSING_IN_WORDS[fit.design.missing]
        notes.append(
            f"Missing values of predictors, {words}: {_counted(fit.training.empty_cells)}."
        )
    return notes


def _counted(counts: dict[str, int]) -> str:
    """Return the columns with most missing values, and their numbers."""
    shown = [f"{column} {count}" for column, count in list(counts.items())[:MOST_COLUMNS]]
    more = len(counts) - len(shown)
    return ", ".join(shown) + (f" and {quantity(more, 'more column')}" if more else "")


ERRORS = {
    "regression": "mean squared error",
    "classification": "Brier score",
    "survival": "sum of Brier scores at nine times",
}
# A blend of fewer rows has a noticeably optimistic out-of-bag error.
FEW_ROWS = 300


def kinds_table(blend: Blend, kinds: Mapping[str, ResolvedOptions]) -> pd.DataFrame:
    """Return the table `odrf.results.forest.ODRFResults.kinds`."""
    controls = list(kinds.values())
    return pd.DataFrame(
        {
            "trees": np.bincount(blend.of_tree, minlength=len(kinds)),
            "weight": blend.weights,
            "pilot_error": blend.errors,
            "rows": [control.sample_fraction for control in controls],
            "cuts": [str(control.n_thresholds) for control in controls],
            "min_leaf": [control.min_leaf for control in controls],
            "singles": [control.mixture.n_singles for control in controls],
            "directions": [control.mixture.n_directions for control in controls],
        },
        index=pd.Index(list(kinds), name="kind"),
    )


def kinds_notes(fit: Fit) -> list[str]:
    """Return what to say below the table of a blended forest."""
    # a number of survival curves has the trees of a survival forest, and their pilots
    kind = "survival" if isinstance(fit, EstimandFit) else fit.kind
    notes = [
        f"pilot_error is the out-of-bag {ERRORS[kind]} of very many trees of a kind, estimated "
        "from a few trees."
    ]
    if fit.training.n_rows < FEW_ROWS:
        notes.append(
            "Out-of-bag rows chose the weights of the kinds of trees. With so few rows the "
            "out-of-bag error is a little too low: see benchmarks/errors/optimism.py."
        )
    return notes
