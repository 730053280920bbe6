"""Tables of text: their numbers are read to the last bit, and every row has all its columns."""

from __future__ import annotations

import bz2
import csv
import gzip
import lzma
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from importlib import import_module
from io import StringIO, TextIOWrapper
from pathlib import Path
from typing import Any, NamedTuple
from zipfile import ZipFile

import pandas as pd

from odrf.errors import InputError
from odrf.warn import warn_user

__all__ = ["names_in_first_line", "read_separated"]

# pandas before 3.1 reads numbers faster than exactly, unless it is told otherwise.
EXACT_BY_DEFAULT = (3, 1)
EXACTLY: dict[str, Any] = (
    {}
    if tuple(map(int, pd.__version__.split(".")[:2])) >= EXACT_BY_DEFAULT
    else {"float_precision": "round_trip"}
)


class _Odd(NamedTuple):
    """A row that has not as many fields as there are names: its line and its number of fields."""

    line: int
    fields: int


class _Rows(NamedTuple):
    """What is known of the rows of a table before it is read.

    Attributes
    ----------
    names : list of str
        The first line.
    most : int
        The fields of the longest row.
    short, long : _Odd or None
        The first row with fewer fields than names, and the first with a field too many that is not
        empty.
    all_one_more : bool
        All rows have one field more than there are names.
    row_names : bool
        The first fields could be names of rows: all are different, and texts or whole numbers.
    quoted : bool
        A blank stands before a quotation mark.
    blanks : bool
        Blanks after separators are left out.
    """

    names: list[str]
    most: int
    short: _Odd | None
    long: _Odd | None
    all_one_more: bool
    row_names: bool
    quoted: bool
    blanks: bool

    @property
    def fit(self) -> bool:
        """Whether each row has a field for each name, and no other that holds something."""
        return self.short is None and self.long is None


def read_separated(
    source: Any,
    separator: str = ",",
    decimal: str = ".",
    text: Iterable[str] = (),
    named: str = "the table",
) -> pd.DataFrame:
    """Read a table of text with separators from a path or a stream that can be read again.

    Fields beyond the names are left out if they are empty in all rows.  In the form of R's
    ``write.table``, the first line has one name less, and the names of the rows are left out.
    Columns named in `text` stay text, as they are written; the table need not have them.

    Raises
    ------
    InputError
        A row has other fields than the first line has names, or two columns have one name; the
        table is called as `named` says.

    Warns
    -----
    UserWarning
        The first column is taken as names of rows.
    """
    rows = _looked_through(source, separator, named)
    if not rows.names:
        raise InputError(f"{named} is empty: its first line must have the names of the columns")
    names = [name or f"Unnamed: {j}" for j, name in enumerate(rows.names)]
    twice = [name for j, name in enumerate(names) if name in names[:j]]
    if twice:
        raise InputError(
            f"{named} has more than one column named {twice[0]!r}: rename or drop the others"
        )
    fields = [*names, *range(len(names), rows.most)]
    if not rows.fit:
        if not (rows.all_one_more and rows.row_names):
            raise _of_other_length(rows, separator, named)
        warn_user(
            f"{named} has one name less in its first line than fields in all rows, as R's "
            "write.table leaves it: the first field is taken as the name of the row, and the names "
            "are those of the fields after it"
        )
        fields = [0, *names]
    # low_memory: else a column of numbers and text is numbers in some parts and text in others
    table = pd.read_csv(
        source,
        sep=separator,
        decimal=decimal,
        header=0,
        names=fields,
        usecols=names,
        dtype=dict.fromkeys(text, str),
        skipinitialspace=rows.blanks,
        low_memory=False,
        **EXACTLY,
    )
    # separators at the end of each line, the first too, are columns without a name or a value
    given = zip(rows.names, names, strict=True)
    kept = [name for own, name in given if own or not table[name].isna().all()]
    return table[kept].set_axis(pd.Index(kept), axis=1)


def names_in_first_line(source: Any, separator: str) -> list[str]:
    """Return the fields of the first line that is not blank; none if there is no line."""
    with _lines(source) as lines:
        return next(
            (fields for fields in csv.reader(lines, delimiter=separator) if any(fields)), []
        )


def _looked_through(source: Any, separator: str, named: str) -> _Rows:
    """Return what is known of the rows, with blanks after separators left out where they must be.

    So they are if the names have them, or if quotation marks count only without them.
    """
    simple = _rows_without_quotes(source, separator)
    if simple is not None:
        return simple
    plain = _rows_of(source, separator, False, named)
    names = plain.names
    of_names = len(names) > 1 and all(name.startswith(" ") for name in names[1:])
    if of_names or plain.quoted:
        without = _rows_of(source, separator, True, named)
        if of_names or without.fit:
            return without
    return plain


