"""Levels that no training row has: nothing is known of them, and it is said."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf.design.columns.listing import listed, rows_listed
from odrf.errors import InputError, nearest
from odrf.warn import warn_user

__all__ = [
    "UNSEEN",
    "GatheredLevels",
    "say_unseen",
    "unseen_levels_expected",
    "unseen_levels_refused",
]

UNSEEN = ("missing", "raise")
"""The known treatments of levels that no training row has."""
MOST_NAMED = 3
"""Factors that a message names."""


class _Unseen(NamedTuple):
    """Levels of one factor that no training row has, and the rows that have them in words."""

    name: str
    levels: pd.Index
    rows: str
    known: pd.Index


_expected: ContextVar[bool] = ContextVar("unseen levels are expected", default=False)
_refused: ContextVar[bool] = ContextVar("unseen levels are refused", default=False)
_gathered: ContextVar[list[_Unseen] | None] = ContextVar("unseen levels found", default=None)


@contextmanager
def unseen_levels_expected() -> Iterator[None]:
    """Within this context, say nothing: the training rows are a part of a table, such as a fold."""
    token = _expected.set(True)
    try:
        yield
    finally:
        _expected.reset(token)


@contextmanager
def unseen_levels_refused() -> Iterator[None]:
    """Within this context, raise `InputError` for unseen levels unless they are expected."""
    token = _refused.set(True)
    try:
        yield
    finally:
        _refused.reset(token)


class GatheredLevels:
    """A context that says what it finds once, at its end, however many factors have unseen levels.

    It is no generator: a warning is to name the user's line, and `contextlib` would be in between.

    Parameters
    ----------
    as_missing : bool
        Whether such a level counts as a missing value; else the row has none of the known levels.

    Raises
    ------
    InputError
        At its end, if unseen levels are refused.
    """

    def __init__(self, as_missing: bool) -> None:
        self._as_missing = as_missing

    def __enter__(self) -> None:
        self._found: list[_Unseen] = []
        self._token = _gathered.set(self._found)

    def __exit__(self, error: type[BaseException] | None, *_: object) -> None:
        _gathered.reset(self._token)
        if self._found and error is None:
            _say(self._found, self._as_missing)


def say_unseen(name: str, values: pd.Series, unseen: NDArray[np.bool_], known: pd.Index) -> None:
    """Warn of the `values` (n,) of a factor where `unseen` (n,): they are not among the `known`.

    Raises
    ------
    InputError
        Unseen levels are refused.
    """
    if _expected.get() or not unseen.any():
        return
    new = pd.Index(values[unseen].unique(), dtype=object)
    found = _Unseen(name, new, rows_listed(unseen, values.index), known)
    gathered = _gathered.get()
    if gathered is None:
        _say([found], as_missing=False)
    else:
        gathered.append(found)


def _say(found: list[_Unseen], as_missing: bool) -> None:
    """Raise `InputError` where unseen levels are refused; warn elsewhere."""
    if len(found) == 1:
        name, new, rows, known = found[0]
        hint = nearest(new[0], known) if len(new) == 1 else ""
        said = (
            f"{name!r} has levels that no training row has: {listed(new)} in {rows}; "
            f"known are {listed(known, 10)}. "
        )
    else:
        hint = ""
        each = [f"{name!r} has {listed(new, 3)} in {rows}" for name, new, rows, _ in found]
        rest = len(found) - MOST_NAMED
        more = f"; and {rest} more factor{'s' * (rest != 1)}" * (rest > 0)
        said = (
            f"{len(found)} factors have levels that no training row has: "
            f"{'; '.join(each[:MOST_NAMED])}{more}. "
        )
    if _refused.get():
        raise InputError(
            f'{said}Recode these rows{hint}, or fit with unseen="missing", which warns of such '
            "levels and predicts the rows"
        )
    taken = (
        "count as missing values" if as_missing else "are taken to have none of the known levels"
    )
    warn_user(f"{said}They {taken}: recode these rows if a level is misspelt{hint}")
