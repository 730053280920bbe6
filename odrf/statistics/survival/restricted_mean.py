"""The mean time without an event up to a horizon: the area under the Kaplan–Meier curve."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from odrf.errors import InputError
from odrf.statistics.survival.kaplan_meier import kaplan_meier
from odrf.statistics.survival.rowwise_errors import RowwiseEstimate

__all__ = ["RestrictedMean", "difference_of_restricted_means", "restricted_mean"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class RestrictedMean(RowwiseEstimate):
    """A restricted mean survival time, or a difference of two.

    Attributes
    ----------
    estimate : float
    influence : (n,) float64
        What each row adds to its error, right for weights of any kind.
    variance : float
        By Greenwood's formula, which takes weights as numbers of rows.
    horizon : float
    """

    variance: float
    horizon: float


def restricted_mean(
    time: Floats,
    event: NDArray,
    horizon: float,
    weights: Floats | None = None,
    start: Floats | None = None,
) -> RestrictedMean:
    """Estimate the mean of the time of the event or of the horizon, whichever comes first.

    Parameters
    ----------
    time, event, weights, start
        As for `kaplan_meier`.
    horizon : float
        At most the last time, unless nobody survives.

    Raises
    ------
    InputError
        If the curve is not known up to the horizon.

    References
    ----------
    Royston and Parmar (2013), Restricted mean survival time: an alternative to the hazard ratio for
    the design and analysis of randomized trials with a time-to-event outcome, BMC Medical Research
    Methodology 13, 152.

    Examples
    --------
    >>> found = restricted_mean(np.array([1.0, 2.0, 3.0, 4.0]), np.array([1, 1, 0, 0]), 3.0)
    >>> found.estimate, round(found.variance, 4)
    (2.25, 0.1719)
    """
    found = kaplan_meier(time, event, weights, start)
    counted = time[found.sets.weights > 0]
    if horizon > counted.max() and found.curve(horizon) > 0:
        raise InputError(
            f"horizon={horizon:g} is beyond the last time: use one of at most {counted.max():g}"
        )
    sets, curve = found.sets, found.curve
    after = np.where(sets.times <= horizon, curve.integral(horizon) - curve.integral(sets.times), 0)
    factor = after * sets.per_survivor
    return RestrictedMean(
        float(curve.integral(horizon)),
        -sets.weights * sets.martingale_sums(factor),
        float(np.sum(after * factor * sets.hazard)),
        horizon,
    )


def difference_of_restricted_means(first: RestrictedMean, second: RestrictedMean) -> RestrictedMean:
    """Return the first minus the second mean, those of two independent groups of rows.

    The influences are of the rows of the first group, then of the second.
    """
    if first.horizon != second.horizon:
        raise InputError(
            f"horizon={first.horizon:g} and {second.horizon:g} differ: use the same for both groups"
        )
    return RestrictedMean(
        first.estimate - second.estimate,
        np.concatenate([first.influence, -second.influence]),
        first.variance + second.variance,
        first.horizon,
    )
