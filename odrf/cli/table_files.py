"""Tables in files and from stdin."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path
from typing import Any

import pandas as pd

from odrf.datasets.separated import read_separated
from odrf.errors import InputError

__all__ = ["COMPRESSIONS", "FORMATS", "STDIN", "ending", "read_table", "require_one_stdin"]

FORMATS = ("csv", "tsv", "parquet")
STDIN = Path("-")
COMPRESSIONS: Mapping[str, Any] = {
    ".gz": "gzip",
    ".bz2": "bz2",
    ".xz": "xz",
    ".zip": "zip",
    ".zst": "zstd",
}


def ending(path: Path) -> str:
    """Return the ending of a file, without that of its compression."""
    return Path(path.stem if path.suffix in COMPRESSIONS else path.name).suffix


def read_table(path: Path, format: str | None = None) -> pd.DataFrame:
    """Read a table; its rows are numbered from 1.

    Parameters
    ----------
    path : Path
        The file; ``-`` stands for stdin.
    format : {"csv", "tsv", "parquet"}, optional
        By default by the ending of the file; csv for stdin and for unknown endings.

    Raises
    ------
    InputError
        The table cannot be read.
    OSError
        There is no such file, or it may not be read.
    """
    from_stdin = path == STDIN
    format = format or ending(path).removeprefix(".")
    source: Any = BytesIO(sys.stdin.buffer.read()) if from_stdin else path
    try:
        if format == "parquet":
            table = pd.read_parquet(source)
        else:
            table = read_separated(source, "\t" if format == "tsv" else ",")
    except Exception as error:  # whatever the readers of damaged files raise
        if isinstance(error, OSError) and error.filename:
            raise
        named = "the table from stdin" if from_stdin else path
        raise InputError(f"{named} cannot be read: {error}") from error
    return table.set_axis(pd.RangeIndex(1, len(table) + 1, name="row"))


def require_one_stdin(*paths: Path | None) -> None:
    """Raise `InputError` if two tables are to come from stdin."""
    if sum(path == STDIN for path in paths) > 1:
        raise InputError("two tables are -, and stdin has one: name a file for the other")
