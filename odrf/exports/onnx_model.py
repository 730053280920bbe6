"""Trees and forests as models of ONNX.

All trees walk at once, one split in each step, each row in each tree at its own node.  A step adds
the terms of the splits one after another, as the engine does: a product of matrices may add them in
another order.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper

from odrf.engine.trees.prediction_rule import HALF
from odrf.exports.describing import Description
from odrf.exports.onnx_columns import matrix_columns, without_prediction
from odrf.exports.onnx_graph import GraphBuilder, tensor_type
from odrf.version import __version__

__all__ = ["onnx_model"]

OPSET, OF_LABELS, FORMAT = 17, 3, 8
TYPES = {"number": TensorProto.DOUBLE, "logical": TensorProto.DOUBLE, "text": TensorProto.STRING}


def onnx_model(fit: Description) -> onnx.ModelProto:
    """Return a model with an input (n, 1) for each column of the data."""
    graph = GraphBuilder()
    # a tree without splits needs no column, but must know how many rows there are
    columns = fit.inputs or tuple(fit.kinds)[:1]
    graph.inputs = {column: column for column in columns}
    inputs = [
        helper.make_tensor_value_info(column, TYPES[fit.kinds[column]], ["n", 1])
        for column in columns
    ]
    x = matrix_columns(fit, graph)
    mean = _mean_of_leaves(graph, fit, _leaves(graph, fit, x))
    outputs = _outputs(graph, fit, mean, without_prediction(fit, graph))
    whole = helper.make_graph(
        graph.nodes, "odrf", inputs, outputs, list(graph.constants.values()), fit.title
    )
    opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid("ai.onnx.ml", OF_LABELS)]
    model = helper.make_model(
        whole, producer_name="odrf", producer_version=__version__, opset_imports=opsets
    )
    model.ir_version = FORMAT
    onnx.checker.check_model(model)
    return model


def _leaves(graph: GraphBuilder, fit: Description, x: str) -> str:
    """Return the leaf (n, B) that each row reaches in each tree, by its number among all leaves."""
    tables = _Tables(fit)
    n_rows = graph.add("Slice", [graph.add("Shape", [x]), *map(graph.constant, _ends(0, 1))])
    n_trees = graph.constant(np.array([len(fit.roots)], dtype=np.int64))
    shape = graph.add("Concat", [n_rows, n_trees], axis=0)
    node = graph.add("Expand", [graph.constant(tables.roots), shape])
    if tables.depth == 0:
        return graph.add("Sub", [node, graph.constant(np.int64(len(fit.splits)))])
    body = GraphBuilder(graph)
    at = body.fresh("node")
    size = body.add("Gather", [graph.constant(tables.size), at])
    first = body.add("Gather", [graph.constant(tables.first), at])
    most = body.add("ReduceMax", [size], keepdims=0)
    zeros = body.cast(body.add("Mul", [at, graph.constant(np.int64(0))]), np.float32)
    projected = _sums(body, graph, tables, x, first, size, most, zeros)
    threshold = body.add("Gather", [graph.constant(tables.threshold), at])
    left, right = (
        body.add("Gather", [graph.constant(side), at]) for side in (tables.left, tables.right)
    )
    going = body.add("LessOrEqual", [projected, threshold])
    below = body.add("Where", [going, left, right])
    reached = _loop(graph, body, np.int64(tables.depth), [(node, at, below)], np.int64)
    return graph.add("Sub", [reached, graph.constant(np.int64(len(fit.splits)))])


def _sums(
    body: GraphBuilder,
    graph: GraphBuilder,
    tables: _Tables,
    x: str,
    first: str,
    size: str,
    most: str,
    zeros: str,
) -> str:
    """Return the projections (n, B): term after term, as many as the longest of the splits has."""
    step = GraphBuilder(body)
    total, number = step.fresh("total"), step.fresh("number")
    there = step.add("Less", [number, size])
    place = step.add("Add", [first, number])
    # beyond its own terms a split reads those of others, which are not added
    place = step.add("Min", [place, graph.constant(np.int64(len(tables.column) - 1))])
    column = step.add("Gather", [graph.constant(tables.column), place])
    coefficient = step.add("Gather", [graph.constant(tables.coefficient), place])
    values = step.add("GatherElements", [x, column], axis=1)
    product = step.add("Mul", [coefficient, values])
    more = step.add("Add", [total, product])
    kept = step.add("Where", [there, more, total])
    return _loop(body, step, most, [(zeros, total, kept)], np.float32, number)


def _loop(
    graph: GraphBuilder,
    body: GraphBuilder,
    times: str | np.int64,
    states: list[tuple[str, str, str]],
    dtype: Any,
    number: str | None = None,
) -> str:
    """Append a loop; each state is its begin, its name in the body, and what follows it there."""
    number = number or body.fresh("number")
    condition, again = body.fresh("condition"), body.fresh("again")
    body.nodes.append(helper.make_node("Identity", [condition], [again]))
    kind = tensor_type(dtype)
    loop = helper.make_graph(
        body.nodes,
        body.fresh("body"),
        [
            helper.make_tensor_value_info(number, TensorProto.INT64, []),
            helper.make_tensor_value_info(condition, TensorProto.BOOL, []),
            *(helper.make_tensor_value_info(name, kind, None) for _, name, _ in states),
        ],
        [
            helper.make_tensor_value_info(again, TensorProto.BOOL, []),
            *(helper.make_tensor_value_info(after, kind, None) for _, _, after in states),
        ],
    )
    begin = [begin for begin, _, _ in states]
    count = times if isinstance(times, str) else graph.constant(times)
    yes = graph.constant(np.bool_(True))
    return graph.add("Loop", [count, yes, *begin], body=loop)


def _mean_of_leaves(graph: GraphBuilder, fit: Description, leaves: str) -> str:
    """Return the means (n, K) of the trees, added in their order in float64."""
    values = np.array(list(fit.value.values()))
    table = graph.constant(values)
    body = GraphBuilder(graph)
    total, number = body.fresh("total"), body.fresh("number")
    leaf = body.add("Gather", [leaves, number], axis=1)
    value = body.add("Gather", [table, leaf], axis=0)
    more = body.add("Add", [total, value])
    first = graph.add("Gather", [leaves, graph.constant(np.int64(0))], axis=1)
    zeros = graph.add("Mul", [graph.add("Gather", [table, first], axis=0), _zero(graph)])
    n_trees = np.int64(len(fit.roots))
    summed = _loop(graph, body, n_trees, [(zeros, total, more)], np.float64, number)
    return graph.add("Div", [summed, graph.constant(np.float64(len(fit.roots)))])


def _zero(graph: GraphBuilder) -> str:
    return graph.constant(np.float64(0))


def _outputs(
    graph: GraphBuilder, fit: Description, mean: str, empty: str | None
) -> list[onnx.ValueInfoProto]:
    """Append what the model returns: the mean, or labels and probabilities."""
    if fit.labels and fit.votes:
        total = graph.add("ReduceSum", [mean, graph.constant(np.array([1]))], keepdims=1)
        mean = graph.add("Div", [mean, total])
    known = mean
    if empty is not None:
        known = graph.add("Where", [empty, graph.constant(np.float64(np.nan)), mean])
    name = "probabilities" if fit.labels else "prediction"
    graph.nodes.append(helper.make_node("Identity", [known], [name]))
    shape: list[str | int | None] = ["n", len(next(iter(fit.value.values())))]
    outputs = [helper.make_tensor_value_info(name, TensorProto.DOUBLE, shape)]
    if not fit.labels:
        return outputs
    reached = mean
    if fit.ordered:
        one = graph.constant(np.int64(1))
        cumulated = graph.add("CumSum", [mean, one])
        last = graph.add("Gather", [cumulated, graph.constant(np.array([-1]))], axis=1)
        half = graph.add("Mul", [last, graph.constant(np.float64(HALF))])
        reached = graph.cast(graph.add("GreaterOrEqual", [cumulated, half]), np.float32)
    code = graph.add("ArgMax", [reached], axis=1, keepdims=0)
    labels = _labels(fit)
    label = graph.add("Gather", [graph.constant(labels), code])
    if empty is not None and labels.dtype == object:
        gone = graph.add("Squeeze", [empty, graph.constant(np.array([1]))])
        none = graph.constant(np.array("", dtype=object))
        label = graph.add("Where", [gone, none, label])
    graph.nodes.append(helper.make_node("Identity", [label], ["label"]))
    return [helper.make_tensor_value_info("label", tensor_type(labels.dtype), ["n"]), *outputs]


def _labels(fit: Description) -> NDArray:
    if fit.kind_of_labels == "text":
        return np.array(fit.labels, dtype=object)
    array = np.array(fit.labels)
    return array if array.dtype.kind == "b" else array.astype(f"{array.dtype.kind}8")


def _ends(first: int, last: int) -> list[NDArray]:
    return [np.array([end], dtype=np.int64) for end in (first, last)]


class _Tables:
    """The splits as arrays, then the leaves, which lead to themselves."""

    def __init__(self, fit: Description) -> None:
        n_splits, n_leaves = len(fit.splits), len(fit.value)
        leaf = {node: n_splits + at for at, node in enumerate(fit.value)}

        def number(node: int) -> int:
            return node if node >= 0 else leaf[-1 - node]

        own = list(range(n_splits, n_splits + n_leaves))
        sizes = [len(split.terms) for split in fit.splits]
        terms = [term for split in fit.splits for term in split.terms]
        place = {column: at for at, column in enumerate(fit.columns)}
        self.roots = np.array([[number(root) for root in fit.roots]], dtype=np.int64)
        self.left = np.array([number(s.left) for s in fit.splits] + own, dtype=np.int64)
        self.right = np.array([number(s.right) for s in fit.splits] + own, dtype=np.int64)
        self.threshold = np.array(
            [float(s.threshold) for s in fit.splits] + [0.0] * n_leaves, dtype=np.float32
        )
        self.size = np.array(sizes + [0] * n_leaves, dtype=np.int64)
        self.first = np.concatenate([[0], np.cumsum(self.size)[:-1]]).astype(np.int64)
        self.column = np.array([place[term.column] for term in terms] or [0], dtype=np.int64)
        self.coefficient = np.array(
            [float(term.coefficient) for term in terms] or [0.0], dtype=np.float32
        )
        self.depth = self._deepest(n_splits)

    def _deepest(self, n_splits: int) -> int:
        """Return the most splits between a root and a leaf."""
        depth = np.zeros(len(self.left), dtype=np.int64)
        while True:
            below = np.maximum(depth[self.left], depth[self.right])
            deeper = np.where(np.arange(len(depth)) < n_splits, 1 + below, 0)
            if (deeper == depth).all():
                return int(depth[self.roots].max())
            depth = deeper
