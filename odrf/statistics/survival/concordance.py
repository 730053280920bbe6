"""How often the row with the earlier event has the higher score: Harrell's C, Uno's C, per cause.

A row with an event is compared with each row that was still at risk then; rows censored at the
time of an event were, rows with an event at the same time were not.  Equal scores count half.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from odrf.statistics.survival.observation import ObservationCurve, observation_curve
from odrf.statistics.survival.ordered_pairs import (
    ComparedPairs,
    OrderedPairs,
    ordered_pairs,
    share_in_order,
)
from odrf.statistics.survival.risk_sets import RiskSets, inverse_or_zero, risk_sets
from odrf.statistics.survival.rowwise_errors import RowwiseShare

__all__ = ["Concordance", "concordance_of_cause", "harrells_c", "unos_c"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Concordance(RowwiseShare):
    """The share of pairs in order.

    Attributes
    ----------
    estimate : float
        NaN without pairs.
    influence : (n,) float64
        What each row adds to its error.
    in_order, tied, compared : float
        Weights of pairs; tied ones count half as in order.
    """

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

    What it estimates depends on when rows are censored; `unos_c` does not.

    Parameters
    ----------
    time : (n,) float64
        The end of observation.
    event : (n,) int64 or bool
        0 for a censored row; every cause counts as the event.
    score : (n,) float64
        The higher, the earlier the event is expected.
    weights : (n,) float64, optional
        Case weights, by default 1; a pair weighs the product.
    start : (n,) float64, optional
        When a row enters, before `time`; by default all are there from the beginning.

    References
    ----------
    Harrell, Lee and Mark (1996), Multivariable prognostic models, Statistics in Medicine 15,
    361-387.

    Examples
    --------
    >>> time, event = np.array([1.0, 2.0, 3.0, 4.0]), np.array([1, 1, 0, 1])
    >>> C = harrells_c(time, event, np.array([3.0, 1.0, 2.0, 0.0]))
    >>> C.estimate, C.compared, round(C.std_error, 3)
    (0.8, 5.0, 0.204)
    """
    sets = risk_sets(time, event, weights, start)
    pairs = _still_at_risk(sets, sets.weights)
    found = ordered_pairs(pairs, score)
    return _concordance([found], np.zeros(len(time)))


def unos_c(
    time: Floats,
    event: NDArray,
    score: Floats,
    tau: float = np.inf,
    weights: Floats | None = None,
    observed: ObservationCurve | None = None,
    start: Floats | None = None,
) -> Concordance:
    """Estimate Uno's C: of two rows with an event before τ, how often the earlier scores higher.

    A pair is weighted by the inverse probability K(T-)² that both are observed at the event at T.
    So C does not depend on when rows enter and are censored, if neither entry nor censoring
    depends on events or scores.  With late entry the weight of a pair is then (S(T-)/Y(T))², by
    the Kaplan–Meier curve S and the number Y at risk, and C is that of all rows that have no event
    before the first entry: see `odrf.statistics.survival.observation.LateEntryCurve`.

    Parameters
    ----------
    time, event, score, weights
        As for `harrells_c`.
    tau : float
        Only events before it count; by default all.  Late events can have large weights.
    observed : ObservationCurve, optional
        The probability to be observed: that of other rows, which is taken as known; events count
        where it is not 0.  By default it is estimated from these rows, which the standard error
        allows for.
    start : (n,) float64, optional
        As for `harrells_c`.

    References
    ----------
    Uno, Cai, Pencina, D'Agostino and Wei (2011), On the C-statistics for evaluating overall
    adequacy of risk prediction procedures with censored survival data, Statistics in Medicine 30,
    1105-1117, equation (6).

    Examples
    --------
    >>> time, event = np.array([1.0, 2.0, 3.0, 4.0]), np.array([1, 0, 1, 1])
    >>> C = unos_c(time, event, np.array([3.0, 1.0, 0.0, 2.0]))
    >>> round(C.estimate, 4)
    0.5714
    """
    sets = risk_sets(time, event, weights, start)
    K = observation_curve(time, event, weights, start) if observed is None else observed
    passed = K.passed(time)
    inverse = np.where(time < tau, inverse_or_zero(K.values[passed]), 0.0)
    found = ordered_pairs(_still_at_risk(sets, sets.weights * inverse**2), score)
    of_curve = np.zeros(len(time))
    if observed is None:
        of_curve = K.influence(passed, -2 * found.excess_of_cases(share_in_order([found])))
    return _concordance([found], of_curve)


