"""Evaluation of expressions by patsy, in a form that can be pickled."""

from __future__ import annotations
import __future__

import importlib
from collections.abc import Iterable, Mapping
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd
from pandas.api.types import is_integer_dtype, is_object_dtype
from patsy import EvalEnvironment, EvalFactor, stateful_transform
from patsy.eval import ast_names

from odrf.design.columns import (
    DATES,
    LOGICAL,
    NUMBERS,
    PERIODS,
    Values,
    contents,
    listed,
    result_values,
    selected,
)
from odrf.design.encoding import as_dates
from odrf.design.formula import Expression
from odrf.design.functions import FUNCTIONS, as_meant_in_r, users_names
from odrf.design.trusted import UNTRUSTED, is_harmless, untrusted_part
from odrf.errors import InputError, warn_user, without_warnings

LONGEST_CODE = 20_000
# What `from __future__ import` changes, which patsy notes of where a formula was written.
FUTURE_FLAGS = 0
for _name in __future__.all_feature_names:
    FUTURE_FLAGS |= getattr(__future__, _name).compiler_flag


class Evaluation:
    """An expression and the state of its stateful transforms, such as ``center`` and ``bs``.

    They learn it from `frame`, the training rows.  Of the user's environment `env` only the names
    that the code uses are kept.  Raises `InputError` if the code fails.
    """

    def __init__(self, expression: Expression, frame: pd.DataFrame, env: EvalEnvironment) -> None:
        self._look_up(expression, env)
        columns = self._columns(frame)
        for stage in range(self._stages):
            self._guarded(self._factor.memorize_chunk, self._state, stage, columns)
            self._guarded(self._factor.memorize_finish, self._state, stage)

    @classmethod
    def unlearned(cls, expression: Expression, env: EvalEnvironment) -> Evaluation:
        """Return the evaluation before any rows are seen; it has values unless it `learns`."""
        evaluation = cls.__new__(cls)
        evaluation._look_up(expression, env)
        return evaluation

    @property
    def learns(self) -> bool:
        """Whether the code has transforms that learn from all training rows, such as ``center``."""
        return self._stages > 0

    def values(self, frame: pd.DataFrame) -> Values:
        """Evaluate on the rows of `frame`; raises `InputError` where the code fails."""
        result = self._guarded(self._factor.eval, self._state, self._columns(frame))
        return result_values(result, self.expression.name, frame.index)

    def _look_up(self, expression: Expression, env: EvalEnvironment) -> None:
        """Keep the expression, and of the user's environment the names that its code uses."""
        self.expression = expression
        names = set(ast_names(expression.code)) - set(expression.columns)
        self._names = users_names(names, env)
        self._flags = env.flags
        self._connect()

    def _connect(self) -> None:
        """Set up patsy's evaluation with new transform objects, which have no state yet."""
        self._factor = EvalFactor(self.expression.code)
        self._state: dict[str, Any] = {}
        env = EvalEnvironment([self._names, FUNCTIONS], self._flags)
        self._stages = self._factor.memorize_passes_needed(self._state, env)

    def _columns(self, frame: pd.DataFrame) -> dict[str, pd.Series]:
        return {name: _ordinary(frame[name]) for name in self.expression.columns}

    def _guarded(self, function: Any, *args: Any) -> Any:
        """Call `function`; raise `InputError` for any error in the user's code."""
        try:
            with np.errstate(all="ignore"):
                return function(*args)
        except Exception as error:
            cause = error.__cause__ or error
            meant = as_meant_in_r(self.expression.code) if isinstance(cause, TypeError) else None
            kind = "" if isinstance(cause, InputError) else f"{type(cause).__name__}: "
            why = meant or f"{kind}{cause}"
            raise InputError(f"{self.expression.name!r} cannot be evaluated: {why}") from error

    @property
    def given(self) -> list[str]:
        """The names of the user's functions and other objects that are more than plain data."""
        return [name for name, value in self._names.items() if not is_harmless(value)]

    def __getstate__(self) -> dict[str, Any]:
        names = {name: _packed(value) for name, value in self._names.items()}
        return {**self.learned, "expression": self.expression, "names": names}

    def __setstate__(self, state: dict[str, Any]) -> None:
        names = {name: _unpacked(*packed) for name, packed in state["names"].items()}
        self._restore(state["expression"], names, state)

    def _restore(
        self, expression: Expression, names: dict[str, Any], learned: Mapping[str, Any]
    ) -> None:
        self.expression, self._names, self._flags = expression, names, learned["flags"]
        self._connect()
        for name, attributes in learned["transforms"].items():
            transform = self._state["transforms"][name]
            vars(transform).clear()
            vars(transform).update(attributes)

    @property
    def learned(self) -> dict[str, Any]:
        """What was learned from the training rows, as plain values and arrays."""
        # patsy forbids pickling its transforms, but their attributes are plain.
        transforms = self._state["transforms"]
        attributes = {name: dict(vars(transform)) for name, transform in transforms.items()}
        return {"flags": self._flags, "transforms": attributes}

    @property
    def plain_names(self) -> dict[str, Any]:
        """The values of the names that are not `given`: data, or functions that are trusted."""
        given = self.given
        return {name: value for name, value in self._names.items() if name not in given}

    def untrusted_part(self) -> str | None:
        """Return the first part of the code, beside the names `given`, that is not trusted."""
        expression = self.expression
        return untrusted_part(expression.code, expression.columns, self._names, self.given)


