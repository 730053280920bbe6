"""Trees and forests as models of ONNX: all trees walk at once, one split in each step.

A step adds terms one after another, as the engine does; a product of matrices may not.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence
from functools import reduce
from itertools import count
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from odrf.design.scaling import FARTHEST
from odrf.engine.trees.forest import HALF
from odrf.errors import InputError
from odrf.exports import columns as matrix
from odrf.exports.trees import (
    MOST_WHOLE,
    Branch,
    Description,
    require_labels,
    require_names,
)
from odrf.version import __version__


def tensor_type(dtype: Any) -> int:
    """Return the type of tensors of this type of arrays; objects are texts."""
    return helper.np_dtype_to_tensor_dtype(np.dtype(dtype))


class GraphBuilder:
    """The nodes of a graph, or of a loop's body, and the constants of the whole model.

    `inputs` are the columns of the data, each of which is a tensor of the same name.
    """

    def __init__(self, inputs: Sequence[str]) -> None:
        self.inputs = inputs
        self.nodes: list[onnx.NodeProto] = []
        self.constants: dict[tuple[Any, ...], onnx.TensorProto] = {}
        self._numbers = count(1)

    def body(self) -> GraphBuilder:
        """Return what builds a part of this graph: it has nodes of its own, and shares the rest."""
        part = copy.copy(self)
        part.nodes = []
        return part

    def fresh(self, word: str) -> str:
        """Return a name that no other tensor has, and no column of the data."""
        name = f"{word}_{next(self._numbers)}"
        return self.fresh(word) if name in self.inputs else name

    def constant(self, array: NDArray | np.generic) -> str:
        """Return the name of a constant tensor, the same for equal arrays."""
        values = np.asarray(array)
        content = tuple(values.ravel().tolist()) if values.dtype == object else values.tobytes()
        key = (values.dtype.str, values.shape, content)
        if key not in self.constants:
            tensor = numpy_helper.from_array(values, self.fresh("constant"))
            self.constants[key] = tensor
        return self.constants[key].name

    def add(self, operator: str, inputs: list[str], *, outputs: int = 1, **attributes: Any) -> Any:
        """Append a node; return the name of its output, or a list of names."""
        names = [self.fresh(operator.lower()) for _ in range(outputs)]
        self.nodes.append(helper.make_node(operator, inputs, names, **attributes))
        return names[0] if outputs == 1 else names

    def cast(self, tensor: str, dtype: Any) -> str:
        """Return a tensor in another type."""
        return self.add("Cast", [tensor], to=tensor_type(dtype))


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
        self.some = graph.inputs[0]

    def all_columns(self) -> str:
        """Return the columns (n, p + 1) in float32, and a column of 1."""
        columns = [self.column(column) for column in self.fit.columns]
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
        tellers = [each for each in self.fit.columns if isinstance(each, matrix.EmptyColumn)]
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
        return reduce(lambda first, other: self.graph.add("Or", [first, other]), truths)

    def is_empty_cell(self, column: str) -> str:
        """Return where a column of the data has a missing value, before fills."""
        if self.fit.kinds[column] != "text":
            return self.graph.add("IsNaN", [column])
        code = self._codes_of_text(column, [""], [EMPTY_TEXT])
        return self.graph.add("Equal", [code, self._whole(EMPTY_TEXT)])

    def column(self, column: matrix.NumberColumn | matrix.LevelColumn | matrix.EmptyColumn) -> str:
        """Return a column of the matrix, (n, 1) in float32."""
        graph = self.graph
        match column:
            case matrix.LevelColumn(parts=parts):
                known = self._level(parts[0].source, parts[0].code or 0)
                for part in parts[1:]:
                    known = graph.add("And", [known, self._level(part.source, part.code or 0)])
                return graph.cast(known, np.float32)
            case matrix.EmptyColumn(sources=sources, empty=empty, present=present):
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
            if isinstance(source, matrix.Labelled):
                self.made[number] = self._codes(source.column, source.labels)
            else:
                self.made[number] = self._numeric(source)
        return self.made[number]

    def _level(self, source: int, code: int) -> str:
        return self.graph.add("Equal", [self._source(source), self._whole(code)])

    def _empty(self, source: int) -> str:
        if isinstance(self.fit.sources[source], matrix.Labelled):
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

    def _codes_of_text(self, cells: str, labels: list[str], codes: list[int]) -> str:
        return self.graph.add(
            "LabelEncoder",
            [cells],
            domain="ai.onnx.ml",
            keys_strings=labels,
            values_int64s=codes,
            default_int64=OTHER,
        )

    def _cell(self, column: str) -> str:
        """Return a column of the data, filled if the fit has fills."""
        if column not in self.fit.fills:
            return column
        fill = self.fit.fills[column]
        if self.fit.kinds[column] == "text":
            filled = self.graph.constant(np.array([[fill]], dtype=object))
        else:
            filled = self._number(float(fill))
        return self.graph.add("Where", [self.is_empty_cell(column), filled, column])

    def _numeric(self, value: matrix.Numeric) -> str:
        match value:
            case matrix.Literal(value=number):
                return self._number(number)
            case matrix.Cell(column=column):
                return self._cell(column)
            case matrix.RankedCell(column=column, labels=labels):
                code = self._codes(column, labels)
                rank = self.graph.add("Add", [self.graph.cast(code, np.float64), self._number(1.0)])
                unknown = self.graph.add("Less", [code, self._whole(0)])
                return self.graph.add("Where", [unknown, self._number(math.nan), rank])
            case matrix.Applied(function="square", arguments=(argument,)):
                one = self._numeric(argument)
                return self.graph.add("Mul", [one, one])
            case matrix.Applied(function=function, arguments=arguments):
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


class SplitTables:
    """The splits, then the leaves, which have no terms and lead to themselves.

    A term is a coefficient times a column of the matrix.  The levels of a factor that follow one
    another are one term: the coefficient of the row's own level, times 1.

    `roots` (1, B), `left`, `right` (m,), `threshold` (m,).
    `first` (m,): the first term of each node.
    `size`, `brief` (m,): how many terms it has; and how many in rows without missing values, where
      the last ones are 0.
    `column` (t,): by term the column of the matrix.
    `factor` (t,): 0, or 1 + the place of the factor in `factors`.
    `base` (t,): where its coefficient is; of a factor that of no level, after which come the
      levels.
    `factors`: the sources that are factors with terms.
    `depth`: most splits between a root and a leaf.
    """

    def __init__(self, fit: Description) -> None:
        n_splits, n_leaves = len(fit.splits), len(fit.value)
        self._fit = fit
        self._terms: list[tuple[int, int, int]] = []
        self._coefficients: list[np.float32] = []
        self.factors: list[int] = []

        def number(node: int) -> int:
            return node if node >= 0 else n_splits - 1 - node

        own = list(range(n_splits, n_splits + n_leaves))
        first, size, brief = [], [], []
        for split in fit.splits:
            first.append(len(self._terms))
            brief.append(self._append(split) - first[-1])
            size.append(len(self._terms) - first[-1])
        none = [0] * n_leaves
        self.roots = np.array([[number(root) for root in fit.roots]], dtype=np.int32)
        self.left = np.array([number(s.left) for s in fit.splits] + own, dtype=np.int32)
        self.right = np.array([number(s.right) for s in fit.splits] + own, dtype=np.int32)
        self.threshold = np.array([float(s.threshold) for s in fit.splits] + none, np.float32)
        self.first, self.size, self.brief = (
            np.array(each + none, dtype=np.int32) for each in (first, size, brief)
        )
        terms = np.array(self._terms or [(0, 0, 0)], dtype=np.int32)
        self.column, self.factor, self.base = np.ascontiguousarray(terms.T)
        self.coefficient = np.array(self._coefficients or [np.float32(0)], dtype=np.float32)
        self.depth = self._deepest(n_splits)

    def _append(self, split: Branch) -> int:
        """Append the terms of a split; return where its last ones begin: of missing values."""
        end = len(self._terms)
        for factor, terms in self._fit.runs_of(split.terms):
            if factor is not None:
                self._append_levels(factor, self._fit.by_code(terms))
                end = len(self._terms)
                continue
            for term in terms:
                self._terms.append((term.column, 0, len(self._coefficients)))
                self._coefficients.append(term.coefficient)
                column = self._fit.columns[term.column]
                if not (isinstance(column, matrix.EmptyColumn) and column.present == 0):
                    end = len(self._terms)
        return end

    def _append_levels(self, factor: int, of_code: dict[int, np.float32]) -> None:
        """Append the term of a factor, with a coefficient for no level and for each of them."""
        if factor not in self.factors:
            self.factors.append(factor)
        ones = len(self._fit.columns)
        self._terms.append((ones, 1 + self.factors.index(factor), len(self._coefficients)))
        codes = range(-1, len(self._fit.factor(factor).labels))
        self._coefficients += [of_code.get(code, np.float32(0)) for code in codes]

    def _deepest(self, n_splits: int) -> int:
        depth = np.zeros(len(self.left), dtype=np.int64)
        while True:
            below = np.maximum(depth[self.left], depth[self.right])
            deeper = np.where(np.arange(len(depth)) < n_splits, 1 + below, 0)
            if (deeper == depth).all():
                return int(depth[self.roots].max())
            depth = deeper


FLAT = np.array([-1])
OPSET, OF_LABELS, FORMAT = 17, 3, 8
TYPES = {"number": TensorProto.DOUBLE, "logical": TensorProto.DOUBLE, "text": TensorProto.STRING}


def onnx_model(fit: Description) -> onnx.ModelProto:
    """Return a model with an input (n, 1) for each column of the data."""
    # a tree without splits needs no column, but must know how many rows there are
    columns = fit.inputs or _any_column(fit)
    for name in ("label", "probabilities") if fit.labels else ("prediction",):
        if name in columns:
            raise InputError(
                f"column {name!r} has the name of an output of the model: rename it before fitting"
            )
    _require_held(fit, columns)
    graph = GraphBuilder(columns)
    inputs = [
        helper.make_tensor_value_info(column, TYPES[fit.kinds[column]], ["n", 1])
        for column in columns
    ]
    made = OnnxColumns(fit, graph)
    mean = _mean_of_leaves(graph, fit, _leaves(graph, fit, made))
    outputs = _outputs(graph, fit, mean, made.without_prediction())
    whole = helper.make_graph(
        graph.nodes,
        "odrf",
        inputs,
        outputs,
        list(graph.constants.values()),
        fit.title.encode("utf-8", "replace").decode("utf-8"),
    )
    opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid("ai.onnx.ml", OF_LABELS)]
    model = helper.make_model(
        whole, producer_name="odrf", producer_version=__version__, opset_imports=opsets
    )
    model.ir_version = FORMAT
    onnx.checker.check_model(model)
    return model


def _require_held(fit: Description, columns: tuple[str, ...]) -> None:
    """Raise `InputError` unless ONNX can hold the names, the levels and the classes of a fit."""
    require_names("column", columns, "ONNX")
    require_labels(fit, "ONNX", MOST_WHOLE, MOST_WHOLE if fit.required else 2**64 - 1)
    for column in columns:
        if column in fit.with_empty_text:
            raise InputError(
                f"column {column!r} has an empty text among its levels, which is a missing value "
                "in ONNX: give this level a name before fitting"
            )
    if "" in fit.labels:
        raise InputError(
            f"{fit.response!r} has an empty text among its classes, which is no prediction in "
            "ONNX: give this class a name before fitting"
        )


def _any_column(fit: Description) -> tuple[str, ...]:
    known = tuple(name for name, kind in fit.kinds.items() if kind in TYPES)
    if not known:
        matrix.require_known(fit.kinds, fit.kinds)
    return known[:1]


def _leaves(graph: GraphBuilder, fit: Description, made: OnnxColumns) -> str:
    """Return the leaf (n, B) that each row reaches in each tree, by its number among all leaves."""
    tables, x = SplitTables(fit), made.all_columns()
    begin = graph.constant(np.array([0])), graph.constant(np.array([1]))
    n_rows = graph.add("Slice", [graph.add("Shape", [x]), *begin])
    shape = graph.add("Concat", [n_rows, graph.constant(np.array([len(fit.roots)]))], axis=0)
    node = graph.add("Expand", [graph.constant(tables.roots), shape])
    if tables.depth > 0:
        codes = made.labels(tables.factors)
        sizes = graph.constant(tables.size), graph.constant(tables.brief)
        size_of = graph.add("Where", [made.any_empty(), *sizes])
        body = graph.body()
        at = body.fresh("node")
        size = _picked(body, size_of, at)
        first = _picked(body, tables.first, at)
        projected = _sums(body, tables, x, codes, first, size, shape)
        threshold = _picked(body, tables.threshold, at)
        sides = [_picked(body, side, at) for side in (tables.left, tables.right)]
        below = body.add("Where", [body.add("LessOrEqual", [projected, threshold]), *sides])
        node = graph.add("Reshape", [node, graph.constant(FLAT)])
        node = _loop(graph, body, np.int64(tables.depth), (node, at, below), np.int32)
        node = graph.add("Reshape", [node, shape])
    return graph.add("Sub", [node, graph.constant(np.int32(len(fit.splits)))])


def _picked(graph: GraphBuilder, table: str | NDArray, at: str) -> str:
    """Return the entries of a table at the places in a flat tensor."""
    # GatherElements, because Gather copies numbers one by one: ten times as slow in onnxruntime
    name = table if isinstance(table, str) else graph.constant(table)
    return graph.add("GatherElements", [name, at], axis=0)


def _of_rows(graph: GraphBuilder, table: str, at: str, shape: str) -> str:
    """Return for each row (n, B) the entries of its own row of a table (n, p), flat as `at` is."""
    columns = graph.add("Reshape", [at, shape])
    entries = graph.add("GatherElements", [table, columns], axis=1)
    return graph.add("Reshape", [entries, graph.constant(FLAT)])


def _sums(
    body: GraphBuilder, tables: SplitTables, x: str, codes: str, first: str, size: str, shape: str
) -> str:
    """Return the projections, flat: term after term, as many as the longest of the splits has."""
    step = body.body()
    total, number = step.fresh("total"), step.fresh("number")
    at = step.cast(number, np.int32)
    # beyond its own terms a split reads those of others, which are not added
    last = step.constant(np.int32(len(tables.column) - 1))
    place = step.add("Min", [step.add("Add", [first, at]), last])
    base = _picked(step, tables.base, place)
    if tables.factors:
        level = _of_rows(step, codes, _picked(step, tables.factor, place), shape)
        base = step.add("Add", [base, level])
    values = _of_rows(step, x, _picked(step, tables.column, place), shape)
    product = step.add("Mul", [_picked(step, tables.coefficient, base), values])
    more = step.add("Add", [total, product])
    kept = step.add("Where", [step.add("Less", [at, size]), more, total])
    most = body.cast(body.add("ReduceMax", [size], keepdims=0), np.int64)
    zeros = body.cast(body.add("Sub", [first, first]), np.float32)
    return _loop(body, step, most, (zeros, total, kept), np.float32, number)


def _loop(
    graph: GraphBuilder,
    body: GraphBuilder,
    times: str | np.int64,
    state: tuple[str, str, str],
    dtype: Any,
    number: str | None = None,
) -> str:
    """Append a loop; its state is how it begins, its name in the body, and what follows it there.

    Bodies call the `number` of the step, from 0, if they need it.
    """
    number = number or body.fresh("number")
    condition, again = body.fresh("condition"), body.fresh("again")
    body.nodes.append(helper.make_node("Identity", [condition], [again]))
    (begin, before, after), kind = state, tensor_type(dtype)
    loop = helper.make_graph(
        body.nodes,
        body.fresh("body"),
        [
            helper.make_tensor_value_info(number, TensorProto.INT64, []),
            helper.make_tensor_value_info(condition, TensorProto.BOOL, []),
            helper.make_tensor_value_info(before, kind, None),
        ],
        [
            helper.make_tensor_value_info(again, TensorProto.BOOL, []),
            helper.make_tensor_value_info(after, kind, None),
        ],
    )
    steps = times if isinstance(times, str) else graph.constant(times)
    yes = graph.constant(np.bool_(True))
    return graph.add("Loop", [steps, yes, begin], body=loop)


def _mean_of_leaves(graph: GraphBuilder, fit: Description, leaves: str) -> str:
    """Return the means (n, K) of the trees, added in their order in float64."""
    table = graph.constant(fit.value)
    body = graph.body()
    total, number = body.fresh("total"), body.fresh("number")
    leaf = body.add("Gather", [leaves, number], axis=1)
    value = body.add("Gather", [table, leaf], axis=0)
    more = body.add("Add", [total, value])
    first = graph.add("Gather", [leaves, graph.constant(np.int64(0))], axis=1)
    zeros = graph.add(
        "Mul", [graph.add("Gather", [table, first], axis=0), graph.constant(np.float64(0))]
    )
    n_trees = np.int64(len(fit.roots))
    summed = _loop(graph, body, n_trees, (zeros, total, more), np.float64, number)
    return graph.add("Div", [summed, graph.constant(np.float64(len(fit.roots)))])


def _outputs(
    graph: GraphBuilder, fit: Description, mean: str, empty: str | None
) -> list[onnx.ValueInfoProto]:
    """Append what the model returns: the mean, or labels and probabilities."""
    if fit.labels and fit.votes:
        mean = graph.add("Div", [mean, _cumulated(graph, mean)[1]])
    known = mean
    if empty is not None:
        known = graph.add("Where", [empty, graph.constant(np.float64(np.nan)), mean])
    name = "probabilities" if fit.labels else "prediction"
    graph.nodes.append(helper.make_node("Identity", [known], [name]))
    shape: list[str | int | None] = ["n", fit.value.shape[1]]
    outputs = [helper.make_tensor_value_info(name, TensorProto.DOUBLE, shape)]
    if not fit.labels:
        return outputs
    reached = mean
    if fit.ordered:
        cumulated, last = _cumulated(graph, mean)
        half = graph.add("Mul", [last, graph.constant(np.float64(HALF))])
        reached = graph.cast(graph.add("GreaterOrEqual", [cumulated, half]), np.float32)
    code = graph.add("ArgMax", [reached], axis=1, keepdims=0)
    labels = _labels(fit)
    label = graph.add("Gather", [graph.constant(labels), code])
    if empty is not None:
        gone = graph.add("Squeeze", [empty, graph.constant(np.array([1]))])
        none: Any = "" if labels.dtype == object else np.nan
        label = graph.add("Where", [gone, graph.constant(np.array(none, labels.dtype)), label])
    graph.nodes.append(helper.make_node("Identity", [label], ["label"]))
    return [helper.make_tensor_value_info("label", tensor_type(labels.dtype), ["n"]), *outputs]


def _cumulated(graph: GraphBuilder, mean: str) -> tuple[str, str]:
    """Return cumulated shares (n, K), and the last of them (n, 1), added in their order."""
    cumulated = graph.add("CumSum", [mean, graph.constant(np.int64(1))])
    last = graph.add("Gather", [cumulated, graph.constant(np.array([-1]))], axis=1)
    return cumulated, last


def _labels(fit: Description) -> NDArray:
    """Return the classes, numbers as floats where rows can have none: it is NaN then."""
    if matrix.type_of_labels(fit.labels) == "text":
        return np.array(fit.labels, dtype=object)
    if fit.required or any(isinstance(label, float) for label in fit.labels):
        return np.array(fit.labels, dtype=np.float64)
    if matrix.type_of_labels(fit.labels) == "logical":
        return np.array(fit.labels)
    for dtype in (np.int64, np.uint64):
        if np.iinfo(dtype).min <= min(fit.labels) and max(fit.labels) <= np.iinfo(dtype).max:
            return np.array(fit.labels, dtype=dtype)
    raise InputError(
        f"the classes of {fit.response!r} are whole numbers, of which ONNX cannot hold both "
        "negative ones and such large ones: make them text, with .astype(str), before fitting"
    )
