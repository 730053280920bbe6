"""Trees as expressions of SQL."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import groupby

import numpy as np

from odrf.exports.describing import Branch, Description, Term
from odrf.exports.raw_columns import EmptyColumn, Labelled, LevelColumn
from odrf.exports.single_source import LabelSides, NumberSides, sides_of
from odrf.exports.sql_dialects import DIALECTS
from odrf.exports.sql_sources import SqlColumns

__all__ = ["sql_text"]

# Beyond it, floats are too far apart for a half.
MOST_WHOLE = 2.0**52


def sql_text(fit: Description, type: str, dialect: str, complete: bool) -> str:
    """Return the prediction of a tree as an expression; for "prob" one for each class, named.

    If `complete`, the rows have no empty cells, and no labels but the known ones.
    """
    writer = _Writer(fit, dialect, complete)
    known = writer.dialect

    def share(k: int) -> Callable[[int], str]:
        return lambda leaf: known.number(fit.probabilities_of(fit.value[leaf])[k])

    if type == "leaf":
        return writer.expression(lambda leaf: str(fit.nodes[leaf]))
    if type == "prob":
        columns = [
            f"{writer.numbers(share(k))} AS {known.name(str(label))}"
            for k, label in enumerate(fit.labels)
        ]
        return ",\n".join(columns)
    if not fit.labels:
        return writer.numbers(share(0))
    return writer.expression(lambda leaf: known.literal(fit.labels[fit.class_of(fit.value[leaf])]))


class _Writer:
    def __init__(self, fit: Description, dialect: str, complete: bool) -> None:
        self.fit = fit
        self.complete = complete
        self.dialect = DIALECTS[dialect]
        self.columns = SqlColumns(fit, self.dialect, complete)
        self.conditions = [self._condition(split) for split in fit.splits]

    def numbers(self, of_leaf: Callable[[int], str]) -> str:
        """Return an expression whose leaves are numbers."""
        text = self.expression(of_leaf)
        # PostgreSQL takes numbers with a point for decimals
        return text if self.dialect.exponent else f"CAST({text} AS {self.dialect.double})"

    def expression(self, of_leaf: Callable[[int], str]) -> str:
        """Return the tree, with what `of_leaf` gives for each leaf."""
        fit = self.fit
        if not fit.required or self.complete:
            return self._node(fit.roots[0], of_leaf, "")
        empty = " OR ".join(f"{self.dialect.name(column)} IS NULL" for column in fit.required)
        tree = self._node(fit.roots[0], of_leaf, "    ")
        return f"CASE\n  WHEN {empty} THEN NULL\n  ELSE\n    {tree}\nEND"

    def _node(self, node: int, of_leaf: Callable[[int], str], indent: str) -> str:
        if node < 0:
            return of_leaf(-1 - node)
        split, deeper = self.fit.splits[node], indent + "    "
        condition = self.conditions[node].replace("\n", f"\n{indent}       ")
        return (
            f"CASE\n{indent}  WHEN {condition} THEN\n"
            f"{deeper}{self._node(split.left, of_leaf, deeper)}\n{indent}  ELSE\n"
            f"{deeper}{self._node(split.right, of_leaf, deeper)}\n{indent}END"
        )

    def _condition(self, split: Branch) -> str:
        """Return the condition that a row goes left, which may be NULL for one that does not."""
        match sides_of(self.fit, split):
            case NumberSides() as sides:
                return self._number_condition(sides)
            case LabelSides() as sides:
                return self._label_condition(sides)
        used = [term for term in split.terms if not self._never(term)]
        terms = [term for each in groupby(used, self._factor) for term in self._terms(*each)]
        return "\n+ ".join(terms) + f" <= {self._threshold(split.threshold)}"

    def _never(self, term: Term) -> bool:
        """Return whether a term is 0 in all rows, because it tells empty cells."""
        column = self.fit.columns[term.column]
        return self.complete and isinstance(column, EmptyColumn) and column.present == 0

    def _number_condition(self, sides: NumberSides) -> str:
        cell, limit = self.columns.cell(sides.column), sides.limit
        empty = f"{cell} IS NULL"
        if math.isinf(limit):
            if self.complete:
                return "TRUE" if limit > 0 else "FALSE"
            if limit > 0:
                return "TRUE" if sides.empty_left else f"{cell} IS NOT NULL"
            return empty if sides.empty_left else "FALSE"
        if sides.column in self.fit.whole and abs(limit) < MOST_WHOLE:
            limit = math.floor(limit) + 0.5 if sides.upto else math.ceil(limit) - 0.5
        side = f"{cell} {'<=' if sides.upto else '>='} {self.dialect.number(limit)}"
        return f"{side} OR {empty}" if sides.empty_left and not self.complete else side

    def _label_condition(self, sides: LabelSides) -> str:
        cell = self.columns.cell(sides.column)
        if not sides.others_left or self.complete:
            return f"{cell} IN ({self._list(sides.left)})" if sides.left else "FALSE"
        if not sides.right:
            return "TRUE"
        return f"{cell} NOT IN ({self._list(sides.right)}) OR {cell} IS NULL"

    def _list(self, labels: tuple[object, ...]) -> str:
        return ", ".join(map(self.dialect.literal, labels))

    def _factor(self, term: Term) -> int | None:
        """Return the factor of which a term is a level, if it is no product."""
        column = self.fit.columns[term.column]
        if not isinstance(column, LevelColumn) or len(column.parts) > 1:
            return None
        return column.parts[0].source

    def _terms(self, source: int | None, terms: object) -> list[str]:
        """Return terms that follow one another: of one factor as one, whose sum is the same."""
        listed: list[Term] = list(terms)  # type: ignore[call-overload]
        if source is None:
            return [self.columns.term(*term) for term in listed]
        assert isinstance(self.fit.sources[source], Labelled)
        codes = {self._code(term): term.coefficient for term in listed}
        return [self.columns.levels(source, codes)]

    def _code(self, term: Term) -> int:
        column = self.fit.columns[term.column]
        assert isinstance(column, LevelColumn)
        return column.parts[0].code or 0

    def _threshold(self, threshold: np.float32) -> str:
        if self.dialect.single is not None:
            return self.dialect.single_number(threshold)
        # midway to the next number of 32 bits, which would go to the other side
        above = float(np.nextafter(threshold, np.float32(np.inf)))
        return self.dialect.number((float(threshold) + above) / 2)
