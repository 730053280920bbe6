"""What a command is, its arguments, options as words, and written predictions."""

from __future__ import annotations

import argparse
import ast
import inspect
import shlex
import sys
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from io import BytesIO
from pathlib import Path
from textwrap import fill
from typing import Any, NoReturn

import pandas as pd
from patsy import EvalEnvironment

from odrf import auto, graf, odbt, odrf, odt
from odrf.api.calling import DESIGN_ARGUMENTS
from odrf.cli.output import report, show, write_target
from odrf.cli.tables import COMPRESSIONS, FORMATS, TableForm
from odrf.design import Design, build_design
from odrf.design.columns import check_frame
from odrf.design.formula import read_formula
from odrf.design.functions import looked_up_in
from odrf.design.trusted import require_trusted
from odrf.design.weights import offset_of
from odrf.errors import InputError, allowed, nearest
from odrf.public.arguments import suggestion
from odrf.text.names import free_name

OF_CLASSES = ("class", "prob", "cumulative")
OF_TIMES = ("risk", "survival", "hazard", "incidence", "time", "rmst", "lost", "quantile", "link")
# Types of fits for times to an event that others have, too.
OF_OTHERS = ("quantile", "link")
PREDICTED = {
    "regression": "a number",
    "classification": "a class",
    "survival": "a time to an event",
}
DEFAULTS = {"survival": "risk"}


def predicted(
    fit: Any, new: pd.DataFrame, type: str | None, options: Mapping[str, Any], progress: bool
) -> pd.DataFrame:
    """Return the predictions, a row for each row of the table.

    Its numbers are called ``row``, or ``row_`` if a column of predictions is called so.
    """
    values = _predicted(fit, new, type, {**options, "progress": progress})
    return values.rename_axis(free_name("row", [str(column) for column in values.columns]))


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
                f"{words} is for times to an event, and the response is {PREDICTED[kind]}: "
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


SET = "--set"
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
        "times to an event the risk)",
    )
    parser.add_argument(
        "--times",
        metavar="T1,T2,…",
        help="for times to an event: at which times, such as 365,730",
    )


# Functions in a formula are looked up here: none beside those of the package.
NO_NAMES = EvalEnvironment([{}])


def without_names(call: Callable[..., Any], *args: Any, **options: Any) -> Any:
    """Call a function whose formulas find no names but those of the package."""
    with looked_up_in(NO_NAMES):
        return call(*args, **options)


def require_harmless(formula: Any, data: pd.DataFrame) -> None:
    """Raise `InputError` if the formula is none, or would run other code than the package's."""
    check_frame(data)
    require_trusted(read_formula(formula, list(data.columns), NO_NAMES))


def checked_design(formula: str, data: pd.DataFrame, options: Mapping[str, Any]) -> Design:
    """Return the design of a harmless formula; raise `InputError` before a long fit would."""
    require_harmless(formula, data)
    given = {name: options[name] for name in DESIGN_ARGUMENTS if name in options}
    aside = offset_of(options.get("offset"), data).column
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the fit will say it
        return build_design(formula, data, with_times=True, env=NO_NAMES, aside=aside, **given)[0]


# Arguments that a command fills in another way.
ELSEWHERE = {
    "formula": "it is an argument of its own",
    "data": "it is the table",
    "newdata": "it is a table of its own",
    "models": "use --model",
    "model": "use --model",
    "grid": "use --grid",
    "fixed": "name the option itself",
    "type": "use --type",
    "training": "new rows are no training rows",
    "progress": "use --progress",
}
# Options that hold a value for each row: the command line names their column.
COLUMNS = ("weights", "offset", "groups", "order", "strata")
WORDS = {"true": True, "false": False, "none": None, "null": None}
BRACKETS = {"(": ")", "[": "]", "{": "}"}
QUOTES = "\"'"


def read_options(
    words: Iterable[str], functions: Sequence[Callable[..., Any]], place: str = "--set"
) -> dict[str, Any]:
    """Return options by name, from words ``name=value``.

    The names are arguments of the `functions`; `place` is where the words were written, for
    messages.
    """
    return _by_name(words, functions, place, read_value)


def read_grid(
    words: Iterable[str], functions: Sequence[Callable[..., Any]]
) -> dict[str, list[Any]]:
    """Return the values to try of each option, from words such as ``min_leaf=2,5,10``."""

    def values(name: str, text: str, place: str) -> list[Any]:
        return [read_value(name, part, place) for part in _parts(text)]

    return _by_name(words, functions, "--grid", values)


