"""Facts and tables as plain text, HTML and LaTeX."""

from __future__ import annotations

import html
import math
import re
import textwrap
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from odrf.text.names import shortened, shortened_names
from odrf.text.splits import LEAST_P, SMALLER, number

# With common decimals the largest entry of a column has four digits, and the smallest one at least;
# else each has three digits, as where these would be too many decimals.
DIGITS, DIGITS_APART, MOST_DECIMALS = 4, 3, 8
# Columns with these names, and what follows, hold p-values.
OF_TESTS = ("p_value", "p_adjusted")
Sections = Mapping[str, pd.DataFrame]
NUMBER = re.compile(r"|nan|-?inf|-?\d[\d.]*(e[+-]\d+)?")


@dataclass(frozen=True)
class TextColumn:
    """A column of a table as text; numbers are set to the right, words to the left."""

    header: str
    cells: list[str]
    is_numeric: bool


def text_columns(table: pd.DataFrame) -> list[TextColumn]:
    """Return the columns of a table; the largest entry of a float column sets its decimals."""
    return [_column(str(name), column) for name, column in table.items()]


def labels_of(table: pd.DataFrame) -> list[str]:
    """Return the labels of the rows of a table; the levels of an index of several, by commas."""
    return [
        ", ".join(map(str, label)) if isinstance(label, tuple) else str(label)
        for label in table.index
    ]


def _column(header: str, column: pd.Series) -> TextColumn:
    if pd.api.types.is_float_dtype(column):
        cells = _float_cells(column)
        if header.startswith(OF_TESTS):
            cells = [
                SMALLER if p < LEAST_P else cell for p, cell in zip(column, cells, strict=True)
            ]
        return TextColumn(header, cells, True)
    cells = ["" if value is pd.NA else str(value) for value in column]
    return TextColumn(header, cells, bool(cells) and all(map(NUMBER.fullmatch, cells)))


def _float_cells(column: pd.Series) -> list[str]:
    values = column.to_numpy(dtype=float) + 0.0  # no -0.0
    sizes = np.abs(values[np.isfinite(values) & (values != 0)])
    largest, smallest = sizes.max(initial=0.0), sizes.min(initial=np.inf)
    before_point = math.floor(math.log10(largest)) + 1 if largest > 0 else DIGITS
    decimals = max(DIGITS - before_point, 0)
    apart = decimals > MOST_DECIMALS or smallest < 10.0**-decimals
    texts = (number(value, DIGITS_APART) if apart else f"{value:.{decimals}f}" for value in values)
    return ["" if np.isnan(value) else text for value, text in zip(values, texts, strict=True)]


# Facts and tables as plain text of at most 100 characters a line.

MIN_WIDTH, MAX_WIDTH = 80, 100
GAP = "   "
MOST_LABEL, MOST_HEADER = 36, 24
# A column of words is made no narrower than this, and its cells no higher than these lines.
MIN_WORDS, MOST_LINES = 24, 5
CALL, CALL_LINES = "Call     ", 6
# A character of no text, in place of a space at which lines are not broken.
GLUE = "\0"


def summary_as_text(
    title: str, call: str, facts: dict[str, str], sections: Sections, notes: Sequence[str]
) -> str:
    """Return a summary as plain text, 80 to 100 characters wide."""
    parts = [_call_lines(call), _facts_in_two_columns(facts)]
    for heading, table in sections.items():
        blocks = table_blocks(table)
        lines = [line for block in blocks for line in ("", *block)][1:]
        parts.append([*_wrapped(heading, MAX_WIDTH), *lines])
    width = max(MIN_WIDTH, *(len(line) for part in parts for line in part))
    body = f"\n{'-' * width}\n".join("\n".join(part) for part in parts)
    head = shortened(title, width).center(width).rstrip()
    ends = [line for note in notes for line in _wrapped(note, width)]
    return "\n".join([head, "=" * width, body, "=" * width, *ends])


