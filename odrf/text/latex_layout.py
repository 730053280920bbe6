"""Facts and tables as LaTeX, with the package booktabs."""

from __future__ import annotations

import pandas as pd

from odrf.text.cells import TextColumn, labels_of, text_columns
from odrf.text.contents import Contents
from odrf.text.latex_characters import in_latex

__all__ = ["summary_as_latex"]

# Columns of longer cells are broken into lines.
MOST_CHARACTERS = 40
PARAGRAPH = r"p{0.28\linewidth}"


def summary_as_latex(summary: Contents) -> str:
    """Return a summary as one LaTeX table environment."""
    parts = [
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{in_latex(summary.title)}}}",
        rf"\parbox{{\linewidth}}{{\raggedright\ttfamily {in_latex(summary.call)}}}",
        "",
        r"\medskip",
        _facts(summary.facts),
    ]
    for heading, table in summary.sections.items():
        parts.append(f"\n\\medskip\n{in_latex(heading)}\n\n{_table(table)}")
    parts += [f"\n{in_latex(note)}" for note in summary.notes]
    return "\n".join([*parts, r"\end{table}"])


def _facts(facts: dict[str, str]) -> str:
    """Return a tabular of the facts with the columns label, value, label, value."""
    half = -(-len(facts) // 2)
    items = [*facts.items(), *[("", "")] * (len(facts) % 2)]
    rows = [[*a, *b] for a, b in zip(items[:half], items[half:], strict=True)]
    sides = [TextColumn("", [row[at] for row in rows], False) for at in (1, 3)]
    spec = f"l{_spec(sides[0])}l{_spec(sides[1])}"
    return _tabular(spec, [], rows)


def _table(table: pd.DataFrame) -> str:
    columns = text_columns(table)
    labels = TextColumn("", labels_of(table), False)
    spec = "".join(map(_spec, [labels, *columns]))
    rows = [list(row) for row in zip(labels.cells, *(c.cells for c in columns), strict=True)]
    return _tabular(spec, ["", *(column.header for column in columns)], rows)


def _spec(column: TextColumn) -> str:
    if column.is_numeric:
        return "r"
    return PARAGRAPH if max(map(len, column.cells), default=0) > MOST_CHARACTERS else "l"


def _tabular(spec: str, headers: list[str], rows: list[list[str]]) -> str:
    head = [_row(headers), r"\midrule"] if headers else []
    lines = [rf"\begin{{tabular}}{{{spec}}}", r"\toprule", *head, *map(_row, rows)]
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}"])


def _row(cells: list[str]) -> str:
    return " & ".join(map(in_latex, cells)) + r" \\"