def read_value(name: str, text: str, place: str) -> Any:
    """Return a value: a literal of Python, a word of JSON, or else the text itself."""
    text = text.strip()
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        value = WORDS.get(text.lower(), text)
        if isinstance(value, str) and name not in COLUMNS and _is_code(text):
            raise InputError(
                f"{place} {name}={text} is code, which the command line does not run: use a plain "
                "value, or fit in Python"
            ) from None
    if name in COLUMNS and value is not None and not isinstance(value, str):
        if isinstance(value, list | tuple | dict | set):
            raise InputError(f"{place} {name}={text}: name a column of the table, not its values")
        return text
    return value


def _by_name(
    words: Iterable[str],
    functions: Sequence[Callable[..., Any]],
    place: str,
    read: Callable[[str, str, str], Any],
) -> dict[str, Any]:
    known = {name for function in functions for name in inspect.signature(function).parameters}
    options: dict[str, Any] = {}
    for word in words:
        name, equals, text = word.partition("=")
        name = name.strip()
        if not equals or not name:
            raise InputError(f"{place} {word}: write name=value, as in {place} min_leaf=5")
        if name in options:
            raise InputError(f"{place} gives {name!r} twice: leave one of them out")
        if name in ELSEWHERE and name in known:
            raise InputError(f"{place} {name}: {ELSEWHERE[name]}")
        if name not in known:
            offered = sorted(known - ELSEWHERE.keys())
            titles = " and ".join(f"{function.__name__}()" for function in functions)
            has, it_has = ("has", "it has") if len(functions) == 1 else ("have", "they have")
            hint = suggestion(name, offered)
            raise InputError(
                f"{place} {name}: {titles} {has} no such option{hint}; {it_has} "
                f"{', '.join(offered)}"
            )
        options[name] = read(name, text, place)
    return options


def _is_code(text: str) -> bool:
    """Return whether a text calls or makes a function."""
    try:
        tree = ast.parse(text, mode="eval")
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return False
    return any(isinstance(node, ast.Call | ast.Lambda) for node in ast.walk(tree))


def _parts(text: str) -> list[str]:
    """Divide a text at its commas, except those within brackets and quotes."""
    parts, closing, quote = [""], [""], ""
    for character in text:
        if character == "," and not quote and len(closing) == 1:
            parts.append("")
            continue
        parts[-1] += character
        if quote:
            quote = "" if character == quote else quote
        elif character in QUOTES:
            quote = character
        elif character in BRACKETS:
            closing.append(BRACKETS[character])
        elif character == closing[-1]:
            closing.pop()
    return parts


KINDS_OF_FITS: dict[str, Callable[..., Any]] = {
    "forest": odrf,
    "tree": odt,
    "boost": odbt,
    "graf": graf,
    "auto": auto,
}


def read_model_words(texts: Iterable[str], data: pd.DataFrame) -> dict[str, Any]:
    """Return models to compare, by name.

    Each text is a kind of fit and its options, such as ``"tree max_leaves=5"``, and before them, if
    wanted, a name and ``=``.  `data` is for models with a formula of their own.  Raises
    `InputError` if a kind or an option is unknown, a formula would run code, or two names are the
    same.
    """
    models: dict[str, Any] = {}
    for text in texts:
        name, model = _read_model(text, data)
        if name in models:
            raise InputError(f"--model: two models are called {name!r}: write NAME=KIND for one")
        models[name] = model
    return models


def _read_model(text: str, data: pd.DataFrame) -> tuple[str, Any]:
    try:
        first, *words = shlex.split(text) or [""]
    except ValueError as error:
        raise InputError(f"--model {text}: {error}: write quotes in pairs") from error
    name, equals, kind = first.rpartition("=")
    if kind not in KINDS_OF_FITS:
        raise allowed("the kind of --model", kind, KINDS_OF_FITS)
    own = [word.partition("=")[2] for word in words if word.startswith("formula=")]
    others = [word for word in words if not word.startswith("formula=")]
    function = KINDS_OF_FITS[kind]
    model: Any = partial(function, **read_options(others, [function], f"--model {kind}"))
    if len(own) > 1:
        raise InputError(f"--model {text}: it has several formulas: leave one")
    if own:
        require_harmless(own[0], data)
        model = (own[0], model)
    return (name if equals else text), model
