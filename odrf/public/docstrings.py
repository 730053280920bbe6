"""What docstrings of several functions share, written once and filled in."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, TypeVar

Documented = TypeVar("Documented", bound=Callable[..., Any])

# A line such as {newdata} or {weights, class_weights}, with the line break before it.
PLACE = re.compile(r"\n( *)\{([a-z_]+(?:, [a-z_]+)*)\}(?=\n)")


def documented(made: Documented) -> Documented:
    """Decorate a function or class without other decorators: its docstring is `filled`."""
    made.__doc__ = filled(made.__doc__)
    return made


def filled(doc: str | None) -> str | None:
    '''Return a docstring whose lines ``{name}`` or ``{name, name}`` are the paragraphs of names.

    Lines below a place that are indented more continue its last paragraph.

    Examples
    --------
    >>> print(filled("""Fit.
    ...
    ...     {n_jobs}
    ...         Only here.
    ... """))
    Fit.
    <BLANKLINE>
        n_jobs : int, optional
            Threads; by default all cores, or as many as ``OMP_NUM_THREADS`` says.
            Only here.
    <BLANKLINE>
    '''
    if doc is None or "{" not in doc:  # no docstrings with python -OO
        return doc
    return PLACE.sub(_paragraphs, doc)


def _paragraphs(place: re.Match[str]) -> str:
    indent, names = place.groups()
    lines = [line for name in names.split(", ") for line in PARAGRAPHS[name]]
    return "".join(f"\n{indent}{line}" if line else "\n" for line in lines)


_TEXT = """
n_jobs : int, optional
    Threads; by default all cores, or as many as ``OMP_NUM_THREADS`` says.
progress : bool, default False
    Show a progress bar.
"""


def _read(text: str) -> dict[str, list[str]]:
    """Return the lines of each entry by the name that it begins with."""
    entries: dict[str, list[str]] = {}
    for line in text.strip("\n").split("\n"):
        if line and line[0] != " ":
            entries[line.partition(" ")[0]] = own = []
        own.append(line)
    return entries


PARAGRAPHS = _read(_TEXT)
