"""Tables in files and from stdin, and how their columns are read."""

from __future__ import annotations

import csv
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from io import BytesIO
from pathlib import Path
from typing import Any

import pandas as pd
from pandas.api.types import is_numeric_dtype

from odrf.cli.files import DECIMALS, PLAIN, STDIN, TableForm, ending, na_option, require_known
from odrf.datasets import first_rows, lines_of, opened, read_separated
from odrf.design.columns import TEXT
from odrf.design.encoding import Indicators
from odrf.design.formula import quoted
from odrf.errors import InputError, warn_user

# What stands in cells without a value.
SIGNS_OF_EMPTY = ("", "?", ".", "-", "--", "*", "n.a.", "missing", "unknown")
# Where nearly all texts are numbers, so few others are taken for what stands in missing values.
NEARLY_ALL, FEW = 0.9, 3
# Beside a comma, or a point where decimals have commas.
APOSTROPHES, SPACES = ("'", "\u2019"), (" ", "\u00a0", "\u202f")
SIGNS_OF_THOUSANDS = (*APOSTROPHES, *SPACES)
# Whether texts may be numbers is seen from about so many.
SOME = 1000
LIKE_A_NUMBER = r"[-+]?[.,]?\d[\d.,'\u2019\s]*([eE][-+]?\d+)?"
MARKS = {b"\xef\xbb\xbf": "utf-8-sig", b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}


def read_table(
    path: Path, form: TableForm = PLAIN, text: Mapping[str, Iterable[str]] | Iterable[str] = ()
) -> pd.DataFrame:
    """Read a table from a file, or from stdin if `path` is ``-``; its rows are numbered from 1.

    Its format is by default that of the ending of the file; csv for stdin and for unknown endings.
    In the columns `text` what is written stays so, such as 007, and levels are no missing values.
    """
    format = form.format
    if format is None:
        format = ending(path).removeprefix(".")
        require_known(path, format)
    from_stdin = path == STDIN
    source: Any = BytesIO(sys.stdin.buffer.read()) if from_stdin else path
    named = "the table from stdin" if from_stdin else str(path)
    try:
        if format == "parquet":
            form.require_text(named)
            table = pd.read_parquet(source)
        else:
            table = _read_text(source, form, format, text, named)
    except InputError:
        raise
    except Exception as error:  # whatever the readers of damaged files raise
        if isinstance(error, OSError) and error.filename:
            raise
        raise InputError(f"{named} cannot be read: {_why(error, form)}") from error
    return table.set_axis(pd.RangeIndex(1, len(table) + 1, name="row"))


def known_texts(fit: Any) -> dict[str, list[str]]:
    """Return the columns that a fit knows as text, so that new rows are read as its rows were.

    Each has its levels: one that is written as a missing value, such as NA, is a level there, too.
    """
    schema, response = fit.design.schema, fit.design.response
    held = zip(schema.columns, schema.contents, strict=True)
    texts: dict[str, list[str]] = {name: [] for name, contents in held if contents == TEXT}
    for variable in fit.design.recipe.variables:
        if variable.name in texts and isinstance(variable.encoding, Indicators):
            texts[variable.name] = [str(level) for level in variable.encoding.levels]
    classes = response.classes
    if classes is not None and all(isinstance(each, str) for each in classes):
        texts |= {name: list(map(str, classes)) for name in response.columns}
    return texts


def _read_text(
    source: Any, form: TableForm, format: str, text: Mapping[str, Iterable[str]] | Iterable[str],
    named: str,
) -> pd.DataFrame:  # fmt: skip
    separator, decimal = form.of_file(format)
    source = _plain(source, form, separator)
    _require_columns(first_rows(source, separator, 2), named)
    table = read_separated(source, separator, decimal, text, named, form.na)
    for name in table.columns:
        if name not in text and not is_numeric_dtype(table[name].dtype):
            table[name] = _read_column(table[name], decimal, form)
    return table


# Text in other codes, and comments, are brought into the form that is read.


