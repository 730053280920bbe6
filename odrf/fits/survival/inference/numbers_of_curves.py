"""One number of the predicted curves, as the fit of a regression forest with the same trees."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from odrf.checks import checked_choice, is_number
from odrf.design.survival.survival_times import SurvivalTimes
from odrf.engine.survival.curve_numbers import (
    hazard_at,
    restricted_mean_at,
    survival_at,
    with_means_above,
)
from odrf.errors import InputError
from odrf.fits.fit import Fit
from odrf.fits.survival.survival_fit import SurvivalFit
from odrf.statistics.survival.pseudo_values import (
    hazard_pseudo_values,
    restricted_mean_pseudo_values,
    survival_pseudo_values,
)
from odrf.statistics.survival.risk_sets import RiskSets, risk_sets
from odrf.warn import warn_user

__all__ = ["ESTIMANDS", "EstimandFit", "estimand_fit"]


class _Number(NamedTuple):
    """A number of a curve.

    Attributes
    ----------
    letters : str
        What its name begins with.
    words : str
    of_leaves : callable
        Takes a fit and a time, returns the number of each leaf's curve (m,).
    pseudo_values : callable
        Takes risk sets and a time, returns what rows (n,) add to the estimate for all of them.
    """

    letters: str
    words: str
    of_leaves: Callable[[SurvivalFit, float], NDArray[np.float64]]
    pseudo_values: Callable[[RiskSets, float], NDArray[np.float64]]


def _rank(fit: SurvivalFit, time: float) -> int:
    return int(np.searchsorted(fit.event_times, time, side="right"))


NUMBERS = {
    "survival": _Number(
        "S", "survival at {}", lambda fit, time: survival_at(fit.curves, _rank(fit, time)),
        survival_pseudo_values,
    ),
    "rmst": _Number(
        "RMST", "restricted mean survival time up to {}",
        lambda fit, time: restricted_mean_at(fit.curves, fit.event_times, time),
        restricted_mean_pseudo_values,
    ),
    "hazard": _Number(
        "H", "cumulative hazard at {}",
        lambda fit, time: hazard_at(fit.curves, _rank(fit, time)), hazard_pseudo_values,
    ),
}  # fmt: skip
ESTIMANDS = tuple(NUMBERS)


@dataclass(frozen=True)
class EstimandFit(Fit):
    """A survival forest as the regression forest of one number of its curves.

    The values of its leaves are that number, its responses are pseudo-values.

    Attributes
    ----------
    estimand : str
        ``"survival"``, ``"rmst"`` or ``"hazard"``.
    time : float
    """

    estimand: str = "survival"
    time: float = 0.0

    @property
    def in_words(self) -> str:
        """What is predicted, in words."""
        return NUMBERS[self.estimand].words.format(_said(self.time))


def estimand_fit(fit: SurvivalFit, estimand: Any, time: Any) -> EstimandFit:
    """Return the trees of a survival forest with one number of each leaf's curve as its value.

    A mean of trees is a mean of leaves' numbers, so its predictions are those of the forest, to
    rounding.

    Parameters
    ----------
    fit : SurvivalFit
    estimand : str
        One of `ESTIMANDS`.
    time : float

    Raises
    ------
    InputError
        The estimand is unknown, the time is none, or all rows have the same number; the fit was
        loaded without its rows.

    Warns
    -----
    UserWarning
        There is no event between the last one and this time.
    """
    of = NUMBERS[checked_choice("estimand", estimand, ESTIMANDS)]
    times = fit.times
    at = _checked_time(time, times, estimand)
    name = f"{of.letters}({_said(at)})"
    sets = risk_sets(times.time, times.event, fit.data.weights, times.start)
    pseudo = of.pseudo_values(sets, at)
    if np.ptp(pseudo) == 0:
        raise InputError(
            f"time={time!r}: {name} is the same for all training rows: use an earlier time"
        )
    value = with_means_above(fit.forest, of.of_leaves(fit, at))
    known: dict[str, Any] = {each.name: getattr(fit, each.name) for each in fields(Fit)}
    known |= {
        "call": f"{fit.call}.estimand({estimand!r}, time={_said(at)})",
        "design": _with_response(fit, name),
        "data": replace(fit.data, y=pseudo, times=None),
        "forest": replace(fit.forest, value=value[:, np.newaxis]),
        "pruning": None,
    }
    return EstimandFit(**known, estimand=estimand, time=at)


def _with_response(fit: SurvivalFit, name: str) -> Any:
    """Return the design with a number as its response.

    It keeps the causes, so that the response of new rows is still known to be no number.
    """
    response = replace(fit.design.response, name=name, kind="regression")
    return replace(fit.design, response=response)


def _checked_time(time: Any, times: SurvivalTimes, estimand: str) -> float:
    if not is_number(time) or not np.isfinite(time) or time <= 0:
        raise InputError(f"time={time!r}: use a number above 0, in the unit of the response")
    first, last, end = times.event_times[0], times.event_times[-1], times.time.max()
    if time < first or (estimand == "rmst" and time == first):
        raise InputError(
            f"time={time!r}: the first event is at {_said(first)}, so that all rows have the same "
            "curve until then: use a later time"
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
