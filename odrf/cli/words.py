"""Messages of the package in words of the shell: options in place of arguments and of code."""

from __future__ import annotations

import inspect
import re
import shlex
from functools import cache
from typing import Any

import odrf
from odrf.cli.files import na_option
from odrf.cli.settings import ELSEWHERE, KINDS_OF_FITS, SET
from odrf.results import ODRFResults

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
    functions: list[Any] = [*KINDS_OF_FITS.values(), odrf.compare, odrf.tune, ODRFResults.predict]
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
