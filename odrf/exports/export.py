"""What users ask of an export, checked; then the fit described, and written."""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib import import_module
from keyword import iskeyword
from typing import Any

import numpy as np

from odrf.checks import checked_choice, checked_truth, checked_whole
from odrf.design import Design
from odrf.engine.trees.forest import Forest
from odrf.errors import InputError, installing
from odrf.exports.sql import DIALECTS, sql_text
from odrf.exports.trees import Description, description_of
from odrf.fits.fit import AnyFit
from odrf.fits.predicting import require_classes
from odrf.text.splits import SplitWriter, split_lines, value_lines, visible


def dot_text(tree: Forest, design: Design, max_terms: int | None, digits: int) -> str:
    """Return a forest of one tree as a graph, its nodes called by their numbers."""
    writer = SplitWriter(tree, design, digits=digits, max_terms=max_terms)
    lines = [
        "digraph tree {",
        f"    label={_quoted((design.response.name,))};",
        '    labelloc="t";',
        '    node [shape="box", fontname="Helvetica"];',
        '    edge [fontname="Helvetica"];',
    ]
    for node in np.flatnonzero(tree.depth() >= 0).tolist():
        left = int(tree.left[node])
        if left < 0:
            prediction, size = value_lines(tree, design, node, digits)
            text = _quoted((*prediction, *size))
            lines.append(f'    {node} [label={text}, style="rounded"];')
            continue
        lines.append(f"    {node} [label={_quoted(split_lines(writer.split(node)))}];")
        lines.append(f'    {node} -> {left} [label="yes"];')
        lines.append(f'    {node} -> {left + 1} [label="no"];')
    return "\n".join([*lines, "}"]) + "\n"


def _quoted(lines: tuple[str, ...]) -> str:
    return '"' + "\\n".join(map(_escaped, lines)) + '"'


def _escaped(line: str) -> str:
    """Return a line with what Graphviz would not draw as it is, such as line breaks and &amp;."""
    quoted = visible(line).replace("\\", "\\\\").replace('"', '\\"')
    return re.sub("&(?=#?[A-Za-z0-9]+;)", "&amp;", quoted)


ROW_TYPES = ("response", "class", "prob")
SQL_TYPES = (*ROW_TYPES, "leaf")


def exported_sql(fit: AnyFit, dialect: Any, type: Any, complete: Any) -> str:
    """Return a tree as an expression of SQL; see `odrf.ODTResults.to_sql`."""
    checked_choice("dialect", dialect, DIALECTS)
    checked_choice("type", type, SQL_TYPES)
    require_classes(fit.design.response, type)
    if fit.forest.surrogates is not None:
        raise InputError(
            "to_sql() does not know surrogates, which would repeat large parts of the tree: use "
            'to_python() or to_c(), or fit with missing="split"'
        )
    return sql_text(description_of(fit), type, dialect, checked_truth("complete", complete))


def exported_function(
    fit: AnyFit, write: Callable[[Description, str, str], str], type: Any, name: Any
) -> str:
    """Return the source of a function that predicts a row, by `write` of one of the languages.

    See `odrf.ODTResults.to_python` and `odrf.ODTResults.to_c`.
    """
    checked_choice("type", type, ROW_TYPES)
    require_classes(fit.design.response, type)
    if not (isinstance(name, str) and name.isidentifier() and name.isascii()) or iskeyword(name):
        raise InputError(
            f'name={name!r}: use letters, digits and "_", and no keyword of Python, such as '
            '"predict"'
        )
    return write(description_of(fit), type, name)


def exported_dot(fit: AnyFit, max_terms: Any, digits: Any) -> str:
    """Return a tree in the language of Graphviz; see `odrf.ODTResults.to_dot`."""
    if max_terms is not None:
        max_terms = checked_whole("max_terms", max_terms, 1)
    return dot_text(fit.forest, fit.design, max_terms, checked_whole("digits", digits, 1))


def exported_onnx(fit: AnyFit) -> Any:
    """Return trees as a model of ONNX; see `odrf.ODTResults.to_onnx`."""
    try:
        models = import_module("odrf.exports.onnx")
    except ModuleNotFoundError as error:
        raise InputError(
            f"to_onnx() needs {error.name}: install it with {installing('onnx')}"
        ) from error
    return models.onnx_model(description_of(fit))
