"""What commands write: messages, results, predictions, JSON."""

from __future__ import annotations

import json
import math
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from importlib import import_module
from io import BytesIO
from pathlib import Path
from typing import Any, TextIO

import numpy as np
import pandas as pd

from odrf.cli.files import COMPRESSIONS, write_target
from odrf.errors import InputError, nearest
from odrf.text.names import free_name
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


OF_CLASSES = ("class", "prob", "cumulative")
OF_TIMES = ("risk", "survival", "hazard", "incidence", "time", "rmst", "lost", "quantile", "link")
# Types of fits for survival times that others have, too.
OF_OTHERS = ("quantile", "link")
PREDICTED = {
    "regression": "a number",
    "classification": "a class",
    "survival": "a survival time",
}
DEFAULTS = {"survival": "risk"}


def predicted(
    fit: Any,
    new: pd.DataFrame,
    type: str | None,
    options: Mapping[str, Any],
    progress: bool,
    keep: Sequence[str] = (),
) -> pd.DataFrame:
    """Return the predictions, a row for each row of the table, after the columns to `keep`.

    Their numbers are called ``row``, or ``row_`` if a column is called so.
    """
    values = _predicted(fit, new, type, {**options, "progress": progress})
    names = [str(column) for column in values.columns]
    twice = [name for name in keep if name in names]
    if twice:
        raise InputError(
            f"--keep {twice[0]}: a column of predictions has this name, too: rename it in the table"
        )
    whole = new[list(keep)].join(values) if keep else values
    return whole.rename_axis(free_name("row", [*keep, *names]))


def check_kept(names: Sequence[str], new: pd.DataFrame) -> None:
    """Raise `InputError` if ``--keep`` names a column twice, or one that the rows lack."""
    for number, name in enumerate(names):
        if name in names[:number]:
            raise InputError(f"--keep {name} is there twice: leave one of them out")
        if name not in new.columns:
            hint = nearest(name, map(str, new.columns))
            raise InputError(f"--keep {name}: the rows to predict have no such column{hint}")


def _predicted(
    fit: Any, new: pd.DataFrame, type: str | None, options: Mapping[str, Any]
) -> pd.DataFrame:
    if type is None and fit.kind == "classification":
        labels = pd.DataFrame({"prediction": fit.predict(new, type="class", **options)})
        return labels.join(fit.predict(new, type="prob", **options).add_prefix("prob_"))
    type = type or DEFAULTS.get(fit.kind, "response")
    values = fit.predict(new, type=type, **options)
    if isinstance(values, pd.Series):
        return values.to_frame("prediction")
    if isinstance(values.columns, pd.MultiIndex):
        values.columns = pd.Index([f"{cause} {time}" for cause, time in values.columns])
    return values


def check_type(type: str | None, times: str | None, kind: str) -> None:
    """Raise `InputError` if `type` or `times` is not for a response of this kind."""
    if type in OF_CLASSES and kind != "classification":
        raise InputError(f"--type {type} needs classes, and the response is {PREDICTED[kind]}")
    of_times = {
        f"--type {type}": type in OF_TIMES and type not in OF_OTHERS,
        "--times": times is not None,
    }
    for words, given in of_times.items():
        if given and kind != "survival":
            raise InputError(
                f"{words} is for survival times, and the response is {PREDICTED[kind]}: "
                "leave it out"
            )


def times_argument(text: str | None) -> dict[str, list[float]]:
    """Return the argument `times` of ``--times``, if it is given."""
    if text is None:
        return {}
    try:
        return {"times": [float(part) for part in text.split(",")]}
    except ValueError:
        raise InputError(f"--times {text}: write numbers, as in --times 365,730") from None


def write_predictions(predictions: pd.DataFrame, path: Path) -> None:
    """Write predictions as csv, each with the number of its row."""
    content = BytesIO()
    compression = COMPRESSIONS.get(path.suffix.lower())
    predictions.to_csv(content, compression=compression)
    write_target(path, content.getvalue())
    report(f"wrote predictions of {len(predictions)} rows to {path}")
