"""Facts and tables as plain text of at most 100 characters a line."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from odrf.text.cells import TextColumn, labels_of, text_columns
from odrf.text.contents import Contents
from odrf.text.shortening import shortened, shortened_names

__all__ = ["MAX_WIDTH", "aligned_facts", "summary_as_text", "table_blocks"]

MIN_WIDTH, MAX_WIDTH = 80, 100
GAP = "   "
MOST_LABEL, MOST_HEADER = 36, 24
# A column of words is made no narrower than this, and its cells no higher than these lines.
MIN_WORDS, MOST_LINES = 24, 5
CALL, CALL_LINES = "Call     ", 6
# A character of no text, in place of a space at which lines are not broken.
GLUE = "\0"


def summary_as_text(summary: Contents) -> str:
    """Return a summary as plain text, 80 to 100 characters wide."""
    parts = [_call_lines(summary.call), _facts_in_two_columns(summary.facts)]
    for heading, table in summary.sections.items():
        blocks = table_blocks(table)
        lines = [line for block in blocks for line in ("", *block)][1:]
        parts.append([*_wrapped(heading, MAX_WIDTH), *lines])
    width = max(MIN_WIDTH, *(len(line) for part in parts for line in part))
    body = f"\n{'-' * width}\n".join("\n".join(part) for part in parts)
    head = shortened(summary.title, width).center(width).rstrip()
    ends = [line for note in summary.notes for line in _wrapped(note, width)]
    return "\n".join([head, "=" * width, body, "=" * width, *ends])


def aligned_facts(facts: Sequence[tuple[str, str]], width: int) -> list[str]:
    """Return facts below each other; long values are broken into lines of at most `width`.

    Labels have at most half the width.
    """
    labels = shortened_names([label for label, _ in facts], width // 2)
    widest = max(map(len, labels), default=0)
    lines = []
    for label, (_, value) in zip(labels, facts, strict=True):
        first, *more = _wrapped(value, width - widest - 2) or [""]
        lines.append(f"{label:<{widest}}  {first}".rstrip())
        lines += [" " * (widest + 2) + line for line in more]
    return lines


def table_blocks(table: pd.DataFrame, most_lines: int = MOST_LINES) -> list[list[str]]:
    """Return a table as lines, in as many blocks of columns as the width needs.

    Parameters
    ----------
    table : DataFrame
    most_lines : int
        Most lines of a cell.
    """
    labels = shortened_names(labels_of(table), MOST_LABEL)
    columns = [_Words("", ["", *labels], "<", max(map(len, labels), default=0))]
    texts = text_columns(table)
    headers = shortened_names([column.header for column in texts], MOST_HEADER)
    columns += [_words(column, header) for column, header in zip(texts, headers, strict=True)]
    _narrow(columns)
    blocks: list[list[_Words]] = []
    for column in columns[1:]:
        if not blocks or _width([*blocks[-1], column]) > MAX_WIDTH:
            blocks.append([columns[0]])
        blocks[-1].append(column)
    return [_lines(block, most_lines) for block in blocks or [columns[:1]]]


@dataclass
class _Words:
    """A column with its header as the first cell, and the width that it is set in."""

    header: str
    cells: list[str]
    align: str
    width: int


def _words(column: TextColumn, header: str) -> _Words:
    cells = [header, *column.cells]
    return _Words(header, cells, ">" if column.is_numeric else "<", max(map(len, cells)))


def _narrow(columns: list[_Words]) -> None:
    """Narrow the columns of words, the widest first, until the table fits or all are narrow."""
    for column in sorted(columns[1:], key=lambda column: -column.width):
        excess = _width(columns) - MAX_WIDTH
        if excess > 0 and column.align == "<":
            least = max(MIN_WORDS, len(column.header))
            column.width = max(min(column.width, least), column.width - excess)


def _width(columns: list[_Words]) -> int:
    return sum(column.width for column in columns) + len(GAP) * (len(columns) - 1)


def _lines(columns: list[_Words], most_lines: int) -> list[str]:
    lines = []
    for row in zip(*(column.cells for column in columns), strict=True):
        broken = [
            _cell_lines(cell, column.width, most_lines)
            for cell, column in zip(row, columns, strict=True)
        ]
        for at in range(max(map(len, broken))):
            cells = [
                f"{cell[at] if at < len(cell) else '':{column.align}{column.width}}"
                for cell, column in zip(broken, columns, strict=True)
            ]
            lines.append(GAP.join(cells).rstrip())
    return lines


def _cell_lines(cell: str, width: int, most: int) -> list[str]:
    lines = [cell] if len(cell) <= width else _wrapped(cell, width)
    if len(lines) <= most:
        return lines or [""]
    return [*lines[: most - 1], f"{lines[most - 1][: width - 2]} …"]


def _wrapped(text: str, width: int) -> list[str]:
    """Break text at spaces, never after a sign; words too long are shortened in the middle."""
    words = " ".join(shortened(word, width) for word in text.split())
    glued = re.sub(r"(?<= )([+-]) ", f"\\1{GLUE}", words)
    return [line.replace(GLUE, " ") for line in textwrap.wrap(glued, width, break_on_hyphens=False)]


def _call_lines(call: str) -> list[str]:
    room = MIN_WIDTH - len(CALL) - 1
    lines = textwrap.wrap(call, room, break_on_hyphens=False) or [""]
    if len(lines) > CALL_LINES:
        half = CALL_LINES // 2
        lines = [*lines[:half], "…", *lines[-half:]]
    return [CALL + lines[0], *(" " * len(CALL) + line for line in lines[1:])]


def _facts_in_two_columns(facts: dict[str, str]) -> list[str]:
    """Return the facts in two columns, or in one if two would be too wide."""
    half = -(-len(facts) // 2)
    items = list(facts.items())
    left, right = (aligned_facts(part, 10**6) for part in (items[:half], items[half:]))
    width = max((MIN_WIDTH - len(GAP)) // 2, max(map(len, left), default=0))
    if width + len(GAP) + max(map(len, right), default=0) > MAX_WIDTH:
        return aligned_facts(items, MAX_WIDTH)
    right += [""] * (half - len(right))
    return [f"{a:<{width}}{GAP}{b}".rstrip() for a, b in zip(left, right, strict=True)]
