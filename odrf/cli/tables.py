"""Tables in files and from stdin."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from io import BytesIO
from pathlib import Path
from typing import Any

import pandas as pd
from pandas.api.types import is_numeric_dtype

from odrf.datasets import names_in_first_line, read_separated
from odrf.design.columns import TEXT
from odrf.errors import InputError, warn_user

FORMATS = ("csv", "csv2", "tsv", "parquet")
# What separates columns, and what decimals; csv2 is what R calls so.
SEPARATED = {"csv2": (";", ","), "tsv": ("\t", ".")}
# Endings of tables that other programs write: as text these would be one column of odd signs.
OTHERS = ("xls", "xlsx", "ods", "dta", "sav", "sas7bdat", "rds", "rda", "rdata", "feather", "json")
# A fit warns of more texts that are numbers by itself.
MANY = 30
# A number such as 1.234,5 where decimals have commas; and what stands in cells without a value.
GROUPED = r"[-+]?[1-9]\d{0,2}(\.\d{3})+(,\d*)?"
SIGNS_OF_EMPTY = ("", "?", ".", "-", "--", "*", "n.a.", "missing", "unknown")
NOT_UTF8 = "it is no text in UTF-8; save it so, or convert it with iconv -f latin1 -t utf-8"
UTF16 = "it is text in UTF-16; save it in UTF-8, or convert it with iconv -f utf-16 -t utf-8"
MARKS_OF_UTF16 = (b"\xff\xfe", b"\xfe\xff")
STDIN = Path("-")
COMPRESSIONS: Mapping[str, Any] = {
    ".gz": "gzip",
    ".bz2": "bz2",
    ".xz": "xz",
    ".zip": "zip",
    ".zst": "zstd",
}


def ending(path: Path) -> str:
    """Return the ending of a file in small letters, without that of its compression."""
    compressed = path.suffix.lower() in COMPRESSIONS
    return Path(path.stem if compressed else path.name).suffix.lower()


def read_table(path: Path, format: str | None = None, text: Iterable[str] = ()) -> pd.DataFrame:
    """Read a table from a file, or from stdin if `path` is ``-``; its rows are numbered from 1.

    `format` is "csv", "csv2", "tsv" or "parquet", by default by the ending of the file; csv for
    stdin and for unknown endings.  In the columns `text` what is written stays so, such as 007.
    """
    from_stdin = path == STDIN
    if format is None:
        format = ending(path).removeprefix(".")
        _require_known(path, format)
    source: Any = BytesIO(sys.stdin.buffer.read()) if from_stdin else path
    named = "the table from stdin" if from_stdin else str(path)
    try:
        if format == "parquet":
            table = pd.read_parquet(source)
        else:
            separator, decimal = SEPARATED.get(format, (",", "."))
            _require_columns(names_in_first_line(source, separator), named)
            table = read_separated(source, separator, decimal, text, named)
            _warn_of_numbers_as_text(table.drop(columns=list(text), errors="ignore"), decimal)
    except InputError:
        raise
    except Exception as error:  # whatever the readers of damaged files raise
        if isinstance(error, OSError) and error.filename:
            raise
        raise InputError(f"{named} cannot be read: {_why(error)}") from error
    return table.set_axis(pd.RangeIndex(1, len(table) + 1, name="row"))


def columns_of_text(fit: Any) -> list[str]:
    """Return the columns that a fit knows as text, so that new rows are read as its rows were."""
    schema, response = fit.design.schema, fit.design.response
    held = zip(schema.columns, schema.contents, strict=True)
    texts = [name for name, contents in held if contents == TEXT]
    if response.classes is not None and all(isinstance(each, str) for each in response.classes):
        texts += response.columns
    return texts


def _require_known(path: Path, format: str) -> None:
    """Raise `InputError` for a file of another program; what is called otherwise may be csv."""
    if format in OTHERS:
        raise InputError(
            f"{path} is a file in .{format}, which is not read: save the table as .csv or .parquet"
        )


def _require_columns(names: list[str], named: str) -> None:
    """Raise `InputError` if a line of names was read as one name."""
    if len(names) != 1:
        return
    for separator, format in ((";", "csv2"), ("\t", "tsv")):
        if separator in names[0]:
            raise InputError(
                f"{named} has one column, {names[0]!r}: if {separator!r} separates "
                f"columns, add --format {format}"
            )
    for separator in (",", "|"):
        if separator in names[0]:
            raise InputError(
                f"{named} has one column, {names[0]!r}: if {separator!r} separates columns, "
                f"{'add --format csv' if separator == ',' else 'write the table with commas'}"
            )


def _warn_of_numbers_as_text(table: pd.DataFrame, decimal: str) -> None:
    """Warn of columns that are text for points of thousands, or signs of missing cells."""
    for name in table.columns[[not is_numeric_dtype(dtype) for dtype in table.dtypes]]:
        cells = pd.Series(table[name].dropna().unique(), dtype=object).astype(str)
        bare = cells.str.strip()
        grouped = bare.str.fullmatch(GROUPED) if decimal == "," else bare.eq("") & False
        points = bare.str.replace(".", "", regex=False) if grouped.any() else bare
        numbers = pd.to_numeric(
            points.str.replace(decimal, ".", regex=False), errors="coerce"
        ).notna()
        if grouped.any() and numbers.all():
            warn_user(
                f"{name!r} has points of thousands, such as {cells[grouped].iloc[0]!r}, and is "
                "read as text: write its numbers without them"
            )
        elif (
            len(cells) < MANY
            and numbers.any()
            and (numbers | bare.isin(SIGNS_OF_EMPTY)).all()
            and not numbers.all()
        ):
            warn_user(
                f"{name!r} has {cells[~numbers].iloc[0]!r} among numbers, and is read as text: "
                "leave such cells empty if it holds numbers"
            )


def _why(error: Exception) -> str:
    """Return in words why a file cannot be read."""
    if not isinstance(error, UnicodeDecodeError):
        return str(error).strip()
    return UTF16 if error.object[error.start :][:2] in MARKS_OF_UTF16 else NOT_UTF8


def require_one_stdin(*paths: Path | None) -> None:
    """Raise `InputError` if two tables are to come from stdin."""
    if sum(path == STDIN for path in paths) > 1:
        raise InputError("two tables are -, and stdin has one: name a file for the other")