def concordance_of_cause(
    time: Floats,
    event: NDArray,
    score: Floats,
    cause: int = 1,
    tau: float = np.inf,
    weights: Floats | None = None,
    observed: ObservationCurve | None = None,
    start: Floats | None = None,
) -> Concordance:
    """Estimate how often a row with an event of a cause scores higher than one without it by then.

    A row with an event of the cause at T < τ is compared with the rows at risk then, weighted by
    1/K(T-)², and with those that had an event of another cause at T' ≤ T, weighted by
    1/(K(T-)·K(T'-)): these will never have one of this cause.  This is C of Wolbers and others
    (2014).  For the cause-specific hazard, where other causes only censor, it is `unos_c` of
    ``event == cause``.

    Parameters
    ----------
    time, event, weights, tau, observed, start
        As for `unos_c`; the curve is that of rows without an event of any cause.
    score : (n,) float64
        The higher, the more, or the earlier, events of the cause are expected.
    cause : int
        From 1.

    References
    ----------
    Wolbers, Blanche, Koller, Witteman and Gerds (2014), Concordance for prognostic models with
    competing risks, Biostatistics 15, 526-539, equation (5).

    Examples
    --------
    >>> time, event = np.array([1.0, 2.0, 3.0, 4.0]), np.array([2, 1, 1, 0])
    >>> concordance_of_cause(time, event, np.array([0.5, 1.0, 0.0, 0.2])).estimate
    0.6
    """
    of_cause, other = event == cause, (event > 0) & (event != cause)
    sets = risk_sets(time, of_cause, weights, start)
    K = observation_curve(time, event, weights, start) if observed is None else observed
    passed = K.passed(time)
    inverse = inverse_or_zero(K.values[passed])
    as_case = np.where(time < tau, sets.weights * inverse, 0.0)
    # an event of another cause takes its row from those at risk, also at the same time
    before = np.searchsorted(sets.times, time, side="left")
    present = _still_at_risk(sets, as_case * inverse)
    present = present._replace(last=np.where(other, before, present.last))
    spared = ComparedPairs(
        present.at,
        before,
        np.where(other, len(sets.times), before),
        as_case,
        np.where(other, sets.weights * inverse, 0.0),
    )
    among_present, among_spared = ordered_pairs(present, score), ordered_pairs(spared, score)
    of_curve = np.zeros(len(time))
    if observed is None:
        share = share_in_order([among_present, among_spared])
        parts = 2 * among_present.excess_of_cases(share)
        parts += among_spared.excess_of_cases(share) + among_spared.excess_of_others(share)
        of_curve = K.influence(passed, -parts)
    return _concordance([among_present, among_spared], of_curve)


def _still_at_risk(sets: RiskSets, case_weight: Floats) -> ComparedPairs:
    """Return the pairs of rows with an event and those at risk then that have no event then."""
    at = np.where(sets.happened, sets.last - 1, -1)
    last = sets.last - sets.happened
    return ComparedPairs(at, np.minimum(sets.first, last), last, case_weight, sets.weights)


def _concordance(found: list[OrderedPairs], of_curve: Floats) -> Concordance:
    """Return the concordance; `of_curve` (n,) is what rows add by way of the censoring curve.

    Both are derivatives of the sum of pairs in order minus the share times the sum of all.
    """
    share = share_in_order(found)
    compared = sum(float(pairs.compared.sum()) for pairs in found)
    excess = sum(
        (pairs.excess_of_cases(share) + pairs.excess_of_others(share) for pairs in found),
        of_curve,
    )
    in_order = sum(float(pairs.in_order.sum()) for pairs in found)
    tied = sum(pairs.tied for pairs in found)
    influence = excess / compared if compared > 0 else np.full(len(excess), np.nan)
    return Concordance(share, influence, in_order, tied, compared)
