"""Tables to compare models on, each with its formula and response."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from patsy import EvalEnvironment

from odrf.design import Response, build_design
from odrf.design.columns import TEXT, check_frame, contents
from odrf.design.folds import RowsToDivide
from odrf.design.formula import read_formula
from odrf.design.response import SURVIVAL
from odrf.design.structure import STRUCTURE_ARGUMENTS, RowStructure, read_structure
from odrf.design.weights import raw_weights, row_labels, rows_that_count
from odrf.errors import InputError, no_frame
from odrf.evaluation.metrics import Metric
from odrf.evaluation.survival.times_to_score import TimesToScore, times_to_score
from odrf.public import public

__all__ = [
    "UNNAMED",
    "BesideFormula",
    "Task",
    "arguments_given",
    "check_same_kind",
    "kind_asked",
    "named_tables",
    "read_task",
    "with_weight",
]

WORDS = {"regression": "a number", "classification": "a class", "survival": "a time to an event"}
UNNAMED = "data"
"""Name of a single table, which the user has not named."""


@public
@dataclass(frozen=True, eq=False)
class BesideFormula:
    """What divides the rows of tables, and so is no predictor unless a formula names it.

    Attributes
    ----------
    structure : mapping of str to str or array-like
        The arguments `groups`, `order` and `strata` that were given.
    folds : str or None
        The column that holds the folds.
    formulas : sequence of str
        Those of models, beside the formula of a table.
    """

    structure: Mapping[str, str | ArrayLike] = field(default_factory=dict)
    folds: str | None = None
    formulas: Sequence[str] = ()

    def left_out(self, formula: str, data: pd.DataFrame, env: EvalEnvironment) -> pd.DataFrame:
        """Return the table without these columns, except those that formulas name."""
        aside = [*self.structure.values(), self.folds]
        present = [name for name in aside if isinstance(name, str) and name in data.columns]
        unnamed = [
            name
            for name in dict.fromkeys(present)
            if not any(_names(each, name, data, env) for each in (formula, *self.formulas))
        ]
        return data.drop(columns=unnamed)


@dataclass(frozen=True, eq=False)
class Task:
    """A table and the response to be predicted in it.

    Attributes
    ----------
    name : str
    formula : str
    data : DataFrame
        Its n rows that have a response.  Text columns are categorical, so that levels which a fold
        lacks stay known.
    response : Response
        With the kind and the classes of the whole table.
    y : (n,) float64
        The response, or class codes 0 … K - 1; of times to an event residuals, as in
        `TrainingData`.
    table : DataFrame
        The N rows and all columns, as the user gave them.
    used : (N,) bool
        Which of these have a response.
    structure : RowStructure or None
        Groups, order and strata of the n rows.
    times : TimesToScore or None
        Times and events, if the response is ``Surv()``.
    """

    name: str
    formula: str
    data: pd.DataFrame
    response: Response
    y: NDArray[np.float64]
    table: pd.DataFrame
    used: NDArray[np.bool_]
    structure: RowStructure | None
    times: TimesToScore | None = None

    @property
    def n_classes(self) -> int:
        """K, 1 if there are no classes."""
        return self.response.n_classes

    @property
    def events(self) -> NDArray[np.bool_] | None:
        """Which rows (n,) had an event; None if the response is no time to an event."""
        return None if self.times is None else self.times.times.event > 0

    @property
    def rows(self) -> RowsToDivide:
        """What folds of the rows depend on."""
        return RowsToDivide(self.y, self.n_classes, None, self.structure, self.events)

    def structure_of(self, rows: NDArray[Any]) -> dict[str, NDArray[np.int64]]:
        """Return by argument the codes of groups, order and strata that `rows` have."""
        given = {name: getattr(self.structure, name, None) for name in STRUCTURE_ARGUMENTS}
        return {name: codes[rows] for name, codes in given.items() if codes is not None}

    def observed(self, rows: NDArray[Any], metric: Metric) -> NDArray[Any] | TimesToScore:
        """Return responses of rows as the metric takes them: numbers, labels, codes, times."""
        if self.times is not None:
            return self.times.keeping(rows)
        classes = self.response.classes
        if classes is None:
            return self.y[rows]
        codes = self.y[rows].astype(np.int64)
        return codes if metric.needs_probabilities else classes.to_numpy()[codes]

    def check_formula(self, formula: str, env: EvalEnvironment) -> None:
        """Raise `InputError` if another formula is invalid, or has another response."""
        kind = kind_asked(self.response)
        _, training = build_design(formula, self.data, kind=kind, with_times=True, env=env)
        if not np.array_equal(training.y, self.y):
            raise InputError(
                f"formula {formula!r} has another response than {self.formula!r}: all models must "
                "predict the same response"
            )


def arguments_given(**arguments: str | ArrayLike | None) -> dict[str, str | ArrayLike]:
    """Return the arguments that are not None, by their names."""
    return {name: value for name, value in arguments.items() if value is not None}


def kind_asked(response: Response) -> str:
    """Return the argument `kind` by which another formula is read to have a like response."""
    return "auto" if response.kind == SURVIVAL else response.kind


def named_tables(formula: Any, data: Any) -> dict[str, tuple[Any, Any]]:
    """Return pairs of formula and table by the name of the table.

    Raises
    ------
    InputError
        If `data` is neither a table nor a mapping of names to tables, or holds none; if two names
        read alike.
    """
    if isinstance(data, pd.DataFrame):
        return {UNNAMED: (formula, data)}
    if not isinstance(data, Mapping):
        raise no_frame("data", data, ", or a mapping of names to data frames")
    if not data:
        raise InputError("data holds no tables: name at least one, as in {'mine': table}")
    tables = {
        str(name): table if isinstance(table, tuple) and len(table) == 2 else (formula, table)
        for name, table in data.items()
    }
    if len(tables) < len(data):
        raise InputError("data has names that read alike: use different names")
    return tables


def read_task(
    name: str,
    formula: Any,
    data: Any,
    env: EvalEnvironment,
    beside: BesideFormula | None = None,
    with_times: bool = False,
) -> Task:
    """Return the task of a formula and a table, whose rows without a response are left out.

    So are columns `beside` the formula that no formula names.  `with_times` tells whether the
    response may be ``Surv()``.

    Raises
    ------
    InputError
        If the formula or the table is invalid.
    """
    if not isinstance(data, pd.DataFrame):
        raise no_frame(f"table {name!r}", data, ", or a pair (formula, DataFrame)")
    try:
        check_frame(data)
        beside = beside or BesideFormula()
        kept = _text_as_categories(beside.left_out(formula, data, env))
        design, training = build_design(formula, kept, with_times=with_times, env=env)
        structure = read_structure(data, **beside.structure, rows=training.complete)
    except InputError as error:
        raise InputError(f"table {name!r}: {error}") from error
    used = training.complete
    times = None if training.times is None else times_to_score(training.times)
    rows, response = kept[used], design.response
    return Task(name, formula, rows, response, training.y, data, used, structure, times)


def check_same_kind(tasks: list[Task]) -> None:
    """Raise `InputError` if responses differ in kind: numbers, classes, times to an event."""
    of_kind = {task.response.kind: task.name for task in tasks}
    if len(of_kind) > 1:
        kinds = [kind for kind in WORDS if kind in of_kind]
        first, second = [f"{WORDS[kind]} in table {of_kind[kind]!r}" for kind in kinds[:2]]
        raise InputError(
            f"the response is {first} and {second}, and no metric can be used for both: call "
            "compare once for each kind of table"
        )


def with_weight(
    data: pd.DataFrame, weights: str, of_rows: Mapping[str, Any]
) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Return the rows of a table that have a weight other than 0 in the column `weights`.

    With them the arguments `of_rows`, of which lists and arrays have a value for each row.
    """
    counted = rows_that_count(raw_weights(weights, data))
    if counted.all():
        return data, dict(of_rows)
    kept = {
        name: row_labels(name, value, data).to_numpy()[counted]
        if isinstance(value, Sequence | np.ndarray | pd.Series) and not isinstance(value, str)
        else value
        for name, value in of_rows.items()
    }
    return data[counted], kept


def _names(formula: str, column: str, data: pd.DataFrame, env: EvalEnvironment) -> bool:
    """Return whether a formula names the column, be it as in ``. - column``."""
    try:
        read_formula(formula, [name for name in data.columns if name != column], env)
    except InputError:
        return True
    return False


def _text_as_categories(data: pd.DataFrame) -> pd.DataFrame:
    text = [name for name in data.columns if contents(data[name]) == TEXT]
    return data.astype(dict.fromkeys(text, "category"))
