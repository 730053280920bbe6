"""Conditional survival: curves given that no event has come by a time."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["conditional_survival"]

Floats = NDArray[np.float64]


def conditional_survival(without: Floats, survival: Floats) -> Floats:
    """Return the probability (…, G) of no event of a cause by G times, given none of any before.

    Parameters
    ----------
    without : (…, G + 1) float64
        The probability of no event of the cause by the time of the condition, and by G later ones:
        1 minus its incidence.
    survival : (…,) float64
        The probability of no event of any cause by the time of the condition.  Where it is 0, there
        is no conditional survival: then `without` stays as it is.

    Examples
    --------
    >>> conditional_survival(np.array([0.8, 0.4, 0.2]), np.array(0.8))
    array([0.5 , 0.25])
    """
    known = survival > 0
    incidence = (without[..., :1] - without[..., 1:]) / np.where(known, survival, 1.0)[..., None]
    return np.where(known[..., None], 1 - incidence, without[..., 1:])
