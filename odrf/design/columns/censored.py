"""The response ``Surv(time, event)`` of a formula: times to an event, some of them censored."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pandas as pd

from odrf.public import public

__all__ = ["EVENT", "START", "TIME", "Censored", "Surv"]

START, TIME, EVENT = "start", "time", "event"


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
def Surv(*times: Any) -> Censored:  # noqa: N802 - as statisticians know it
    """Make a response of times to an event, some of which are censored.

    It stands on the left side of a formula: ``Surv(time, event) ~ .``, or with left truncation
    ``Surv(start, stop, event) ~ .``, as in R's package survival.  Formulas know it without import.

    Parameters
    ----------
    *times : columns of n values each
        `time` and `event`; or `start`, `stop` and `event`.

        `time` : numbers, at least 0.  The end of the observation of each row, in any unit.

        `start`, `stop` : numbers, start < stop.  A row is observed from after `start` to `stop`.

        `event` : bool, 0 and 1, or categorical.  Whether the event happened at the end: False and 0
        mean that the row was censored.  Of a categorical the first category means censored, and
        each of the others is a cause (competing risks); causes without events are left out.

    Returns
    -------
    Censored

    Raises
    ------
    TypeError
        There are not two or three arguments.

    Examples
    --------
    >>> import pandas as pd
    >>> import odrf
    >>> odrf.Surv(pd.Series([5.0, 8.0]), pd.Series([True, False])).columns()
       time  event
    0   5.0   True
    1   8.0  False
    """
    if len(times) == 2:
        return Censored(*times)
    if len(times) == 3:
        start, stop, event = times
        return Censored(stop, event, start)
    raise TypeError(
        f"Surv() takes (time, event) or (start, stop, event), not {len(times)} arguments"
    )


def _plain(values: Any) -> Any:
    """Return values without an index, so that columns of different indexes are put together."""
    return values.reset_index(drop=True) if isinstance(values, pd.Series) else values
