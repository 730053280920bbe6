"""A predicted curve of one row, as scikit-survival's tools take it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from odrf.errors import InputError
from odrf.statistics.survival.curves import StepCurve

__all__ = ["StepFunction", "step_functions"]


@dataclass(frozen=True, eq=False)
class StepFunction:
    """A right-continuous step function of time, with the attributes of scikit-survival's.

    Attributes
    ----------
    curve : StepCurve

    Examples
    --------
    >>> curve = StepFunction(StepCurve(np.array([1.0, 3.0]), np.array([0.5, 0.2]), 1.0))
    >>> curve([0.5, 1.0, 2.0, 3.0])
    array([1. , 0.5, 0.5, 0.2])
    >>> float(curve(2.0)), curve.domain
    (0.5, (0.0, 3.0))
    """

    curve: StepCurve

    @property
    def x(self) -> NDArray[np.float64]:
        """The times (R,) at which it steps, ascending."""
        return self.curve.times

    @property
    def y(self) -> NDArray[np.float64]:
        """Its values (R,) from each of these times on."""
        return self.curve.values

    @property
    def domain(self) -> tuple[float, float]:
        """0 and the last of these times, beyond which it stays as it is."""
        return 0.0, float(self.x[-1])

    def __call__(self, x: ArrayLike) -> NDArray[np.float64]:
        """Return the values at times of any shape.

        Raises
        ------
        InputError
            A time is negative, infinite or missing.
        """
        times = np.asarray(x, dtype=np.float64)
        if not (np.isfinite(times) & (times >= 0)).all():
            raise InputError("x must be one or more finite times of at least 0")
        return self.curve(times)


def step_functions(
    times: NDArray[np.float64], values: NDArray[np.float64], before: float
) -> NDArray[np.object_]:
    """Return n curves, from their values (n, R) at ascending times (R,) and `before` these."""
    found = np.empty(len(values), dtype=object)
    found[:] = [StepFunction(StepCurve(times, line, before)) for line in values]
    return found
