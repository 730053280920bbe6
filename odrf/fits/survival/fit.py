"""Fits to survival times, and of one number of their curves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf.checks import checked_choice, is_number
from odrf.design.survival_times import SurvivalTimes
from odrf.engine.survival import curve_numbers
from odrf.engine.survival.curves import LeafCurves, leaf_curves, node_curves
from odrf.errors import InputError, warn_user
from odrf.fits.fit import Fit
from odrf.fits.predicting import out_of_bag_values
from odrf.fits.survival.hazards import (
    NodeHazards,
    cause_numbers,
    evaluated_events,
    node_hazards,
    split_statistics,
    subjects_in_nodes,
)
from odrf.statistics.survival.curves import (
    CumulativeIncidence,
    RiskSets,
    cumulative_incidence,
    risk_sets,
)
from odrf.statistics.survival.discrimination import harrells_c
from odrf.statistics.survival.pseudo_values import (
    hazard_pseudo_values,
    incidence_pseudo_values,
    restricted_mean_pseudo_values,
    survival_pseudo_values,
    time_lost_pseudo_values,
)

NO_CURVES = LeafCurves(np.zeros(1, dtype=np.int64), np.empty(0, dtype=np.int32), np.empty(0))


@dataclass(frozen=True)
class SurvivalFit(Fit):
    """A tree or forest for survival times, whose nodes have the mortality as their value."""

    curves: LeafCurves = field(default_factory=lambda: NO_CURVES)
    event_times: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    hazards: NodeHazards | None = None

    @property
    def times(self) -> SurvivalTimes:
        """Times and events of the training rows; `InputError` if the fit has none."""
        return self.data.require_times()


def with_curves(fit: Fit) -> SurvivalFit:
    """Return the fit with the curves of its leaves, from the rows that each tree sampled."""
    ranks = fit.data.require_times().ranks
    curves = leaf_curves(fit.forest, fit.data.X, ranks, fit.draws)
    value = curve_numbers.with_means_above(
        fit.forest, curve_numbers.mortality(curves, ranks.n_times)
    )
    forest = replace(fit.forest, value=value[:, np.newaxis])
    return as_survival_fit(fit, forest=forest, curves=curves)


def as_survival_fit(fit: Fit, **changes: Any) -> SurvivalFit:
    """Return the fit as one of survival times, with other values of the fields `changes`."""
    known = {each.name: getattr(fit, each.name) for each in fields(Fit)}
    event_times = fit.data.require_times().event_times
    return SurvivalFit(**(known | {"event_times": event_times} | changes))


# Numbers of a curve that a forest can estimate: of leaves, and of rows as pseudo-values.
OfFit = Callable[[SurvivalFit, float, int], NDArray[np.float64]]


class CurveEstimand(NamedTuple):
    """A number of a survival or incidence curve: of leaves (m,), and as pseudo-values (n,)."""

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
        lambda fit, time, _: curve_numbers.survival_at(fit.curves, _rank(fit, time)),
        lambda fit, time, _: survival_pseudo_values(_sets(fit), time),
        is_probability=True,
    ),
    "rmst": CurveEstimand(
        "RMST", "restricted mean survival time up to {time}",
        lambda fit, time, _: curve_numbers.restricted_mean_at(fit.curves, fit.event_times, time),
        lambda fit, time, _: restricted_mean_pseudo_values(_sets(fit), time),
        is_area=True,
    ),
    "hazard": CurveEstimand(
        "H", "cumulative hazard at {time}",
        lambda fit, time, _: curve_numbers.hazard_at(fit.curves, _rank(fit, time)),
        lambda fit, time, _: hazard_pseudo_values(_sets(fit), time),
    ),
    "incidence": CurveEstimand(
        "F", "cumulative incidence of {cause} at {time}",
        lambda fit, time, cause: curve_numbers.incidence_at(fit.curves, cause, _rank(fit, time)),
        lambda fit, time, cause: incidence_pseudo_values(_incidence(fit, cause), time),
        of_cause=True, is_probability=True,
    ),
    "lost": CurveEstimand(
        "L", "time lost by {cause} up to {time}",
        lambda fit, time, k: curve_numbers.time_lost_at(fit.curves, k, fit.event_times, time),
        lambda fit, time, cause: time_lost_pseudo_values(_incidence(fit, cause), time),
        of_cause=True, is_area=True,
    ),
}  # fmt: skip


# One number of the predicted curves, as the fit of a regression forest with the same trees.
ESTIMANDS = tuple(CURVE_ESTIMANDS)
# Pseudo-values that differ by less, for their size, differ by rounding.
ROUNDING = 1e-10


@dataclass(frozen=True)
class EstimandFit(Fit):
    """A survival forest as the regression forest of one number of its curves."""

    estimand: str = "survival"
    time: float = 0.0
    cause: str | None = None
    late: bool = False

    @property
    def in_words(self) -> str:
        """What is predicted, in words."""
        return CURVE_ESTIMANDS[self.estimand].words.format(
            time=_in_words(self.time), cause=self.cause or "the event"
        )


def estimand_fit(fit: SurvivalFit, estimand: Any, time: Any, cause: Any = None) -> EstimandFit:
    """Return the trees of a survival forest with one number of each leaf's curve as its value.

    Its predictions are those of the forest, to rounding. Raises `InputError` for an unknown
    estimand or cause, an invalid time, or if all rows have the same number; warns of a time after
    the last event.
    """
    of = CURVE_ESTIMANDS[checked_choice("estimand", estimand, ESTIMANDS)]
    times = fit.times
    number = _checked_cause(cause, fit.design.response.causes, of, estimand)
    named = None if number is None else times.causes[number]
    at = _checked_time(time, times, of, number)
    name = (
        f"{of.letters}({_in_words(at)})"
        if named is None
        else f"{of.letters}({_in_words(at)}, {named})"
    )
    pseudo = of.pseudo_values(fit, at, number or 0)
    if np.ptp(pseudo) <= ROUNDING * np.abs(pseudo).max():
        raise InputError(
            f"time={time!r}: {name} is the same for all training rows: use an earlier time"
        )
    value = curve_numbers.with_means_above(fit.forest, of.of_leaves(fit, at, number or 0))
    known: dict[str, Any] = {each.name: getattr(fit, each.name) for each in fields(Fit)}
    of_cause = "" if named is None else f", cause={named!r}"
    known |= {
        "call": f"{fit.call}.estimand({estimand!r}, time={_in_words(at)}{of_cause})",
        "design": _with_response(fit, name, of.is_probability),
        "training": replace(fit.data, y=pseudo, times=None),
        "forest": replace(fit.forest, value=value[:, np.newaxis]),
        "pruning": None,
    }
    late = times.start is not None
    return EstimandFit(**known, estimand=estimand, time=at, cause=named, late=late)


def _with_response(fit: SurvivalFit, name: str, is_probability: bool) -> Any:
    """Return the design with a number as its response, which keeps the causes for new rows."""
    response = replace(fit.design.response, name=name, kind="regression", of_events=is_probability)
    return replace(fit.design, response=response)


def _checked_cause(
    cause: Any, causes: Sequence[str], of: CurveEstimand, estimand: str
) -> int | None:
    """Return the number, from 0, of the chosen cause; None for all together."""
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
            f"time={time!r}: the first {event} is at {_in_words(first)}, so that all rows have the "
            "same curve until then: use a later time"
        )
    if time > end:
        raise InputError(
            f"time={time!r}: the last row was observed until {_in_words(end)}, and nothing is "
            "known of later times: use an earlier one"
        )
    if time > last:
        warn_user(
            f"time={time!r}: the last event is at {_in_words(last)}, and curves stay as they "
            "are then"
        )
    return float(time)


def _in_words(time: float) -> str:
    """Return a time with all its digits, whole numbers without a point."""
    return str(int(time)) if time == int(time) and abs(time) < 1e15 else repr(float(time))


# A single tree for survival times: its curves and hazards, and how it is evaluated.
def survival_tree_of(fit: Fit) -> SurvivalFit:
    """Return the fit of one tree with curves and hazards of all its nodes."""
    times = fit.data.require_times()
    ranks = times.ranks
    curves = node_curves(fit.forest, fit.data.X, ranks, fit.draws)
    of_tree = fit.forest, fit.data, fit.draws
    hazards, described = node_hazards(
        *of_tree, evaluated_events(times, fit.data.weights, fit.control)
    )
    hazards = replace(
        hazards,
        log_rank=split_statistics(*of_tree, fit.control),
        subjects=subjects_in_nodes(*of_tree),
    )
    value = curve_numbers.mortality(curves, ranks.n_times)[:, np.newaxis]
    forest = replace(described, value=value)
    return as_survival_fit(fit, forest=forest, curves=curves, hazards=hazards)


# Numbers of trees at which the error is computed, about equally far apart on a logarithmic scale.
NUMBERS = 16


def error_by_trees(fit: SurvivalFit, out_of_bag: NDArray[np.bool_]) -> pd.Series:
    """Return 1 - Harrell's C of the first trees, over rows out of bag for some of them."""
    forest, X, n, times = fit.forest, fit.data.X, len(fit.times), fit.times
    numbers = np.unique(np.geomspace(1, forest.n_trees, NUMBERS).round().astype(np.int64))
    total, votes = np.zeros(n), np.zeros(n, dtype=np.int64)
    errors, begin = [], 0
    for end in numbers.tolist():
        # values of nodes are mortalities
        trees, n_jobs = forest.trees(begin, end), fit.control.n_jobs
        some = out_of_bag_values(trees, X, out_of_bag[begin:end], n_jobs)
        total += np.where(some.votes > 0, some.value[:, 0] * some.votes, 0.0)
        votes += some.votes
        rows = (votes > 0) & (fit.data.weights > 0)
        kept, risk = times.keeping(rows), total[rows] / votes[rows]
        weights = fit.data.weights[rows]
        errors.append(1 - harrells_c(kept.time, kept.event, risk, weights, kept.start).estimate)
        begin = end
    index = pd.Index(numbers, name="trees")
    return pd.Series(errors, index=index, name="1 - Harrell's C, out of bag")
