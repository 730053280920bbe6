"""Encodings: how the values of an atom become one or more columns of numbers; dates as seconds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple, Protocol, TypeVar, cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf.design.columns import (
    DATES,
    DURATIONS,
    PERIODS,
    Values,
    contents,
    listed,
    meant_as,
    measurement,
    rows_listed,
    warn_of_spellings,
    warn_of_text,
)
from odrf.design.formula import quoted
from odrf.design.scaling import indicators
from odrf.errors import InputError, nearest, warn_user

UNSEEN = ("missing", "raise")
"""The known treatments of levels that no training row has."""
MOST_NAMED = 3
"""Factors that a message names."""


T = TypeVar("T")


class _NewLevels(NamedTuple):
    """Levels of a factor that no training row has, and rows that have them; "" if users set it."""

    name: str
    levels: pd.Index
    rows: str
    known: pd.Index


_expected: ContextVar[bool] = ContextVar("unseen levels are expected", default=False)
_refused: ContextVar[bool] = ContextVar("unseen levels are refused", default=False)
_gathered: ContextVar[list[_NewLevels] | None] = ContextVar("new levels", default=None)
_set: ContextVar[frozenset[str] | None] = ContextVar("factors set by the user", default=None)
_before: ContextVar[set[tuple[str, Any]] | None] = ContextVar(
    "levels warned of before", default=None
)
_once: ContextVar[LevelsSaidOnce | None] = ContextVar(
    "where each level is warned of once", default=None
)


@contextmanager
def _within(variable: ContextVar[T], value: T) -> Iterator[None]:
    token = variable.set(value)
    try:
        yield
    finally:
        variable.reset(token)


def unseen_levels_expected() -> AbstractContextManager[None]:
    """Within this context, say nothing: the training rows are a part of a table, such as a fold."""
    return _within(_expected, True)


def unseen_levels_refused() -> AbstractContextManager[None]:
    """Within this context, raise `InputError` for unseen levels unless they are expected."""
    return _within(_refused, True)


def levels_set_in(names: Iterable[str]) -> AbstractContextManager[None]:
    """Within this context the user has set these factors; others have been warned of before."""
    return _within(_set, frozenset(names))


def levels_warned_of(levels: set[tuple[str, Any]]) -> AbstractContextManager[None]:
    """Within this context, warn only of levels of factors that are not among these; add them."""
    return _within(_before, levels)


class LevelsSaidOnce:
    """A context in which rows are set to levels again and again: it warns at its end."""

    def __enter__(self) -> None:
        self._new_levels: dict[str, _NewLevels] = {}
        self._as_missing = False
        self._token = _once.set(self)

    def __exit__(self, error: type[BaseException] | None, *_: object) -> None:
        _once.reset(self._token)
        if self._new_levels and error is None:
            _warn_or_raise(list(self._new_levels.values()), self._as_missing)

    def add(self, new_levels: Iterable[_NewLevels], as_missing: bool) -> None:
        """Keep new levels, for the warning at the end."""
        self._as_missing = as_missing
        for each in new_levels:
            before = self._new_levels.get(each.name, each)
            self._new_levels[each.name] = before._replace(
                levels=before.levels.union(each.levels, False)
            )


class GatheredLevels:
    """A context that gives one warning at its end, however many factors have new levels.

    With `as_missing` such a level counts as a missing value; else the row has none of the known
    levels.  It is no generator: the warning names the user's line, and `contextlib` would be in
    between.
    """

    def __init__(self, as_missing: bool) -> None:
        self._as_missing = as_missing

    def __enter__(self) -> None:
        self._new_levels: list[_NewLevels] = []
        self._token = _gathered.set(self._new_levels)

    def __exit__(self, error: type[BaseException] | None, *_: object) -> None:
        _gathered.reset(self._token)
        names, once = _set.get(), _once.get()
        new_levels = _without_repeated(self._new_levels)
        if names is not None:
            new_levels = [each._replace(rows="") for each in new_levels if each.name in names]
        if not new_levels or error is not None:
            return
        if names is None or once is None or _refused.get():
            _warn_or_raise(new_levels, self._as_missing)
        else:
            once.add(new_levels, self._as_missing)


def warn_of_new_levels(
    name: str, values: pd.Series, unseen: NDArray[np.bool_], known: pd.Index
) -> None:
    """Warn of the `values` (n,) of a factor that are not `known`, or raise if they are refused."""
    if _expected.get() or not unseen.any():
        return
    new = pd.Index(values[unseen].unique(), dtype=object)
    new_levels = _NewLevels(name, new, rows_listed(unseen, values.index), known)
    gathered = _gathered.get()
    if gathered is None:
        _warn_or_raise([new_levels], as_missing=False)
    else:
        gathered.append(new_levels)


def _without_repeated(new_levels: list[_NewLevels]) -> list[_NewLevels]:
    """Return the factors with a level that no chunk before had, and remember all levels."""
    before = _before.get()
    if before is None or _refused.get():
        return new_levels
    new = [
        each
        for each in new_levels
        if any((each.name, level) not in before for level in each.levels)
    ]
    before.update((each.name, level) for each in new_levels for level in each.levels)
    return new


def _warn_or_raise(new_levels: list[_NewLevels], as_missing: bool) -> None:
    """Raise `InputError` where unseen levels are refused; warn elsewhere."""
    hint = ""
    if len(new_levels) == 1:
        name, new, rows, known = new_levels[0]
        hint = nearest(new[0], known) if len(new) == 1 else ""
        where = f"is set to {listed(new)}, which no training row has"
        if rows:
            where = f"has levels that no training row has: {listed(new)} in {rows}"
        message = f"{name!r} {where}; known are {listed(known, 10)}. "
    else:
        each = [
            f"{name!r} has {listed(new, 3)} in {rows}" if rows else f"{name!r} to {listed(new, 3)}"
            for name, new, rows, _ in new_levels
        ]
        have = "have" if new_levels[0].rows else "are set to"
        rest = len(new_levels) - MOST_NAMED
        more = f"; and {rest} more factor{'s' * (rest != 1)}" * (rest > 0)
        message = (
            f"{len(new_levels)} factors {have} levels that no training row has: "
            f"{'; '.join(each[:MOST_NAMED])}{more}. "
        )
    way_out = "recode these rows" if new_levels[0].rows else "use a known level"
    if _refused.get():
        raise InputError(
            f'{message}{way_out.capitalize()}{hint}, or fit with unseen="missing", which warns of '
            "such levels and predicts the rows"
        )
    taken = (
        "count as missing values" if as_missing else "are taken to have none of the known levels"
    )
    warn_user(f"{message}They {taken}: {way_out} if a level is misspelt{hint}")


EMPTY = "[missing]"
"""The suffix of the name of a missing indicator."""
PLAIN = 0
"""One numeric column."""
INDICATORS = 1
"""One 0/1 column per level, or combination of levels."""
BASIS = 2
"""Several numeric columns, such as a spline's."""


