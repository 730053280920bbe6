"""Trees as expressions of SQL."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from odrf.design.scaling import FARTHEST
from odrf.errors import InputError
from odrf.exports import columns as matrix
from odrf.exports.trees import (
    Branch,
    Description,
    LabelSides,
    NumberSides,
    Term,
    cells_of,
    require_labels,
    require_names,
    sides_of,
)

# The first of the numbers that SQLite does not read as precisely as others, and a power of two.
TINY, SCALE = 1e-250, 2.0**600


@dataclass(frozen=True)
class Dialect:
    """A dialect of SQL.

    `title`: what it is called.  `double`: the type of floats of 64 bits.  `single`: the type of
    floats of 32 bits, in which sums are added; None where there is none.  `exponent`: whether a
    number needs an exponent to be a float, not a decimal.  `most_whole`: the largest whole number
    that it has as such.  `as_read`: returns what it makes of the name of a column in quotes.
    """

    title: str
    double: str
    single: str | None
    exponent: bool
    most_whole: int
    as_read: Callable[[str], str]

    def number(self, value: float) -> str:
        """Return a float of 64 bits."""
        if self.single is None:
            return _for_sqlite(float(value))
        text = repr(float(value))
        return text if not self.exponent or "e" in text else f"{text}e0"

    def single_number(self, value: np.floating) -> str:
        """Return a float of 32 bits; in 64 where there are none."""
        if self.single is None:
            return self.number(float(value))
        # the shortest digits from which 32 bits are read
        digits = str(np.float32(value))
        digits = digits if not self.exponent or "e" in digits else f"{digits}e0"
        return f"CAST({digits} AS {self.single})"

    def narrowed(self, text: str) -> str:
        """Return an expression of 64 bits in 32."""
        return text if self.single is None else f"CAST({text} AS {self.single})"

    def clipped(self, text: str, farthest: float) -> str:
        """Return a number between ±`farthest`; it must not be NULL, which some would leave out."""
        least, greatest = ("MIN", "MAX") if self.single is None else ("LEAST", "GREATEST")
        return f"{least}({greatest}({text}, {self.number(-farthest)}), {self.number(farthest)})"

    def literal(self, value: Any) -> str:
        """Return a text, truth or number of the user."""
        if isinstance(value, bool):
            return "TRUE" if value else "FALSE"
        if isinstance(value, str):
            return "'" + value.replace("'", "''") + "'"
        return str(value) if isinstance(value, int) else self.number(value)

    @staticmethod
    def name(column: str) -> str:
        """Return the name of a column in quotes."""
        return '"' + column.replace('"', '""') + '"'


def _for_sqlite(value: float) -> str:
    """Return a float by digits from which SQLite reads it exactly, though it rounds twice.

    The shortest digits can lie so near the middle between two floats that it reads the other one.
    """
    if 0 < abs(value) < TINY:
        return f"({_for_sqlite(value * SCALE)} * {1 / SCALE!r})"
    text = repr(value)
    if abs(Fraction(text) - Fraction(value)) > Fraction(9, 20) * Fraction(math.ulp(value)):
        return f"{value:.17g}"
    return text


def _in_small_letters(name: str) -> str:
    """Return a name whose capitals of the English alphabet are small: others are told apart."""
    return re.sub("[A-Z]", lambda letter: letter[0].lower(), name)


def _first_bytes(name: str) -> str:
    """Return the 63 bytes of a name that PostgreSQL reads."""
    return name.encode("utf-8", "replace")[:63].decode("utf-8", "ignore")


DIALECTS = {
    "duckdb": Dialect("DuckDB", "DOUBLE", "REAL", True, 2**127 - 1, _in_small_letters),
    "postgres": Dialect("PostgreSQL", "DOUBLE PRECISION", "REAL", False, 2**127 - 1, _first_bytes),
    "sqlite": Dialect("SQLite", "REAL", None, False, 2**63 - 1, _in_small_letters),
}


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
    """The columns of the matrix in SQL; if `complete`, no cells are empty, all labels known."""

    def __init__(self, fit: Description, dialect: Dialect, complete: bool) -> None:
        self.fit = fit
        self.dialect = dialect
        self.complete = complete

    def cell(self, column: str) -> str:
        """Return the cell of a column of the data, filled if the fit has fills."""
        name = self.dialect.name(column)
        if column not in self.fit.fills:
            return name
        return f"COALESCE({name}, {self.dialect.literal(self.fit.fills[column])})"

    def number(self, value: matrix.Numeric) -> str:
        """Return a number in 64 bits; NULL where a cell that it needs is empty."""
        match value:
            case matrix.Literal(value=number):
                return self.dialect.number(number)
            case matrix.Cell(column=column) if self.fit.kinds[column] == "logical":
                cell = self.cell(column)
                one, zero = self.dialect.number(1.0), self.dialect.number(0.0)
                return f"CASE WHEN {cell} THEN {one} WHEN NOT {cell} THEN {zero} END"
            case matrix.Cell(column=column):
                return f"CAST({self.cell(column)} AS {self.dialect.double})"
            case matrix.RankedCell(column=column, labels=labels):
                ranks = " ".join(
                    f"WHEN {self.dialect.literal(label)} THEN {self.dialect.number(rank)}"
                    for rank, label in enumerate(labels, start=1)
                )
                return f"CASE {self.cell(column)} {ranks} END"
            case matrix.Applied(function=function, arguments=arguments):
                if function not in FUNCTIONS:
                    raise InputError(
                        f"to_sql() does not know the function {function!r} of the formula: compute "
                        "it as a column of the data before fitting, or write it with log() or exp()"
                    )
                return FUNCTIONS[function].format(*map(self.number, arguments))

    def is_label(self, source: int, code: int) -> str:
        """Return the condition that a factor has the level of a code."""
        factor = self.fit.factor(source)
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
        if isinstance(of, matrix.Labelled):
            known = ", ".join(self.dialect.literal(each) for each in of.labels if each is not None)
            cell = self.cell(of.column)
            unknown = f"{cell} NOT IN ({known})"
            return unknown if of.column in fit.fills else f"{cell} IS NULL OR {unknown}"
        if isinstance(of, matrix.RankedCell):
            return f"({self.number(of)}) IS NULL"
        tests = [f"{self.cell(cell)} IS NULL" for cell in cells_of(of) if cell not in fit.fills]
        return " OR ".join(tests) or "FALSE"

    def term(self, column: int, coefficient: np.float32) -> str:
        """Return a coefficient times a column of the matrix, in 32 bits."""
        match self.fit.columns[column]:
            case matrix.LevelColumn(parts=parts):
                tests = " AND ".join(self.is_label(each.source, each.code or 0) for each in parts)
                return self._where(tests, coefficient, np.float32(0))
            case matrix.EmptyColumn(sources=sources, empty=empty, present=present):
                if self.complete:
                    return self.dialect.single_number(coefficient * present)
                tests = " OR ".join(map(self.is_empty, sources))
                return self._where(tests, coefficient * empty, coefficient * present)
            case matrix.NumberColumn() as number:
                return self._scaled(number, coefficient)

    def levels(self, source: int, coefficients: dict[int, np.float32]) -> str:
        """Return the coefficient of the level that a factor has, by code; 0 for others."""
        factor = self.fit.factor(source)
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

    def _scaled(self, column: matrix.NumberColumn, coefficient: np.float32) -> str:
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
        if any(
            isinstance(self.fit.sources[part.source], matrix.Cell | matrix.Applied)
            for part in column.parts
        ):
            scaled = dialect.clipped(scaled, FARTHEST)
        text = dialect.narrowed(scaled) if dialect.single is not None else f"({scaled})"
        return f"{dialect.single_number(coefficient)} * {text}"

    def _part(self, part: matrix.Multiplier) -> str:
        if part.code is None:
            of = self.fit.sources[part.source]
            assert not isinstance(of, matrix.Labelled)
            return self.number(of)
        one, zero = self.dialect.number(1.0), self.dialect.number(0.0)
        test, empty = self.is_label(part.source, part.code), self.is_empty(part.source)
        if self.complete:
            return f"CASE WHEN {test} THEN {one} ELSE {zero} END"
        return f"CASE WHEN {empty} THEN NULL WHEN {test} THEN {one} ELSE {zero} END"


# Beyond it, floats are too far apart for a half.
MOST_WHOLE = 2.0**52
# By whether numbers up to the limit go left, and whether it is asked what goes left.
COMPARISONS = {(True, True): "<=", (True, False): ">", (False, True): ">=", (False, False): "<"}


def sql_text(fit: Description, type: str, dialect: str, complete: bool) -> str:
    """Return the prediction of a tree as an expression; for "prob" one for each class, named.

    If `complete`, the rows have no missing values, and no labels but the known ones.
    """
    writer = _Writer(fit, dialect, complete)
    known = writer.dialect
    others = (*fit.kinds, fit.response)
    require_names("column", fit.inputs, known.title, others, known.as_read)
    require_labels(fit, known.title, known.most_whole)

    def share(k: int) -> Callable[[int], str]:
        return lambda leaf: known.number(fit.probabilities_of(fit.value[leaf])[k])

    if type == "leaf":
        return writer.expression(lambda leaf: str(fit.nodes[leaf]))
    if type == "prob":
        require_names("class", map(str, fit.labels), known.title, as_read=known.as_read)
        columns = [
            f"{writer.numbers(share(k))} AS {known.name(str(label))}"
            for k, label in enumerate(fit.labels)
        ]
        return ",\n".join(columns)
    if not fit.labels:
        return writer.numbers(share(0))

    def label(leaf: int) -> str:
        return known.literal(fit.labels[fit.class_of(fit.value[leaf])])

    floats = any(isinstance(each, float) for each in fit.labels)
    return writer.numbers(label) if floats else writer.expression(label)


class _Writer:
    def __init__(self, fit: Description, dialect: str, complete: bool) -> None:
        self.fit = fit
        self.complete = complete
        self.dialect = DIALECTS[dialect]
        self.columns = SqlColumns(fit, self.dialect, complete)
        self.alike: dict[int, str] = {}
        self.n_leaves = _leaves_below(fit.splits)

    def numbers(self, of_leaf: Callable[[int], str]) -> str:
        """Return an expression whose leaves are numbers."""
        text = self.expression(of_leaf)
        # PostgreSQL takes numbers with a point for decimals
        return text if self.dialect.exponent else f"CAST({text} AS {self.dialect.double})"

    def expression(self, of_leaf: Callable[[int], str]) -> str:
        """Return the tree, with what `of_leaf` gives for each leaf."""
        fit = self.fit
        self.alike = _alike(fit.splits, of_leaf)
        if not fit.required or self.complete:
            return self._node(fit.roots[0], of_leaf, "")
        empty = " OR ".join(f"{self.dialect.name(column)} IS NULL" for column in fit.required)
        tree = self._node(fit.roots[0], of_leaf, "    ")
        return f"CASE\n  WHEN {empty} THEN NULL\n  ELSE\n    {tree}\nEND"

    def _node(self, node: int, of_leaf: Callable[[int], str], indent: str) -> str:
        """Return a subtree: one CASE that follows the larger child, with others inside it.

        So expressions are inside each other at most as often as leaves can be halved: the parser of
        SQLite knows no more than some twenty.
        """
        if node < 0 or node in self.alike:
            return self._end(node, of_leaf)
        deeper = indent + "    "
        lines = ["CASE"]
        while node >= 0 and node not in self.alike:
            split = self.fit.splits[node]
            left_is_larger = self._size(split.left) > self._size(split.right)
            node, smaller = split.right, split.left
            if left_is_larger:
                node, smaller = smaller, node
            condition = self._condition(split, not left_is_larger, f"\n{indent}       ")
            lines.append(f"{indent}  WHEN {condition} THEN")
            lines.append(f"{deeper}{self._node(smaller, of_leaf, deeper)}")
        lines += [f"{indent}  ELSE", f"{deeper}{self._end(node, of_leaf)}", f"{indent}END"]
        return "\n".join(lines)

    def _end(self, node: int, of_leaf: Callable[[int], str]) -> str:
        return of_leaf(-1 - node) if node < 0 else self.alike[node]

    def _size(self, node: int) -> int:
        return 1 if node < 0 else self.n_leaves[node]

    def _condition(self, split: Branch, left: bool, line: str) -> str:
        """Return the condition that a row goes left, or right; it may be NULL for others.

        `line` begins a new line.  Lines are not indented later: names and labels may have breaks.
        """
        match sides_of(self.fit, split):
            case NumberSides() as sides:
                return self._number_condition(sides, left)
            case LabelSides() as sides:
                return self._label_condition(sides, left)
        used = [term for term in split.terms if not self._never(term)]
        terms = [text for run in self.fit.runs_of(used) for text in self._run(*run)]
        comparison = "<=" if left else ">"
        return f"{line}+ ".join(terms) + f" {comparison} {self._threshold(split.threshold)}"

    def _never(self, term: Term) -> bool:
        """Return whether a term is 0 in all rows, because it tells missing values."""
        column = self.fit.columns[term.column]
        return self.complete and isinstance(column, matrix.EmptyColumn) and column.present == 0

    def _number_condition(self, sides: NumberSides, left: bool) -> str:
        cell, limit = self.columns.cell(sides.column), sides.limit
        empty = f"{cell} IS NULL"
        with_empty = sides.empty_left == left and not self.complete
        if math.isinf(limit):
            if (limit > 0) == left:
                return "TRUE" if with_empty or self.complete else f"{cell} IS NOT NULL"
            return empty if with_empty else "FALSE"
        if sides.column in self.fit.whole and abs(limit) < MOST_WHOLE:
            limit = math.floor(limit) + 0.5 if sides.upto else math.ceil(limit) - 0.5
        comparison = COMPARISONS[sides.upto, left]
        side = f"{cell} {comparison} {self.dialect.number(limit)}"
        return f"{side} OR {empty}" if with_empty else side

    def _label_condition(self, sides: LabelSides, left: bool) -> str:
        cell = self.columns.cell(sides.column)
        here, there = (sides.left, sides.right) if left else (sides.right, sides.left)
        if sides.others_left != left or self.complete:
            return f"{cell} IN ({self._list(here)})" if here else "FALSE"
        if not there:
            return "TRUE"
        return f"{cell} NOT IN ({self._list(there)}) OR {cell} IS NULL"

    def _list(self, labels: tuple[object, ...]) -> str:
        return ", ".join(map(self.dialect.literal, labels))

    def _run(self, factor: int | None, terms: list[Term]) -> list[str]:
        """Return terms that follow one another: of one factor as one, whose sum is the same."""
        if factor is None:
            return [self.columns.term(*term) for term in terms]
        return [self.columns.levels(factor, self.fit.by_code(terms))]

    def _threshold(self, threshold: np.float32) -> str:
        if self.dialect.single is not None:
            return self.dialect.single_number(threshold)
        # midway to the next number of 32 bits, which would go to the other side
        above = float(np.nextafter(threshold, np.float32(np.inf)))
        return self.dialect.number((float(threshold) + above) / 2)


def _leaves_below(splits: Sequence[Branch]) -> list[int]:
    """Return the number of leaves below each split; children come after their parents."""
    n_leaves = [1] * len(splits)
    for at in range(len(splits) - 1, -1, -1):
        children = (splits[at].left, splits[at].right)
        n_leaves[at] = sum(1 if child < 0 else n_leaves[child] for child in children)
    return n_leaves


def _alike(splits: Sequence[Branch], of_leaf: Callable[[int], str]) -> dict[int, str]:
    """Return the splits below which all leaves have the same text, with it."""
    alike: dict[int, str] = {}
    for at in range(len(splits) - 1, -1, -1):
        children = (splits[at].left, splits[at].right)
        texts = {of_leaf(-1 - child) if child < 0 else alike.get(child) for child in children}
        text = texts.pop()
        if not texts and text is not None:
            alike[at] = text
    return alike
