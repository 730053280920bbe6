"""Power law of a learning curve: error(n) = a + b·n^(-c)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar, nnls
from scipy.stats import norm
from scipy.stats import t as student

__all__ = [
    "FASTEST",
    "SLOWEST",
    "PowerLaw",
    "bootstrap_levels",
    "bootstrap_power_laws",
    "fit_power_law",
]

# Range of c: a slower rate cannot be told from a constant, a faster one does not occur.
SLOWEST, FASTEST, STEPS = 0.02, 2.0, 40
CLOSE = 1e-3


class PowerLaw(NamedTuple):
    """error(n) = a + b·n^(-c); a ≥ 0 is the error in the limit of many rows."""

    a: float
    b: float
    c: float

    @property
    def is_at_an_end(self) -> bool:
        """Whether c, if it matters, is the slowest or fastest rate that is tried."""
        return self.b > 0 and not (1 + CLOSE) * SLOWEST < self.c < (1 - CLOSE) * FASTEST

    def error(self, n: NDArray[np.float64] | float) -> NDArray[np.float64]:
        """Return the error at n rows."""
        return np.asarray(self.a + self.b * np.asarray(n, dtype=float) ** -self.c)


def fit_power_law(n: NDArray[np.float64], error: NDArray[np.float64]) -> PowerLaw:
    """Return the power law with the least sum of squared relative errors.

    `n` (k,) are numbers of rows, `error` (k,) the errors at them.  For a given c the non-negative
    a and b are found by least squares; c is found by a one-dimensional search.  An error of 0 is
    compared with the smallest of the others.  If all are 0, so are a and b, and c is meaningless.
    """
    positive = error > 0
    if not positive.any():
        return PowerLaw(0.0, 0.0, SLOWEST)
    scale = 1.0 / np.where(positive, error, error[positive].min())

    def fit_at(c: float) -> tuple[PowerLaw, float]:
        power = (n / n.max()) ** -c
        columns = np.column_stack([np.ones_like(power), power]) * scale[:, None]
        (a, b), residual_norm = nnls(columns, error * scale)
        return PowerLaw(float(a), float(b * n.max() ** c), c), float(residual_norm)

    rates = np.geomspace(SLOWEST, FASTEST, STEPS)
    best = int(np.argmin([fit_at(c)[1] for c in rates]))
    bounds = rates[max(best - 1, 0)], rates[min(best + 1, STEPS - 1)]
    search = minimize_scalar(lambda c: fit_at(c)[1], bounds=bounds, method="bounded")
    return fit_at(float(search.x))[0]


def bootstrap_power_laws(
    n: NDArray[np.float64], errors: NDArray[np.float64], draws: int, seed: int
) -> list[PowerLaw]:
    """Return power laws of means over repeats drawn with replacement; errors is (repeats, k)."""
    rng = np.random.default_rng(seed)
    repeats = len(errors)
    chosen = rng.integers(0, repeats, (draws, repeats))
    means = np.array([errors[rows].mean(axis=0) for rows in chosen])
    # Few repeats have few different means.
    different, which = np.unique(means, axis=0, return_inverse=True)
    laws = [fit_power_law(n, mean) for mean in different]
    return [laws[k] for k in which.ravel()]


def bootstrap_levels(repeats: int, level: float) -> tuple[float, float]:
    """Return the percentiles between which the draws of a bootstrap of few repeats are an interval.

    The deviations of R drawn repeats are √((R - 1)/R) times as large as they should be, and normal
    where Student's t with R - 1 degrees of freedom is right.  These percentiles make up for both
    where the estimate is a mean (Hesterberg 2015, "expanded percentiles").  There are two or more
    repeats: one tells nothing.

    References
    ----------
    Hesterberg (2015), What teachers should know about the bootstrap: resampling in the
    undergraduate statistics curriculum, The American Statistician 69, 371-386.
    """
    width = np.sqrt(repeats / (repeats - 1)) * student.isf((1 - level) / 2, repeats - 1)
    tail = float(norm.sf(width))
    return tail, 1 - tail
