"""Evaluation of expressions by patsy, in a form that can be pickled."""

from __future__ import annotations

import importlib
from collections.abc import Collection, Mapping
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd
from pandas.api.types import is_integer_dtype, is_object_dtype
from patsy import EvalEnvironment, EvalFactor, stateful_transform
from patsy.eval import ast_names

from odrf.design.columns.measurement import DATES, LOGICAL, NUMBERS, PERIODS, contents
from odrf.design.columns.moments import as_dates
from odrf.design.columns.values import Values, result_values
from odrf.design.formulas.atoms import Expression
from odrf.design.formulas.functions import FUNCTIONS, users_names
from odrf.design.formulas.trusted import TRUSTED_MODULES, is_harmless, untrusted_part
from odrf.errors import InputError

__all__ = ["Evaluation", "restored"]


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

    @property
    def given(self) -> list[str]:
        """The names of the user's functions and other objects that are more than plain data."""
        return [name for name, value in self._names.items() if not is_harmless(value)]

    def __getstate__(self) -> dict[str, Any]:
        return self.state(())

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.expression = state["expression"]
        self._names = {name: _unpacked(*packed) for name, packed in state["names"].items()}
        self._flags = state["flags"]
        self._connect()
        for name, attributes in state["transforms"].items():
            transform = self._state["transforms"][name]
            vars(transform).clear()
            vars(transform).update(attributes)

    def state(self, without: Collection[str]) -> dict[str, Any]:
        """Return the state, in a form that can be pickled, but for the names in `without`."""
        return {
            "expression": self.expression,
            "names": {
                name: _packed(value) for name, value in self._names.items() if name not in without
            },
            "flags": self._flags,
            # patsy forbids pickling its transforms, but their attributes are plain arrays.
            "transforms": {
                name: vars(transform) for name, transform in self._state["transforms"].items()
            },
        }

    def untrusted_part(self) -> str | None:
        """Return the first part of the code, beside the names `given`, that is not trusted."""
        expression = self.expression
        return untrusted_part(expression.code, expression.columns, self._names, self.given)


def restored(state: Mapping[str, Any], given: Mapping[str, Any], trusted: bool) -> Evaluation:
    """Return the evaluation of a state that was written elsewhere.

    Parameters
    ----------
    state : mapping
        Made by `Evaluation.state`.
    given : mapping of str to object
        What the state was made without, by name.
    trusted : bool
        Whether the code may be any.  Otherwise it may use what is `given` and what
        `untrusted_part` trusts.

    Raises
    ------
    InputError
        The code is not trusted.
    """
    kept = {
        name: packed
        for name, packed in state["names"].items()
        if trusted or packed[0] != "module" or packed[1] in TRUSTED_MODULES
    }
    expression = state["expression"]
    values = {name: _unpacked(*packed) for name, packed in kept.items()}
    part = untrusted_part(expression.code, expression.columns, values, given)
    if part is not None and not trusted:
        raise InputError(
            f"{expression.name!r} in the formula uses {part!r}, which is neither a function of the "
            "package nor arithmetic of NumPy: load(path, trusted=True) lets it run; use that only "
            "for a file that you trust"
        )
    evaluation = Evaluation.__new__(Evaluation)
    packed = {name: _packed(value) for name, value in given.items()}
    evaluation.__setstate__({**state, "names": {**kept, **packed}})
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
    elif held == DATES or (held == PERIODS and is_object_dtype(column.dtype)):
        return as_dates(column, str(column.name))
    else:
        return column
    return pd.Series(np.ascontiguousarray(column.to_numpy(dtype=widest)), column.index)
