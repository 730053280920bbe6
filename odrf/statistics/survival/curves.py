"""Survival curves and incidences: Kaplan–Meier, Aalen–Johansen, who is at risk when."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Mask = NDArray[np.bool_]


class RunningSums(NamedTuple):
    """Sums of martingale increments: `final` (n,) of rows that left, `expected` (R + 1,)."""

    final: Floats
    expected: Floats


@dataclass(frozen=True)
class RiskSets:
    """Rows at risk and events at each distinct event time (R,), and where rows (n,) are there."""

    times: Floats
    at_risk: Floats
    events: Floats
    first: Integers
    last: Integers
    happened: Mask
    weights: Floats

    @cached_property
    def _ends(self) -> tuple[Integers, Integers]:
        """The rows with an event, and the places of their times."""
        rows = np.flatnonzero(self.happened)
        return rows, self.last[rows] - 1

    @cached_property
    def hazard(self) -> Floats:
        """The share of those at risk that have an event: (R,)."""
        return self.events / self.at_risk

    @cached_property
    def survivors(self) -> Floats:
        """The weight of those at risk that have no event: (R,), exactly 0 where all have one."""
        return self.at_risk - self.events

    @cached_property
    def per_survivor(self) -> Floats:
        """1 divided by the weight of the survivors: (R,), 0 where nobody survives."""
        return inverse_or_zero(self.survivors)

    def of_rows(self, rows: Mask) -> RiskSets:
        """Return the same sets in which only events of these rows (n,) count."""
        happened = self.happened & rows
        place = self.last[happened] - 1
        events = sums_at(place, self.weights[happened], len(self.times))
        return RiskSets(
            self.times, self.at_risk, events, self.first, self.last, happened, self.weights
        )

    def martingale_sums(self, factor: Floats) -> Floats:
        """Return, for each row (n,), the sum of its martingale increments times a factor (R,).

        An increment is 1 for an event, minus the hazard while at risk. With the factor 1/at_risk it
        is the derivative of the Nelson–Aalen estimate by the weight of a row.
        """
        expected = _cumulative(factor * self.hazard)
        # all from the beginning, as a rule: then nothing is to be read for each row
        since = expected[self.first] if self.first.any() else 0.0
        rows, place = self._ends
        sums: Floats = since - expected[self.last]
        sums[rows] += factor[place]
        return sums

    def running_sums(self, factor: Floats) -> RunningSums:
        """Return `martingale_sums` with what is needed for those up to each time."""
        return RunningSums(self.martingale_sums(factor), _cumulative(factor * self.hazard))

    def sums_of_products(self, one: RunningSums, other: RunningSums) -> Floats:
        """Return, for each time (R,), Σ squared weight · product of the rows' sums up to then."""
        R = len(self.times)
        squared = self.weights**2

        def present(parts: Floats) -> Floats:
            came = sums_at(self.first, parts, R + 1)
            return np.cumsum(came - sums_at(self.last, parts, R + 1))[1:]

        left = np.cumsum(sums_at(self.last, squared * one.final * other.final, R + 1))[1:]
        first, second = one.expected[self.first], other.expected[self.first]
        since_first, since_second = one.expected[1:], other.expected[1:]
        waiting = since_first * since_second * present(squared)
        waiting -= since_first * present(squared * second) + since_second * present(squared * first)
        return left + waiting + present(squared * first * second)


def risk_sets(
    time: Floats, event: NDArray, weights: Floats | None = None, start: Floats | None = None
) -> RiskSets:
    """Return who is at risk and who has an event at each distinct event time.

    `time` (n,) is the end of observation, `event` (n,) the cause, 0 for a censored row; rows of
    weight 0 do not count. A row is at risk at t if start < t ≤ time, by default from the beginning.
    """
    weights = np.ones(len(time)) if weights is None else weights
    happened = (np.asarray(event) > 0) & (weights > 0)
    times = np.unique(time[happened])
    last = np.searchsorted(times, time, side="right")
    return _counted(times, start, last, happened, weights)


def censoring_risk_sets(
    time: Floats, event: NDArray, weights: Floats | None = None, start: Floats | None = None
) -> RiskSets:
    """Return who is at risk of being censored, and who is, at each distinct time of censoring.

    At a time that has both, events come before censoring.
    """
    weights = np.ones(len(time)) if weights is None else weights
    lost = np.asarray(event) == 0
    times = np.unique(time[lost & (weights > 0)])
    last = np.searchsorted(times, time, side="right")
    last[~lost] = np.searchsorted(times, time[~lost], side="left")
    return _counted(times, start, last, lost & (weights > 0), weights)


