"""What every command does: it is found by its name, says what is wrong, and ends with a status."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Sequence
from typing import Any

from odrf.cli.command import Command, CommandParser
from odrf.cli.compare_command import COMPARE
from odrf.cli.fit_command import FIT
from odrf.cli.messages import report
from odrf.cli.predict_command import PREDICT
from odrf.cli.prune_command import PRUNE
from odrf.cli.short_form import SHORT_FORM
from odrf.cli.tune_command import TUNE
from odrf.errors import InputError

__all__ = ["COMMANDS", "main", "parser_of"]

READER_LEFT = 1
BAD_INPUT = 2
INTERRUPTED = 130
COMMANDS: dict[str, Command] = {
    **dict.fromkeys(("fit", "forest", "tree", "boost", "graf"), FIT),
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
        the output closed the pipe before its end, as ``head`` does; 130 if interrupted by Ctrl-C.

    Raises
    ------
    SystemExit
        With status 2 for arguments that cannot be parsed, and status 0 after ``--help``.

    Examples
    --------
    >>> from odrf.cli import main
    >>> main(["y ~ .", "no-such-table.csv"])
    2
    """
    arguments = list(sys.argv[1:] if argv is None else argv)
    name = arguments.pop(0) if arguments and arguments[0] in COMMANDS else ""
    options = parser_of(name).parse_args(arguments)
    with warnings.catch_warnings():
        warnings.showwarning = _show_warning
        try:
            _command(name).run(options)
        except BrokenPipeError:  # as after "| head"; without this, flushing at exit fails again
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return READER_LEFT
        except OSError as error:
            return _refuse(f"{error.filename}: {error.strerror}" if error.filename else str(error))
        except InputError as error:
            return _refuse(str(error))
        except KeyboardInterrupt:
            report("interrupted")
            return INTERRUPTED
    return 0


def parser_of(name: str) -> CommandParser:
    """Return the parser of a command; of the short form for ``""``."""
    return _command(name).parser(name)


def _command(name: str) -> Command:
    return COMMANDS[name] if name else SHORT_FORM


def _refuse(message: str) -> int:
    report(f"error: {message}")
    return BAD_INPUT


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    report(f"warning: {message}")