class Encoding(Protocol):
    """How values become columns of numbers."""

    @property
    def type(self) -> int:
        """`PLAIN`, `INDICATORS` or `BASIS`."""

    @property
    def suffixes(self) -> tuple[str, ...]:
        """The suffixes that make the names of the k columns from the name of the atom."""

    def encode(self, values: Values) -> NDArray[np.float64]:
        """Return the columns (k, n); raises `InputError` for values it cannot encode."""


@dataclass(frozen=True)
class Numbers:
    """Numbers as they are; True is 1."""

    suffixes: tuple[str, ...] = ("",)

    @property
    def type(self) -> int:
        """`PLAIN` for one column, `BASIS` for several."""
        return PLAIN if len(self.suffixes) == 1 else BASIS

    def encode(self, values: Values) -> NDArray[np.float64]:
        """Return the numbers (k, n); raises `InputError` if k differs from that in training."""
        columns = pd.DataFrame(values.data).to_numpy(dtype=np.float64).T
        if len(columns) != len(self.suffixes):
            raise InputError(
                f"{values.name!r} gave {len(self.suffixes)} columns in training and gives "
                f"{len(columns)} now: make its number of columns independent of the data"
            )
        return columns


@dataclass(frozen=True, eq=False)
class Indicators:
    """One 0/1 column per level, as trees need no contrasts; `absent` ones have none."""

    levels: pd.Index
    absent: pd.Index = field(default_factory=lambda: pd.Index([], dtype=object))
    type: ClassVar[int] = INDICATORS

    @property
    def suffixes(self) -> tuple[str, ...]:
        """The levels in brackets."""
        return tuple(f"[{level}]" for level in self.levels)

    def encode(self, values: Values) -> NDArray[np.float64]:
        """Return the indicators (k, n), all 0, with a warning, for levels not in training."""
        return indicators(self.codes(values), len(self.levels))

    def codes(self, values: Values) -> NDArray[np.int64]:
        """Return the level of each row (n,); -1, with a warning, if no training row has it."""
        labels = pd.Index(values.data, dtype=object)
        known = self.levels.difference(self.absent, sort=False)
        unseen = known.get_indexer(labels) < 0
        warn_of_new_levels(values.name, cast(pd.Series, values.data), unseen, known)
        return np.where(unseen, -1, self.levels.get_indexer(labels)).astype(np.int64, copy=False)


