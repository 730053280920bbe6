"""Numbers of a curve that a forest can estimate: of leaves, and of rows as pseudo-values."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from odrf.engine.survival.curve_numbers import (
    hazard_at,
    incidence_at,
    restricted_mean_at,
    survival_at,
    time_lost_at,
)
from odrf.fits.survival.survival_fit import SurvivalFit
from odrf.statistics.survival.curves import (
    CumulativeIncidence,
    RiskSets,
    cumulative_incidence,
    risk_sets,
)
from odrf.statistics.survival.pseudo_values import (
    hazard_pseudo_values,
    incidence_pseudo_values,
    restricted_mean_pseudo_values,
    survival_pseudo_values,
    time_lost_pseudo_values,
)

__all__ = ["CURVE_ESTIMANDS", "CurveEstimand"]

OfFit = Callable[[SurvivalFit, float, int], NDArray[np.float64]]


class CurveEstimand(NamedTuple):
    """A number of a survival or incidence curve, which a forest can estimate.

    Attributes
    ----------
    letters : str
        What its name begins with.
    words : str
        With places for the ``time`` and the ``cause``.
    of_leaves : callable
        Takes a fit, a time and a cause, from 0; returns the number of each leaf's curve (m,).
    pseudo_values : callable
        Takes the same, returns what training rows (n,) add to the estimate for all of them.
    of_cause : bool
        Whether it is a number of one cause of events, and not of all together.
    is_area : bool
        Whether it is an area up to the time, which is known only after the first event.
    is_probability : bool
        Whether it lies between 0 and 1.
    """

    letters: str
    words: str
    of_leaves: OfFit
    pseudo_values: OfFit
    of_cause: bool = False
    is_area: bool = False
    is_probability: bool = False


def _rank(fit: SurvivalFit, time: float) -> int:
    return int(np.searchsorted(fit.event_times, time, side="right"))


def _sets(fit: SurvivalFit) -> RiskSets:
    times = fit.times
    return risk_sets(times.time, times.event, fit.data.weights, times.start)


def _incidence(fit: SurvivalFit, cause: int) -> CumulativeIncidence:
    times = fit.times
    return cumulative_incidence(times.time, times.event, cause + 1, fit.data.weights, times.start)


CURVE_ESTIMANDS = {
    "survival": CurveEstimand(
        "S", "survival at {time}",
        lambda fit, time, _: survival_at(fit.curves, _rank(fit, time)),
        lambda fit, time, _: survival_pseudo_values(_sets(fit), time),
        is_probability=True,
    ),
    "rmst": CurveEstimand(
        "RMST", "restricted mean survival time up to {time}",
        lambda fit, time, _: restricted_mean_at(fit.curves, fit.event_times, time),
        lambda fit, time, _: restricted_mean_pseudo_values(_sets(fit), time),
        is_area=True,
    ),
    "hazard": CurveEstimand(
        "H", "cumulative hazard at {time}",
        lambda fit, time, _: hazard_at(fit.curves, _rank(fit, time)),
        lambda fit, time, _: hazard_pseudo_values(_sets(fit), time),
    ),
    "incidence": CurveEstimand(
        "F", "cumulative incidence of {cause} at {time}",
        lambda fit, time, cause: incidence_at(fit.curves, cause, _rank(fit, time)),
        lambda fit, time, cause: incidence_pseudo_values(_incidence(fit, cause), time),
        of_cause=True, is_probability=True,
    ),
    "lost": CurveEstimand(
        "L", "time lost by {cause} up to {time}",
        lambda fit, time, cause: time_lost_at(fit.curves, cause, fit.event_times, time),
        lambda fit, time, cause: time_lost_pseudo_values(_incidence(fit, cause), time),
        of_cause=True, is_area=True,
    ),
}  # fmt: skip