def aligned_facts(facts: Sequence[tuple[str, str]], width: int) -> list[str]:
    """Return facts below each other in lines of at most `width`, labels in half of it."""
    labels = shortened_names([label for label, _ in facts], width // 2)
    widest = max(map(len, labels), default=0)
    lines = []
    for label, (_, value) in zip(labels, facts, strict=True):
        first, *more = _wrapped(value, width - widest - 2) or [""]
        lines.append(f"{label:<{widest}}  {first}".rstrip())
        lines += [" " * (widest + 2) + line for line in more]
    return lines


def table_blocks(table: pd.DataFrame, most_lines: int = MOST_LINES) -> list[list[str]]:
    """Return a table as lines, in as many blocks of columns as the width needs."""
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


def quantity(number: int | str, one: str, several: str = "") -> str:
    """Return a number of things, with the noun for one of them or for several.

    Examples
    --------
    >>> quantity(1, "tree"), quantity(3, "tree"), quantity("2.5", "leaf", "leaves")
    ('1 tree', '3 trees', '2.5 leaves')
    """
    return f"{number} {one if str(number) == '1' else several or f'{one}s'}"


def percentage(share: float) -> str:
    """Return a share as a percentage with all its digits, up to six.

    Examples
    --------
    >>> percentage(0.95), percentage(0.975), percentage(0.999)
    ('95%', '97.5%', '99.9%')
    """
    return f"{100 * share:.6g}%"


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


def summary_as_html(
    title: str, call: str, facts: dict[str, str], sections: Sections, notes: Sequence[str]
) -> str:
    """Return a summary as a block of HTML: its facts in two columns, its tables, its notes."""
    halves = facts_as_html(facts, -(-len(facts) // 2))
    parts = [f"<p><code>{html.escape(call)}</code></p>", halves]
    parts += [table_as_html(table, heading) for heading, table in sections.items()]
    parts += [f"<p>{html.escape(note)}</p>" for note in notes]
    return page(title, parts)


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


# Text as LaTeX that pdflatex compiles without further packages.

SMALL = (
    "alpha beta gamma delta varepsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau "
    "upsilon varphi chi psi omega"
)
CAPITALS = "Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega"
GREEK = dict(zip("αβγδεζηθικλμνξπρστυφχψωΓΔΘΛΞΠΣΥΦΨΩ", f"{SMALL} {CAPITALS}".split(), strict=True))
# Greek letters that have no command, as they look like Latin ones.
LATIN = dict(zip("ΑΒΕΖΗΙΚΜΝΟΡΤΧο", "ABEZHIKMNOPTXo", strict=True))
MARKS = dict(
    zip(
        "\u0300\u0301\u0302\u0303\u0304\u0306\u0307\u0308\u030a\u030b\u030c\u0327",
        ("`", "'", "^", "~", "=", "u ", ".", '"', "r ", "H ", "v ", "c "),
        strict=True,
    )
)
COMMANDS = (
    "textbackslash textasciitilde textasciicircum textless textgreater textbar ldots "
    "ss ae AE oe OE o O l L i"
)
SYMBOLS = {
    **{a: rf"\{b}{{}}" for a, b in zip("\\~^<>|…ßæÆœŒøØłŁı", COMMANDS.split(), strict=True)},
    **{letter: rf"\{letter}" for letter in "{}#$%&_"},
    # after the end of a row, [ would begin the optional argument of \\, and * be part of it
    **{letter: f"{{{letter}}}" for letter in "[]*"},
    **dict(zip("`–—‘’“”\u00a0", (r"\`{}", "--", "---", "`", "'", "``", "''", "~"), strict=True)),
}
OPERATORS = (
    r"^2 ^3 \pm \times \cdot - \le \ge \ne \approx \infty \surd \sum \to \in \propto ^\circ "
    r"\mu \varsigma"
)
MATHEMATICS = dict(zip("²³±×·−≤≥≠≈∞√∑→∈∝°µς", OPERATORS.split(), strict=True))


def in_latex(text: str) -> str:
    r"""Return text as LaTeX; a character that pdflatex lacks is written by its number.

    Examples
    --------
    >>> print(in_latex("[Z] α_n ≤ 5 %"))
    {[}Z{]} $\alpha$\_n $\le$ 5 \%
    >>> print(in_latex("Müller 中"))
    M\"{u}ller U+4E2D
    """
    return "".join(map(_character, unicodedata.normalize("NFC", text)))


def _character(letter: str) -> str:
    if letter in SYMBOLS:
        return SYMBOLS[letter]
    if letter in MATHEMATICS:
        return f"${MATHEMATICS[letter]}$"
    if letter in LATIN:
        return LATIN[letter]
    if letter.isascii():
        return letter if letter.isprintable() else " "
    if letter in GREEK:
        return f"$\\{GREEK[letter]}$"
    parts = unicodedata.normalize("NFD", letter)
    if len(parts) == 2 and parts[0].isascii() and parts[1] in MARKS:
        return f"\\{MARKS[parts[1]]}{{{parts[0]}}}"
    return f"U+{ord(letter):04X}"


class IndentedText(str):
    r"""Lines of text, such as the rules of a tree, which convert to LaTeX.

    Examples
    --------
    >>> print(IndentedText("root\n  age_1 <= 3").as_latex())
    \begin{flushleft}\ttfamily
    root\\
    \hspace*{1em}age\_1 \textless{}= 3
    \end{flushleft}
    """

    def as_latex(self) -> str:
        """Return the lines in LaTeX, for pdflatex without further packages."""
        lines = []
        for line in self.split("\n"):
            text = line.lstrip(" ")
            indent = (len(line) - len(text)) / 2
            before = rf"\hspace*{{{indent:g}em}}" if indent else ""
            lines.append(before + (in_latex(text) or r"\mbox{}"))
        body = "\\\\\n".join(lines)
        return f"\\begin{{flushleft}}\\ttfamily\n{body}\n\\end{{flushleft}}"


# Facts and tables as LaTeX, with the package booktabs.

# Columns of longer cells are broken into lines.
MOST_CHARACTERS = 40
PARAGRAPH = r"p{0.28\linewidth}"


def summary_as_latex(
    title: str, call: str, facts: dict[str, str], sections: Sections, notes: Sequence[str]
) -> str:
    """Return a summary as one LaTeX table environment."""
    parts = [
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{in_latex(title)}}}",
        rf"\parbox{{\linewidth}}{{\raggedright\ttfamily {in_latex(call)}}}",
        "",
        r"\medskip",
        _facts(facts),
    ]
    for heading, table in sections.items():
        parts.append(f"\n\\medskip\n{in_latex(heading)}\n\n{_table(table)}")
    parts += [f"\n{in_latex(note)}" for note in notes]
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


INDENT = "  "
# Lines of a fact, and characters that the ends of its lines may leave free.
CARD_LINES, MARGIN = 3, 30


def card_facts(facts: Mapping[str, str]) -> list[str]:
    """Return facts as lines, at most three for each; labels have at most half the width."""
    width = MAX_WIDTH - len(INDENT)
    labels = shortened_names(list(facts), width // 2)
    widest = max(map(len, labels), default=0)
    most = CARD_LINES * (width - widest - 2) - MARGIN
    values = [shortened(" ".join(value.split()), most) for value in facts.values()]
    return [INDENT + line for line in aligned_facts(list(zip(labels, values, strict=True)), width)]


def card_as_text(title: str, facts: list[str], table: pd.DataFrame | None, left_out: int) -> str:
    """Return a card as text: its title, facts as lines, a table, the number of rows `left_out`."""
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
