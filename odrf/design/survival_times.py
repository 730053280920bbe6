"""Survival times: from the columns of ``Surv(time, event)`` to arrays."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf.design.columns import DATES, DURATIONS, NUMBERS, contents, listed, rows_listed
from odrf.design.functions import EVENT, START, TIME
from odrf.design.missing import require_finite
from odrf.engine.survival.event_ranks import EventRanks, event_ranks
from odrf.errors import InputError, warn_user

ONE_CAUSE = ("event",)
"""The causes of events of one kind."""


@dataclass(frozen=True, eq=False)
class SurvivalTimes:
    """When each of n rows was observed, and what happened at the end.

    Rows are observed after `start` (n,), None: from the beginning, until `time` (n,); `event` (n,)
    is the number of the cause, 1, 2, …, of these `causes`, or 0 if the row was censored.
    """

    time: NDArray[np.float64]
    event: NDArray[np.int64]
    start: NDArray[np.float64] | None = None
    causes: tuple[str, ...] = ONE_CAUSE

    def __len__(self) -> int:
        return len(self.time)

    @property
    def n_events(self) -> int:
        """Number of rows with an event of any cause."""
        return int(np.count_nonzero(self.event))

    @property
    def exposure(self) -> NDArray[np.float64]:
        """(n,) How long each row was observed."""
        return self.time if self.start is None else self.time - self.start

    @cached_property
    def event_times(self) -> NDArray[np.float64]:
        """(R,) The different times of events of any cause, ascending."""
        return np.unique(self.time[self.event > 0])

    @cached_property
    def ranks(self) -> EventRanks:
        """Ranks of the rows among the event times, as the engine reads them."""
        return event_ranks(self.time, self.event, self.start, self.event_times, len(self.causes))

    def about(self, cause: str) -> SurvivalTimes:
        """Return the same times with events of this cause only, rows of others being censored."""
        event = (self.event == 1 + self.causes.index(cause)).astype(np.int64)
        return replace(self, event=event, causes=(cause,))

    def keeping(self, rows: NDArray[np.bool_] | NDArray[np.int64]) -> SurvivalTimes:
        """Return those of the `rows`, a mask (n,) or row numbers, alone."""
        start = None if self.start is None else self.start[rows]
        return replace(self, time=self.time[rows], event=self.event[rows], start=start)


DAYS = "days"
# Times are squared and multiplied by weights.
LONGEST = 1e60
# An event with more different numbers than that is taken for a time.
MOST_CODES = 20
# Names that rows without an event have.
NO_EVENT = ("censored", "censor", "cens", "none", "no event", "no", "alive", "0", "false")


def read_causes(name: str, columns: pd.DataFrame) -> tuple[str, ...]:
    """Return the causes of events that training rows have; all, if no row has an event."""
    event = columns[EVENT]
    if not isinstance(event.dtype, pd.CategoricalDtype):
        _indicator(name, event)
        return ONE_CAUSE
    categories = [str(category) for category in event.dtype.categories]
    if len(categories) < 2:
        raise InputError(
            f"response {name!r}: the event has only the category {categories}: its first category "
            "means censored, and there must be another one for the event"
        )
    happened = set(event.cat.codes)
    names = [name for code, name in enumerate(categories) if code > 0 and code in happened]
    return tuple(names or categories[1:])


def censored_category(name: str, columns: pd.DataFrame) -> str:
    """Return what censored rows are called, the first category; ``""`` for events of other types.

    Warns if a later category is called as censored rows are, as where pandas has put them in order.
    """
    event = columns[EVENT]
    if not isinstance(event.dtype, pd.CategoricalDtype):
        return ""
    first, *others = (str(category) for category in event.dtype.categories)
    named = [category for category in others if category.casefold() in NO_EVENT]
    if named and first.casefold() not in NO_EVENT:
        warn_user(
            f"response {name!r}: the first category of the event, {first!r}, means censored, and "
            f"{named[0]!r} an event: put the category of censored rows first, as in "
            f"column.cat.reorder_categories([{named[0]!r}, …])"
        )
    return first


def read_times(name: str, columns: pd.DataFrame, causes: Sequence[str]) -> SurvivalTimes:
    """Return times and events of rows, as `Censored.columns` has them, with causes of training.

    Raises `InputError` if times are negative, infinite, not after their start or no numbers; or
    events neither bool nor 0 and 1 nor the categories of training rows.
    """
    time = _numbers(name, columns, TIME)
    start = _numbers(name, columns, START) if START in columns else None
    negative = time < 0 if start is None else start < 0
    if negative.any():
        raise InputError(
            f"response {name!r} has negative times in {rows_listed(negative, columns.index)}: "
            "measure times from the beginning of the observation"
        )
    if start is not None and (start >= time).any():
        raise InputError(
            f"response {name!r}: start is not before stop in "
            f"{rows_listed(start >= time, columns.index)}: a row is observed from start to stop; "
            "leave such rows out"
        )
    event = columns[EVENT]
    if isinstance(event.dtype, pd.CategoricalDtype):
        codes = _causes(name, event, causes)
    else:
        codes = _indicator(name, event)
    return SurvivalTimes(time, codes, start, tuple(causes))


def require_events(name: str, times: SurvivalTimes, weights: NDArray[np.float64]) -> None:
    """Raise `InputError` if rows of positive weight have no events, or all the same time."""
    counted = weights > 0
    if not (times.event[counted] > 0).any():
        raise InputError(
            f"response {name!r} has no events in the {int(counted.sum())} rows of positive weight: "
            "all of them are censored; if 1 means censored in your data, write "
            f"{_equal_to(name, 0)}"
        )
    if np.ptp(times.time[counted]) == 0:
        raise InputError(
            f"response {name!r}: all rows have the same time, so that nothing tells them apart"
        )


def unit_of_times(name: str, columns: pd.DataFrame) -> str:
    """Return "days" if the times are durations, ``""`` if they are numbers."""
    units = [
        DAYS if contents(columns[which]) == DURATIONS else ""
        for which in (START, TIME)
        if which in columns
    ]
    if len(set(units)) > 1:
        raise InputError(
            f"response {name!r}: of start and stop one is a duration, the other is not: bring them "
            "into one unit"
        )
    return units[0]


def _numbers(name: str, columns: pd.DataFrame, which: str) -> NDArray[np.float64]:
    values = columns[which]
    held = contents(values)
    if held == DURATIONS:
        values = pd.to_timedelta(values.astype(object)) / pd.Timedelta(days=1)
    elif held != NUMBERS or isinstance(values.dtype, pd.CategoricalDtype):
        way_out = (
            "write Surv(end - start, …), with the date at which the observation began"
            if held == DATES
            else "convert it to numbers, such as days"
        )
        raise InputError(
            f"response {name!r}: {which} is not numeric (dtype {values.dtype}): {way_out}; the "
            "order is Surv(time, event) or Surv(start, stop, event)"
        )
    numbers = values.to_numpy(dtype=np.float64)
    require_finite(numbers[np.newaxis], [f"{name}, {which}"], columns.index, "response")
    if np.abs(numbers).max(initial=0.0) > LONGEST:
        raise InputError(f"response {name!r}: times beyond {LONGEST:g}: use a longer unit of time")
    return numbers


def _indicator(name: str, event: pd.Series) -> NDArray[np.int64]:
    """Return 0 for censored rows and 1 for events, of bools or numbers."""
    if pd.api.types.is_bool_dtype(event.dtype):
        return event.to_numpy(dtype=np.bool_).astype(np.int64)
    if not pd.api.types.is_numeric_dtype(event.dtype):
        raise InputError(
            f"response {name!r}: the event has dtype {event.dtype}, with values "
            f"{listed(pd.Index(event.unique()))}: use True and False, as in "
            'Surv(time, status == "dead"), or for several causes a categorical whose first '
            'category means censored, as in pd.Categorical(status, ["censored", "relapse", …])'
        )
    values = event.to_numpy(dtype=np.float64)
    known = np.unique(values)
    if len(known) > MOST_CODES:
        raise InputError(
            f"response {name!r}: the event has {len(known)} different values, as times have: the "
            "order is Surv(time, event) or Surv(start, stop, event), and an event is 0 (censored) "
            "or 1"
        )
    outside = known[(known != 0) & (known != 1)]
    if len(outside):
        values_found = ", ".join(f"{value:g}" for value in known)
        raise InputError(
            f"response {name!r}: the event has the values {values_found}, and only 0 (censored) "
            f"and 1 are known: write {_equal_to(name, outside[-1])} if "
            f"{outside[-1]:g} means the event; for competing risks make it a categorical whose "
            "first category means censored"
        )
    return values.astype(np.int64)


def _equal_to(name: str, value: float) -> str:
    """Return the response with the event that its last column has this value."""
    before, _, event = name.rpartition(", ")
    if not re.fullmatch(r"[\w.]+\)", event):
        before, event = "Surv(time", "event)"
    return f"{before}, {event[:-1]} == {value:g})"


def _causes(name: str, event: pd.Series, causes: Sequence[str]) -> NDArray[np.int64]:
    """Return the number of the cause; 0 for the first category unless it is a cause in new rows."""
    first, *others = (str(category) for category in event.cat.categories)
    known = {cause: number for number, cause in enumerate(causes, start=1)}
    numbers = [known.get(first, 0), *(known.get(category, -1) for category in others)]
    codes = np.array(numbers)[event.cat.codes.to_numpy()]
    if (codes < 0).any():
        strange = pd.Index(event[codes < 0].unique())
        raise InputError(
            f"response {name!r} has causes that no training row has: {listed(strange)}; leave such "
            "rows out"
        )
    return codes.astype(np.int64)
