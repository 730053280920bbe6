"""Evaluation of expressions by patsy, in a form that can be pickled."""

from __future__ import annotations

import importlib
import pickle
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd
from pandas.api.types import is_integer_dtype
from patsy import EvalEnvironment, EvalFactor, stateful_transform
from patsy.eval import ast_names

from odrf.design.columns.measurement import LOGICAL, NUMBERS, contents
from odrf.design.columns.values import Values, result_values
from odrf.design.formulas.atoms import Expression
from odrf.design.formulas.functions import FUNCTIONS, users_names
from odrf.errors import InputError

__all__ = ["Evaluation"]


class Evaluation:
    """An expression and the state of its stateful transforms, such as ``center`` and ``bs``.

    Parameters
    ----------
    expression : Expression
        The expression.
    frame : pandas.DataFrame
        Training rows, from which the transforms learn their state.
    env : patsy.EvalEnvironment
        The user's environment.  Only the names that the code uses are kept.

    Raises
    ------
    InputError
        The code fails on the training rows.
    """

    def __init__(self, expression: Expression, frame: pd.DataFrame, env: EvalEnvironment) -> None:
        self.expression = expression
        names = set(ast_names(expression.code)) - set(expression.columns)
        self._names = users_names(names, env)
        self._flags = env.flags
        self._connect()
        columns = self._columns(frame)
        for stage in range(self._stages):
            self._guarded(self._factor.memorize_chunk, self._state, stage, columns)
            self._guarded(self._factor.memorize_finish, self._state, stage)

    def values(self, frame: pd.DataFrame) -> Values:
        """Evaluate on the rows of `frame`; raises `InputError` where the code fails."""
        result = self._guarded(self._factor.eval, self._state, self._columns(frame))
        return result_values(result, self.expression.name, frame.index)

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
            raise InputError(
                f"{self.expression.name!r} cannot be evaluated: {type(cause).__name__}: {cause}"
            ) from error

    def __getstate__(self) -> dict[str, Any]:
        return {
            "expression": self.expression,
            "names": {name: self._packed(name, value) for name, value in self._names.items()},
            "flags": self._flags,
            # patsy forbids pickling its transforms, but their attributes are plain arrays.
            "transforms": {
                name: (type(transform), vars(transform))
                for name, transform in self._state["transforms"].items()
            },
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.expression = state["expression"]
        self._names = {name: _unpacked(*packed) for name, packed in state["names"].items()}
        self._flags = state["flags"]
        self._connect()
        for name, (kind, attributes) in state["transforms"].items():
            transform = kind.__new__(kind)
            vars(transform).update(attributes)
            self._state["transforms"][name] = transform

    def _packed(self, name: str, value: Any) -> tuple[str, Any]:
        """Return `value` and how to restore it: modules and transforms cannot be pickled."""
        if isinstance(value, ModuleType):
            return "module", value.__name__
        if hasattr(value, "__patsy_stateful_transform__"):
            return "transform", value.__patsy_stateful_transform__
        try:
            pickle.dumps(value)
        except Exception as error:
            raise InputError(
                f"the fit cannot be pickled: {name!r}, used in {self.expression.name!r}, cannot "
                f"be ({error}); define it at the top level of a module"
            ) from error
        return "value", value


def _unpacked(how: str, what: Any) -> Any:
    if how == "module":
        return importlib.import_module(what)
    return stateful_transform(what) if how == "transform" else what


def _ordinary(column: pd.Series) -> pd.Series:
    """Return a column of numbers in NumPy's widest type, contiguous in memory.

    Functions may not know pandas' nullable types, and small integers would overflow.  NumPy may
    round differently on strided memory, so a row alone would differ from the same training row.
    """
    if isinstance(column.dtype, pd.CategoricalDtype):
        return column
    held = contents(column)
    if held == LOGICAL:
        widest: type = np.bool_
    elif held == NUMBERS:
        whole = is_integer_dtype(column.dtype) and str(column.dtype).lower() != "uint64"
        widest = np.int64 if whole else np.float64
    else:
        return column
    return pd.Series(np.ascontiguousarray(column.to_numpy(dtype=widest)), column.index)
