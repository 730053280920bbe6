"""Files that commands read and write: their endings, how tables in them are written."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from odrf.errors import InputError
from odrf.fits.files.saving import replaced

FORMATS = ("csv", "csv2", "tsv", "parquet")
# What separates columns, and what decimals; csv2 is what R calls so.
SEPARATED = {"csv2": (";", ","), "tsv": ("\t", ".")}
# What shells write more easily than the character itself.
SPELLED = {"tab": "\t", r"\t": "\t", "space": " ", "comma": ",", "semicolon": ";", "pipe": "|"}
DECIMALS = (".", ",")
# Endings of tables that other programs write: as text these would be one column of odd signs.
OTHERS = ("xls", "xlsx", "ods", "dta", "sav", "sas7bdat", "rds", "rda", "rdata", "feather", "json")
STDIN = Path("-")
COMPRESSIONS: Mapping[str, Any] = {
    ".gz": "gzip",
    ".bz2": "bz2",
    ".xz": "xz",
    ".zip": "zip",
    ".zst": "zstd",
}


@dataclass(frozen=True)
class TableForm:
    """How tables are written, as ``--format`` and other options say; None: by the file.

    `sep` stands between columns, `decimal` before decimals; cells with a text of `na` are empty;
    lines that begin with `comment` are left out.
    """

    format: str | None = None
    sep: str | None = None
    decimal: str | None = None
    na: tuple[str, ...] = ()
    encoding: str | None = None
    comment: str | None = None

    def __post_init__(self) -> None:
        if self.sep is not None and len(SPELLED.get(self.sep, self.sep)) != 1:
            raise InputError(f"--sep {self.sep!r}: use one character, such as ';', or tab or space")
        if self.decimal is not None and self.decimal not in DECIMALS:
            raise InputError(f"--decimal {self.decimal!r}: use a point or a comma")
        if self.comment == "":
            raise InputError("--comment is empty: give what lines begin with, as in --comment '#'")

    def of_file(self, format: str) -> tuple[str, str]:
        """Return what separates the columns of a file, and what its decimals."""
        sep, decimal = SEPARATED.get(format, (",", "."))
        given = sep if self.sep is None else SPELLED.get(self.sep, self.sep)
        return given, decimal if self.decimal is None else self.decimal

    def require_text(self, named: str) -> None:
        """Raise `InputError` if an option is for tables of text alone."""
        for name in ("sep", "decimal", "na", "encoding", "comment"):
            if getattr(self, name) not in (None, ()):
                raise InputError(f"--{name} is for tables of text, and {named} is none: leave it")


PLAIN = TableForm()


def ending(path: Path) -> str:
    """Return the ending of a file in small letters, without that of its compression."""
    compressed = path.suffix.lower() in COMPRESSIONS
    return Path(path.stem if compressed else path.name).suffix.lower()


def require_known(path: Path, format: str) -> None:
    """Raise `InputError` for a file of another program; what is called otherwise may be csv."""
    if format in OTHERS:
        raise InputError(
            f"{path} is a file in .{format}, which is not read: save the table as .csv or .parquet"
        )


def na_option(text: str) -> str:
    """Return the option that makes cells with this text empty."""
    quoted = shlex.quote(text)
    return f"--na={quoted}" if text.startswith("-") else f"--na {quoted}"


def require_one_stdin(*paths: Path | None) -> None:
    """Raise `InputError` if two tables are to come from stdin."""
    if sum(path == STDIN for path in paths) > 1:
        raise InputError("two tables are -, and stdin has one: name a file for the other")


def check_targets(targets: Mapping[str, Path | None], read: Sequence[Path | None]) -> None:
    """Raise `InputError` if writing is bound to fail, or would destroy what is read.

    `targets` are the files to be written, by their options such as ``"--out"``, None without the
    option; `read` are the files that the command reads.
    """
    others = [path for path in read if path is not None and path != STDIN]
    for option, target in targets.items():
        if target is not None:
            _check_target(option, target, others)
            others.append(target)
    out = targets.get("--out")
    if out is not None and ending(out) == ".parquet":
        raise InputError(f"--out {out}: predictions are written as csv: use another ending")


def write_target(path: Path, content: bytes) -> None:
    """Write a file as a whole; what is no file, such as a pipe, or is a stream, is written to."""
    stream = path.absolute().is_relative_to("/dev")
    if stream or (path.exists() and not path.is_file()):
        path.write_bytes(content)
    else:
        replaced(path, content)


def _check_target(option: str, target: Path, others: Sequence[Path]) -> None:
    """Raise `InputError` if a file cannot be written, or is one of the `others`."""
    if target == STDIN:
        stdout = "; predict writes to stdout without it" * (option == "--out")
        raise InputError(f"{option} - is no file: name one{stdout}")
    if not target.parent.is_dir():
        raise InputError(f"{target}: there is no folder {target.parent}: create it first")
    if target.is_dir():
        raise InputError(f"{option} {target} is a folder: name a file in it")
    if not os.access(target if target.exists() else target.parent, os.W_OK):
        raise InputError(f"{option} {target} may not be written: use another file or folder")
    for other in others:
        if target.resolve() == other.resolve() or (
            target.exists() and other.exists() and target.samefile(other)
        ):
            raise InputError(
                f"{option} {target} is the same file as {other}, which would be lost: use another "
                "name"
            )
