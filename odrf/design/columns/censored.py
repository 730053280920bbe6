"""The response ``Surv(time, event)`` of a formula: times to an event, some of them censored."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from odrf.errors import InputError, UnknownArgumentError
from odrf.public import public

__all__ = ["EVENT", "START", "TIME", "Censored", "Surv"]

START, TIME, EVENT = "start", "time", "event"
# The types of R's Surv() that are known, by the number of columns.
TYPES = {1: "right", 2: "right", 3: "counting"}


@dataclass(frozen=True, eq=False)
class Censored:
    """Times and events as `Surv` was given them, one of each for every row.

    Attributes
    ----------
    time, event : array-like of n values
    start : array-like of n values, or None
    """

    time: Any
    event: Any
    start: Any = None

    def columns(self) -> pd.DataFrame:
        """Return a frame (n, 2 or 3) with the columns "time", "event" and, if given, "start"."""
        given = {TIME: self.time, EVENT: self.event}
        if self.start is not None:
            given[START] = self.start
        return pd.DataFrame({name: _plain(values) for name, values in given.items()})


@public
def Surv(*times: Any, **named: Any) -> Censored:  # noqa: N802 - as statisticians know it
    """Make a response of times to an event, some of which are censored.

    It stands on the left side of a formula: ``Surv(time, event) ~ .``, or with left truncation
    ``Surv(start, stop, event) ~ .``, as in R's package survival.  ``Surv(time) ~ .`` is for times
    that all end with the event.  Formulas know it without import, and no other object of this name.

    Parameters
    ----------
    *times : columns of n values each
        `time`; or `time` and `event`; or `start`, `stop` and `event`.

        `time` : numbers, at least 0, or durations.  The end of the observation of each row, in any
        unit.  Durations, such as differences of dates, are read as days, with parts of a day.

        `start`, `stop` : numbers or durations, start < stop.  A row is observed from after `start`
        to `stop`.

        `event` : bool, 0 and 1, or categorical.  Whether the event happened at the end: False and 0
        mean that the row was censored.  Of a categorical the first category means censored, and
        each of the others is a cause (competing risks); causes without events are left out.
    **named
        `type`, as in R: "right" is that of `time` and `event`, "counting" that of `start`, `stop`
        and `event`.  All others are refused.

    Returns
    -------
    Censored

    Raises
    ------
    InputError
        There are not one to three columns, or they are of another type of censoring.

    Examples
    --------
    >>> import pandas as pd
    >>> import odrf
    >>> odrf.Surv(pd.Series([5.0, 8.0]), pd.Series([True, False])).columns()
       time  event
    0   5.0   True
    1   8.0  False
    """
    for name in named:
        if name != "type":
            raise UnknownArgumentError(f"Surv() takes no argument by name, such as {name!r}")
    if "type" in named and named["type"] != TYPES.get(len(times)):
        raise InputError(
            f"type={named['type']!r} of Surv() is not known for {len(times)} columns: observations "
            "end at the event or before it, as Surv(time, event), and may begin late, as "
            "Surv(start, stop, event); several causes are the categories of event"
        )
    if len(times) == 1:
        return Censored(*times, np.ones(np.shape(times[0])[:1], dtype=np.bool_))
    if len(times) == 2:
        return Censored(*times)
    if len(times) == 3:
        start, stop, event = times
        return Censored(stop, event, start)
    raise UnknownArgumentError(
        f"Surv() takes (time), (time, event) or (start, stop, event), not {len(times)} columns"
    )


def _plain(values: Any) -> Any:
    """Return values without an index, so that columns of different indexes are put together."""
    return values.reset_index(drop=True) if isinstance(values, pd.Series) else values