def _plain(source: Any, form: TableForm, separator: str) -> Any:
    """Return the source itself, or its text in UTF-8, without comments, one blank in a row."""
    with ExitStack() as stack:
        binary = source if isinstance(source, BytesIO) else stack.enter_context(
            opened(source, stack)
        )  # fmt: skip
        head = binary.read(4)
        mark = next((code for mark, code in MARKS.items() if head.startswith(mark)), "utf-8")
        encoding = form.encoding or mark
        if encoding.startswith("utf-8") and form.comment is None and separator != " ":
            n = _comments_before_names(source, separator)
            if n == 0:
                return source
        content = head + binary.read()
    try:
        lines = content.decode(encoding).removeprefix("\ufeff").splitlines(keepends=True)
    except LookupError:
        raise InputError(
            f"--encoding {encoding} is not known: use one such as latin-1, cp1252 or utf-16"
        ) from None
    return BytesIO("".join(_without_comments(lines, form, separator)).encode())


def _without_comments(lines: list[str], form: TableForm, separator: str) -> Iterator[str]:
    """Yield the lines; comments are left empty, so that all lines keep their numbers."""
    n = 0
    if form.comment is None:
        text = BytesIO("".join(lines).encode())
        n = _comments_before_names(text, separator)
    for number, line in enumerate(lines):
        if number < n or (form.comment is not None and line.lstrip().startswith(form.comment)):
            yield "\n"
        elif separator == " ":
            yield re.sub(r'("[^"]*")|[ \t]+', lambda found: found[1] or " ", line.strip()) + "\n"
        else:
            yield line


def _comments_before_names(source: Any, separator: str) -> int:
    """Return how many lines before that of the names are comments, which begin with #.

    A line of names may begin with # as well: then as many fields follow in the next line, and there
    are numbers in it, or in neither of the next two.
    """
    head: list[str] = []
    plain: list[str] = []
    with lines_of(source) as lines:
        for line in lines:
            head.append(line)
            plain += [line] * (bool(line.strip()) and not line.startswith("#"))
            if len(plain) == 2:
                break
    first = head.index(plain[0]) if plain else len(head)
    marked = [number for number in range(first) if head[number].startswith("#")]
    if not marked:
        return 0
    names, *rows = list(csv.reader([head[marked[-1]], *plain], delimiter=separator))
    numbers = [any(map(_is_number, row)) for row in rows]
    alike = len(rows) > 0 and len(rows[0]) == len(names)
    return marked[-1] + (not (alike and (numbers[0] or not any(numbers))))


def _is_number(text: str) -> bool:
    try:
        float(text.replace(",", "."))
    except ValueError:
        return False
    return True


def _require_columns(rows: list[list[str]], named: str) -> None:
    """Raise `InputError` if the first line, of names, was read as one name."""
    if not rows or len(rows[0]) != 1:
        return
    (name,) = rows[0]
    ways = {
        ";": "add --format csv2, or --sep ';' if decimals have points",
        "\t": "add --format tsv",
        ",": "add --format csv",
        "|": "add --sep '|'",
    }
    for separator, way in ways.items():
        if separator in name:
            raise InputError(
                f"{named} has one column, {name!r}: if {separator!r} separates columns, {way}"
            )
    fields = [len(row[0].split()) for row in rows if len(row) == 1]
    if len(fields) == len(rows) > 1 and fields[0] == fields[1] > 1:
        raise InputError(
            f"{named} has one column, {name!r}: if blanks separate columns, add --sep ' '"
        )


# Columns of text that hold numbers.


