"""Cells, terms of formulas and columns of the matrix as expressions of SQL."""

from __future__ import annotations

import numpy as np

from odrf.design.scaling import FARTHEST
from odrf.errors import InputError
from odrf.exports.describing import Description, cells_of
from odrf.exports.expressions import Applied, Cell, Literal, Numeric, RankedCell
from odrf.exports.raw_columns import EmptyColumn, Labelled, LevelColumn, Multiplier, NumberColumn
from odrf.exports.sql_dialects import Dialect

__all__ = ["SqlColumns"]

FUNCTIONS = {
    "+": "({} + {})",
    "-": "({} - {})",
    "*": "({} * {})",
    "/": "({} / {})",
    "negative": "(- {})",
    "power": "POWER({}, {})",
    "square": "({0} * {0})",
    "log": "LN({})",
    **{name: f"{name.upper()}({{}})" for name in ("exp", "sqrt", "abs", "floor", "sin", "cos")},
    "ceil": "CEIL({})",
    "tan": "TAN({})",
}


class SqlColumns:
    """The columns of the matrix in a dialect of SQL.

    If `complete`, rows have no empty cells, and no labels but the known ones.
    """

    def __init__(self, fit: Description, dialect: Dialect, complete: bool) -> None:
        self.fit = fit
        self.dialect = dialect
        self.complete = complete

    def cell(self, column: str) -> str:
        """Return the cell of a column of the data, filled if the fit has fills."""
        name = self.dialect.name(column)
        if column not in self.fit.fills:
            return name
        fill = self.fit.fills[column]
        plain = fill.item() if isinstance(fill, np.generic) else fill
        return f"COALESCE({name}, {self.dialect.literal(plain)})"

    def number(self, value: Numeric) -> str:
        """Return a number in 64 bits; NULL where a cell that it needs is empty."""
        match value:
            case Literal(value=number):
                return self.dialect.number(number)
            case Cell(column=column) if self.fit.kinds[column] == "logical":
                cell = self.cell(column)
                one, zero = self.dialect.number(1.0), self.dialect.number(0.0)
                return f"CASE WHEN {cell} THEN {one} WHEN NOT {cell} THEN {zero} END"
            case Cell(column=column):
                return f"CAST({self.cell(column)} AS {self.dialect.double})"
            case RankedCell(column=column, labels=labels):
                ranks = " ".join(
                    f"WHEN {self.dialect.literal(label)} THEN {self.dialect.number(rank)}"
                    for rank, label in enumerate(labels, start=1)
                )
                return f"CASE {self.cell(column)} {ranks} END"
            case Applied(function=function, arguments=arguments):
                if function not in FUNCTIONS:
                    raise InputError(
                        f"to_sql() does not know the function {function!r} of the formula: compute "
                        "it as a column of the data before fitting, or write it with log() or exp()"
                    )
                return FUNCTIONS[function].format(*map(self.number, arguments))

    def is_label(self, source: int, code: int) -> str:
        """Return the condition that a factor has the level of a code."""
        factor = self._factor(source)
        label = factor.labels[code]
        if label is None:
            return "FALSE"
        return f"{self.cell(factor.column)} = {self.dialect.literal(label)}"

    def is_empty(self, source: int) -> str:
        """Return the condition that a source is empty, or a label not one of the known ones."""
        if self.complete:
            return "FALSE"
        fit = self.fit
        of = fit.sources[source]
        if isinstance(of, Labelled):
            known = ", ".join(self.dialect.literal(each) for each in of.labels if each is not None)
            cell = self.cell(of.column)
            unknown = f"{cell} NOT IN ({known})"
            return unknown if of.column in fit.fills else f"{cell} IS NULL OR {unknown}"
        if isinstance(of, RankedCell):
            return f"({self.number(of)}) IS NULL"
        tests = [f"{self.cell(cell)} IS NULL" for cell in cells_of(of) if cell not in fit.fills]
        return " OR ".join(tests) or "FALSE"

    def term(self, column: int, coefficient: np.float32) -> str:
        """Return a coefficient times a column of the matrix, in 32 bits."""
        match self.fit.columns[column]:
            case LevelColumn(parts=parts):
                tests = " AND ".join(self.is_label(each.source, each.code or 0) for each in parts)
                return self._where(tests, coefficient, np.float32(0))
            case EmptyColumn(sources=sources, empty=empty, present=present):
                if self.complete:
                    return self.dialect.single_number(coefficient * present)
                tests = " OR ".join(map(self.is_empty, sources))
                return self._where(tests, coefficient * empty, coefficient * present)
            case NumberColumn() as number:
                return self._scaled(number, coefficient)

    def levels(self, source: int, coefficients: dict[int, np.float32]) -> str:
        """Return the coefficient of the level that a factor has, by code; 0 for others."""
        factor = self._factor(source)
        cases = " ".join(
            f"WHEN {self.dialect.literal(factor.labels[code])} "
            f"THEN {self.dialect.single_number(coefficient)}"
            for code, coefficient in coefficients.items()
            if factor.labels[code] is not None
        )
        other = self.dialect.single_number(np.float32(0))
        return f"CASE {self.cell(factor.column)} {cases} ELSE {other} END" if cases else other

    def _where(self, condition: str, yes: np.float32, no: np.float32) -> str:
        single = self.dialect.single_number
        return f"CASE WHEN {condition} THEN {single(yes)} ELSE {single(no)} END"

    def _scaled(self, column: NumberColumn, coefficient: np.float32) -> str:
        dialect = self.dialect
        scaled = " * ".join(map(self._part, column.parts))
        if column.low != 0:
            sign = "-" if column.low > 0 else "+"
            scaled = f"({scaled} {sign} {dialect.number(abs(column.low))})"
        elif len(column.parts) > 1:
            scaled = f"({scaled})"
        if column.range != 1:
            scaled = f"{scaled} / {dialect.number(column.range)}"
        if any(self.is_empty(part.source) != "FALSE" for part in column.parts):
            scaled = f"COALESCE({scaled}, {dialect.number(0.0)})"
        if any(isinstance(self.fit.sources[part.source], Cell | Applied) for part in column.parts):
            scaled = dialect.clipped(scaled, FARTHEST)
        text = dialect.narrowed(scaled) if dialect.single is not None else f"({scaled})"
        return f"{dialect.single_number(coefficient)} * {text}"

    def _part(self, part: Multiplier) -> str:
        if part.code is None:
            of = self.fit.sources[part.source]
            assert not isinstance(of, Labelled)
            return self.number(of)
        one, zero = self.dialect.number(1.0), self.dialect.number(0.0)
        test, empty = self.is_label(part.source, part.code), self.is_empty(part.source)
        if self.complete:
            return f"CASE WHEN {test} THEN {one} ELSE {zero} END"
        return f"CASE WHEN {empty} THEN NULL WHEN {test} THEN {one} ELSE {zero} END"

    def _factor(self, source: int) -> Labelled:
        factor = self.fit.sources[source]
        assert isinstance(factor, Labelled)
        return factor
