"""What every command does: it is found by its name, says what is wrong, and ends with a status."""

from __future__ import annotations

import signal
import sys
import threading
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from odrf.cli.command import Command, CommandParser
from odrf.cli.compare_command import COMPARE
from odrf.cli.fit_command import FIT
from odrf.cli.messages import flush_results, leave_no_rest, report
from odrf.cli.predict_command import PREDICT
from odrf.cli.prune_command import PRUNE
from odrf.cli.short_form import SHORT_FORM
from odrf.cli.tune_command import TUNE
from odrf.errors import InputError

__all__ = ["COMMANDS", "main", "parser_of"]

READER_LEFT = 1
BAD_INPUT = 2
INTERRUPTED = 130
# A signal that ends the process gives this status and its number.
BY_SIGNAL = 128
ENDING = ("SIGTERM", "SIGHUP")  # Windows has no SIGHUP
COMMANDS: dict[str, Command] = {
    **dict.fromkeys(("fit", "forest", "tree", "boost", "graf", "auto"), FIT),
    "predict": PREDICT,
    "prune": PRUNE,
    "compare": COMPARE,
    "tune": TUNE,
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command.

    Parameters
    ----------
    argv : sequence of str, optional
        The arguments after the command's name; by default those of the process.

    Returns
    -------
    int
        Exit status: 0 for success; 2 for bad input, with a message on stderr; 1 if the reader of
        the output closed the pipe before its end, as ``head`` does; 130 if interrupted by Ctrl-C;
        143 if ended by SIGTERM, as ``kill`` does, and 129 by SIGHUP.

    Raises
    ------
    SystemExit
        With status 2 for arguments that cannot be parsed, and status 0 after ``--help``,
        ``--version`` and ``--warm``.

    Examples
    --------
    >>> from odrf.cli import main
    >>> main(["y ~ .", "no-such-table.csv"])
    2
    """
    arguments = list(sys.argv[1:] if argv is None else argv)
    name = arguments.pop(0) if arguments and arguments[0] in COMMANDS else ""
    with warnings.catch_warnings(), _signals_raised():
        warnings.showwarning = _show_warning
        try:
            _run(name, arguments)
        except BrokenPipeError:
            return READER_LEFT
        except OSError as error:
            return _refuse(f"{error.filename}: {error.strerror}" if error.filename else str(error))
        except InputError as error:
            return _refuse(str(error))
        except MemoryError as error:
            return _refuse(str(error) or "there is not enough memory")
        except KeyboardInterrupt:
            report("interrupted")
            return INTERRUPTED
        except _Ended as ended:
            report("terminated")
            return BY_SIGNAL + ended.number
        finally:
            leave_no_rest()
    return 0


def parser_of(name: str) -> CommandParser:
    """Return the parser of a command; of the short form for ``""``."""
    return _command(name).parser(name)


def _command(name: str) -> Command:
    return COMMANDS[name] if name else SHORT_FORM


def _run(name: str, arguments: Sequence[str]) -> None:
    try:
        _command(name).run(parser_of(name).read(arguments))
    finally:
        flush_results()


class _Ended(BaseException):
    """A signal is to end the process."""

    def __init__(self, number: int) -> None:
        self.number = number


@contextmanager
def _signals_raised() -> Iterator[None]:
    """Let signals that end the process raise: files that are not yet whole are then removed.

    What is ignored, as under ``nohup``, stays ignored.
    """
    numbers = [getattr(signal, name) for name in ENDING if hasattr(signal, name)]
    if threading.current_thread() is not threading.main_thread():
        numbers = []
    plain = [number for number in numbers if signal.getsignal(number) is signal.SIG_DFL]
    for number in plain:
        signal.signal(number, _raise)
    try:
        yield
    finally:
        for number in plain:
            signal.signal(number, signal.SIG_DFL)


def _raise(number: int, frame: object) -> None:
    raise _Ended(number)


def _refuse(message: str) -> int:
    report(f"error: {message}")
    return BAD_INPUT


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    report(f"warning: {message}")
