"""The user's formula respelled for patsy; error messages point into the user's text."""

from __future__ import annotations

import ast
import re
import unicodedata
from collections.abc import Container
from dataclasses import dataclass
from keyword import iskeyword

from patsy import PatsyError

from odrf.errors import InputError

__all__ = ["DOT", "Spelling", "names_in", "quoted", "readable", "respell"]

DOT = "_odrf_all_others_"
"""What patsy reads in place of a stand-alone ``.``."""

_WIDTH = 100
"""Characters of a long formula shown in an error message."""

_PIECE = re.compile(
    r"""(?P<string> '(?:\\.|[^'\\])*' | "(?:\\.|[^"\\])*" )
      | (?P<backtick> `[^`]*`? )
      | (?P<number> \.?\d[\w.]* )
      | (?P<name> (?:[^\W\d]|\.)[\w.]* )
      | (?P<power> \^ )
      | (?P<space> \s+ )
      | (?P<other> . )""",
    re.VERBOSE,
)
_PLAIN = re.compile(r"(?:[^\W\d]|\.[^\W\d])[\w.]*")
_CALL = re.compile(r"\s*\(")
_NUMBER = re.compile(r"inf|infinity|nan", re.IGNORECASE)
_QUOTED = re.compile(r"""\bQ\(('(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*")\)""")


@dataclass(frozen=True)
class Spelling:
    """A formula in the user's spelling and in patsy's.

    Attributes
    ----------
    text : str
        What the user wrote, on one line.
    code : str
        The same for patsy: ``^`` as ``**``, a stand-alone ``.`` as `DOT`, names in backticks and
        names that patsy and Python would not read as such, as ``Q('…')``.
    begins, ends : tuple of int
        For each character of `code`, where the part of `text` that it stands for begins and ends.
    """

    text: str
    code: str
    begins: tuple[int, ...]
    ends: tuple[int, ...]

    def explain(self, error: PatsyError) -> InputError:
        """Return patsy's `error` as an `InputError` that points into the user's text."""
        if error.origin is None:
            return InputError(f"formula {self.text[:_WIDTH]!r}: {error.message}")
        begin = self.begins[min(error.origin.start, len(self.begins) - 1)]
        end = self.ends[max(error.origin.end - 1, 0)]
        message = _in_our_words(error.message).replace(
            error.origin.relevant_code() or DOT, self.text[begin:end]
        )
        return _pointing(self.text, begin, end, message)


def _in_our_words(message: str) -> str:
    """Return an error of patsy, whose parser speaks of nouns and expressions, in our words."""
    ours = message.replace("expected a noun", "expected a column or expression")
    return ours.replace("but instead the expression ended", "but the formula ends here")


def respell(formula: str, columns: Container[str]) -> Spelling:
    """Respell `formula` for patsy.

    Parameters
    ----------
    formula : str
        The user's text.
    columns : container of str
        Names of the data's columns.  A column name that is not valid in Python, such as R's
        ``Sepal.Length`` or the keyword ``class``, is quoted.

    Raises
    ------
    InputError
        A backtick is not closed.
    """
    text = formula.replace("\n", " ").strip()
    code: list[str] = []
    begins: list[int] = []
    ends: list[int] = []
    before = ""
    for piece in _PIECE.finditer(text):
        start, stop = piece.span()
        new, length = _respelled(piece, before, columns)
        begins += [start] * len(new) + list(range(start + length, stop))
        ends += [start + length] * len(new) + list(range(start + length + 1, stop + 1))
        code += [new, text[start + length : stop]]
        before = before if piece.lastgroup == "space" else piece.group()[-1]
    return Spelling(text, "".join(code), tuple(begins), tuple(ends))


def readable(code: str) -> str:
    """Return `code` with each ``Q('name')`` as the plain name, in backticks if it needs quotes."""
    return _QUOTED.sub(lambda call: quoted(str(ast.literal_eval(call.group(1)))), code)


def names_in(formula: str) -> list[str]:
    """Return the names in a formula that could be those of columns."""
    names = [str(ast.literal_eval(call[1])) for call in _QUOTED.finditer(formula)]
    for piece in _PIECE.finditer(formula):
        if piece.lastgroup == "backtick":
            names.append(piece.group().strip("`"))
        elif piece.lastgroup == "name":
            names.append(piece.group().strip(".").split(".")[0])
    return [name for name in dict.fromkeys(names) if _is_plain(name) or not name.isidentifier()]


def quoted(name: str) -> str:
    """Return the name of a column as a formula names it, so that no part of it is read as code."""
    if _PLAIN.fullmatch(name):
        return name
    return f"Q({name!r})" if "`" in name or "\n" in name else f"`{name}`"


def _respelled(piece: re.Match[str], before: str, columns: Container[str]) -> tuple[str, int]:
    """Return the replacement for the beginning of `piece`, and the length of that beginning."""
    text, written = piece.string, piece.group()
    if piece.lastgroup == "power":
        return "**", 1
    if piece.lastgroup == "backtick":
        if len(written) < 2 or not written.endswith("`"):
            raise _pointing(text, piece.start(), piece.end(), "a backtick is never closed")
        return f"Q({written[1:-1]!r})", len(written)
    if piece.lastgroup != "name" or (written.startswith(".") and re.match(r"[\w)\]'\"`]", before)):
        return "", 0
    if written == ".":
        return DOT, 1
    name = _odd_column(written, columns)
    if name is None or (name == written and _CALL.match(text, piece.end())):
        return "", 0
    return f"Q({name!r})", len(name)


def _odd_column(written: str, columns: Container[str]) -> str | None:
    """Return the longest dotted beginning of `written` that is a column but no name in Python."""
    parts = written.split(".")
    for count in range(len(parts), 0, -1):
        name = ".".join(parts[:count])
        if name in columns:
            return None if _is_plain(name) else name
    return None


def _is_plain(name: str) -> bool:
    """Return whether patsy and Python read the name of a column as this name."""
    # patsy reads as a number what float() does, such as "inf", "NaN" and "Infinity".
    if not name.isidentifier() or iskeyword(name) or name == DOT or _NUMBER.fullmatch(name):
        return False
    # Python normalises identifiers to NFKC, which would be the name of another column.
    return unicodedata.normalize("NFKC", name) == name


def _pointing(text: str, begin: int, end: int, message: str) -> InputError:
    start = max(0, begin - _WIDTH // 2)
    line = text[start : start + _WIDTH]
    carets = "^" * min(max(end - begin, 1), start + _WIDTH - begin)
    return InputError(f"formula: {message}\n    {line}\n    {' ' * (begin - start)}{carets}")