@dataclass(frozen=True, eq=False)
class Ranks:
    """Ordered categories as their ranks 1, 2, …, whether or not observed in training."""

    levels: pd.Index
    type: ClassVar[int] = PLAIN
    suffixes: ClassVar[tuple[str, ...]] = ("",)

    def encode(self, values: Values) -> NDArray[np.float64]:
        """Return the ranks (1, n); raises `InputError` for an unknown category."""
        labels = pd.Index(values.data, dtype=object)
        codes = self.levels.get_indexer(labels)
        unknown = codes < 0
        if unknown.any():
            raise InputError(
                f"{values.name!r} has unknown levels {listed(labels[unknown].unique())} in "
                f"{rows_listed(unknown, values.data.index)}; known are {listed(self.levels, 10)}. "
                "It is an ordered factor: declare all its categories before fitting, so that each "
                "has a rank, recode these rows or leave them out"
            )
        return 1.0 + codes.astype(np.float64)[np.newaxis]


def observed_levels(data: pd.Series) -> pd.Index:
    """Return the levels in `data`: in the order of its categories, else sorted."""
    if isinstance(data.dtype, pd.CategoricalDtype):
        return data.cat.remove_unused_categories().cat.categories
    return pd.Index(data.unique()).sort_values()


TICKS = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
"""The units in which pandas counts time, and how many of each make a second."""

FARTHEST_TICK = 2**63 - 2**33
EXACT = 2.0**62


