"""The law of a learning curve: error(n) = a + b·n^(-c)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar, nnls

__all__ = ["PowerLaw", "bootstrap_power_laws", "fit_power_law"]

# Rates that are looked for: slower ones cannot be told from a constant, faster ones are not had.
SLOWEST, FASTEST, STEPS = 0.02, 2.0, 40


class PowerLaw(NamedTuple):
    """error(n) = a + b·n^(-c), a ≥ 0 the error that no number of rows removes."""

    a: float
    b: float
    c: float

    def error(self, n: NDArray[np.float64] | float) -> NDArray[np.float64]:
        """Return the error at n rows."""
        return np.asarray(self.a + self.b * np.asarray(n, dtype=float) ** -self.c)


def fit_power_law(n: NDArray[np.float64], error: NDArray[np.float64]) -> PowerLaw:
    """Return the law that comes nearest to errors (k,) at n (k,) rows, in relative terms.

    For a given c, a and b are linear and not negative; c is searched for.
    """
    scale = 1.0 / np.maximum(error, 1e-12 * max(error.max(), 1e-300))

    def of(c: float) -> tuple[PowerLaw, float]:
        power = (n / n.max()) ** -c
        columns = np.column_stack([np.ones_like(power), power]) * scale[:, None]
        (a, b), left = nnls(columns, error * scale)
        return PowerLaw(float(a), float(b * n.max() ** c), c), float(left)

    rates = np.geomspace(SLOWEST, FASTEST, STEPS)
    best = int(np.argmin([of(c)[1] for c in rates]))
    around = rates[max(best - 1, 0)], rates[min(best + 1, STEPS - 1)]
    found = minimize_scalar(lambda c: of(c)[1], bounds=around, method="bounded")
    return of(float(found.x))[0]


def bootstrap_power_laws(
    n: NDArray[np.float64], errors: NDArray[np.float64], draws: int, seed: int
) -> list[PowerLaw]:
    """Return laws of means over repeats drawn with replacement; errors is (repeats, k)."""
    rng = np.random.default_rng(seed)
    repeats = len(errors)
    chosen = rng.integers(0, repeats, (draws, repeats))
    return [fit_power_law(n, errors[rows].mean(axis=0)) for rows in chosen]
