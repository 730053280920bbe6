"""Predicted curves given that no event has come by a time."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["given_survival"]

Floats = NDArray[np.float64]


def given_survival(spared: Floats, alive: Floats) -> Floats:
    """Return the probability (…, G) of no event of a cause by G times, given none of any before.

    Parameters
    ----------
    spared : (…, G + 1) float64
        The probability to have had no event of the cause by the time that is given, and by G later
        ones.
    alive : (…,) float64
        That to have had no event of any cause by the time that is given.  Where it is 0, nothing
        can be given: then `spared` stays as it is.

    Examples
    --------
    >>> given_survival(np.array([0.8, 0.4, 0.2]), np.array(0.8))
    array([0.5 , 0.25])
    """
    known = alive > 0
    fallen = (spared[..., :1] - spared[..., 1:]) / np.where(known, alive, 1.0)[..., None]
    return np.where(known[..., None], 1 - fallen, spared[..., 1:])