def number_at_risk(
    at: ArrayLike, time: Floats, weights: Floats | None = None, start: Floats | None = None
) -> Floats:
    """Return the weight of the rows at risk at times of any shape: those with start < t ≤ time."""
    weights = np.ones(len(time)) if weights is None else weights

    def not_before(moments: Floats, parts: Floats) -> Floats:
        order = np.argsort(moments, kind="stable")
        beyond = np.append(np.cumsum(parts[order][::-1])[::-1], 0.0)
        return beyond[np.searchsorted(moments[order], at, side="left")]

    if start is None:
        return not_before(time, weights)
    # sums of weights in two orders can differ in the last digit where nobody is at risk
    counted = (weights > 0).astype(np.float64)
    anybody = not_before(time, counted) > not_before(start, counted)
    return np.where(anybody, not_before(time, weights) - not_before(start, weights), 0.0)


def _counted(
    times: Floats, start: Floats | None, last: Integers, happened: Mask, weights: Floats
) -> RiskSets:
    """Return the risk sets of rows that are at risk at times after their start, up to ``last``."""
    first = np.zeros(len(last), np.int64)
    if start is not None:
        first = np.searchsorted(times, start, side="right")

    def counts(parts: Floats) -> tuple[Floats, Floats]:
        waiting = sums_at(last, parts, len(times) + 1) - sums_at(first, parts, len(times) + 1)
        # from the last time back: so the smallest risk sets are sums of few weights
        present: Floats = np.cumsum(waiting[::-1])[::-1][1:]
        return present, sums_at(last[happened] - 1, parts[happened], len(times))

    at_risk, events = counts(weights)
    rows, ended = counts((weights > 0).astype(np.float64))
    # sums of weights in two orders can differ in the last digit
    at_risk = np.where(rows == ended, events, np.maximum(at_risk, events))
    return RiskSets(times, at_risk, events, first, last, happened, weights)


def sums_at(place: Integers, parts: Floats, size: int) -> Floats:
    """Return the sum of the parts at each place from 0: (size,)."""
    return np.bincount(place, parts, size).astype(np.float64, copy=False)


def inverse_or_zero(values: Floats) -> Floats:
    """Return 1 divided by values ≥ 0 of any shape, and 0 where they are 0."""
    positive = values > 0
    return np.where(positive, 1 / np.where(positive, values, 1.0), 0.0)


def _cumulative(parts: Floats) -> Floats:
    """Return the sums of the first 0, 1, … R parts."""
    return np.concatenate([[0.0], np.cumsum(parts)])


# Curves that are constant between steps: survival, cumulative hazard, cumulative incidence.
@dataclass(frozen=True)
class StepCurve:
    """A right-continuous curve: `before` its times (R,), then `values` (R,) from each on."""

    times: Floats
    values: Floats
    before: float

    @property
    def all_values(self) -> Floats:
        """The value before the first time, then those from each time on: (R + 1,)."""
        return np.concatenate([[self.before], self.values])

    def __call__(self, at: ArrayLike) -> Floats:
        """Return the values at times of any shape."""
        return self.all_values[np.searchsorted(self.times, at, side="right")]

    def just_before(self, at: ArrayLike) -> Floats:
        """Return the limits from the left at times of any shape."""
        return self.all_values[np.searchsorted(self.times, at, side="left")]

    def integral(self, horizon: ArrayLike) -> Floats:
        """Return the area under the curve from 0 to each horizon ≥ 0, of any shape."""
        begins = np.concatenate([[0.0], self.times])
        values = self.all_values
        areas = np.concatenate([[0.0], np.cumsum(values[:-1] * np.diff(begins))])
        piece = np.searchsorted(self.times, horizon, side="right")
        return np.asarray(areas[piece] + values[piece] * (np.asarray(horizon) - begins[piece]))

    def first_at_most(self, level: float) -> float:
        """Return the first time at which the values are at most `level`; infinite if none are."""
        low = np.flatnonzero(self.values <= level)
        return float(self.times[low[0]]) if len(low) else float("inf")


# A probability as near to 0 or 1 is one of them.
ROUNDING = 1e-12
# exp() of less is taken as exp() of this, which has an inverse.
SMALLEST_EXPONENT = -700.0


def limits_of_probability(
    estimate: Floats, variance: Floats, level: float = 0.95
) -> tuple[Floats, Floats]:
    """Return the lower and upper limits of probabilities such as survival or incidence.

    They are symmetric for log(-log p), which covers better than p ± z·error where rows are few
    (Borgan and Liestøl 1990, Scandinavian Journal of Statistics 17, 35-41). Without variance both
    are the estimate; NaN where it is, and at p = 0 and 1 with variance.
    """
    reach = float(scipy.special.ndtri((1 + level) / 2)) * np.sqrt(variance)
    inside = np.where((estimate > ROUNDING) & (estimate < 1 - ROUNDING), estimate, np.nan)
    factor = np.exp(np.maximum(reach / (inside * np.log(inside)), SMALLEST_EXPONENT))
    certain = reach == 0
    return (
        np.where(certain, estimate, inside ** (1 / factor)),
        np.where(certain, estimate, inside**factor),
    )


