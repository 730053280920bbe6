"""Layout of the facts and tables of a summary as text, HTML and LaTeX."""

from __future__ import annotations

import html
import math
import textwrap
from collections.abc import Callable

import numpy as np
import pandas as pd
from statsmodels.iolib.table import SimpleTable

__all__ = ["summary_as_html", "summary_as_latex", "summary_as_text"]

WIDTH = 80
# Facts are set in two columns up to this width.
MAX_WIDTH = 90
GAP = "   "
# A column has common decimals if its smallest entry is at least this share of its largest.
SPAN = 1e-4
LATEX = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "{": r"\{",
        "}": r"\}",
        "#": r"\#",
        "$": r"\$",
        "%": r"\%",
        "&": r"\&",
        "_": r"\_",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
    }
)


def summary_as_text(
    title: str,
    call: str,
    facts: dict[str, str],
    sections: dict[str, pd.DataFrame],
    notes: tuple[str, ...],
) -> str:
    """Return a summary as plain text, at least 80 characters wide."""
    parts = [_call_text(call), _facts_text(facts)]
    parts += [
        f"{heading}\n{_simple_table(table, str).as_text()}" for heading, table in sections.items()
    ]
    parts = ["\n".join(map(str.rstrip, part.split("\n"))) for part in parts]
    width = max(WIDTH, *(len(line) for part in parts for line in part.split("\n")))
    body = f"\n{'-' * width}\n".join(parts)
    lines = [textwrap.fill(note, width) for note in notes]
    head = title.center(width).rstrip()
    return "\n".join([head, "=" * width, body, "=" * width, *lines])


def summary_as_html(
    title: str,
    call: str,
    facts: dict[str, str],
    sections: dict[str, pd.DataFrame],
    notes: tuple[str, ...],
) -> str:
    """Return a summary as HTML tables."""
    parts = [
        _captioned(
            _pairs_table(facts, html.escape).as_html(),
            f"{html.escape(title)}<br><code>{html.escape(call)}</code>",
        )
    ]
    parts += [
        _captioned(_simple_table(table, html.escape).as_html(), html.escape(heading))
        for heading, table in sections.items()
    ]
    parts += [f"<p>{html.escape(note)}</p>" for note in notes]
    return "\n".join(parts)


def summary_as_latex(
    title: str,
    call: str,
    facts: dict[str, str],
    sections: dict[str, pd.DataFrame],
    notes: tuple[str, ...],
) -> str:
    """Return a summary as one LaTeX table environment (package booktabs)."""
    parts = [
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{_latex(title)}}}",
        rf"\texttt{{{_latex(call)}}}",
        _pairs_table(facts, _latex).as_latex_tabular(center=False),
    ]
    for heading, table in sections.items():
        tabular = _simple_table(table, _latex).as_latex_tabular(center=False)
        parts.append(f"\n\\medskip\n{_latex(heading)}\n\n{tabular}")
    parts += [f"\n{_latex(note)}" for note in notes]
    return "\n".join([*parts, r"\end{table}"])


def _latex(text: str) -> str:
    return text.translate(LATEX)


def _captioned(table: str, caption: str) -> str:
    head, body = table.split(">", 1)
    return f"{head}>\n<caption>{caption}</caption>{body}"


def _call_text(call: str) -> str:
    lines = textwrap.wrap(call, WIDTH - 9, break_on_hyphens=False) or [""]
    return "\n".join([f"Call     {lines[0]}", *(f"         {line}" for line in lines[1:])])


def _facts_text(facts: dict[str, str]) -> str:
    """Return the facts in two columns, or in one if two would be too wide."""
    half = -(-len(facts) // 2)
    items = list(facts.items())
    columns = [_aligned(items[:half]), _aligned(items[half:])]
    left = max(map(len, columns[0]), default=0)
    if left + len(GAP) + max(map(len, columns[1]), default=0) > MAX_WIDTH:
        return "\n".join(_aligned(items))
    left = max(left, (WIDTH - len(GAP)) // 2)
    columns[1] += [""] * (half - len(columns[1]))
    return "\n".join(f"{a:<{left}}{GAP}{b}" for a, b in zip(columns[0], columns[1], strict=True))


def _aligned(items: list[tuple[str, str]]) -> list[str]:
    widest = max((len(label) for label, _ in items), default=0)
    return [f"{label:<{widest}}  {value}" for label, value in items]


def _pairs_table(facts: dict[str, str], escape: Callable[[str], str]) -> SimpleTable:
    """Return a table of the facts with the columns label, value, label, value."""
    half = -(-len(facts) // 2)
    items = [(escape(label), escape(value)) for label, value in facts.items()]
    items += [("", "")] * (2 * half - len(items))
    rows = [[*a, *b] for a, b in zip(items[:half], items[half:], strict=True)]
    return _bare_table(rows, None, None, "l")


def _simple_table(table: pd.DataFrame, escape: Callable[[str], str]) -> SimpleTable:
    """Return the table as text; the largest entry of a float column sets its decimals."""
    columns = [[escape(cell) for cell in _cells(table[name])] for name in table]
    rows = [list(row) for row in zip(*columns, strict=True)]
    headers = [escape(str(name)) for name in table.columns]
    return _bare_table(rows, headers, [escape(str(label)) for label in table.index], "r")


def _cells(column: pd.Series) -> list[str]:
    if not pd.api.types.is_float_dtype(column):
        return [str(value) for value in column]
    values = column.to_numpy(dtype=float)
    largest = np.abs(values[np.isfinite(values)]).max(initial=0.0)
    decimals = 3 - math.floor(math.log10(largest)) if largest > 0 else 0
    smallest = np.abs(values[np.isfinite(values) & (values != 0)]).min(initial=largest)
    if decimals > 8 or smallest < SPAN * largest:
        return [f"{value:.3g}" for value in values]
    return ["" if np.isnan(value) else f"{value:.{max(decimals, 0)}f}" for value in values]


def _bare_table(
    rows: list[list[str]], headers: list[str] | None, stubs: list[str] | None, align: str
) -> SimpleTable:
    text: dict[str, str | None] = {
        "table_dec_above": None,
        "table_dec_below": None,
        "header_dec_below": None,
    }
    text |= {"data_aligns": align, "header_align": align, "colsep": GAP}
    latex = {"data_aligns": align, "header_align": align, "replacements": {}}
    latex |= {"header": "%s", "stub": "%s", "header_fmt": "%s", "stub_fmt": "%s"}
    page = {"data_aligns": align, "header_align": align}
    return SimpleTable(rows, headers, stubs, txt_fmt=text, ltx_fmt=latex, html_fmt=page)
