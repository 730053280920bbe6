"""What commands write: messages to stderr, results to stdout."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TextIO

from odrf.errors import InputError

__all__ = ["flush_results", "leave_no_rest", "report", "show"]


def report(message: str) -> None:
    """Write a message to stderr; if nobody reads it, the work goes on."""
    with suppress(OSError):
        print(f"odrf: {message}", file=sys.stderr, flush=True)


def show(text: object, end: str = "\n") -> None:
    """Write a result to stdout, at once: a reader that has left is noticed here.

    Raises
    ------
    BrokenPipeError
        The reader has left.
    InputError
        The result cannot be written for another reason.
    """
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
