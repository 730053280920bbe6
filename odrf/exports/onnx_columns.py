"""The columns of the matrix as nodes of an ONNX graph."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from odrf.design.scaling import FARTHEST
from odrf.errors import InputError
from odrf.exports.describing import Description
from odrf.exports.expressions import Applied, Cell, Literal, Numeric, RankedCell
from odrf.exports.onnx_graph import GraphBuilder
from odrf.exports.raw_columns import EmptyColumn, Labelled, LevelColumn, NumberColumn

__all__ = ["OnnxColumns"]

OPERATORS = {
    "+": "Add", "-": "Sub", "*": "Mul", "/": "Div", "power": "Pow", "negative": "Neg",
    "log": "Log", "exp": "Exp", "sqrt": "Sqrt", "abs": "Abs", "floor": "Floor", "ceil": "Ceil",
    "sin": "Sin", "cos": "Cos",
}  # fmt: skip
# The numbers of texts that are no label of a factor, and of those that are empty.
OTHER, EMPTY_TEXT = -1, -2


class OnnxColumns:
    """The columns of the matrix, and the labels of factors, as tensors of a graph."""

    def __init__(self, fit: Description, graph: GraphBuilder) -> None:
        self.fit = fit
        self.graph = graph
        self.made: dict[int, str] = {}
        self.some = graph.inputs[next(iter(graph.inputs))]

    def matrix(self) -> str:
        """Return the columns (n, p + 1) in float32, and a column of 1."""
        columns = [self.column(column) for column in self.fit.columns.values()]
        one = self.graph.constant(np.ones(1, dtype=np.float32))
        ones = self.graph.add("Add", [self._zeros(), one])
        return self.graph.add("Concat", [*columns, ones], axis=1)

    def labels(self, sources: Sequence[int]) -> str:
        """Return a column of 0, then for each factor 1 + its code, or 0: (n, 1 + q) in int32."""
        codes = [self.graph.cast(self._zeros(), np.int32)]
        for source in sources:
            known = self.graph.add("Max", [self._source(source), self._whole(-1)])
            number = self.graph.add("Add", [known, self._whole(1)])
            codes.append(self.graph.cast(number, np.int32))
        return self.graph.add("Concat", codes, axis=1)

    def without_prediction(self) -> str | None:
        """Return where (n, 1) a row has no prediction; None if every row has one."""
        return self.either([self.is_empty_cell(column) for column in self.fit.required])

    def any_empty(self) -> str:
        """Return whether any row has an empty source, of those that columns of the matrix tell."""
        tellers = [each for each in self.fit.columns.values() if isinstance(each, EmptyColumn)]
        sources = dict.fromkeys(source for each in tellers for source in each.sources)
        empty = self.either([self._empty(source) for source in sources])
        if empty is None:
            return self.graph.constant(np.bool_(False))
        count = self.graph.add("ReduceSum", [self.graph.cast(empty, np.int64)], keepdims=0)
        return self.graph.add("Greater", [count, self.graph.constant(np.int64(0))])

    def _zeros(self) -> str:
        """Return zeros (n, 1) in float32."""
        return self.graph.add("ConstantOfShape", [self.graph.add("Shape", [self.some])])

    def either(self, truths: list[str]) -> str | None:
        """Return where any of the tensors is true; None of none."""
        if not truths:
            return None
        found = truths[0]
        for other in truths[1:]:
            found = self.graph.add("Or", [found, other])
        return found

    def is_empty_cell(self, column: str) -> str:
        """Return where a column of the data has an empty cell, before fills."""
        cells = self.graph.inputs[column]
        if self.fit.kinds[column] != "text":
            return self.graph.add("IsNaN", [cells])
        code = self._codes_of_text(cells, [""], EMPTY_TEXT)
        return self.graph.add("Equal", [code, self._whole(EMPTY_TEXT)])

    def column(self, column: NumberColumn | LevelColumn | EmptyColumn) -> str:
        """Return a column of the matrix, (n, 1) in float32."""
        graph = self.graph
        match column:
            case LevelColumn(parts=parts):
                known = self._level(parts[0].source, parts[0].code or 0)
                for part in parts[1:]:
                    known = graph.add("And", [known, self._level(part.source, part.code or 0)])
                return graph.cast(known, np.float32)
            case EmptyColumn(sources=sources, empty=empty, present=present):
                where = self.either([self._empty(source) for source in sources])
                assert where is not None
                sides = [
                    graph.constant(np.array([[value]], dtype=np.float32))
                    for value in (empty, present)
                ]
                return graph.add("Where", [where, *sides])
        product = self._part(column.parts[0].source, column.parts[0].code)
        for part in column.parts[1:]:
            product = graph.add("Mul", [product, self._part(part.source, part.code)])
        scaled = graph.add("Sub", [product, self._number(column.low)])
        scaled = graph.add("Div", [scaled, self._number(column.range)])
        scaled = graph.add("Max", [scaled, self._number(-FARTHEST)])
        scaled = graph.cast(graph.add("Min", [scaled, self._number(FARTHEST)]), np.float32)
        zero = graph.constant(np.zeros((1, 1), dtype=np.float32))
        return graph.add("Where", [graph.add("IsNaN", [product]), zero, scaled])

    def _source(self, number: int) -> str:
        """Return a source, (n, 1): a float64, or the code of a label."""
        if number not in self.made:
            source = self.fit.sources[number]
            if isinstance(source, Labelled):
                self.made[number] = self._codes(source.column, source.labels)
            else:
                self.made[number] = self._numeric(source)
        return self.made[number]

    def _level(self, source: int, code: int) -> str:
        return self.graph.add("Equal", [self._source(source), self._whole(code)])

    def _empty(self, source: int) -> str:
        if isinstance(self.fit.sources[source], Labelled):
            return self.graph.add("Less", [self._source(source), self._whole(0)])
        return self.graph.add("IsNaN", [self._source(source)])

    def _part(self, source: int, code: int | None) -> str:
        if code is None:
            return self._source(source)
        indicator = self.graph.cast(self._level(source, code), np.float64)
        unknown = self._number(math.nan)
        return self.graph.add("Where", [self._empty(source), unknown, indicator])

    def _codes(self, column: str, labels: tuple[Any, ...]) -> str:
        """Return the numbers (n, 1) of labels, below 0 for others."""
        cells = self._cell(column)
        if self.fit.kinds[column] == "text":
            known = [label for label in labels if label is not None]
            return self._codes_of_text(cells, known, [labels.index(label) for label in known])
        code = self._whole(OTHER)
        for k, label in enumerate(labels):
            if label is not None:
                same = self.graph.add("Equal", [cells, self._number(float(label))])
                code = self.graph.add("Where", [same, self._whole(k), code])
        return code

    def _codes_of_text(self, cells: str, labels: list[str], codes: list[int] | int) -> str:
        return self.graph.add(
            "LabelEncoder",
            [cells],
            domain="ai.onnx.ml",
            keys_strings=labels,
            values_int64s=[codes] if isinstance(codes, int) else codes,
            default_int64=OTHER,
        )

    def _cell(self, column: str) -> str:
        """Return a column of the data, filled if the fit has fills."""
        cells = self.graph.inputs[column]
        if column not in self.fit.fills:
            return cells
        fill = self.fit.fills[column]
        if self.fit.kinds[column] == "text":
            filled = self.graph.constant(np.array([[fill]], dtype=object))
        else:
            filled = self._number(float(fill))
        return self.graph.add("Where", [self.is_empty_cell(column), filled, cells])

    def _numeric(self, value: Numeric) -> str:
        match value:
            case Literal(value=number):
                return self._number(number)
            case Cell(column=column):
                return self._cell(column)
            case RankedCell(column=column, labels=labels):
                code = self._codes(column, labels)
                rank = self.graph.add("Add", [self.graph.cast(code, np.float64), self._number(1.0)])
                unknown = self.graph.add("Less", [code, self._whole(0)])
                return self.graph.add("Where", [unknown, self._number(math.nan), rank])
            case Applied(function="square", arguments=(argument,)):
                one = self._numeric(argument)
                return self.graph.add("Mul", [one, one])
            case Applied(function=function, arguments=arguments):
                if function not in OPERATORS:
                    raise InputError(
                        f"to_onnx() does not know the function {function!r} of the formula: "
                        "compute it as a column of the data before fitting, or write it with "
                        "log(), exp(), sin() or cos()"
                    )
                inner = [self._numeric(each) for each in arguments]
                return self.graph.add(OPERATORS[function], inner)

    def _number(self, value: float) -> str:
        return self.graph.constant(np.array([[value]], dtype=np.float64))

    def _whole(self, value: int) -> str:
        array: NDArray[np.int64] = np.array([[value]], dtype=np.int64)
        return self.graph.constant(array)
