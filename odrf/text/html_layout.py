"""Facts and tables as HTML, for notebooks: plain lines, numbers to the right."""

from __future__ import annotations

import html
from collections.abc import Mapping

import pandas as pd

from odrf.text.cells import labels_of, text_columns
from odrf.text.contents import Contents

__all__ = ["facts_as_html", "page", "summary_as_html", "table_as_html"]

# Colours follow the notebook's, light or dark.
STYLE = """<style>
.odrf {font-size: 90%; line-height: 1.35; max-width: 64em}
.odrf table {border-collapse: collapse; margin: .6em 0 1em 0; border: none;
  border-top: 1.5px solid currentColor; border-bottom: 1.5px solid currentColor}
.odrf caption {caption-side: top; text-align: left; font-weight: bold; padding: .2em 0;
  color: inherit}
.odrf th, .odrf td {padding: .15em .8em; border: none; background: none; vertical-align: top}
.odrf th {font-weight: normal; text-align: left; opacity: .8}
.odrf thead th {border-bottom: 1px solid currentColor}
.odrf td {font-variant-numeric: tabular-nums; max-width: 36em; overflow-wrap: anywhere}
.odrf p {margin: .2em 0}
.odrf code {background: none; overflow-wrap: anywhere}
</style>"""
RIGHT, LEFT = ' style="text-align: right"', ' style="text-align: left"'


def summary_as_html(summary: Contents) -> str:
    """Return a summary as a block of HTML: its facts in two columns, its tables, its notes."""
    facts = facts_as_html(summary.facts, -(-len(summary.facts) // 2))
    parts = [f"<p><code>{html.escape(summary.call)}</code></p>", facts]
    parts += [table_as_html(table, heading) for heading, table in summary.sections.items()]
    parts += [f"<p>{html.escape(note)}</p>" for note in summary.notes]
    return page(summary.title, parts)


def page(title: str, parts: list[str]) -> str:
    """Return parts of HTML under a title, with the style."""
    head = f"<p><strong>{html.escape(title)}</strong></p>"
    return "\n".join(['<div class="odrf">', STYLE, head, *parts, "</div>"])


def facts_as_html(facts: Mapping[str, str], n_rows: int) -> str:
    """Return facts as a table of `n_rows` rows; the next facts stand to the right of them."""
    items = list(facts.items())
    rows = ["".join(map(_fact, items[at::n_rows])) for at in range(n_rows)]
    return "\n".join(["<table>", *(f"<tr>{row}</tr>" for row in rows), "</table>"])


def table_as_html(table: pd.DataFrame, caption: str = "") -> str:
    """Return a table; numbers stand to the right, words to the left."""
    columns = text_columns(table)
    aligns = [RIGHT if column.is_numeric else LEFT for column in columns]
    headers = [
        f"<th{align}>{html.escape(column.header)}</th>"
        for column, align in zip(columns, aligns, strict=True)
    ]
    lines = ["<table>"]
    if caption:
        lines.append(f"<caption>{html.escape(caption)}</caption>")
    lines += [f"<thead><tr><th></th>{''.join(headers)}</tr></thead>", "<tbody>"]
    for label, *cells in zip(labels_of(table), *(column.cells for column in columns), strict=True):
        data = [
            f"<td{align}>{html.escape(cell)}</td>"
            for cell, align in zip(cells, aligns, strict=True)
        ]
        lines.append(f"<tr><th{LEFT}>{html.escape(label)}</th>{''.join(data)}</tr>")
    return "\n".join([*lines, "</tbody>", "</table>"])


def _fact(fact: tuple[str, str]) -> str:
    label, value = map(html.escape, fact)
    return f"<th{LEFT}>{label}</th><td{LEFT}>{value}</td>"
