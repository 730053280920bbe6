"""A warning before predictors are permuted that are strongly correlated."""

from __future__ import annotations

import numpy as np

from odrf.engine.running import one_thread
from odrf.errors import warn_user
from odrf.fits.fit import Fit

__all__ = ["warn_of_correlation"]

STRONG = 0.8


@one_thread()
def warn_of_correlation(fit: Fit) -> None:
    """Warn if two predictors that are numbers have a correlation of at least 0.8 in size.

    The message names the most correlated pair.
    """
    design, X = fit.design, fit.data.X
    plain = np.flatnonzero((np.diff(design.first) == 1) & (design.types == 0))
    values = np.array([X[int(design.first[j])] for j in plain], dtype=np.float64)
    if len(plain) < 2 or values.shape[1] < 2:
        return
    centred = values - values.mean(axis=1, keepdims=True)
    length = np.sqrt((centred**2).sum(axis=1))
    centred = centred[length > 0] / length[length > 0, None]
    plain = plain[length > 0]
    correlation = np.triu(centred @ centred.T, 1)
    if len(plain) < 2 or np.abs(correlation).max() < STRONG:
        return
    a, b = np.unravel_index(np.argmax(np.abs(correlation)), correlation.shape)
    names = [design.predictors[plain[j]] for j in (a, b)]
    warn_user(
        f"{names[0]!r} and {names[1]!r} have a correlation of {correlation[a, b]:.2f}: permuting "
        "one of them makes rows that do not occur, and divides what both tell; "
        'importance("conditional") draws it given the others'
    )
