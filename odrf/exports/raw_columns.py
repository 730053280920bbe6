"""The columns of the matrix as functions of the columns of the user's data frame."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from odrf.design import INDICATORS, Design
from odrf.design.columns import LOGICAL, NUMBERS, TEXT
from odrf.design.encoding import Durations, Indicators, Moments, Numbers, Ranks
from odrf.design.ranks import OwnRanks
from odrf.design.scaling import FARTHEST
from odrf.design.variables import Variable
from odrf.engine.directions.candidates import has_many_levels
from odrf.errors import InputError
from odrf.exports.expressions import Cell, Numeric, RankedCell, numeric_of

__all__ = [
    "EmptyColumn",
    "Labelled",
    "LevelColumn",
    "MatrixColumn",
    "Multiplier",
    "NumberColumn",
    "Source",
    "can_be_empty",
    "columns_of_matrix",
    "kinds_of_labels",
    "raw_kinds",
    "require_known",
    "sources_of",
    "type_of_labels",
]


@dataclass(frozen=True)
class Labelled:
    """A factor: the number of the label in a column, -1 for an empty cell or any other value.

    Attributes
    ----------
    column : str
    labels : tuple
        None in the place of a level that no training row has.
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


def raw_kinds(design: Design) -> dict[str, str]:
    """Return what each column of the data holds: "number", "logical" or "text", or what else."""
    names = {NUMBERS: "number", LOGICAL: "logical", TEXT: "text"}
    schema = design.schema
    return {
        column: names.get(held, held)
        for column, held in zip(schema.columns, schema.contents, strict=True)
    }


def kinds_of_labels(
    kinds: Mapping[str, str], sources: Iterable[Source | InputError]
) -> dict[str, str]:
    """Return what the columns hold, where factors are what their labels are, if of one type.

    A column of categories says of numbers, too, that they are text, if they are objects.
    """
    found = dict(kinds)
    for source in sources:
        if isinstance(source, Labelled | RankedCell):
            labels = [label for label in source.labels if label is not None]
            found[source.column] = type_of_labels(labels) or found[source.column]
    return found


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
    return tuple(_source_or_reason(variable) for variable in design.recipe.variables)


def _source_or_reason(variable: Variable) -> Source | InputError:
    try:
        return _source(variable)
    except InputError as reason:
        return reason


def _source(variable: Variable) -> Source:
    encoding, evaluation = variable.encoding, variable.evaluation
    if isinstance(encoding, Indicators | Ranks):
        column = variable.name
        if evaluation is not None:
            column = _single_column(variable)
        absent = set(encoding.absent) if isinstance(encoding, Indicators) else set()
        labels = tuple(None if label in absent else _plain(label) for label in encoding.levels)
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


def _plain(label: Any) -> Any:
    return label.item() if isinstance(label, np.generic) else label


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
    found: list[int] = []
    many = has_many_levels(design.feature_groups)
    for j in range(len(recipe.terms)):
        is_factor = recipe.types[j] == INDICATORS
        if recipe.holes[j] or (is_factor and (many[j] or design.missing != "split")):
            continue
        found += range(int(recipe.first[j]), int(recipe.first[j + 1]))
    return found
