"""Which code of a formula from outside may run: that of the package, NumPy's arithmetic, no more.

Formulas of users are as safe as their other code; one of a file or command line may be another's.
"""

from __future__ import annotations

import ast
import builtins
import datetime
import inspect
import math
from collections.abc import Collection, Mapping
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd
import patsy.builtins
from pandas.api.types import is_object_dtype

from odrf.design.formula import Expression, Formula
from odrf.design.functions import FUNCTIONS
from odrf.errors import InputError


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# What Python itself has and neither reads, writes nor runs anything.
OF_PYTHON = ("abs", "bool", "float", "int", "len", "max", "min", "pow", "round", "str", "sum")

# Beside the functions of NumPy that work element by element, all of which are trusted.
OF_NUMPY = _words("""
    all angle any array around asarray average bool_ clip column_stack cumsum diff digitize e
    euler_gamma float32 float64 full_like i0 imag inf int32 int64 interp isclose isin max mean
    median min nan nan_to_num nanmax nanmean nanmedian nanmin nanquantile nanstd nansum newaxis
    ones_like percentile pi piecewise ptp quantile real real_if_close round searchsorted select
    sinc std sum transpose unwrap var where zeros_like
""")

# Methods and attributes of columns and of what is computed from them.
OF_COLUMNS = _words("""
    abs add between cat ceil clip codes combine_first contains count day day_name day_of_year
    dayofweek dayofyear days days_in_month div dt endswith eq fillna find floor floordiv ge get gt
    hour imag
    isalnum isalpha isdigit isin isna isnull isnumeric le len lower lstrip lt map mask max mean
    median microsecond min minute mod mode month month_name mul ne normalize notna notnull
    nunique pow quantile quarter real removeprefix removesuffix replace round rstrip second
    seconds size slice split startswith std str strip sub sum title total_seconds truediv upper
    var weekday where year zfill
""")

UNTRUSTED = (
    "which is neither a function of the package nor arithmetic of NumPy that leaves its inputs as "
    "they are"
)
"""What is said of the part that `untrusted_part` finds."""

# Arguments by which a function writes into what it is given, or into nothing that it was given.
OUTPUTS = _words("out where inplace copy overwrite_input")

# Methods of arrays take so many arguments by place; the next one would be an output.
INPUTS_OF_METHODS = {
    **dict.fromkeys(("max", "min", "round"), 1),
    **dict.fromkeys(("clip", "mean", "std", "sum", "var"), 2),
}

_ARITHMETIC = (
    *(ast.BinOp, ast.BoolOp, ast.Compare, ast.Constant, ast.Dict, ast.IfExp, ast.List, ast.Set),
    *(ast.Slice, ast.Subscript, ast.Tuple, ast.UnaryOp, ast.keyword),
    *(ast.boolop, ast.cmpop, ast.expr_context, ast.operator, ast.unaryop),
)
_PLAIN = (
    *(bool, int, float, complex, str, bytes, type(None), np.generic),
    *(datetime.date, datetime.time, datetime.timedelta),
)


def _numpy_names() -> frozenset[str]:
    elementwise = [name for name, value in vars(np).items() if isinstance(value, np.ufunc)]
    return OF_NUMPY.intersection(vars(np)).union(elementwise)


_OF_MODULE = {
    np: _numpy_names(),
    math: frozenset(name for name in vars(math) if not name.startswith("_")),
}
_BY_NAME: dict[str, Any] = {
    **{name: getattr(builtins, name) for name in OF_PYTHON},
    **{name: getattr(patsy.builtins, name) for name in patsy.builtins.__all__},
    **FUNCTIONS,
}
_TRUSTED: dict[str, Any] = {
    **_BY_NAME,
    **{module.__name__: module for module in _OF_MODULE},
    **{
        f"{module.__name__}.{name}": getattr(module, name)
        for module, names in _OF_MODULE.items()
        for name in sorted(names)
    },
}
_FUNCTIONS = list(_TRUSTED.values())
_OF_NUMPY = [value for value in map(vars(np).get, _OF_MODULE[np]) if callable(value)]
_TRANSFORMS = {
    value.__patsy_stateful_transform__
    for value in _BY_NAME.values()
    if hasattr(value, "__patsy_stateful_transform__")
}