def _rows_without_quotes(source: Any, separator: str) -> _Rows | None:
    """Return what is known of rows of one length without quotation marks; None of any others.

    To count separators takes a third of the time that it takes to cut lines into fields.
    """
    names: list[str] = []
    with _lines(source) as lines:
        for line in lines:
            if '"' in line:
                return None
            if names and line.count(separator) == len(names) - 1:
                continue
            if not line.strip():
                if separator.isspace():
                    return None
                continue  # pandas leaves out blank lines
            if names:
                return None
            names = line.rstrip("\r\n").split(separator)
            if any(name.startswith(" ") for name in names[1:]):
                return None
    return _Rows(names, len(names), None, None, False, False, False, False) if names else None


def _rows_of(source: Any, separator: str, blanks: bool, named: str) -> _Rows:
    names: list[str] = []
    width = most = n = n_one_more = 0
    short: _Odd | None = None
    long: _Odd | None = None
    firsts: list[str] = []
    mark, quoted = f'{separator} "', False

    with _lines(source) as lines:

        def watched() -> Iterator[str]:
            nonlocal quoted
            for line in lines:
                quoted = quoted or mark in line
                yield line

        reader = csv.reader(watched(), delimiter=separator, skipinitialspace=blanks)
        begin = 1
        try:
            for fields in reader:
                line, begin = begin, reader.line_num + 1
                k = len(fields)
                if k <= 1 and not any(map(str.strip, fields)):
                    continue  # pandas leaves out blank lines
                if not names:
                    names, width, most = fields, k, k
                    continue
                n += 1
                if k == width:
                    continue
                if k < width:
                    short = short or _Odd(line, k)
                    continue
                most = max(most, k)
                if k == width + 1:
                    n_one_more += 1
                    if n_one_more == n:
                        firsts.append(fields[0])
                if long is None and any(fields[width:]):
                    long = _Odd(line, k)
        except csv.Error as error:
            raise InputError(
                f"{named} cannot be read from line {begin} on ({error}): look for a quotation mark "
                "that is not closed"
            ) from error
    all_one_more = n > 0 and n_one_more == n
    return _Rows(
        names, most, short, long, all_one_more, all_one_more and _name_rows(firsts), quoted, blanks
    )


def _name_rows(firsts: list[str]) -> bool:
    """Return whether the first fields are all different, and all texts or all whole numbers."""
    if len(set(firsts)) < len(firsts) or not all(map(str.strip, firsts)):
        return False
    numbers = pd.to_numeric(pd.Series(firsts), errors="coerce").notna()
    return all(map(str.isdecimal, firsts)) or not numbers.any()


def _of_other_length(rows: _Rows, separator: str, named: str) -> InputError:
    """Return the error of the first row with more or fewer fields than there are names."""
    odd = min(each for each in (rows.short, rows.long) if each is not None)
    n = len(rows.names)
    found = f"{named}: the first line has {n} name(s), and line {odd.line} {odd.fields}"
    if rows.names[0].startswith("#"):
        return InputError(f"{found} fields: delete the lines of comments before the names")
    if odd.fields < n:
        return InputError(f"{found} fields: write a separator for each field, also for empty ones")
    commas = (
        "; if numbers have decimal commas, separate the columns by ; (--format csv2 of the command)"
    )
    return InputError(
        f"{found} fields: give each column a name, and put quotation marks around text that holds "
        f"{separator!r}{commas if separator == ',' else ''}"
    )


@contextmanager
def _lines(source: Any) -> Iterator[Iterable[str]]:
    """Give the lines of a path, also of a compressed file, or of a stream, which is left at 0."""
    if hasattr(source, "seek"):
        source.seek(0)
        held = source.read()
        source.seek(0)
        text = held if isinstance(held, str) else held.decode("utf-8-sig")
        yield StringIO(text, newline="")
        return
    with ExitStack() as opened:
        binary = opened.enter_context(_opened(Path(source), opened))
        yield opened.enter_context(TextIOWrapper(binary, encoding="utf-8-sig", newline=""))


def _opened(path: Path, opened: ExitStack) -> Any:
    """Return the bytes of a file, without the compression that its ending names."""
    match path.suffix.lower():
        case ".gz":
            return gzip.open(path)
        case ".bz2":
            return bz2.open(path)
        case ".xz":
            return lzma.open(path)
        case ".zst":
            return import_module("zstandard").open(path, "rb")
        case ".zip":
            archive = opened.enter_context(ZipFile(path))
            held = archive.namelist()
            if len(held) != 1:
                raise ValueError(f"the archive has {len(held)} files, and one is read")
            return archive.open(held[0])
    return path.open("rb")
