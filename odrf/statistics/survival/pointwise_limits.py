"""Confidence limits of a curve at each of its times, on a transformed scale."""

from __future__ import annotations

import numpy as np
import scipy
from numpy.typing import NDArray

__all__ = ["limits_of_probability"]

Floats = NDArray[np.float64]
# A probability as near to 0 or 1 is one of them.
ROUNDING = 1e-12
# exp() of less is taken as exp() of this, which has an inverse.
SMALLEST_EXPONENT = -700.0


def limits_of_probability(
    estimate: Floats, variance: Floats, level: float = 0.95
) -> tuple[Floats, Floats]:
    """Return the lower and upper limits of probabilities such as survival or incidence.

    They are symmetric for log(-log p), and always within 0 and 1; coverage is better than of p ±
    z·error where rows are few (Borgan and Liestøl 1990).

    Parameters
    ----------
    estimate, variance : float64, of one shape
        Without variance, as at p = 1, both limits are the estimate; where it is NaN, as at p = 0,
        so are they; with variance there are no limits at p = 0 and 1.
    level : float
        Of confidence.

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
    reach = float(scipy.special.ndtri((1 + level) / 2)) * np.sqrt(variance)
    inside = np.where((estimate > ROUNDING) & (estimate < 1 - ROUNDING), estimate, np.nan)
    factor = np.exp(np.maximum(reach / (inside * np.log(inside)), SMALLEST_EXPONENT))
    certain = reach == 0
    return (
        np.where(certain, estimate, inside ** (1 / factor)),
        np.where(certain, estimate, inside**factor),
    )
