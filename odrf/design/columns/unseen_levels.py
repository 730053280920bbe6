"""Levels that no training row has: nothing is known of them, and it is said."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf.design.columns.listing import listed, rows_listed
from odrf.errors import InputError, nearest, warn_user

__all__ = [
    "UNSEEN",
    "GatheredLevels",
    "LevelsSaidBefore",
    "LevelsSaidOnce",
    "levels_set_in",
    "say_unseen",
    "unseen_levels_expected",
    "unseen_levels_refused",
]

UNSEEN = ("missing", "raise")
"""The known treatments of levels that no training row has."""
MOST_NAMED = 3
"""Factors that a message names."""


class _Unseen(NamedTuple):
    """Levels of one factor that no training row has, and the rows that have them in words.

    `rows` is "" if a user has set the factor to these levels in all rows.
    """

    name: str
    levels: pd.Index
    rows: str
    known: pd.Index


_expected: ContextVar[bool] = ContextVar("unseen levels are expected", default=False)
_refused: ContextVar[bool] = ContextVar("unseen levels are refused", default=False)
_gathered: ContextVar[list[_Unseen] | None] = ContextVar("unseen levels found", default=None)
_set: ContextVar[frozenset[str] | None] = ContextVar("factors set by the user", default=None)
_before: ContextVar[set[tuple[str, Any]] | None] = ContextVar("levels said before", default=None)
_once: ContextVar[LevelsSaidOnce | None] = ContextVar("where levels are said once", default=None)


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


@contextmanager
def levels_set_in(names: Iterable[str]) -> Iterator[None]:
    """Within this context the user has set the factors of these names, in all rows.

    Unseen levels of other factors have been said when the rows were read.
    """
    token = _set.set(frozenset(names))
    try:
        yield
    finally:
        _set.reset(token)


class LevelsSaidOnce:
    """A context in which rows are set to levels again and again: unseen ones are said at its end.

    As `GatheredLevels` it is no generator.
    """

    def __enter__(self) -> None:
        self._found: dict[str, _Unseen] = {}
        self._as_missing = False
        self._token = _once.set(self)

    def __exit__(self, error: type[BaseException] | None, *_: object) -> None:
        _once.reset(self._token)
        if self._found and error is None:
            _say(list(self._found.values()), self._as_missing)

    def add(self, found: Iterable[_Unseen], as_missing: bool) -> None:
        """Keep what is to be said."""
        self._as_missing = as_missing
        for each in found:
            before = self._found.get(each.name, each)
            self._found[each.name] = before._replace(levels=before.levels.union(each.levels, False))


class LevelsSaidBefore:
    """A context that is entered for one chunk of rows after the other: each level is said once.

    As `GatheredLevels` it is no generator.
    """

    def __init__(self) -> None:
        self._said: set[tuple[str, Any]] = set()

    def __enter__(self) -> None:
        self._token = _before.set(self._said)

    def __exit__(self, *_: object) -> None:
        _before.reset(self._token)


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
        names, once = _set.get(), _once.get()
        found = _not_said_before(self._found)
        if names is not None:
            found = [each._replace(rows="") for each in found if each.name in names]
        if not found or error is not None:
            return
        if names is None or once is None or _refused.get():
            _say(found, self._as_missing)
        else:
            once.add(found, self._as_missing)


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


def _not_said_before(found: list[_Unseen]) -> list[_Unseen]:
    """Return the factors with a level that no chunk before had, and remember all levels."""
    before = _before.get()
    if before is None or _refused.get():
        return found
    new = [each for each in found if any((each.name, level) not in before for level in each.levels)]
    before.update((each.name, level) for each in found for level in each.levels)
    return new


def _say(found: list[_Unseen], as_missing: bool) -> None:
    """Raise `InputError` where unseen levels are refused; warn elsewhere."""
    hint = ""
    if len(found) == 1:
        name, new, rows, known = found[0]
        hint = nearest(new[0], known) if len(new) == 1 else ""
        where = f"is set to {listed(new)}, which no training row has"
        if rows:
            where = f"has levels that no training row has: {listed(new)} in {rows}"
        said = f"{name!r} {where}; known are {listed(known, 10)}. "
    else:
        each = [
            f"{name!r} has {listed(new, 3)} in {rows}" if rows else f"{name!r} to {listed(new, 3)}"
            for name, new, rows, _ in found
        ]
        have = "have" if found[0].rows else "are set to"
        rest = len(found) - MOST_NAMED
        more = f"; and {rest} more factor{'s' * (rest != 1)}" * (rest > 0)
        said = (
            f"{len(found)} factors {have} levels that no training row has: "
            f"{'; '.join(each[:MOST_NAMED])}{more}. "
        )
    way_out = "recode these rows" if found[0].rows else "use a known level"
    if _refused.get():
        raise InputError(
            f'{said}{way_out.capitalize()}{hint}, or fit with unseen="missing", which warns of '
            "such levels and predicts the rows"
        )
    taken = (
        "count as missing values" if as_missing else "are taken to have none of the known levels"
    )
    warn_user(f"{said}They {taken}: {way_out} if a level is misspelt{hint}")
