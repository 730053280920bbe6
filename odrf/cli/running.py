"""What every command does; the short form, without a command's name."""

from __future__ import annotations

import argparse
import signal
import sys
import threading
import warnings
from argparse import Namespace
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from odrf.api.warming import compile_beforehand
from odrf.cli.command import (
    EXIT_CODES,
    KINDS_OF_FITS,
    OF_TABLES,
    Command,
    CommandParser,
    add_formula,
    add_options,
    add_out,
)
from odrf.cli.commands import COMPARE, FIT, PREDICT, PRUNE, TUNE, check_files, fit_tables, write_fit
from odrf.cli.output import flush_results, leave_no_rest, report
from odrf.cli.words import in_shell_words
from odrf.errors import InputError
from odrf.loading import INTERRUPTED, end_at_once
from odrf.version import __version__

# What the short form has no option for.
WITHOUT = {"save": None, "load": None, "without_data": False, "json": False}

EPILOG = f"""\
example:
  odrf "diagnosis ~ ." breast_cancer.csv --plot forest.png

commands, each with its own --help:
  odrf fit      fit a forest, with all its options; save it, draw it, predict
  odrf forest | tree | boost | graf | auto
                the same for a forest, one tree, boosted trees, a guided forest, several
                models together
  odrf predict  predict the rows of a table by a saved fit
  odrf prune    show the pruning path of a saved fit, and prune it
  odrf compare  compare models by cross-validation on the same folds
  odrf tune     try combinations of options

{EXIT_CODES}
"""


class _Warm(argparse.Action):
    """``--warm``, which needs no formula and no table."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        """Compile, and exit."""
        compile_beforehand()
        parser.exit()


def _parser(_: str) -> CommandParser:
    made = CommandParser(
        prog="odrf",
        description="Fit an oblique forest, or one oblique tree, and print its summary.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    made.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    made.add_argument(
        "--warm",
        action=_Warm,
        nargs=0,
        help="compile what trees and forests need, and exit; else the first fits do, for minutes "
        "in all",
    )
    add_formula(made)
    made.add_argument("table", type=Path, help=".csv, .tsv (also compressed), .parquet, or -")
    add_options(made, *OF_TABLES)
    size = made.add_mutually_exclusive_group()
    size.add_argument("--tree", action="store_true", help="fit one tree, no forest")
    size.add_argument("--trees", type=int, default=500, metavar="N", help="default: %(default)s")
    made.add_argument(
        "--kind",
        choices=["auto", "regression", "classification"],
        default="auto",
        help="kind of model (default: by the type of the response's column)",
    )
    made.add_argument(
        "--missing",
        choices=["split", "surrogate", "median", "drop", "raise"],
        default="split",
        help="missing values: keep them, keep them by surrogate splits (with --tree), fill by "
        "medians, drop rows, or an error (default: %(default)s)",
    )
    made.add_argument("--seed", type=int, metavar="N", help="makes the fit reproducible")
    made.add_argument("--progress", action="store_true", help="show a progress bar for a forest")
    add_options(made, "--plot")
    made.add_argument("--predict", type=Path, metavar="TABLE", help="predict the rows of TABLE")
    add_out(made, "")
    return made


def _run_short_form(options: Namespace) -> None:
    options = Namespace(**WITHOUT, **vars(options))
    check_files(options)
    settings = {"kind": options.kind, "missing": options.missing, "seed": options.seed}
    if options.tree:
        options.progress = False  # as the option says: a bar is for a forest
    else:
        settings["n_trees"] = options.trees
    function = KINDS_OF_FITS["tree" if options.tree else "forest"]
    fit, new = fit_tables(function, settings, options)
    write_fit("odrf", fit, new, options)


SHORT_FORM = Command(_parser, _run_short_form)


# Arguments for which all other commands, and the short form, have options of their names.
OWN_OPTIONS = (frozenset({"type", "seed"}), frozenset({"type", "seed", "kind", "missing"}))
READER_LEFT = 1
BAD_INPUT = 2
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
    """Run the command with these arguments, by default those of the process, and return its status.

    This is 0 for success; 2 for bad input, with a message on stderr; 1 if the reader of the output
    closed the pipe before its end, as ``head`` does; 130 if interrupted by Ctrl-C; 143 if ended by
    SIGTERM, as ``kill`` does, and 129 by SIGHUP.  SystemExit is raised with status 2 for arguments
    that cannot be parsed, and with status 0 after ``--help``, ``--version`` and ``--warm``.

    Examples
    --------
    >>> from odrf.cli import main
    >>> main(["y ~ .", "no-such-table.csv"])
    2
    """
    arguments = list(sys.argv[1:] if argv is None else argv)
    name = arguments.pop(0) if arguments and arguments[0] in COMMANDS else ""
    own = OWN_OPTIONS[name == ""]

    def refuse(message: str) -> int:
        report(f"error: {in_shell_words(message, own)}")
        return BAD_INPUT

    def show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
        report(f"warning: {in_shell_words(str(message), own)}")

    with warnings.catch_warnings(), _signals_raised():
        warnings.showwarning = show_warning
        try:
            _run(name, arguments)
        except BrokenPipeError:
            return READER_LEFT
        except OSError as error:
            return refuse(f"{error.filename}: {error.strerror}" if error.filename else str(error))
        except InputError as error:
            return refuse(str(error))
        except MemoryError as error:
            return refuse(str(error) or "there is not enough memory")
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

    What is ignored, as under ``nohup``, stays ignored.  Before and after, while Python starts and
    ends, Ctrl-C ends the process at once.
    """
    numbers = [getattr(signal, name) for name in ENDING if hasattr(signal, name)]
    main = threading.current_thread() is threading.main_thread()
    if not main:
        numbers = []
    plain = [number for number in numbers if signal.getsignal(number) is signal.SIG_DFL]
    at_once = main and signal.getsignal(signal.SIGINT) is end_at_once
    for number in plain:
        signal.signal(number, _raise)
    try:
        if at_once:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        yield
    finally:
        if at_once:
            signal.signal(signal.SIGINT, end_at_once)
        for number in plain:
            signal.signal(number, signal.SIG_DFL)


def _raise(number: int, frame: object) -> None:
    raise _Ended(number)
