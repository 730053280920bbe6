"""Trees in the language of Graphviz."""

from __future__ import annotations

import re

import numpy as np

from odrf.design import Design
from odrf.engine.trees.forest import Forest
from odrf.text.splits import SplitWriter, split_lines, value_lines, visible

__all__ = ["dot_text"]


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