def restored(
    expression: Expression,
    names: Mapping[str, Any],
    given: Mapping[str, Any],
    learned: Mapping[str, Any],
    trusted: bool,
) -> Evaluation:
    """Return an evaluation of a file: its `plain_names`, `learned`, and values of `given` names.

    Raises `InputError` if code that is not `trusted` uses anything else than these and what
    `untrusted_part` trusts.
    """
    if len(expression.code) > LONGEST_CODE or learned["flags"] & ~FUTURE_FLAGS:
        raise InputError("an expression of its formula was never one")
    part = untrusted_part(expression.code, expression.columns, names, given)
    if part is not None and not trusted:
        raise InputError(
            f"{expression.name!r} in the formula uses {part!r}, {UNTRUSTED}: load(path, "
            "trusted=True) lets it run; use that only for a file that you trust"
        )
    evaluation = Evaluation.__new__(Evaluation)
    evaluation._restore(expression, {**names, **given}, learned)
    return evaluation


def _packed(value: Any) -> tuple[str, Any]:
    """Return `value` and how to restore it: modules and transforms cannot be pickled."""
    if isinstance(value, ModuleType):
        return "module", value.__name__
    if hasattr(value, "__patsy_stateful_transform__"):
        return "transform", value.__patsy_stateful_transform__
    return "value", value


def _unpacked(how: str, what: Any) -> Any:
    if how == "module":
        return importlib.import_module(what)
    return stateful_transform(what) if how == "transform" else what


def _ordinary(column: pd.Series) -> pd.Series:
    """Return a copy of a column of numbers in NumPy's widest type, contiguous in memory.

    Functions may not know pandas' types, small integers would overflow, and NumPy may round
    otherwise on strided memory, so that a row alone would differ.  User functions may write into
    it.
    """
    if isinstance(column.dtype, pd.CategoricalDtype):
        return column
    held = contents(column)
    if held == LOGICAL:
        widest: type = np.bool_
    elif held == NUMBERS:
        whole = is_integer_dtype(column.dtype) and str(column.dtype).lower() != "uint64"
        widest = np.int64 if whole else np.float64
    elif held == DATES or (held == PERIODS and is_object_dtype(column.dtype)):
        return as_dates(column, str(column.name))
    else:
        return column
    return pd.Series(np.ascontiguousarray(column.to_numpy(dtype=widest)), column.index, copy=True)


# About so many of the training rows are evaluated again.
ROWS = 200
ROUNDING = 1e-12


def warn_of_other_rows(evaluations: Iterable[Evaluation], frame: pd.DataFrame) -> None:
    """Warn, once for all, of expressions that give a row another value among fewer rows."""
    few = frame.iloc[:: max(1, len(frame) // ROWS)]
    names = [each.expression.name for each in evaluations if _depends_on_other_rows(each, few)]
    if names:
        warn_user(
            f"the formula computes {listed(names)} from all rows together, and predict() does so "
            "from the rows that it is given: a row alone gets another value. Use center(), "
            "scale(), standardize(), bs() or cr(), which remember the training rows, or compute "
            "the column before the fit"
        )


def alike(one: pd.DataFrame, other: pd.DataFrame) -> bool:
    """Return whether two tables hold the same, but for rounding."""
    if one.shape != other.shape:
        return False
    try:
        a, b = one.to_numpy(dtype=np.float64), other.to_numpy(dtype=np.float64)
    except (TypeError, ValueError):
        return bool((one.to_numpy() == other.to_numpy()).all())
    # functions of vectors may round the last rows of an array otherwise
    largest = np.abs(a[np.isfinite(a)]).max(initial=0.0)
    return bool(np.allclose(a, b, rtol=ROUNDING, atol=ROUNDING * largest, equal_nan=True))


def _depends_on_other_rows(evaluation: Evaluation, few: pd.DataFrame) -> bool:
    """Return whether some of the rows have other values in a half of these rows, or alone."""
    rows = selected(few, evaluation.expression.columns).dropna()
    whole = _values(evaluation, rows)
    if whole is None or whole.empty:
        return False
    # A value that is the same for every row alone is wrong for one of two that differ.
    different = int(pd.factorize(whole.iloc[:, 0])[0].argmax())
    for part in (slice(len(rows) // 2, None), slice(0, 1), slice(different, different + 1)):
        again = _values(evaluation, rows.iloc[part])
        if again is not None and not alike(whole.iloc[part], again):
            return True
    return False


def _values(evaluation: Evaluation, rows: pd.DataFrame) -> pd.DataFrame | None:
    """Return the values of some rows; None if the expression fails on so few."""
    with without_warnings():
        try:
            data: Any = evaluation.values(rows).data
        except InputError:
            return None
    return pd.DataFrame(data)