def is_harmless(value: Any) -> bool:
    """Return whether a value that a formula uses is data, or a function that is trusted."""
    if isinstance(value, dict):
        value = [*value, *value.values()]
    if isinstance(value, list | tuple | set | frozenset):
        # what is taken out of a list has no name, so nothing would tell a module from a column
        return all(is_harmless(one) and not isinstance(one, ModuleType) for one in value)
    if isinstance(value, np.ndarray):
        return not value.dtype.hasobject
    if isinstance(value, pd.Series | pd.Index):
        return not is_object_dtype(value.dtype) or all(map(is_harmless, value.tolist()))
    if isinstance(value, ModuleType):
        return value in _OF_MODULE
    transform = getattr(value, "__patsy_stateful_transform__", None)
    if transform is not None:
        return transform in _TRANSFORMS
    return isinstance(value, _PLAIN) or any(value is trusted for trusted in _FUNCTIONS)


def trusted_name(value: Any) -> str | None:
    """Return the name of a function, transform or module that is trusted; None for all else."""
    transform = _transform_of(value)
    for name, trusted in _TRUSTED.items():
        same = transform is not None and transform is _transform_of(trusted)
        if same or (value is trusted and not isinstance(value, _PLAIN)):
            return name
    return None


def trusted_value(name: str) -> Any:
    """Return what `trusted_name` gives this name; raise `InputError` if it gives it to nothing."""
    if name not in _TRUSTED:
        raise InputError(f"{name!r} is no function that this version knows")
    return _TRUSTED[name]


def _transform_of(value: Any) -> Any:
    return getattr(value, "__patsy_stateful_transform__", None)


def untrusted_part(
    code: str, columns: Collection[str], names: Mapping[str, Any], given: Collection[str] = ()
) -> str | None:
    """Return the first part of an expression's code that is not trusted; None if all is.

    `names` are values of names that not every formula knows; those `given` are trusted in any case.
    """
    tree = ast.parse(code, mode="eval").body
    # A column cannot be called, so its name stands for a function there.
    called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    values = {**_BY_NAME, **names}
    named: dict[int, Any] = {
        id(node): values.get(node.id)
        for node in ast.walk(tree)
        if isinstance(node, ast.Name) and (id(node) in called or node.id not in columns)
    }
    parts = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            if id(node) not in named or node.id in given:
                continue
            apart = isinstance(named[id(node)], ModuleType) and id(node) not in parts
            if node.id in values and is_harmless(named[id(node)]) and not apart:
                continue
        elif isinstance(node, ast.Attribute):
            of_given = isinstance(node.value, ast.Name) and node.value.id in given
            value = named.get(id(node.value))
            known = OF_COLUMNS
            if isinstance(value, ModuleType):
                known = _OF_MODULE.get(value, frozenset())
            if node.attr in known or (of_given and not node.attr.startswith("_")):
                continue
        elif isinstance(node, ast.Call):
            part = _output(node, named, given)
            if part is None:
                continue
            return ast.unparse(part)
        elif isinstance(node, _ARITHMETIC):
            continue
        return ast.unparse(node)
    return None


def _output(call: ast.Call, named: Mapping[int, Any], given: Collection[str]) -> ast.AST | None:
    """Return what makes a call write somewhere, or hides what is called; None for inputs only."""
    function = call.func
    holder = function.value if isinstance(function, ast.Attribute) else function
    if isinstance(holder, ast.Name) and holder.id in given:
        return None
    if not isinstance(function, ast.Name | ast.Attribute):
        return function
    for keyword in call.keywords:
        if keyword.arg is None or keyword.arg in OUTPUTS:
            return keyword
    value = named.get(id(holder))
    if not isinstance(function, ast.Attribute):
        n_inputs = _n_inputs(value)
    elif isinstance(value, ModuleType):
        n_inputs = _n_inputs(getattr(value, function.attr, None))
    else:
        n_inputs = INPUTS_OF_METHODS.get(function.attr)
    return None if n_inputs is None or len(call.args) <= n_inputs else call


def _n_inputs(function: Any) -> int | None:
    """Return how many arguments a function of NumPy takes by place before outputs; else None."""
    if isinstance(function, np.ufunc):
        return function.nin
    if not any(function is of_numpy for of_numpy in _OF_NUMPY):
        return None
    try:
        parameters = inspect.signature(function).parameters
    except ValueError:  # such functions of C have no outputs
        return None
    for n, (name, parameter) in enumerate(parameters.items()):
        if name in OUTPUTS or parameter.kind >= parameter.VAR_POSITIONAL:
            return n
    return None


def require_trusted(formula: Formula) -> None:
    """Raise `InputError` if an expression of the formula uses code that is not trusted."""
    for atom in (formula.response, *(atom for term in formula.terms for atom in term)):
        part = untrusted_part(atom.code, atom.columns, {}) if isinstance(atom, Expression) else None
        if part is not None:
            raise InputError(
                f"formula: {atom.name!r} uses {part!r}, {UNTRUSTED}: fit in Python, where a "
                "formula may use any function"
            )