@dataclass(frozen=True, eq=False)
class Moments:
    """Dates and times as seconds since the first of the training rows, in its zone and unit."""

    origin: pd.Timestamp
    type: ClassVar[int] = PLAIN
    suffixes: ClassVar[tuple[str, ...]] = ("",)

    def encode(self, values: Values) -> NDArray[np.float64]:
        """Return the seconds since the origin (1, n); raise if only one of both has a time zone."""
        return self.seconds(self.ticks(values))[np.newaxis]

    def seconds(self, ticks: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the seconds since the origin (n,) of what `ticks` gives."""
        return difference(ticks, _tick(self.origin)) / TICKS[self.origin.unit]

    def ticks(self, values: Values) -> NDArray[np.int64]:
        """Return the number of units (n,) since 1970-01-01; raises `InputError` as `encode`."""
        stamps = as_dates(cast(pd.Series, values.data), values.name)
        if (stamps.dt.tz is None) != (self.origin.tz is None):
            words = ["no time zone", f"the time zone {stamps.dt.tz or self.origin.tz}"]
            before, now = words if self.origin.tz is None else words[::-1]
            raise InputError(
                f"{values.name!r} had {before} in training and has {now} now: give both the same, "
                f"with data[{values.name!r}].dt.tz_localize()"
            )
        return _ticks(stamps, self.origin.unit)

    def stamp(self, seconds: float) -> pd.Timestamp:
        """Return the time so many seconds after the origin, on the clocks of its time zone."""
        unit = self.origin.unit
        return self.stamp_of(_tick(self.origin) + round(seconds * TICKS[unit]))

    def stamp_of(self, tick: int) -> pd.Timestamp:
        """Return the time so many units after 1970-01-01, on the clocks of the time zone."""
        stamp = pd.Timestamp(np.datetime64(tick, self.origin.unit))
        if self.origin.tz is None:
            return stamp
        return stamp.tz_localize("UTC").tz_convert(self.origin.tz).tz_localize(None)


@dataclass(frozen=True, eq=False)
class Durations:
    """Durations as seconds; `unit` is that of the training rows: "s", "ms", "us" or "ns"."""

    unit: str
    type: ClassVar[int] = PLAIN
    suffixes: ClassVar[tuple[str, ...]] = ("",)

    def encode(self, values: Values) -> NDArray[np.float64]:
        """Return the seconds (1, n)."""
        return self.seconds(self.ticks(values))[np.newaxis]

    def seconds(self, ticks: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the seconds (n,) of what `ticks` gives."""
        return ticks / TICKS[self.unit]

    def ticks(self, values: Values) -> NDArray[np.int64]:
        """Return the numbers of units (n,)."""
        return _ticks(_spans(values), self.unit)


def learn_moments(values: Values) -> Moments:
    """Return the encoding of dates, times or periods; a period counts as its start."""
    stamps = as_dates(cast(pd.Series, values.data), values.name)
    return Moments(stamps.min().as_unit(stamps.dt.unit))


def learn_durations(values: Values) -> Durations:
    """Return the encoding of durations."""
    return Durations(_spans(values).dt.unit)


def difference(whole: NDArray[np.integer], low: int) -> NDArray[np.float64]:
    """Return `whole` (n,) of 64 bits, less `low`, exact before it is converted to float."""
    about = whole.astype(np.float64) - float(low)
    with np.errstate(over="ignore"):
        exact = (whole - np.array(low, dtype=whole.dtype)).astype(np.int64)
    exact_float, large = exact.astype(np.float64), np.abs(about) >= EXACT
    exact_float[large] = [float(each - low) for each in whole[large].tolist()]
    return exact_float


def as_dates(data: pd.Series, name: str) -> pd.Series:
    """Return dates, times or periods, which errors call `name`, as one of pandas' types."""
    if isinstance(data.dtype, pd.PeriodDtype):
        return data.dt.to_timestamp()
    if data.dtype.kind == "M" and not isinstance(data.dtype, pd.ArrowDtype):
        return data
    objects = data.astype(object)
    try:
        if isinstance(objects.iloc[0], pd.Period):
            return pd.Series(pd.PeriodIndex(objects).to_timestamp(), data.index)
        stamps = pd.to_datetime(objects)
    except (TypeError, ValueError) as error:
        raise _mixed(name) from error
    if stamps.dtype.kind != "M":
        raise _mixed(name)
    return stamps


def _mixed(name: str) -> InputError:
    return InputError(
        f"{name!r} holds dates that pandas cannot bring into one type, such as dates of several "
        f"time zones: convert it with pd.to_datetime(data[{name!r}], utc=True)"
    )


def _spans(values: Values) -> pd.Series:
    data = cast(pd.Series, values.data)
    if data.dtype.kind == "m" and not isinstance(data.dtype, pd.ArrowDtype):
        return data
    return pd.to_timedelta(data.astype(object))


def _ticks(times: pd.Series, unit: str) -> NDArray[np.int64]:
    """Return dates or durations (n,) as numbers of a unit; the farthest one beyond 64 bits."""
    if times.dtype.kind == "M" and times.dt.tz is not None:
        times = times.dt.tz_convert("UTC").dt.tz_localize(None)
    try:
        return times.dt.as_unit(unit).to_numpy().astype(np.int64)
    except pd.errors.OutOfBoundsDatetime:
        most = FARTHEST_TICK // TICKS[unit]
        seconds = times.dt.as_unit("s").to_numpy().astype(np.int64)
        return np.clip(seconds, -most, most) * TICKS[unit]


def _tick(stamp: pd.Timestamp) -> int:
    return int(_ticks(pd.Series([stamp]), stamp.unit)[0])


# Text with a level of its own in nearly every row, such as names, says nothing about other rows.
FEWEST_OWN, SHARE_OWN = 30, 0.9


def learn_encoding(values: Values) -> Encoding:
    """Return the encoding of an atom, chosen by its values on the training rows.

    Raises `InputError` if these are neither numbers, dates nor labels, or not among the levels of
    ``C(…, levels=…)``, or text that is different in nearly every row.
    """
    data = values.data
    if values.censored:
        raise InputError(f"{values.name!r} is a response: write it on the left of ~")
    if isinstance(data, pd.DataFrame):
        return _several(values, data)
    if values.levels is not None:
        return _given_levels(values.name, data, pd.Index(values.levels, dtype=object))
    if data.dtype.kind in "biuf" and not values.nominal and isinstance(data.dtype, np.dtype):
        return Numbers()  # as below, but quickly: there may be thousands of such columns
    held = contents(data)
    if held in (DATES, PERIODS) and not values.nominal and not _is_categorical(data):
        return learn_moments(values)
    if held == DURATIONS and not values.nominal and not _is_categorical(data):
        return learn_durations(values)
    scale = measurement(data, values.name)
    if values.nominal or scale == "nominal":
        levels = observed_levels(data).astype(object)
        if not values.nominal and not _is_categorical(data):
            require_shared(values.name, levels, len(data))
            warn_of_text(values.name, levels, "a factor")
        if not values.nominal:
            warn_of_spellings(values.name, levels)
        return Indicators(levels, _declared_levels(data).difference(levels, sort=False))
    if scale == "ordinal":
        return Ranks(data.cat.categories.astype(object))
    return Numbers()


def _several(values: Values, data: pd.DataFrame) -> Numbers:
    for name in data.columns:
        if measurement(data[name], f"{values.name}[{name}]") not in ("numeric", "logical"):
            raise InputError(
                f"{values.name!r} gives several columns, of which {name!r} is not numeric: "
                "write one term for each column"
            )
    return Numbers(tuple(f"[{name}]" for name in data.columns) if data.shape[1] > 1 else ("",))


def _given_levels(name: str, data: pd.Series, levels: pd.Index) -> Indicators:
    if not levels.is_unique:
        raise InputError(f"{name!r} names a level twice: {listed(levels)}")
    observed = pd.Index(data, dtype=object).unique()
    outside = observed.difference(levels, sort=False)
    if len(outside):
        raise InputError(
            f"{name!r} has values that are not among its levels: {listed(outside)}; "
            "add them to levels="
        )
    return Indicators(levels, levels.difference(observed, sort=False))


def require_shared(name: str, levels: pd.Index, n: int, response: bool = False) -> None:
    """Raise `InputError` if nearly every one of n rows has one of these levels of its own."""
    if len(levels) < FEWEST_OWN or len(levels) <= SHARE_OWN * n:
        return
    called, advice = (
        "",
        (
            "leave it out, encode what matters in it as columns of their own, or write "
            f"C({quoted(name)}) if it is a factor nevertheless"
        ),
    )
    if response:
        called, advice = (
            "response ",
            (f"use another response, or write C({quoted(name)}) if these are classes nevertheless"),
        )
    advice = meant_as(name, levels) or advice
    raise InputError(
        f"{called}{name!r} is text with {len(levels)} different values in {n} rows, such as "
        f"{listed(levels, 2)}, from which nothing can be learned for other rows: {advice}"
    )


def _is_categorical(data: pd.Series) -> bool:
    return isinstance(data.dtype, pd.CategoricalDtype)


def _declared_levels(data: pd.Series) -> pd.Index:
    """Return the categories of `data`, if it has any."""
    return pd.Index(data.cat.categories if _is_categorical(data) else [], dtype=object)
