"""The scores of predicted risks and curves over time; groups of similar risk, calibration."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from odrf.checks import is_number
from odrf.engine.running import one_thread
from odrf.errors import InputError
from odrf.statistics.survival import observation, pseudo_values
from odrf.statistics.survival.curves import (
    CumulativeIncidence,
    KaplanMeier,
    StepCurve,
    cumulative_incidence,
    kaplan_meier,
    limits_of_probability,
    number_at_risk,
    sums_at,
)
from odrf.statistics.survival.discrimination import concordance_of_cause, harrells_c, unos_c
from odrf.text.summary import evenly_spread

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

# Curves are evaluated while this share of the rows is at risk: rows then count at most ten times
# for those that were censored before.  If rows enter late, it is the share of the largest risk set.
LEAST_AT_RISK = 0.1
# Steps of the integral over time.
MOST_TIMES = 100


@dataclass(frozen=True, eq=False)
class EvaluatedTimes:
    """The observed times of n evaluated rows; `since` when they are, if rows enter late."""

    time: Floats
    event: NDArray[np.int64]
    weights: Floats
    source: str
    start: Floats | None = None
    groups: NDArray[np.int64] | None = None
    cause: int | None = None
    since: float = 0.0

    def facts(self) -> dict[str, str]:
        """Return how many rows and events there are, for summaries."""
        return {"Rows": f"{len(self.time)}, {self.source}", "Events": str(int(self.happened.sum()))}

    @property
    def happened(self) -> Mask:
        """Which rows (n,) have an event, of the cause if there is one."""
        return self.event > 0 if self.cause is None else self.event == self.cause

    def keeping(self, rows: Mask) -> EvaluatedTimes:
        """Return those of the `rows` (n,) alone."""
        start = None if self.start is None else self.start[rows]
        kept = replace(self, time=self.time[rows], event=self.event[rows], start=start)
        groups = None if self.groups is None else self.groups[rows]
        return replace(kept, weights=self.weights[rows], groups=groups)

    def given_none_before(self, since: float) -> EvaluatedTimes:
        """Return the rows observed after a time, entering then if they entered before."""
        kept = self.keeping(self.time > since)
        start = None if kept.start is None else np.maximum(kept.start, since)
        return replace(kept, start=start, since=since)

    def checked_time(self, argument: str, value: Any) -> float:
        """Return a time from the first event to the end of observation; else raise an error."""
        times = self.time[self.happened]
        first, last = float(times.min()), float(self.time.max())
        if not is_number(value) or not first <= value <= last:
            raise InputError(
                f"{argument}={value!r}: use a time from {first:g}, the first event of the "
                f"validation rows, to {last:g}, the end of their observation"
            )
        return float(value)

    def first_time(self) -> float:
        """Return the time since which curves can be evaluated: 0 if no row enters late."""
        if self.start is None:
            return 0.0
        times, at_risk = self._at_risk()
        few = times[: np.argmax(at_risk)][~self._enough(at_risk)[: np.argmax(at_risk)]]
        return float(few[-1] if len(few) else self.start.min())

    def last_time(self) -> float:
        """Return the last event time at which a tenth of the weight, or largest set, is at risk."""
        times, at_risk = self._at_risk()
        enough = self._enough(at_risk)
        if self.start is None:
            return float(times[enough][-1] if enough.any() else times[0])
        largest = int(np.argmax(at_risk))
        few = np.flatnonzero(~enough[largest:])
        return float(times[largest + few[0] - 1] if len(few) else times[-1])

    def _at_risk(self) -> tuple[Floats, Floats]:
        """Return the distinct event times, and the weight at risk then."""
        times = np.unique(self.time[self.happened])
        return times, number_at_risk(times, self.time, self.weights, self.start)

    def _enough(self, at_risk: Floats) -> Mask:
        whole = self.weights.sum() if self.start is None else at_risk.max()
        return np.asarray(at_risk >= LEAST_AT_RISK * whole)

    def grid(self, until: float, most: int = MOST_TIMES) -> Floats:
        """Return `since`, at most so many event times, evenly by rank, and `until`, ascending."""
        times = np.unique(self.time[self.happened & (self.time < until)])
        times = times[evenly_spread(len(times), most)]
        return np.unique(np.concatenate([[self.since], times, [until]]))


# The Brier score of predicted risks at each time, and its mean over time.
# Rows whose state at a time is known stand for those that are not seen then: they are weighted by
# the inverse probability to be observed.


class BrierScores(NamedTuple):
    """Brier scores at m times, NaN where no row is observed, and their mean over time."""

    at: Floats
    score: Floats
    std_error: Floats
    integrated: pseudo_values.RowwiseShare


@one_thread()
def brier_scores(
    time: Floats,
    event: NDArray,
    risk: Floats,
    at: Floats,
    cause: int | None = None,
    weights: Floats | None = None,
    observed: observation.ObservationCurve | None = None,
    start: Floats | None = None,
) -> BrierScores:
    """Estimate the mean squared difference between an event by each time and its predicted risk.

    `risk` (n, m), or (1, m) for all rows, is at the ascending times `at` (m,). Events of causes
    other than `cause` do not count. `observed` is as for `unos_c` (Graf, Schmoor, Sauerbrei and
    Schumacher 1999, Statistics in Medicine 18, 2529-2545, equation 5; with late entry see
    `LateEntryCurve`).
    """
    at = observation.ascending_times(at)
    states = observation.weighted_states(time, event, weights, observed, start)
    of_cause = (event > 0) if cause is None else (event == cause)
    shares = trapezoidal_shares(at)
    score, error = np.empty((2, len(at)))
    integrated = np.zeros(len(time))
    for m, t in enumerate(at):
        of_time = _score_at(states, of_cause, risk[:, m], float(t))
        score[m], error[m] = of_time.estimate, of_time.std_error
        integrated += shares[m] * of_time.influence
    mean = pseudo_values.RowwiseShare(float(shares @ score), integrated)
    return BrierScores(at, score, error, mean)


def explained_share(model: BrierScores, reference: BrierScores) -> pseudo_values.RowwiseReduction:
    """Return 1 minus the integrated Brier score of a model over that of a reference."""
    share = pseudo_values.share_of_estimates(model.integrated, reference.integrated)
    return pseudo_values.RowwiseReduction(1 - share.estimate, -share.influence)


def _score_at(
    states: observation.WeightedStates, of_cause: Mask, risk: Floats, t: float
) -> pseudo_values.RowwiseShare:
    """Return the Brier score at a time of risks (n,) or (1,)."""
    now, share = states.at(t), states.weights / states.weights.sum()
    if not now.reached:
        return pseudo_values.RowwiseShare(float("nan"), np.full(len(share), np.nan))
    parts = now.weight / states.weights.sum() * (risk - (now.past & of_cause)) ** 2
    score = float(parts.sum())
    return pseudo_values.RowwiseShare(score, parts - score * share + states.influence(now, parts))


def trapezoidal_shares(at: Floats) -> Floats:
    """Return the share of each time in the mean over time: (m,)."""
    if len(at) == 1:
        return np.array([np.nan])
    steps = np.diff(at) / (at[-1] - at[0])
    return (np.append(steps, 0.0) + np.insert(steps, 0, 0.0)) / 2


# The scores of predicted risks and survival curves: concordance, and Brier scores over time.
Curves = Callable[[Floats], Floats]
HARRELL, UNO, INTEGRATED, EXPLAINED = "harrell_c", "uno_c", "integrated_brier", "explained"


def scores_of_curves(
    rows: EvaluatedTimes, risk: Floats, survival: Curves, reference: StepCurve, until: float
) -> dict[str, pseudo_values.RowwiseEstimate]:
    """Return Harrell's C (not of one cause), Uno's C, integrated Brier score, explained share.

    The higher `risk` (n,), the earlier the event. `survival` is (n, m) at ascending times (m,),
    `reference` the prediction without predictors. Only what is before `until` counts.
    """
    scores = concordances(rows, risk, until)
    at = rows.grid(until)
    model = brier_of_curves(rows, survival(at), at)
    known = brier_of_curves(rows, reference(at)[np.newaxis], at)
    return scores | {INTEGRATED: model.integrated, EXPLAINED: explained_share(model, known)}


def concordances(
    rows: EvaluatedTimes, risk: Floats, until: float
) -> dict[str, pseudo_values.RowwiseEstimate]:
    """Return Harrell's C, unless of one cause, and Uno's; arguments as for all scores."""
    # an event at the last time counts, too
    lives, tau = (rows.time, rows.event, risk), float(np.nextafter(until, np.inf))
    if rows.cause is not None:
        C = concordance_of_cause(*lives, rows.cause, tau, rows.weights, start=rows.start)
        return {UNO: C}
    return {
        HARRELL: harrells_c(*lives, rows.weights, rows.start),
        UNO: unos_c(*lives, tau, rows.weights, start=rows.start),
    }


def brier_of_curves(rows: EvaluatedTimes, survival: Floats, at: Floats) -> BrierScores:
    """Return the Brier scores of survival (n, m), or (1, m) the same for all rows, at m times."""
    return brier_scores(
        rows.time, rows.event, 1 - survival, at, rows.cause, rows.weights, start=rows.start
    )


# Conditional survival: curves given that no event has come by a time.
def conditional_survival(without: Floats, survival: Floats) -> Floats:
    """Return the probability (…, G) of no event of a cause by G times, given none of any before.

    `without` (…, G + 1) is that by the time of the condition, and by G later ones; `survival` (…,)
    of no event of any cause. Where it is 0, `without` stays.
    """
    known = survival > 0
    incidence = (without[..., :1] - without[..., 1:]) / np.where(known, survival, 1.0)[..., None]
    return np.where(known[..., None], 1 - incidence, without[..., 1:])


# Groups of rows of similar risk: their predicted and observed curves.
class RiskGroup(NamedTuple):
    """One group of rows, their Kaplan–Meier curve, or of one cause its incidence, and times."""

    rows: Mask
    observed: KaplanMeier | CumulativeIncidence
    lives: EvaluatedTimes

    def at_risk(self, times: Floats) -> Floats:
        """Return the weight of the rows at risk at times (m,)."""
        return number_at_risk(times, self.lives.time, self.lives.weights, self.lives.start)

    def steps(self, level: float = 0.95) -> tuple[Floats, Floats, Floats]:
        """Return the observed curve (R,) at its times, and its lower and upper limits."""
        known = self.observed
        curve = known.survival if isinstance(known, KaplanMeier) else known.incidence
        return curve, *limits_of_probability(curve, known.variance, level)

    def predicted(self, curves: Floats) -> Floats:
        """Return the weighted mean (m,) of curves (n, m); late rows stand for unseen ones, too."""
        lives = self.lives
        weights = lives.weights
        if lives.start is not None and lives.happened.any():
            last = lives.last_time()
            weights = observation.weights_at(lives.time, lives.event, weights, lives.start, last)
        return np.average(curves[self.rows], axis=0, weights=weights)


def groups_by_risk(rows: EvaluatedTimes, risk: Floats, groups: int = 4) -> list[RiskGroup]:
    """Return groups of about equal weight, from the lowest risk (n,) on; equal risks are in one."""
    of = groups_of_equal_weight(risk, groups, rows.weights)
    risk_groups = []
    for g in range(int(of.max()) + 1):
        lives = rows.keeping(of == g)
        rows_of_group = lives.time, lives.event, lives.weights, lives.start
        observed: KaplanMeier | CumulativeIncidence = kaplan_meier(*rows_of_group)
        if lives.cause is not None:
            observed = cumulative_incidence(
                lives.time, lives.event, lives.cause, lives.weights, lives.start
            )
        risk_groups.append(RiskGroup(of == g, observed, lives))
    return risk_groups


class CalibrationAt(NamedTuple):
    """Predicted and observed probabilities of an event by a time, in K groups of rows.

    All are (K,). `observed` is NaN after the last time of a group, unless all had an event; limits
    are NaN where none or all had it.
    """

    weight: Floats
    predicted: Floats
    observed: Floats
    std_error: Floats
    low: Floats
    high: Floats


def calibration_at(
    time: Floats,
    event: NDArray,
    risk: Floats,
    t: float,
    groups: int = 10,
    cause: int | None = None,
    weights: Floats | None = None,
    start: Floats | None = None,
    level: float = 0.95,
) -> CalibrationAt:
    """Compare risks (n,) of an event by t with the Kaplan–Meier or Aalen–Johansen estimate.

    In at most `groups` groups of about equal weight, equal risks in one. With a `cause`, only its
    events count, others compete. Errors with case weights are by the infinitesimal jackknife. With
    late entry, `start` (n,), predicted risks are weighted by the inverse probability to be
    observed.
    """
    of_rows = np.ones(len(time)) if weights is None else weights
    group = groups_of_equal_weight(risk, groups, of_rows)
    K = int(group.max()) + 1
    observed, variance = np.full((2, K), np.nan)
    for g in range(K):
        rows = group == g
        incidence = cumulative_incidence(
            time[rows],
            event[rows],
            cause,
            None if weights is None else weights[rows],
            None if start is None else start[rows],
        )
        all_had_one = (incidence.sets.survivors == 0).any()
        if t <= time[rows & (of_rows > 0)].max() or all_had_one:
            observed[g] = incidence.curve(t)
            errors = incidence.variance if weights is None else incidence.robust_variance
            variance[g] = np.append(0.0, errors)[np.searchsorted(incidence.times, t, side="right")]
    # an error of 0, of none or of all rows, does not make the estimate certain
    low, high = limits_of_probability(observed, np.where(variance > 0, variance, np.nan), level)
    weight = sums_at(group, of_rows, K)
    inverse_weights = of_rows.astype(np.float64)
    if start is not None:
        for g in range(K):
            rows = group == g
            lives = time[rows], event[rows], of_rows[rows]
            inverse_weights[rows] = observation.weights_at(*lives, start[rows], t)
    predicted = sums_at(group, inverse_weights * risk, K) / sums_at(group, inverse_weights, K)
    return CalibrationAt(weight, predicted, observed, np.sqrt(variance), low, high)


def groups_of_equal_weight(value: Floats, groups: int, weights: Floats) -> NDArray[np.int64]:
    """Return the group (n,) of each row by the order of values, from 0; equal ones are in one."""
    levels, place = np.unique(value, return_inverse=True)
    place = place.reshape(-1)
    weight = sums_at(place, weights, len(levels))
    middle = (np.cumsum(weight) - weight / 2) / weight.sum()
    group = np.minimum(np.floor(groups * middle), groups - 1).astype(np.int64)
    # a group of weight 0 joins the one before
    used = np.unique(group[weight > 0])
    return np.maximum(np.searchsorted(used, group, side="right") - 1, 0)[place]
