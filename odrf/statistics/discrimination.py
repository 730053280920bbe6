"""How well probabilities separate events from others: ROC, precision and recall, net benefit."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf.engine.running import end_if_stopped, one_thread
from odrf.statistics.calibration import effective_number, normal_or_t, variance_of_groups
from odrf.statistics.effects import limits_of_share

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


class WithInterval(NamedTuple):
    """An estimate with its standard error and interval."""

    estimate: float
    std_error: float
    conf_low: float
    conf_high: float


def thresholds_table(p: Floats, event: Floats, weights: Floats) -> pd.DataFrame:
    """Return each threshold, the highest first, its sensitivity, specificity and precision."""
    threshold, positive, negative = _weights_from_each(p, event, weights)
    sensitivity, specificity = positive / positive[-1], 1 - negative / negative[-1]
    columns = {"threshold": threshold, "sensitivity": sensitivity, "specificity": specificity}
    return pd.DataFrame(columns | {"precision": positive / (positive + negative)})


def _weights_from_each(p: Floats, event: Floats, weights: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the thresholds, the highest first, and the weights of events and others from each."""
    level, at = np.unique(p, return_inverse=True)
    positive = np.bincount(at, weights * event, len(level))[::-1].cumsum()
    negative = np.bincount(at, weights * (1 - event), len(level))[::-1].cumsum()
    return level[::-1], positive, negative


def area_under_roc(
    p: Floats, event: Floats, weights: Floats, level: float, groups: Integers | None = None
) -> WithInterval:
    """Return the area under the ROC curve of p (n,), with its standard error and interval.

    The interval is normal for log(area/(1 - area)), with `groups` (n,) by Student's t over these.
    An area of 0 or 1 has no error: then m pairs of different rows, m the smaller number of both
    sorts, are all in order with probability area^m (Obuchowski 1997, Biometrics 53, 567-578;
    DeLong, DeLong and Clarke-Pearson 1988, Biometrics 44, 837-845).
    """
    yes = event > 0
    among_others = placements(p[yes], p[~yes], weights[~yes])
    among_events = 1 - placements(p[~yes], p[yes], weights[yes])
    area = float(np.average(among_others, weights=weights[yes]))
    if groups is None:
        variance = _variance(among_others, weights[yes]) + _variance(among_events, weights[~yes])
        sizes = effective_number(weights[yes]), effective_number(weights[~yes])
    else:
        parts = np.empty(len(p))
        parts[yes] = weights[yes] / weights[yes].sum() * (among_others - area)
        parts[~yes] = weights[~yes] / weights[~yes].sum() * (among_events - area)
        variance = variance_of_groups(parts, groups)
        sizes = len(np.unique(groups[yes])), len(np.unique(groups[~yes]))
    error = float(np.sqrt(variance))
    if area in (0.0, 1.0):
        nearest = ((1 - level) / 2) ** (1 / min(sizes))
        ends = (nearest, 1.0) if area else (0.0, 1 - nearest)
        # all placements are equal, but for rounding
        return WithInterval(area, error if np.isnan(error) else 0.0, *ends)
    return _within_0_and_1(area, error, normal_or_t(level, groups))


def _within_0_and_1(estimate: float, error: float, z: float) -> WithInterval:
    """Return the interval of z standard errors by `limits_of_share`."""
    low, high = limits_of_share(estimate, z * error)
    return WithInterval(estimate, error, float(low), float(high))


def placements(values: Floats, others: Floats, weights: Floats) -> Floats:
    """Return the share of `others` below each value (m,), equal ones counting half."""
    order = np.argsort(others, kind="stable")
    total = np.r_[0.0, weights[order].cumsum()]
    below = total[np.searchsorted(others[order], values, side="left")]
    up_to = total[np.searchsorted(others[order], values, side="right")]
    return np.asarray((below + up_to) / 2 / total[-1])


@one_thread()
def _variance(values: Floats, weights: Floats) -> float:
    """Return the variance of the weighted mean of values (m,)."""
    share, m = weights / weights.sum(), len(values)
    if m < 2:
        return float("nan")
    return float(np.sum(share**2 * (values - share @ values) ** 2) * m / (m - 1))


@one_thread()
def average_precision(p: Floats, event: Floats, weights: Floats) -> float:
    """Return the mean precision over the events, each at its own threshold."""
    _, positive, negative = _weights_from_each(p, event, weights)
    steps = np.diff(positive / positive[-1], prepend=0.0)
    return float(steps @ (positive / (positive + negative)))


def bootstrapped_precision(
    p: Floats,
    event: Floats,
    weights: Floats,
    level: float,
    seed: int,
    samples: int = 200,
    groups: Integers | None = None,
) -> WithInterval:
    """Return the average precision with the standard error of bootstrapped rows, or `groups`.

    Units with events only, others only, and both are drawn apart. The interval is normal, or
    Student's t, for the log odds: percentiles would lie above the estimate, because rows drawn
    twice make samples look easier. A precision of 1 has no interval.
    """
    rng = np.random.default_rng(seed)
    drawn_apart = _units_drawn_apart(event, groups)
    precision = np.empty(samples)
    for s in range(samples):
        end_if_stopped()
        rows = np.concatenate([units.drawn(rng) for units in drawn_apart])
        precision[s] = average_precision(p[rows], event[rows], weights[rows])
    own = average_precision(p, event, weights)
    return _within_0_and_1(own, float(precision.std(ddof=1)), normal_or_t(level, groups))


class _Units(NamedTuple):
    """Units of a bootstrap: number i has the rows from start[i] of `rows`, size[i] of them."""

    rows: Integers
    start: Integers
    size: Integers

    def drawn(self, rng: np.random.Generator) -> Integers:
        """Return the rows of as many units as there are, drawn with replacement."""
        units = rng.choice(len(self.start), len(self.start))
        size = self.size[units]
        first = np.cumsum(size) - size
        return self.rows[np.repeat(self.start[units] - first, size) + np.arange(size.sum())]


def _units_drawn_apart(event: Floats, groups: Integers | None) -> list[_Units]:
    """Return rows, or groups of rows, by which events they have."""
    if groups is None:
        groups = np.arange(len(event))
    code = np.unique(groups, return_inverse=True)[1]
    rows, size = np.argsort(code, kind="stable"), np.bincount(code)
    start, share = np.cumsum(size) - size, np.bincount(code, event) / size
    sorts = [share == 1, share == 0, (share > 0) & (share < 1)]
    return [_Units(rows, start[sort], size[sort]) for sort in sorts if sort.any()]


@one_thread()
def net_benefit(p: Floats, event: Floats, weights: Floats, thresholds: Floats) -> pd.DataFrame:
    """Return the net benefit of acting on rows with p from a threshold on, and of acting on all.

    At threshold t, a false alarm costs t/(1 - t) of the gain of a true event (Vickers and Elkin
    2006, Medical Decision Making 26, 565-574).
    """
    share = weights / weights.sum()
    odds = thresholds / (1 - thresholds)
    acted = p[:, None] >= thresholds
    hits, alarms = (share * event) @ acted, (share * (1 - event)) @ acted
    rate = float(share @ event)
    columns = {"threshold": thresholds, "benefit": hits - odds * alarms}
    return pd.DataFrame(columns | {"all": rate - odds * (1 - rate)})
