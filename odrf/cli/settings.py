"""Options, models and messages in words of the command line; formulas that run no code."""

from __future__ import annotations

import ast
import inspect
import re
import shlex
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, partial
from typing import Any

import pandas as pd
from patsy import EvalEnvironment

import odrf as package
from odrf import auto, graf, odbt, odrf, odt
from odrf.api.calling import DESIGN_ARGUMENTS
from odrf.cli.files import na_option
from odrf.design import Design, build_design
from odrf.design.columns import check_frame
from odrf.design.formula import read_formula
from odrf.design.functions import looked_up_in
from odrf.design.trusted import require_trusted
from odrf.design.weights import offset_of
from odrf.errors import InputError, allowed
from odrf.public.arguments import suggestion
from odrf.results import ODRFResults

SET = "--set"
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


# Messages of the package in words of the shell: options in place of arguments and of code.

# An argument with its value, as messages advise it; not within a call, and not an option already.
ARGUMENT = re.compile(
    rf"(?<![-.\w(])(?<!{SET} )([a-z_]+)="
    r"(?:\"([^\"]*)\"|'([^']*)'|(True|False|None|\d[\d.]*\d|\d)\b)"
)
CELLS = re.compile(
    r"turn it into numbers with pd\.to_numeric\(data\[[^\]]*\], errors='coerce'\), which makes "
    r"((?:'[^']*'(?:, | and )?)+) missing"
)
# What advises to change the table by code: the column is changed where the table is written.
BY_CODE = {
    r"turn it into numbers with pd\..*?(?=, or write C\(|$|;)": "write plain numbers in the table",
    r"turn it into dates with pd\..*?(?=, or write C\(|$|;)": "write numbers for them in the table",
    r"such as data\['(\w+)'\](\.dt\.\w+(?:\(\))?)": r"such as \1\2 in the formula",
    r"join them with data\[.*?(?=, or write C\(|$|;)": "write them alike in the table",
}


@cache
def _arguments() -> frozenset[str]:
    """Return the arguments that ``--set`` takes in some command."""
    # compare() and tune() load what most commands do not need
    functions: list[Any] = [
        *KINDS_OF_FITS.values(), package.compare, package.tune, ODRFResults.predict,
    ]  # fmt: skip
    names = {name for function in functions for name in inspect.signature(function).parameters}
    return frozenset(names - ELSEWHERE.keys() | {"type"})


def in_shell_words(message: str, own: frozenset[str] = frozenset()) -> str:
    """Return a message whose advice can be typed in a shell.

    `own`: arguments for which the command has an option of their name.
    """
    message = CELLS.sub(lambda found: f"add {_na_options(found[1])} if they are empty", message)
    for code, words in BY_CODE.items():
        message = re.sub(code, words, message)

    def option(found: re.Match[str]) -> str:
        name = found[1]
        value = next(group for group in found.groups()[1:] if group is not None)
        if name in own:
            return f"--{name} {shlex.quote(value)}"
        return f"{SET} {shlex.quote(f'{name}={value}')}" if name in _arguments() else found[0]

    return ARGUMENT.sub(option, message)


def _na_options(texts: str) -> str:
    return " ".join(na_option(text) for text in re.findall(r"'([^']*)'", texts))