# The survival curve by the product of the shares that survive each event time.
@dataclass(frozen=True)
class KaplanMeier:
    """A Kaplan–Meier curve: the probability `survival` (R,) to survive each distinct event time."""

    sets: RiskSets
    survival: Floats

    @property
    def times(self) -> Floats:
        """The distinct event times (R,)."""
        return self.sets.times

    @property
    def curve(self) -> StepCurve:
        """The curve, 1 before the first event."""
        return StepCurve(self.sets.times, self.survival, 1.0)

    @cached_property
    def variance(self) -> Floats:
        """Greenwood's variance (R,), weights being numbers of rows; NaN once nobody survives."""
        n, d = self.sets.at_risk, self.sets.events
        left = np.where(self.survival > 0, self.sets.survivors, np.nan)
        return self.survival**2 * np.cumsum(d / (n * left))

    def limits(self, level: float = 0.95) -> tuple[Floats, Floats]:
        """Return the limits (R,) by Greenwood's variance and `limits_of_probability`."""
        return limits_of_probability(self.survival, self.variance, level)

    def quantile(self, share: float = 0.5) -> float:
        """Return the first time by which at least this share had an event; infinite if none."""
        # 1 - share may be a little less than the product of shares that should equal it
        return self.curve.first_at_most(1 - share + 1e-12)


def kaplan_meier(
    time: Floats, event: NDArray, weights: Floats | None = None, start: Floats | None = None
) -> KaplanMeier:
    """Estimate the survival curve (Kaplan and Meier 1958, JASA 53, 457-481), of `risk_sets`."""
    return product_limit(risk_sets(time, event, weights, start))


def product_limit(sets: RiskSets) -> KaplanMeier:
    """Return the Kaplan–Meier curve of risk sets."""
    return KaplanMeier(sets, np.cumprod(sets.survivors / sets.at_risk, dtype=np.float64))


# The cumulative incidence of each of several competing causes.
@dataclass(frozen=True)
class CumulativeIncidence:
    """The probability of an event of one cause by each time (R,), others being possible."""

    sets: RiskSets
    of_cause: RiskSets
    survival_before: Floats
    incidence: Floats

    @property
    def times(self) -> Floats:
        """The distinct times (R,) of events of all causes."""
        return self.sets.times

    @property
    def curve(self) -> StepCurve:
        """The incidence, 0 before the first event."""
        return StepCurve(self.sets.times, self.incidence, 0.0)

    @cached_property
    def variance(self) -> Floats:
        """The variance (R,) by the delta method, weights being numbers of rows."""
        F, S = self.incidence, self.survival_before
        n, d, own = self.sets.at_risk, self.sets.events, self.of_cause.events
        of_survival = d / n * self.sets.per_survivor
        both = S * own / n**2
        own_part = np.cumsum(S**2 * own * (n - own) / n**3)
        # Σ (F(t) - F(s))²·of_survival(s) - 2·(F(t) - F(s))·both(s), written out
        squares = np.cumsum(F**2 * of_survival) - 2 * F * np.cumsum(F * of_survival)
        squares += F**2 * np.cumsum(of_survival)
        products = F * np.cumsum(both) - np.cumsum(F * both)
        return np.maximum(own_part + squares - 2 * products, 0.0)

    @cached_property
    def robust_variance(self) -> Floats:
        """The infinitesimal jackknife's variance (R,), right for weights of any kind."""
        F, left = self.incidence, self.sets.per_survivor
        own = self.of_cause.running_sums(self.survival_before / self.sets.at_risk)
        later = self.sets.running_sums(F * left)
        constant = type(own)(own.final + later.final, own.expected + later.expected)
        linear = self.sets.running_sums(left)
        products = self.sets.sums_of_products
        squares = products(constant, constant) - 2 * F * products(constant, linear)
        return np.maximum(squares + F**2 * products(linear, linear), 0.0)

    def derivatives(self, at: float) -> Floats:
        """Return the derivative of the curve at a time by the weight of each row: (n,)."""
        reached = self.sets.times <= at
        own = self.of_cause.martingale_sums(reached * self.survival_before / self.sets.at_risk)
        later = reached * (float(self.curve(at)) - self.incidence) * self.sets.per_survivor
        return own - self.sets.martingale_sums(later)

    def influence(self, at: float) -> Floats:
        """Return the derivatives times the weights (n,); their squares add up to a variance."""
        return self.sets.weights * self.derivatives(at)


def cumulative_incidence(
    time: Floats,
    event: NDArray,
    cause: int | None = None,
    weights: Floats | None = None,
    start: Floats | None = None,
) -> CumulativeIncidence:
    """Estimate the cumulative incidence of one cause, or of all, which is 1 minus survival.

    At times of events of all causes; arguments as for `risk_sets` (Aalen and Johansen 1978,
    Scandinavian Journal of Statistics 5, 141-150).
    """
    sets = risk_sets(time, event, weights, start)
    rows = (event > 0) if cause is None else (event == cause)
    of_cause = sets.of_rows(rows)
    before = product_limit(sets).curve.all_values[:-1]
    incidence: Floats = np.cumsum(before * of_cause.hazard)
    return CumulativeIncidence(sets, of_cause, before, incidence)
