"""An estimate with what each row adds to its error: so that errors of differences follow, too."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from odrf.engine.running import one_thread
from odrf.statistics.probabilities.clustered import normal_or_t, variance_of_groups
from odrf.statistics.probabilities.limits_of_shares import limits_of_share

__all__ = [
    "RowwiseEstimate",
    "RowwiseReduction",
    "RowwiseShare",
    "difference_of_estimates",
    "share_of_estimates",
]


# What is a smaller part of the numbers that it was computed from is what rounding leaves of 0.
ROUNDING = 1e-14


@dataclass(frozen=True)
class RowwiseEstimate:
    """An estimate, with its error by the infinitesimal jackknife.

    Attributes
    ----------
    estimate : float
    influence : (n,) float64
        The weight of each row times the derivative of the estimate by this weight.

    References
    ----------
    Jaeckel (1972), The infinitesimal jackknife, Bell Laboratories Memorandum MM 72-1215-11.

    Examples
    --------
    >>> mean = RowwiseEstimate(2.0, np.array([-1.0, 0.0, 1.0]) / 3)
    >>> round(mean.std_error, 4)
    0.4714
    """

    estimate: float
    influence: NDArray[np.float64]

    @property
    @one_thread()
    def std_error(self) -> float:
        """The root of the sum of squared influences, where rows are independent.

        What rounding leaves of 0 is 0: no row has an influence, as with a single event.
        """
        return self._known(float(np.sqrt(self.influence @ self.influence)))

    def std_error_of_groups(self, groups: NDArray[np.int64]) -> float:
        """Return the standard error where groups of rows (n,) are independent, not the rows."""
        return self._known(float(np.sqrt(variance_of_groups(self.influence, groups))))

    def interval(
        self, level: float = 0.95, groups: NDArray[np.int64] | None = None
    ) -> tuple[float, float]:
        """Return the normal interval; with groups by Student's t."""
        reach = self._reach(level, groups)
        return self.estimate - reach, self.estimate + reach

    def p_value(self, value: float = 0.0, groups: NDArray[np.int64] | None = None) -> float:
        """Return the two-sided p-value of the hypothesis that the estimated number is `value`."""
        error = self.std_error if groups is None else self.std_error_of_groups(groups)
        z = abs(self.estimate - value) / error if error > 0 else float("nan")
        if groups is None:
            return float(2 * scipy.special.ndtr(-z))
        return float(2 * scipy.special.stdtr(len(np.unique(groups)) - 1, -z))

    def _known(self, error: float) -> float:
        return 0.0 if error <= ROUNDING * (abs(self.estimate) or 1.0) else error

    def _reach(self, level: float, groups: NDArray[np.int64] | None) -> float:
        error = self.std_error if groups is None else self.std_error_of_groups(groups)
        return normal_or_t(level, groups) * error


@dataclass(frozen=True)
class RowwiseShare(RowwiseEstimate):
    """One that lies between 0 and 1: a share of pairs, or a mean squared error of probabilities.

    Examples
    --------
    >>> found = RowwiseShare(0.9, np.array([-0.06, 0.0, 0.06]))
    >>> low, high = found.interval()
    >>> round(low, 3), round(high, 3)
    (0.586, 0.983)
    """

    def interval(
        self, level: float = 0.95, groups: NDArray[np.int64] | None = None
    ) -> tuple[float, float]:
        """Return the interval on the scale of the log odds, normal or with groups by Student's t.

        See `odrf.statistics.probabilities.limits_of_shares`; NaN if the estimate is 0 or 1.
        """
        low, high = limits_of_share(self.estimate, self._reach(level, groups))
        return float(low), float(high)


@dataclass(frozen=True)
class RowwiseReduction(RowwiseEstimate):
    """1 minus the ratio of two positive numbers: at most 1, and negative where there is none.

    Examples
    --------
    >>> found = RowwiseReduction(0.9, np.array([-0.06, 0.0, 0.06]))
    >>> low, high = found.interval()
    >>> round(low, 3), round(high, 3)
    (0.472, 0.981)
    """

    def interval(
        self, level: float = 0.95, groups: NDArray[np.int64] | None = None
    ) -> tuple[float, float]:
        """Return the interval on the scale of the logarithm of the ratio, so that it ends below 1.

        It is normal, or with groups by Student's t; NaN if the estimate is 1.
        """
        ratio, reach = 1 - self.estimate, self._reach(level, groups)
        if not ratio > 0:
            return float("nan"), float("nan")
        factor = float(np.exp(reach / ratio))
        return 1 - ratio * factor, 1 - ratio / factor


def difference_of_estimates(first: RowwiseEstimate, second: RowwiseEstimate) -> RowwiseEstimate:
    """Return the first minus the second estimate of the same rows, such as C of two models."""
    return RowwiseEstimate(first.estimate - second.estimate, first.influence - second.influence)


def share_of_estimates(part: RowwiseEstimate, whole: RowwiseEstimate) -> RowwiseEstimate:
    """Return one estimate divided by another of the same rows, by the delta method; NaN by 0."""
    if whole.estimate == 0:
        return RowwiseEstimate(float("nan"), np.full(len(part.influence), np.nan))
    share = part.estimate / whole.estimate
    share = 1.0 if abs(share - 1) <= ROUNDING else share
    off = part.influence - share * whole.influence
    # what cancels leaves no error, but for rounding
    off[np.abs(off) <= ROUNDING * np.abs(part.influence)] = 0.0
    return RowwiseEstimate(share, off / whole.estimate)
