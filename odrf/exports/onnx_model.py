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

from odrf.engine.trees.forest import HALF
from odrf.errors import InputError
from odrf.exports.describing import Description
from odrf.exports.holdable import MOST_WHOLE, require_labels, require_names, require_sources
from odrf.exports.onnx_columns import OnnxColumns
from odrf.exports.onnx_graph import GraphBuilder, tensor_type
from odrf.exports.raw_columns import require_known, type_of_labels
from odrf.exports.split_tables import SplitTables
from odrf.version import __version__

__all__ = ["onnx_model"]

FLAT = np.array([-1])
OPSET, OF_LABELS, FORMAT = 17, 3, 8
TYPES = {"number": TensorProto.DOUBLE, "logical": TensorProto.DOUBLE, "text": TensorProto.STRING}


def onnx_model(fit: Description) -> onnx.ModelProto:
    """Return a model with an input (n, 1) for each column of the data."""
    graph = GraphBuilder()
    # a tree without splits needs no column, but must know how many rows there are
    columns = fit.inputs or _any_column(fit)
    for name in ("label", "probabilities") if fit.labels else ("prediction",):
        if name in columns:
            raise InputError(
                f"column {name!r} has the name of an output of the model: rename it before fitting"
            )
    _require_held(fit, columns)
    graph.inputs = {column: column for column in columns}
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
    require_sources(fit, "ONNX", MOST_WHOLE)
    most_whole = MOST_WHOLE if fit.required else 2**64 - 1
    require_labels(f"classes of {fit.response!r}", fit.labels, "ONNX", most_whole)
    for column in columns:
        if column in fit.with_empty_text:
            raise InputError(
                f"column {column!r} has an empty text among its levels, which is an empty cell in "
                "ONNX: give this level a name before fitting"
            )
    if "" in fit.labels:
        raise InputError(
            f"{fit.response!r} has an empty text among its classes, which is no prediction in "
            "ONNX: give this class a name before fitting"
        )


def _any_column(fit: Description) -> tuple[str, ...]:
    known = tuple(name for name, kind in fit.kinds.items() if kind in TYPES)
    if not known:
        require_known(fit.kinds, fit.kinds)
    return known[:1]


def _leaves(graph: GraphBuilder, fit: Description, made: OnnxColumns) -> str:
    """Return the leaf (n, B) that each row reaches in each tree, by its number among all leaves."""
    tables, x = SplitTables(fit), made.matrix()
    begin = graph.constant(np.array([0])), graph.constant(np.array([1]))
    n_rows = graph.add("Slice", [graph.add("Shape", [x]), *begin])
    shape = graph.add("Concat", [n_rows, graph.constant(np.array([len(fit.roots)]))], axis=0)
    node = graph.add("Expand", [graph.constant(tables.roots), shape])
    if tables.depth > 0:
        codes = made.labels(tables.factors)
        sizes = graph.constant(tables.size), graph.constant(tables.brief)
        size_of = graph.add("Where", [made.any_empty(), *sizes])
        body = GraphBuilder(graph)
        at = body.fresh("node")
        size = _picked(body, size_of, at)
        first = _picked(body, tables.first, at)
        projected = _sums(body, tables, x, codes, first, size, shape)
        threshold = _picked(body, tables.threshold, at)
        sides = [_picked(body, side, at) for side in (tables.left, tables.right)]
        below = body.add("Where", [body.add("LessOrEqual", [projected, threshold]), *sides])
        node = graph.add("Reshape", [node, graph.constant(FLAT)])
        node = _loop(graph, body, np.int64(tables.depth), [(node, at, below)], np.int32)
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
    found = graph.add("GatherElements", [table, columns], axis=1)
    return graph.add("Reshape", [found, graph.constant(FLAT)])


def _sums(
    body: GraphBuilder, tables: SplitTables, x: str, codes: str, first: str, size: str, shape: str
) -> str:
    """Return the projections, flat: term after term, as many as the longest of the splits has."""
    step = GraphBuilder(body)
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
        mean = graph.add("Div", [mean, _cumulated(graph, mean)[1]])
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
    if type_of_labels(fit.labels) == "text":
        return np.array(fit.labels, dtype=object)
    if fit.required or any(isinstance(label, float) for label in fit.labels):
        return np.array(fit.labels, dtype=np.float64)
    if type_of_labels(fit.labels) == "logical":
        return np.array(fit.labels)
    for dtype in (np.int64, np.uint64):
        if np.iinfo(dtype).min <= min(fit.labels) and max(fit.labels) <= np.iinfo(dtype).max:
            return np.array(fit.labels, dtype=dtype)
    raise InputError(
        f"the classes of {fit.response!r} are whole numbers, of which ONNX cannot hold both "
        "negative ones and such large ones: make them text, with .astype(str), before fitting"
    )
