"""How well scores order times: Harrell's and Uno's C, ROC curves at times.

A row with an event is compared with each row at risk then, also with those censored at the same
time, not with those of an event at it. Equal scores count half.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from odrf.engine.compiling import compiled_at_ease
from odrf.engine.running import one_thread
from odrf.engine.survival.log_rank import pair_sums
from odrf.statistics.survival import curves, observation
from odrf.statistics.survival.pseudo_values import RowwiseShare

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


class ComparedPairs(NamedTuple):
    """Row j is compared with case i if first[j] ≤ at[i] < last[j]; all are (n,)."""

    at: Integers
    first: Integers
    last: Integers
    case_weight: Floats
    weight: Floats


class OrderedPairs(NamedTuple):
    """Sums of weights of pairs in order, and of all, of each row (n,) as case and as other."""

    tied: float
    in_order: Floats
    compared: Floats
    in_order_as_other: Floats
    compared_as_other: Floats

    def excess_of_cases(self, share: float) -> Floats:
        """Return how many more pairs of each case than this share are in order: (n,)."""
        return self.in_order - share * self.compared

    def excess_of_others(self, share: float) -> Floats:
        """Return the same of the pairs in which each row is compared with a case: (n,)."""
        return self.in_order_as_other - share * self.compared_as_other


@one_thread()
def ordered_pairs(pairs: ComparedPairs, score: Floats) -> OrderedPairs:
    """Add up the pairs; in order are those whose case has the higher score (n,)."""
    levels, rank = np.unique(score, return_inverse=True)
    cases = np.flatnonzero((pairs.at >= 0) & (pairs.case_weight > 0))
    others = np.flatnonzero((pairs.first < pairs.last) & (pairs.weight > 0))
    sums = np.zeros((5, len(score)))
    with compiled_at_ease(pair_sums):
        pair_sums(
            cases[np.argsort(pairs.at[cases], kind="stable")],
            others[np.argsort(pairs.first[others], kind="stable")],
            others[np.argsort(pairs.last[others], kind="stable")],
            pairs.at, pairs.first, pairs.last, rank.reshape(-1), pairs.case_weight, pairs.weight,
            np.zeros(len(levels) + 1), np.zeros(len(levels)), sums,
        )  # fmt: skip
    below, equal, compared, in_order_as_other, compared_as_other = sums
    return OrderedPairs(
        float(pairs.case_weight @ equal),
        pairs.case_weight * (below + equal / 2),
        pairs.case_weight * compared,
        pairs.weight * in_order_as_other,
        pairs.weight * compared_as_other,
    )


def share_in_order(counts: list[OrderedPairs]) -> float:
    """Return the share of all compared pairs that are in order; NaN without pairs."""
    compared = sum(float(pairs.compared.sum()) for pairs in counts)
    in_order = sum(float(pairs.in_order.sum()) for pairs in counts)
    return in_order / compared if compared > 0 else float("nan")


# How often the row with the earlier event has the higher score: Harrell's C, Uno's C, per cause.
@dataclass(frozen=True)
class Concordance(RowwiseShare):
    """The share of pairs in order, NaN without pairs; weights of pairs, tied ones half in order."""

    in_order: float
    tied: float
    compared: float


def harrells_c(
    time: Floats,
    event: NDArray,
    score: Floats,
    weights: Floats | None = None,
    start: Floats | None = None,
) -> Concordance:
    """Estimate Harrell's C, the share of comparable pairs that scores put in order.

    The higher the `score` (n,), the earlier the event is expected. It depends on when rows are
    censored, `unos_c` does not (Harrell, Lee and Mark 1996, Statistics in Medicine 15, 361-387). A
    pair weighs the product of its case weights.
    """
    sets = curves.risk_sets(time, event, weights, start)
    pairs = _still_at_risk(sets, sets.weights)
    counts = ordered_pairs(pairs, score)
    return _concordance([counts], np.zeros(len(time)))


def unos_c(
    time: Floats,
    event: NDArray,
    score: Floats,
    tau: float = np.inf,
    weights: Floats | None = None,
    observed: observation.ObservationCurve | None = None,
    start: Floats | None = None,
) -> Concordance:
    """Estimate Uno's C: of two rows with an event before τ, how often the earlier scores higher.

    Pairs are weighted by 1/K(T-)², K the probability to be observed, so that C does not depend on
    entry and censoring; with late entry by (S(T-)/Y(T))², see `LateEntryCurve`. `observed` is K of
    other rows, taken as known, by default estimated, which the error allows for (Uno, Cai, Pencina,
    D'Agostino and Wei 2011, Statistics in Medicine 30, 1105-1117, equation 6).
    """
    sets = curves.risk_sets(time, event, weights, start)
    K = observation.observation_curve(time, event, weights, start) if observed is None else observed
    passed = K.passed(time)
    inverse = np.where(time < tau, curves.inverse_or_zero(K.values[passed]), 0.0)
    counts = ordered_pairs(_still_at_risk(sets, sets.weights * inverse**2), score)
    of_curve = np.zeros(len(time))
    if observed is None:
        of_curve = K.influence(passed, -2 * counts.excess_of_cases(share_in_order([counts])))
    return _concordance([counts], of_curve)


def concordance_of_cause(
    time: Floats,
    event: NDArray,
    score: Floats,
    cause: int = 1,
    tau: float = np.inf,
    weights: Floats | None = None,
    observed: observation.ObservationCurve | None = None,
    start: Floats | None = None,
) -> Concordance:
    """Estimate how often a row with an event of a cause scores higher than one without it by then.

    The former, at T < τ, is compared with rows at risk, weighted by 1/K(T-)², and with those that
    had another event at T' ≤ T, by 1/(K(T-)·K(T'-)) (Wolbers, Blanche, Koller, Witteman and Gerds
    2014, Biostatistics 15, 526-539, equation 5). For the cause-specific hazard use `unos_c`.
    """
    of_cause, other = event == cause, (event > 0) & (event != cause)
    sets = curves.risk_sets(time, of_cause, weights, start)
    K = observation.observation_curve(time, event, weights, start) if observed is None else observed
    passed = K.passed(time)
    inverse = curves.inverse_or_zero(K.values[passed])
    as_case = np.where(time < tau, sets.weights * inverse, 0.0)
    # an event of another cause takes its row from those at risk, also at the same time
    before = np.searchsorted(sets.times, time, side="left")
    present = _still_at_risk(sets, as_case * inverse)
    present = present._replace(last=np.where(other, before, present.last))
    up_to, weight = np.where(other, len(sets.times), before), sets.weights * inverse
    spared = ComparedPairs(present.at, before, up_to, as_case, np.where(other, weight, 0.0))
    among_present, among_spared = ordered_pairs(present, score), ordered_pairs(spared, score)
    of_curve = np.zeros(len(time))
    if observed is None:
        share = share_in_order([among_present, among_spared])
        parts = 2 * among_present.excess_of_cases(share)
        parts += among_spared.excess_of_cases(share) + among_spared.excess_of_others(share)
        of_curve = K.influence(passed, -parts)
    return _concordance([among_present, among_spared], of_curve)


def _still_at_risk(sets: curves.RiskSets, case_weight: Floats) -> ComparedPairs:
    """Return the pairs of rows with an event and those at risk then that have no event then."""
    at = np.where(sets.happened, sets.last - 1, -1)
    last = sets.last - sets.happened
    return ComparedPairs(at, np.minimum(sets.first, last), last, case_weight, sets.weights)


def _concordance(counts: list[OrderedPairs], of_curve: Floats) -> Concordance:
    """Return the concordance; `of_curve` (n,) is what rows add by way of the censoring curve."""
    share = share_in_order(counts)
    compared = sum(float(pairs.compared.sum()) for pairs in counts)
    excess = sum(
        (pairs.excess_of_cases(share) + pairs.excess_of_others(share) for pairs in counts), of_curve
    )
    in_order = sum(float(pairs.in_order.sum()) for pairs in counts)
    tied = sum(pairs.tied for pairs in counts)
    influence = excess / compared if compared > 0 else np.full(len(excess), np.nan)
    return Concordance(share, influence, in_order, tied, compared)


# How well scores separate rows with an event by a time from rows without: ROC curves at times.
# Cases are the rows with an event by then (cumulative), controls those without one (dynamic).  Rows
# whose state is known stand for those that are not seen then.


class DynamicAreas(NamedTuple):
    """Areas under the ROC curves at m times, NaN without cases or controls, and a mean."""

    at: Floats
    area: Floats
    std_error: Floats
    mean: RowwiseShare


class RocAt(NamedTuple):
    """Sensitivity and specificity (k,) of scores from each threshold on, falling from ∞."""

    threshold: Floats
    sensitivity: Floats
    specificity: Floats


def dynamic_areas(
    time: Floats,
    event: NDArray,
    score: Floats,
    at: Floats,
    cause: int | None = None,
    weights: Floats | None = None,
    observed: observation.ObservationCurve | None = None,
    start: Floats | None = None,
) -> DynamicAreas:
    """Estimate the probability that a row with an event by a time has a higher score than another.

    Weights are 1/K(T-) of cases, 1/K(t) of controls. `score` is (n,), or (n, m) of the ascending
    times `at`. With a `cause` only its events are cases; others are controls, also afterwards (Uno,
    Cai, Tian and Wei 2007, JASA 102, 527-537; Blanche, Dartigues and Jacqmin-Gadda 2013, Statistics
    in Medicine 32, 5381-5397). The mean is weighted by the probability of an event since the time
    before.
    """
    at = observation.ascending_times(at)
    states = observation.weighted_states(time, event, weights, observed, start)
    of_cause = (event > 0) if cause is None else (event == cause)
    incidence = curves.cumulative_incidence(time, event, cause, weights, start)
    probability = np.diff(incidence.curve(at), prepend=0.0)
    share = probability / probability.sum() if probability.sum() > 0 else probability * np.nan
    area, error = np.empty((2, len(at)))
    of_mean = np.zeros(len(time))
    rank = np.zeros(len(time), np.int64)
    for m, t in enumerate(at):
        if score.ndim == 2 or m == 0:
            column = score[:, m] if score.ndim == 2 else score
            rank = np.unique(column, return_inverse=True)[1].reshape(-1)
        of_time = _area(states, of_cause, rank, float(t))
        area[m], error[m] = of_time.estimate, of_time.std_error
        if share[m] != 0:  # before the first event there is no area, and no weight
            of_mean += share[m] * of_time.influence
    mean = float(np.sum((share * area)[share != 0]))
    # Σ a_m·(F(t_m) - F(t_{m-1})) / F(t_M), by the derivative with respect to each F(t_m)
    known = np.where(share != 0, area - mean, 0.0)
    for t, factor in zip(at, known - np.append(known[1:], 0.0), strict=True):
        if factor:
            of_mean += factor / probability.sum() * incidence.influence(float(t))
    return DynamicAreas(at, area, error, RowwiseShare(mean, of_mean))


def roc_at(
    time: Floats,
    event: NDArray,
    score: Floats,
    t: float,
    cause: int | None = None,
    weights: Floats | None = None,
    observed: observation.ObservationCurve | None = None,
    start: Floats | None = None,
) -> RocAt:
    """Estimate the ROC curve at a time t, by scores (n,); arguments as for `dynamic_areas`."""
    states = observation.weighted_states(time, event, weights, observed, start).at(t)
    of_cause = (event > 0) if cause is None else (event == cause)
    case, control = _cases(states, of_cause)
    level, rank = np.unique(score, return_inverse=True)
    hits, left = (
        curves.sums_at(rank.reshape(-1), parts, len(level))[::-1].cumsum()
        for parts in (case, control)
    )
    with np.errstate(invalid="ignore"):  # without cases or controls
        sensitivity, specificity = hits / hits[-1], 1 - left / left[-1]
    return RocAt(
        np.insert(level[::-1], 0, np.inf),
        np.insert(sensitivity, 0, 0.0),
        np.insert(specificity, 0, 1.0),
    )


def _cases(states: observation.StatesAt, of_cause: NDArray[np.bool_]) -> tuple[Floats, Floats]:
    """Return the weights of rows as cases and as controls: (n,)."""
    case = states.past & of_cause
    return np.where(case, states.weight, 0.0), np.where(case, 0.0, states.weight)


@one_thread()
def _area(
    states: observation.WeightedStates, of_cause: NDArray[np.bool_], rank: Integers, t: float
) -> RowwiseShare:
    """Return the area at a time of scores with these ranks (n,)."""
    now, levels = states.at(t), int(rank.max()) + 1
    as_case, as_control = _cases(now, of_cause)
    case, control = curves.sums_at(rank, as_case, levels), curves.sums_at(rank, as_control, levels)
    of_cases, of_controls = case.sum(), control.sum()
    if not (of_cases > 0 and of_controls > 0):
        return RowwiseShare(float("nan"), np.full(len(rank), np.nan))
    # of a case the share of controls with lower scores, of a control that of cases with higher ones
    lower = (np.cumsum(control) - control / 2) / of_controls
    higher = 1 - (np.cumsum(case) - case / 2) / of_cases
    area = float(case @ lower) / of_cases
    parts = as_case * ((lower - area) / of_cases)[rank]
    parts += as_control * ((higher - area) / of_controls)[rank]
    return RowwiseShare(area, parts + states.influence(now, parts))
