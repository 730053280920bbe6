"""What commands write: messages, JSON, files."""

from __future__ import annotations

import json
import math
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import Any, TextIO

import numpy as np
import pandas as pd

from odrf.cli.tables import STDIN, ending
from odrf.errors import InputError
from odrf.fits.files.saving import replaced
from odrf.text.summary import Summary
from odrf.version import __version__


def report(message: str) -> None:
    """Write a message to stderr; if nobody reads it, the work goes on."""
    with suppress(OSError):
        print(f"odrf: {message}", file=sys.stderr, flush=True)


def show(text: object, end: str = "\n") -> None:
    """Write a result to stdout, at once: a reader that has left is noticed here."""
    with _to_stdout():
        print(text, end=end, flush=True)


def flush_results() -> None:
    """Write what still waits to be written to stdout; raise as `show` does."""
    if sys.stdout is not None:
        with _to_stdout():
            sys.stdout.flush()


def leave_no_rest() -> None:
    """Drop what cannot be written to stdout and stderr: else Python tries it again at its end."""
    for stream in (sys.stdout, sys.stderr):
        if stream is not None and not _flushed(stream):
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _flushed(stream: TextIO) -> bool:
    try:
        stream.flush()
    except OSError:
        return False
    return True


@contextmanager
def _to_stdout() -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:
        raise
    except UnicodeEncodeError as error:
        raise InputError(
            f"the output has characters that {error.encoding} lacks: set the environment variable "
            "PYTHONIOENCODING=utf-8"
        ) from error
    except OSError as error:
        raise InputError(
            f"the output cannot be written ({error.strerror}): send it elsewhere"
        ) from error


def show_json(command: str, content: Mapping[str, Any]) -> None:
    """Write one object to stdout: the command, the version, and the content of the command."""
    whole = {"command": command, "version": __version__, **content}
    show(json.dumps(_plain(whole), indent=2, allow_nan=False))


def records(table: pd.DataFrame | pd.Series) -> list[dict[str, Any]]:
    """Return the rows of a table by column; named parts of its index are columns, too."""
    frame = table.to_frame() if isinstance(table, pd.Series) else table
    named = frame.reset_index() if any(frame.index.names) else frame
    columns = [str(column) for column in named.columns]
    return [dict(zip(columns, row, strict=True)) for row in named.itertuples(index=False)]


def summary_parts(summary: Summary) -> dict[str, Any]:
    """Return call, facts, tables and notes of a summary."""
    return {
        "call": summary.call,
        "facts": summary.facts,
        "tables": {name: _with_index(table) for name, table in summary.sections.items()},
        "notes": list(summary.notes),
    }


def _with_index(table: pd.DataFrame) -> list[dict[str, Any]]:
    return records(table if any(table.index.names) else table.rename_axis("index"))


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(held) for key, held in value.items()}
    if isinstance(value, list | tuple | set | np.ndarray | pd.Index):
        return [_plain(held) for held in value]
    if isinstance(value, np.generic):
        return _plain(value.item())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, bool | int | str):
        return value
    return None if value is pd.NA or value is pd.NaT else str(value)


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


PICTURES = "odrf.cli.pictures"


def check_plot(path: Path | None) -> None:
    """Raise `InputError` if a plot is asked for in a format that cannot be written."""
    if path is not None:
        import_module(PICTURES).check_format(path)


def plot_to(path: Path | None, drawn: Callable[[], Any]) -> None:
    """Write the plot that `drawn` draws, if one is asked for."""
    if path is not None:
        import_module(PICTURES).write_plot(drawn, path)
        report(f"wrote the plot to {path}")
