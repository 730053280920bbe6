"""Tables to compare models on, with what is to be predicted in each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from patsy import EvalEnvironment

from odrf.design import Response, TrainingData, build_design
from odrf.design.columns.frame import check_frame
from odrf.design.columns.measurement import TEXT, contents
from odrf.errors import InputError
from odrf.evaluation.metrics import Metric

__all__ = ["ALONE", "Task", "check_alike", "named_tables", "read_task"]

ALONE = "data"
"""What the only table is called where it comes without a name."""


@dataclass(frozen=True, eq=False)
class Task:
    """A table and what is to be predicted in it.

    Attributes
    ----------
    name : str
    formula : str
    data : DataFrame
        Its n rows, text as categories: a level that a fold lacks stays known.
    response : Response
        The kind and the classes are those of the whole table.
    y : (n,) float64
        The response, or class codes 0 … K - 1.
    """

    name: str
    formula: str
    data: pd.DataFrame
    response: Response
    y: NDArray[np.float64]

    @property
    def n_classes(self) -> int:
        """K, 1 for a regression."""
        return self.response.n_classes

    def observed(self, rows: NDArray[Any], metric: Metric) -> NDArray[Any]:
        """Return the responses of some rows as the metric takes them: numbers, labels or codes."""
        classes = self.response.classes
        if classes is None:
            return self.y[rows]
        codes = self.y[rows].astype(np.int64)
        return codes if metric.needs_probabilities else classes.to_numpy()[codes]

    def check_formula(self, formula: str, env: EvalEnvironment) -> None:
        """Raise `InputError` where another formula is at fault, or has another response."""
        kind = self.response.kind
        _, training = build_design(formula, self.data, kind=kind, missing="drop", env=env)
        _require_complete(training)
        if not np.array_equal(training.y, self.y):
            raise InputError(
                f"formula {formula!r} has another response than {self.formula!r}: errors compare "
                "only if all models predict the same"
            )


def named_tables(formula: Any, data: Any) -> dict[str, tuple[Any, Any]]:
    """Return formula and table by the table's name.

    Raises
    ------
    InputError
        If `data` is neither a table nor a mapping of names to tables, or holds none.
    """
    if isinstance(data, pd.DataFrame):
        return {ALONE: (formula, data)}
    if not isinstance(data, Mapping):
        raise InputError(
            f"data must be a pandas DataFrame, or a mapping of names to them, not "
            f"{type(data).__name__}"
        )
    if not data:
        raise InputError("data holds no tables: name at least one, as in {'mine': table}")
    return {
        str(name): table if isinstance(table, tuple) and len(table) == 2 else (formula, table)
        for name, table in data.items()
    }


def read_task(name: str, formula: Any, data: Any, env: EvalEnvironment) -> Task:
    """Find what is to be predicted.

    Raises
    ------
    InputError
        If formula or table are at fault, or values are missing.
    """
    if not isinstance(data, pd.DataFrame):
        raise InputError(
            f"table {name!r} must be a pandas DataFrame, or a pair (formula, DataFrame), not "
            f"{type(data).__name__}"
        )
    try:
        check_frame(data)
        data = _with_declared_levels(data)
        design, training = build_design(formula, data, missing="drop", env=env)
        _require_complete(training)
    except InputError as error:
        raise InputError(f"table {name!r}: {error}") from error
    return Task(name, formula, data, design.response, training.y)


def check_alike(tasks: list[Task]) -> None:
    """Raise `InputError` where some tables have classes to predict and others numbers."""
    of_kind = {task.response.kind: task.name for task in tasks}
    if len(of_kind) > 1:
        numbers, classes = of_kind["regression"], of_kind["classification"]
        raise InputError(
            f"the response is a number in table {numbers!r} and a class in table {classes!r}, "
            "which no metric goes with: compare on each kind of table apart"
        )


def _with_declared_levels(data: pd.DataFrame) -> pd.DataFrame:
    text = [name for name in data.columns if contents(data[name]) == TEXT]
    return data.astype(dict.fromkeys(text, "category"))


def _require_complete(training: TrainingData) -> None:
    if training.n_dropped:
        listing = ", ".join(f"{name!r} ({n})" for name, n in training.missing_columns.items())
        raise InputError(
            f"{training.n_dropped} rows have missing values, in {listing}: fill them in or leave "
            "such rows out first, so that every model meets the same"
        )
