"""Terms of formulas that other languages have: arithmetic and well-known functions."""

from __future__ import annotations

import ast
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import patsy.builtins

from odrf.design.evaluation import Evaluation
from odrf.design.functions import FUNCTIONS
from odrf.errors import InputError

__all__ = ["Applied", "Cell", "Literal", "Numeric", "RankedCell", "numeric_of"]


@dataclass(frozen=True)
class Literal:
    """A number."""

    value: float


@dataclass(frozen=True)
class Cell:
    """The number in a column of the data; 1 and 0 for True and False."""

    column: str


@dataclass(frozen=True)
class RankedCell:
    """The rank 1, 2, … of the label in a column of the data; empty for any other value."""

    column: str
    labels: tuple[Any, ...]


@dataclass(frozen=True)
class Applied:
    """A function or an operator, by its name, of numbers in float64."""

    function: str
    arguments: tuple[Numeric, ...]


Numeric = Literal | Cell | RankedCell | Applied
"""A number in float64 computed from a row; empty if a cell that it needs is."""

_NAMES: dict[Any, str] = {
    **{np.log: "log", np.log2: "log2", np.log10: "log10", np.log1p: "log1p"},
    **{np.exp: "exp", np.expm1: "expm1", np.sqrt: "sqrt", np.abs: "abs", abs: "abs"},
    **{np.floor: "floor", np.ceil: "ceil", np.sin: "sin", np.cos: "cos", np.tan: "tan"},
    np.square: "square",
}
_OPERATORS: dict[type, str] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}


def numeric_of(evaluation: Evaluation, name: str) -> Numeric:
    """Return the expression of a formula that is called `name`.

    Raises
    ------
    InputError
        It uses something else than arithmetic and the functions known here.
    """
    code = evaluation.expression.code
    return _ExpressionReader(evaluation, name).read(ast.parse(code, mode="eval").body)


class _ExpressionReader:
    def __init__(self, evaluation: Evaluation, name: str) -> None:
        self.columns = evaluation.expression.columns
        self.names = evaluation.plain_names
        self.given = evaluation.given
        self.name = name

    def read(self, node: ast.expr) -> Numeric:
        match node:
            case ast.Constant(value=bool()):
                pass
            case ast.Constant(value=int() | float() as value) if math.isfinite(value):
                return Literal(float(value))
            case ast.Name(id=name) if name in self.columns:
                return Cell(name)
            case ast.Name(id=name) if _is_finite_number(self.names.get(name)):
                return Literal(float(self.names[name]))
            case ast.UnaryOp(op=ast.UAdd(), operand=operand):
                return self.read(operand)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return Applied("negative", (self.read(operand),))
            case ast.BinOp(left=left, op=ast.Pow(), right=right):
                return self._power(node, self.read(left), self.read(right))
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
                return Applied(_OPERATORS[type(op)], (self.read(left), self.read(right)))
            case ast.Call(func=ast.Name(id="Q"), args=[ast.Constant(value=str(column))]):
                return Cell(column)
            case ast.Call(func=function, args=[argument], keywords=[]):
                value = self._value(function)
                if value is patsy.builtins.I:
                    return self.read(argument)
                if _is_function(value):
                    return Applied(_NAMES[value], (self.read(argument),))
        raise self._unknown(node)

    def _power(self, node: ast.expr, base: Numeric, exponent: Numeric) -> Numeric:
        if not isinstance(exponent, Literal) or exponent.value in (0.0, -1.0):
            raise self._unknown(node)
        if exponent.value == 2.0:
            return Applied("square", (base,))
        if exponent.value == 0.5:
            return Applied("sqrt", (base,))
        return Applied("power", (base, exponent))

    def _value(self, function: ast.expr) -> Any:
        """Return what a name of a function stands for, or None."""
        if isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name):
            module = self._value(function.value)
            return getattr(module, function.attr, None) if module is np else None
        if not isinstance(function, ast.Name) or function.id in self.given:
            return None
        known = {"abs": abs, "I": patsy.builtins.I, **FUNCTIONS, **self.names}
        return known.get(function.id)

    def _unknown(self, node: ast.expr) -> InputError:
        return InputError(
            f"the term {self.name!r} cannot be written in another language, because of "
            f"{ast.unparse(node)!r}: exports know arithmetic, powers, and the functions "
            f"{', '.join(sorted(set(_NAMES.values())))}; compute it as a column of the data "
            "before fitting"
        )


def _is_finite_number(value: Any) -> bool:
    return isinstance(value, int | float | np.number) and bool(np.isfinite(value))


def _is_function(value: Any) -> bool:
    return value is abs or (isinstance(value, np.ufunc) and value in _NAMES)
