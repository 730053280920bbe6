"""Trees as expressions of SQL."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import groupby

import numpy as np

from odrf.exports.describing import Branch, Description, Term
from odrf.exports.holdable import require_labels, require_names, require_sources
from odrf.exports.raw_columns import EmptyColumn, Labelled, LevelColumn
from odrf.exports.single_source import LabelSides, NumberSides, sides_of
from odrf.exports.sql_dialects import DIALECTS
from odrf.exports.sql_sources import SqlColumns

__all__ = ["sql_text"]

# Beyond it, floats are too far apart for a half.
MOST_WHOLE = 2.0**52
# By whether numbers up to the limit go left, and whether it is asked what goes left.
COMPARISONS = {(True, True): "<=", (True, False): ">", (False, True): ">=", (False, False): "<"}


def sql_text(fit: Description, type: str, dialect: str, complete: bool) -> str:
    """Return the prediction of a tree as an expression; for "prob" one for each class, named.

    If `complete`, the rows have no empty cells, and no labels but the known ones.
    """
    writer = _Writer(fit, dialect, complete)
    known = writer.dialect
    others = (*fit.kinds, fit.response)
    require_names("column", fit.inputs, known.title, others, known.as_read)
    require_sources(fit, known.title, known.most_whole)
    require_labels(f"classes of {fit.response!r}", fit.labels, known.title, known.most_whole)

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
        terms = [term for each in groupby(used, self._factor) for term in self._terms(*each)]
        comparison = "<=" if left else ">"
        return f"{line}+ ".join(terms) + f" {comparison} {self._threshold(split.threshold)}"

    def _never(self, term: Term) -> bool:
        """Return whether a term is 0 in all rows, because it tells empty cells."""
        column = self.fit.columns[term.column]
        return self.complete and isinstance(column, EmptyColumn) and column.present == 0

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
