"""Options of functions as words, such as ``min_leaf=5``: plain values, never code."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from odrf.errors import InputError
from odrf.public.arguments import suggestion

__all__ = ["read_grid", "read_options", "read_value"]

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
    """Return options by name.

    Parameters
    ----------
    words : iterable of str
        Each ``name=value``.
    functions : sequence of callable
        Whose arguments the names must be.
    place : str, default "--set"
        Where the words were written, for messages.

    Raises
    ------
    InputError
        A word is no ``name=value``, its name is no argument or is given twice, or its value is
        code.
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
    found: dict[str, Any] = {}
    for word in words:
        name, equals, text = word.partition("=")
        name = name.strip()
        if not equals or not name:
            raise InputError(f"{place} {word}: write name=value, as in {place} min_leaf=5")
        if name in found:
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
        found[name] = read(name, text, place)
    return found


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
