"""Confidence limits of a curve at each of its times, on a transformed scale or a plain one."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy
from numpy.typing import NDArray

from odrf.errors import allowed

__all__ = ["limits_of_cumulative_hazard", "limits_of_probability"]

Floats = NDArray[np.float64]
Limits = tuple[Floats, Floats]
Scale = Callable[[Floats, Floats], Limits]
# A probability as near to 0 or 1 is one of them.
ROUNDING = 1e-12
# exp() of less is taken as exp() of this, which has an inverse.
SMALLEST_EXPONENT = -700.0


def limits_of_probability(
    estimate: Floats, variance: Floats, level: float = 0.95, scale: str = "log-log"
) -> Limits:
    """Return the lower and upper limits of probabilities such as survival or incidence.

    Parameters
    ----------
    estimate, variance : float64, of one shape
    level : float
        Of confidence.
    scale : {"log-log", "plain"}
        ``"log-log"``: symmetric for log(-log p), always within 0 and 1; coverage is better than
        of plain limits where rows are few (Borgan and Liestøl 1990).  ``"plain"``: p ± z·error, cut
        off at 0 and 1.  Without variance, as at p = 1, both limits are the estimate; where it is
        NaN, as at p = 0, so are they; with variance there are no limits at p = 0 and 1.

    References
    ----------
    Borgan and Liestøl (1990), A note on confidence intervals and bands for the survival function
    based on transformations, Scandinavian Journal of Statistics 17, 35-41.

    Examples
    --------
    >>> low, high = limits_of_probability(np.array([0.5]), np.array([0.01]))
    >>> low.round(3), high.round(3)
    (array([0.295]), array([0.675]))
    """
    return _by_scale({"log-log": _log_log, "plain": _plain_share}, estimate, variance, level, scale)


def limits_of_cumulative_hazard(
    estimate: Floats, variance: Floats, level: float = 0.95, scale: str = "log"
) -> Limits:
    """Return the lower and upper limits of cumulative hazards.

    Parameters
    ----------
    estimate, variance : float64, of one shape
    level : float
        Of confidence.
    scale : {"log", "plain"}
        ``"log"``: symmetric for log H, always positive.  ``"plain"``: H ± z·error, cut off at 0.
    """
    return _by_scale({"log": _log, "plain": _plain_hazard}, estimate, variance, level, scale)


def _by_scale(
    scales: dict[str, Scale], estimate: Floats, variance: Floats, level: float, scale: str
) -> Limits:
    if scale not in scales:
        raise allowed("scale", scale, scales)
    reach = float(scipy.special.ndtri((1 + level) / 2)) * np.sqrt(variance)
    low, high = scales[scale](estimate, reach)
    certain = reach == 0
    return np.where(certain, estimate, low), np.where(certain, estimate, high)


def _log_log(estimate: Floats, reach: Floats) -> Limits:
    inside = np.where((estimate > ROUNDING) & (estimate < 1 - ROUNDING), estimate, np.nan)
    factor = np.exp(np.maximum(reach / (inside * np.log(inside)), SMALLEST_EXPONENT))
    return inside ** (1 / factor), inside**factor


def _log(estimate: Floats, reach: Floats) -> Limits:
    factor = np.exp(reach / np.where(estimate > 0, estimate, np.nan))
    return estimate / factor, estimate * factor


def _plain_share(estimate: Floats, reach: Floats) -> Limits:
    return np.clip(estimate - reach, 0.0, 1.0), np.clip(estimate + reach, 0.0, 1.0)


def _plain_hazard(estimate: Floats, reach: Floats) -> Limits:
    return np.maximum(estimate - reach, 0.0), estimate + reach