def _read_column(column: pd.Series, decimal: str, form: TableForm) -> pd.Series:
    """Return a column of text; numbers with signs of thousands as numbers.

    Warns of numbers that stay text for their decimals, or for what stands in cells without one.
    """
    cells = pd.Series(column.dropna().unique(), dtype=object).astype(str)
    bare, other = cells.str.strip(), DECIMALS[1 - DECIMALS.index(decimal)]
    if not bare.iloc[:: len(bare) // SOME + 1].str.fullmatch(LIKE_A_NUMBER).any():
        return column
    numbers = _numbers(bare, decimal)
    for sign in (other, *SIGNS_OF_THOUSANDS):
        grouped = bare.str.fullmatch(_grouped(sign, decimal))
        if not grouped.any():
            continue
        if (numbers | grouped).all():
            if form.decimal is None or sign != other:
                _warn_of_thousands(column.name, bare[grouped], sign, decimal)
            return _without_groups(column, sign, decimal)
        if _empty(bare, numbers | grouped).any():
            numbers |= grouped
    of_other = _numbers(bare, other)
    if (of_other & ~numbers).any() and (of_other | _empty(bare, of_other)).all():
        words = "decimal commas" if other == "," else "decimal points"
        warn_user(
            f"{column.name!r} has {words}, such as {cells[of_other & ~numbers].iloc[0]!r}, and is "
            f"read as text: add --decimal '{other}'"
        )
    elif _empty(bare, numbers).any():
        others = cells[~numbers]
        options = " ".join(map(na_option, others))
        warn_user(
            f"{column.name!r} has {others.iloc[0]!r} among numbers, and is read as text: if such "
            f"cells are empty, add {options}"
        )
    return column


def _numbers(texts: pd.Series, decimal: str) -> pd.Series:
    """Return which texts are numbers with these decimals."""
    if decimal != ".":
        texts = texts.mask(texts.str.contains(".", regex=False), "")
        texts = texts.str.replace(decimal, ".", regex=False)
    return pd.to_numeric(texts, errors="coerce").notna()


def _grouped(sign: str, decimal: str) -> str:
    return rf"[-+]?[1-9]\d{{0,2}}({re.escape(sign)}\d{{3}})+({re.escape(decimal)}\d*)?"


def _without_groups(column: pd.Series, sign: str, decimal: str) -> pd.Series:
    texts = column.dropna().astype(str).str.strip().str.replace(sign, "", regex=False)
    whole = texts.str.fullmatch(r"[-+]?\d{1,18}").all() and len(texts) == len(column)
    values = [int(text) if whole else float(text.replace(decimal, ".")) for text in texts]
    return pd.Series(values, texts.index, name=column.name).reindex(column.index)


def _warn_of_thousands(name: Any, grouped: pd.Series, sign: str, decimal: str) -> None:
    """Warn, unless a cell with two signs of thousands, or decimals, shows what they are."""
    twice = grouped.str.count(re.escape(sign)) > 1
    if (twice | grouped.str.contains(decimal, regex=False)).any():
        return
    text = grouped.iloc[0]
    read = f"of thousands: {text!r} is read as {text.replace(sign, '')}"
    if sign in DECIMALS:
        warn_user(
            f"{name!r} has {'commas' if sign == ',' else 'points'} {read}; if these are decimals, "
            f"add --decimal '{sign}'; else --decimal '{decimal}' hides this line"
        )
    else:
        signs = "apostrophes" if sign in APOSTROPHES else "blanks"
        warn_user(f"{name!r} has {signs} {read}; write C({quoted(name)}) if these are labels")


def _empty(bare: pd.Series, numbers: pd.Series) -> pd.Series:
    """Return which texts seem to stand in missing values; none if there are other texts, too."""
    others = bare[~numbers]
    known = others.str.lower().isin(SIGNS_OF_EMPTY).all()
    few = len(others) <= FEW and numbers.mean() >= NEARLY_ALL
    return ~numbers & bool(numbers.any() and (known or few))


def _why(error: Exception, form: TableForm) -> str:
    """Return in words why a file cannot be read."""
    if not isinstance(error, UnicodeError):
        return str(error).strip()
    if form.encoding is not None:
        return f"it is no text in --encoding {form.encoding}: use another one"
    return "it is no text in UTF-8: name its encoding, as in --encoding latin-1"
