"""The columns of the matrix as functions of the columns of the user's data frame."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import patsy.builtins

from odrf.design import INDICATORS, Design
from odrf.design.columns import LOGICAL, NUMBERS, TEXT
from odrf.design.encoding import Durations, Indicators, Moments, Numbers, Ranks
from odrf.design.evaluation import Evaluation
from odrf.design.functions import FUNCTIONS
from odrf.design.ranks import OwnRanks
from odrf.design.scaling import FARTHEST
from odrf.design.variables import Variable
from odrf.engine.directions.candidates import FEW_LEVELS, has_levels
from odrf.errors import InputError


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
    """Return the expression of a formula that is called `name`."""
    code = evaluation.expression.code
    return _ExpressionReader(evaluation, name).read(ast.parse(code, mode="eval").body)


class _ExpressionReader:
    """Reads the syntax tree of a term; raises `InputError` for what exports do not know."""

    def __init__(self, evaluation: Evaluation, name: str) -> None:
        self.columns = evaluation.expression.columns
        self.names = evaluation.plain_names
        self.given = evaluation.given
        self.name = name

    def read(self, node: ast.expr) -> Numeric:
        """Return the numbers that a part of the tree stands for."""
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


@dataclass(frozen=True)
class Labelled:
    """A factor: the number of the label in a column, -1 for a missing value or any other value.

    `labels`: none in the place of a level that no training row has.
    """

    column: str
    labels: tuple[Any, ...]


Source = Numeric | Labelled
"""What an atom of the formula is computed from."""


@dataclass(frozen=True)
class Multiplier:
    """A factor of a product: a number, or 1 where a label has this code and else 0."""

    source: int
    code: int | None


@dataclass(frozen=True)
class NumberColumn:
    """A product scaled to (product - low) / range in float64, then float32; 0 if a part is empty.

    It is clipped to ±1e30.
    """

    parts: tuple[Multiplier, ...]
    low: float
    range: float

    def scaled(self, value: float) -> np.float32:
        """Return the scaled value of a product."""
        return np.float32(min(max((value - self.low) / self.range, -FARTHEST), FARTHEST))


@dataclass(frozen=True)
class LevelColumn:
    """1 where every label has its code, else 0."""

    parts: tuple[Multiplier, ...]


@dataclass(frozen=True)
class EmptyColumn:
    """One number where a source is empty, another where none is."""

    sources: tuple[int, ...]
    empty: np.float32
    present: np.float32


MatrixColumn = NumberColumn | LevelColumn | EmptyColumn


def kinds_of_columns(design: Design, sources: Iterable[Source | InputError]) -> dict[str, str]:
    """Return what each column of the data holds: "number", "logical" or "text", or what else.

    A factor holds what its labels are, if they are of one type: the schema says that a column of
    categories holds text also where they are numbers that are stored as objects.
    """
    names = {NUMBERS: "number", LOGICAL: "logical", TEXT: "text"}
    schema = design.schema
    held = zip(schema.columns, schema.contents, strict=True)
    kinds = {column: names.get(content, content) for column, content in held}
    for source in sources:
        if isinstance(source, Labelled | RankedCell):
            labels = [label for label in source.labels if label is not None]
            kinds[source.column] = type_of_labels(labels) or kinds[source.column]
    return kinds


def require_known(kinds: Mapping[str, str], columns: Iterable[str]) -> None:
    """Raise `InputError` if a column holds neither numbers, truths nor text."""
    for column in columns:
        if kinds[column] not in ("number", "logical", "text"):
            raise InputError(
                f"column {column!r} holds {kinds[column]}, which exports do not know: turn it into "
                "numbers before fitting, such as days since some day"
            )


def sources_of(design: Design) -> tuple[Source | InputError, ...]:
    """Return what each atom of the formula is computed from, or why another language cannot."""
    sources: list[Source | InputError] = []
    for variable in design.recipe.variables:
        try:
            sources.append(_source(variable))
        except InputError as reason:
            sources.append(reason)
    return tuple(sources)


def _source(variable: Variable) -> Source:
    encoding, evaluation = variable.encoding, variable.evaluation
    if isinstance(encoding, Indicators | Ranks):
        column = variable.name
        if evaluation is not None:
            column = _single_column(variable)
        absent = set(encoding.absent) if isinstance(encoding, Indicators) else set()
        labels = tuple(None if label in absent else plain(label) for label in encoding.levels)
        if not all(isinstance(label, str | bool | int | float | None) for label in labels):
            raise InputError(
                f"the levels of {variable.name!r} are neither text nor numbers: make them text "
                "before fitting, such as with .astype(str)"
            )
        if any(isinstance(label, float) and math.isinf(label) for label in labels):
            raise InputError(
                f"the levels of {variable.name!r} include an infinite number, which exports do not "
                "know: make them text before fitting, such as with .astype(str)"
            )
        if isinstance(encoding, Ranks):
            return RankedCell(column, labels)
        return Labelled(column, labels)
    if isinstance(encoding, Numbers) and encoding.suffixes == ("",):
        if evaluation is None:
            return Cell(variable.name)
        return numeric_of(evaluation, variable.name)
    if evaluation is None and isinstance(encoding, Moments | Durations):
        return Cell(variable.name)  # what the column holds says why it cannot be exported
    what = "counts as a date or a duration"
    if isinstance(encoding, Numbers):
        what = "has several columns"
    elif isinstance(encoding, OwnRanks):
        what = "counts as its rank, because 32 bits cannot tell its values apart"
    raise InputError(
        f"the term {variable.name!r} {what}, which exports do not know: compute what matters in "
        "it as columns of the data before fitting"
    )


def _single_column(variable: Variable) -> str:
    """Return the column in ``C(column)``."""
    column = variable.column_of_levels
    if column is not None:
        return column
    raise InputError(
        f"the term {variable.name!r} cannot be written in another language: compute it as a "
        "column of the data before fitting"
    )


def type_of_labels(labels: Iterable[Any]) -> str | None:
    """Return what labels are: "text", "logical" or "number"; None if they differ."""
    types = {
        "text" if isinstance(label, str) else "logical" if isinstance(label, bool) else "number"
        for label in labels
    }
    return types.pop() if len(types) == 1 else None


def plain(value: Any) -> Any:
    """Return a label or a fill as Python has it: no scalar of NumPy."""
    return value.item() if isinstance(value, np.generic) else value


def columns_of_matrix(design: Design) -> tuple[MatrixColumn | None, ...]:
    """Return each column of the matrix; None for one that is always 0."""
    return tuple(column for j in range(len(design.predictors)) for column in _columns(design, j))


def _columns(design: Design, j: int) -> Iterator[MatrixColumn | None]:
    recipe, scaling = design.recipe, design.scaling
    term, first, beyond = recipe.terms[j], int(recipe.first[j]), int(recipe.first[j + 1])
    places = range(first, beyond - int(recipe.holes[j]))
    is_factor = recipe.types[j] == INDICATORS
    products = recipe.combinations(j, [_multipliers(design, v) for v in term])
    for column, parts in zip(places, products, strict=True):
        low, span = float(scaling.low[column]), float(scaling.range[column])
        if span == 0:
            yield None
        elif is_factor:
            yield LevelColumn(parts)
        else:
            yield NumberColumn(parts, low, span)
    if recipe.holes[j]:
        low, span = float(scaling.low[beyond - 1]), float(scaling.range[beyond - 1])
        if span == 0:
            yield None
        elif is_factor:
            yield EmptyColumn(term, np.float32(1), np.float32(0))
        else:
            empty, present = ((value - low) / span for value in (1.0, 0.0))
            yield EmptyColumn(term, np.float32(empty), np.float32(present))


def _multipliers(design: Design, v: int) -> list[Multiplier]:
    """Return what variable v can contribute to a product."""
    variable = design.recipe.variables[v]
    codes = list(range(variable.width)) if variable.is_factor else [None] * variable.width
    return [Multiplier(v, code) for code in codes]


def can_be_empty(design: Design) -> list[int]:
    """Return the columns of the matrix that can be empty in new rows: they have fills in splits."""
    recipe = design.recipe
    fillable: list[int] = []
    many = has_levels(design.feature_groups, FEW_LEVELS)
    for j in range(len(recipe.terms)):
        is_factor = recipe.types[j] == INDICATORS
        if recipe.holes[j] or (is_factor and (many[j] or design.missing != "split")):
            continue
        fillable += range(int(recipe.first[j]), int(recipe.first[j + 1]))
    return fillable
