"""One number of the predicted curves, as the fit of a regression forest with the same trees."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from odrf.checks import checked_choice, is_number
from odrf.design.survival_times import SurvivalTimes
from odrf.engine.survival.curve_numbers import with_means_above
from odrf.errors import InputError, warn_user
from odrf.fits.fit import Fit
from odrf.fits.survival.cause_numbers import cause_numbers
from odrf.fits.survival.inference.curve_estimands import CURVE_ESTIMANDS, CurveEstimand
from odrf.fits.survival.survival_fit import SurvivalFit

__all__ = ["ESTIMANDS", "EstimandFit", "estimand_fit"]

ESTIMANDS = tuple(CURVE_ESTIMANDS)
# Pseudo-values that differ by less, for their size, differ by rounding.
ROUNDING = 1e-10


@dataclass(frozen=True)
class EstimandFit(Fit):
    """A survival forest as the regression forest of one number of its curves.

    The values of its leaves are that number, its responses are pseudo-values.

    Attributes
    ----------
    estimand : str
        ``"survival"``, ``"rmst"``, ``"hazard"``, ``"incidence"`` or ``"lost"``.
    time : float
    cause : str or None
        The cause of the incidence or of the time lost; None if there is one cause, and of others.
    late : bool
        Whether rows enter late.
    """

    estimand: str = "survival"
    time: float = 0.0
    cause: str | None = None
    late: bool = False

    @property
    def in_words(self) -> str:
        """What is predicted, in words."""
        return CURVE_ESTIMANDS[self.estimand].words.format(
            time=_said(self.time), cause=self.cause or "the event"
        )


def estimand_fit(fit: SurvivalFit, estimand: Any, time: Any, cause: Any = None) -> EstimandFit:
    """Return the trees of a survival forest with one number of each leaf's curve as its value.

    A mean of trees is a mean of leaves' numbers, so its predictions are those of the forest, to
    rounding.

    Parameters
    ----------
    fit : SurvivalFit
    estimand : str
        One of `ESTIMANDS`.
    time : float
    cause : str, optional
        Of what has several causes, if the estimand is of one.

    Raises
    ------
    InputError
        The estimand or the cause is unknown, a cause is missing or not of use, the time is none, or
        all rows have the same number; the fit was loaded without its rows.

    Warns
    -----
    UserWarning
        There is no event between the last one and this time.
    """
    of = CURVE_ESTIMANDS[checked_choice("estimand", estimand, ESTIMANDS)]
    times = fit.times
    number = _checked_cause(cause, fit.design.response.causes, of, estimand)
    named = None if number is None else times.causes[number]
    at = _checked_time(time, times, of, number)
    name = f"{of.letters}({_said(at)})" if named is None else f"{of.letters}({_said(at)}, {named})"
    pseudo = of.pseudo_values(fit, at, number or 0)
    if np.ptp(pseudo) <= ROUNDING * np.abs(pseudo).max():
        raise InputError(
            f"time={time!r}: {name} is the same for all training rows: use an earlier time"
        )
    value = with_means_above(fit.forest, of.of_leaves(fit, at, number or 0))
    known: dict[str, Any] = {each.name: getattr(fit, each.name) for each in fields(Fit)}
    of_cause = "" if named is None else f", cause={named!r}"
    known |= {
        "call": f"{fit.call}.estimand({estimand!r}, time={_said(at)}{of_cause})",
        "design": _with_response(fit, name, of.is_probability),
        "data": replace(fit.data, y=pseudo, times=None),
        "forest": replace(fit.forest, value=value[:, np.newaxis]),
        "pruning": None,
    }
    late = times.start is not None
    return EstimandFit(**known, estimand=estimand, time=at, cause=named, late=late)


def _with_response(fit: SurvivalFit, name: str, is_probability: bool) -> Any:
    """Return the design with a number as its response.

    It keeps the causes, so that the response of new rows is still known to be no number.
    """
    response = replace(fit.design.response, name=name, kind="regression", of_events=is_probability)
    return replace(fit.design, response=response)


def _checked_cause(
    cause: Any, causes: Sequence[str], of: CurveEstimand, estimand: str
) -> int | None:
    """Return the number, from 0, of the cause that is asked for; None for all together."""
    if not of.of_cause or len(causes) == 1:
        if cause is not None:
            reason = "there is one cause" if of.of_cause else f"{estimand!r} is of all together"
            raise InputError(f"cause={cause!r}: {reason}: leave cause= out")
        return None
    if cause is None:
        names = ", ".join(repr(each) for each in causes)
        raise InputError(
            f"estimand={estimand!r} is of one cause of events: use cause= with one of {names}"
        )
    return int(cause_numbers(cause, causes)[0])


def _checked_time(time: Any, times: SurvivalTimes, of: CurveEstimand, cause: int | None) -> float:
    if not is_number(time) or not 0 < time < np.inf:
        raise InputError(f"time={time!r}: use a number above 0, in the unit of the response")
    first, last, end = times.event_times[0], times.event_times[-1], times.time.max()
    event = "event"
    if cause is not None:
        happened = times.time[times.event == cause + 1]
        if len(happened) == 0:  # in files of versions that kept causes without events
            raise InputError(f"cause={times.causes[cause]!r} has no events: use another cause")
        first, event = happened.min(), f"event of cause {times.causes[cause]!r}"
    if time < first or (of.is_area and time == first):
        raise InputError(
            f"time={time!r}: the first {event} is at {_said(first)}, so that all rows have the "
            "same curve until then: use a later time"
        )
    if time > end:
        raise InputError(
            f"time={time!r}: the last row was observed until {_said(end)}, and nothing is known "
            "of later times: use an earlier one"
        )
    if time > last:
        warn_user(
            f"time={time!r}: the last event is at {_said(last)}, and curves stay as they are then"
        )
    return float(time)


def _said(time: float) -> str:
    """Return a time with all its digits, whole numbers without a point."""
    return str(int(time)) if time == int(time) and abs(time) < 1e15 else repr(float(time))
