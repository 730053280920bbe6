"""Cards as text and HTML."""

from __future__ import annotations

import html
from collections.abc import Mapping

import pandas as pd

from odrf.text.html_layout import facts_as_html, page, table_as_html
from odrf.text.quantity import quantity
from odrf.text.shortening import shortened, shortened_names
from odrf.text.text_layout import MAX_WIDTH, aligned_facts, table_blocks

__all__ = ["card_as_html", "card_as_text", "card_facts"]

INDENT = "  "
# Lines of a fact, and characters that the ends of its lines may leave free.
MOST_LINES, MARGIN = 3, 30


def card_facts(facts: Mapping[str, str]) -> list[str]:
    """Return facts as lines, at most three for each; labels have at most half the width."""
    width = MAX_WIDTH - len(INDENT)
    labels = shortened_names(list(facts), width // 2)
    widest = max(map(len, labels), default=0)
    most = MOST_LINES * (width - widest - 2) - MARGIN
    values = [shortened(" ".join(value.split()), most) for value in facts.values()]
    return [INDENT + line for line in aligned_facts(list(zip(labels, values, strict=True)), width)]


def card_as_text(title: str, facts: list[str], table: pd.DataFrame | None, left_out: int) -> str:
    """Return a card as text: its title, facts as lines, a table.

    Of the rows that are left out of the table, there is only the number, `left_out`.
    """
    lines = [shortened(title, MAX_WIDTH), *facts]
    if table is None:
        return "\n".join(lines)
    first, *others = table_blocks(table, most_lines=1)
    return "\n".join([*lines, *first, *_left_out(left_out, bool(others))])


def card_as_html(
    title: str, facts: Mapping[str, str], table: pd.DataFrame | None, left_out: int
) -> str:
    """Return a card as HTML; `left_out` rows are only counted."""
    parts = [facts_as_html(facts, len(facts))] if facts else []
    if table is not None:
        parts.append(table_as_html(table))
    parts += [f"<p>{html.escape(line)}</p>" for line in _left_out(left_out, False)]
    return page(title, parts)


def _left_out(rows: int, more_columns: bool) -> list[str]:
    """Return a line on what a table does not show, if there is anything."""
    words = [quantity(rows, "more row")] if rows else []
    words += ["more columns"] if more_columns else []
    return [f"… {' and '.join(words)}: see table"] if words else []
