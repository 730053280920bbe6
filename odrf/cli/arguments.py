"""What a command is, and the arguments that several commands have."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import fill
from typing import Any, NoReturn

from odrf.cli.files import FORMATS, TableForm
from odrf.cli.output import OF_TIMES, show
from odrf.cli.settings import SET
from odrf.errors import nearest

EXIT_CODES = """\
exit codes:
  0 success; 2 bad input, with a message on stderr; 1 the reader of the output
  closed the pipe; 130 interrupted by Ctrl-C; 143 and 129 ended by SIGTERM and
  SIGHUP"""
# Stands for -- while arguments are read.
DASHES = "\0"
# Columns of the text above the arguments.
WIDTH = 78


@dataclass(frozen=True)
class Command:
    """A command: `parser` makes, for its name, what reads its arguments; `run` does the work."""

    parser: Callable[[str], CommandParser]
    run: Callable[[argparse.Namespace], None]


class CommandParser(argparse.ArgumentParser):
    """A parser whose errors begin as those of all commands do."""

    def print_help(self, file: Any = None) -> None:
        """Write the help; argparse would not tell if it cannot be written."""
        if file is None:
            show(self.format_help(), end="")
        else:
            super().print_help(file)

    def read(self, arguments: Sequence[str]) -> argparse.Namespace:
        """Return what the arguments say; of unknown ones an error says how to write an option."""
        # argparse drops a value that is --
        kept = [f"--na={DASHES}" if word == "--na=--" else word for word in arguments]
        known, unknown = self.parse_known_args(kept)
        if unknown:
            self.error(f"unknown arguments: {' '.join(unknown)}{self._way_out(unknown[0])}")
        return known

    def _way_out(self, unknown: str) -> str:
        if not unknown.startswith("--"):
            return ""
        options = self._option_string_actions
        hint = nearest(unknown[2:].partition("=")[0], [name.lstrip("-") for name in options])
        if hint:
            return hint.replace("'", "'--", 1)
        if SET not in options:
            return "; the commands have more options, such as odrf fit"
        return f"; an option of the model is written {SET} NAME=VALUE"

    def error(self, message: str) -> NoReturn:
        """Write usage and message to stderr, and exit with status 2."""
        self.print_usage(sys.stderr)
        self.exit(2, f"odrf: error: {message}\n")


def command_parser(name: str, description: str, example: str) -> CommandParser:
    """Return the parser of ``odrf name``."""
    return CommandParser(
        prog=f"odrf {name}",
        description=fill(description, WIDTH),
        epilog=f"example:\n  {example}\n\n{EXIT_CODES}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )


# Options that mean the same in several commands.
SHARED: dict[str, dict[str, Any]] = {
    "--format": {
        "choices": FORMATS,
        "help": "format of the tables; by default by the ending of the file, csv for stdin; csv2 "
        "has semicolons and decimal commas",
    },
    "--sep": {
        "metavar": "C",
        "help": "what separates columns: a character, such as '|', or tab or space",
    },
    "--decimal": {"metavar": "C", "help": "what stands before decimals: . or ,"},
    "--na": {
        "metavar": "TEXT",
        "action": "append",
        "default": [],
        "help": "cells with this text are empty, as often as needed; NA, NaN, null and such are by "
        "default, but not with --na '', so that NA may be a level",
    },
    "--encoding": {
        "metavar": "NAME",
        "help": "encoding of text, such as latin-1 (default: UTF-8, or UTF-16 by its first bytes)",
    },
    "--comment": {
        "metavar": "TEXT",
        "help": "lines that begin with TEXT are left out (default: # before the names)",
    },
    "--seed": {"type": int, "metavar": "N", "help": "makes the result reproducible"},
    "--json": {
        "action": "store_true",
        "help": "write one JSON object to stdout, in place of text",
    },
    "--plot": {"type": Path, "metavar": "FILE", "help": "write a plot to FILE (.png, …)"},
}


def add_options(parser: argparse.ArgumentParser, *names: str) -> None:
    """Add some of the `SHARED` options."""
    for name in names:
        parser.add_argument(name, **SHARED[name])


# Options that say how a table is written.
OF_TABLES = ("--format", "--sep", "--decimal", "--na", "--encoding", "--comment")


def table_form(options: argparse.Namespace) -> TableForm:
    """Return how tables are written, as the options `OF_TABLES` say."""
    given = {name: getattr(options, name) for name in (each[2:] for each in OF_TABLES)}
    return TableForm(**{**given, "na": tuple(text.replace(DASHES, "--") for text in options.na)})


def add_formula(parser: argparse.ArgumentParser, **how: Any) -> None:
    """Add the formula."""
    parser.add_argument(
        "formula",
        help='the model, such as "y ~ ." or "log(y) ~ a + b"; it may use the functions of the '
        "package and the arithmetic of NumPy, no other code",
        **how,
    )


def add_table(parser: argparse.ArgumentParser, words: str = "the rows", **how: Any) -> None:
    """Add the table, and how it is written."""
    parser.add_argument(
        "table",
        type=Path,
        help=f"{words}: .csv, .tsv (also compressed) or .parquet; - reads stdin",
        **how,
    )
    add_options(parser, *OF_TABLES)


def add_settings(
    parser: argparse.ArgumentParser, of: str, words: str = "an option of the function"
) -> None:
    """Add ``--set`` and ``--progress``."""
    parser.add_argument(
        SET,
        action="append",
        default=[],
        metavar="NAME=VALUE",
        dest="settings",
        help=f"{words} {of}, as often as needed; a number, a text, true, false, none, or a list "
        "or mapping as Python writes it",
    )
    parser.add_argument("--progress", action="store_true", help="show a progress bar")


def add_save(parser: argparse.ArgumentParser, what: str = "the fit") -> None:
    """Add ``--save`` and ``--without-data``."""
    parser.add_argument("--save", type=Path, metavar="FILE", help=f"save {what} to FILE")
    parser.add_argument(
        "--without-data",
        action="store_true",
        help="leave the training rows out of the saved file: it predicts new rows, and little else",
    )


def add_out(parser: argparse.ArgumentParser, default: str) -> None:
    """Add ``--out``, ``--type`` and ``--times``."""
    parser.add_argument(
        "--out", type=Path, metavar="FILE", help=f"write predictions to FILE (csv){default}"
    )
    parser.add_argument(
        "--type",
        choices=["response", "class", "prob", "cumulative", "leaf", "trees", *OF_TIMES],
        help="what to predict (default: the response; for classes also their probabilities; for "
        "survival times the risk)",
    )
    parser.add_argument(
        "--times",
        metavar="T1,T2,…",
        help="for survival times: at which times, such as 365,730",
    )
    parser.add_argument(
        "--keep",
        action="append",
        default=[],
        metavar="COLUMN",
        help="write this column of the rows to predict, too, such as the response; as often as "
        "needed",
    )
