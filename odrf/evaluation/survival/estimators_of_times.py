"""Estimators for times to an event, of this package or of scikit-survival: how they are asked."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from odrf.design.functions import EVENT, START, TIME
from odrf.design.survival_times import SurvivalTimes

__all__ = ["structured_times", "survival_by_estimator"]


def structured_times(times: SurvivalTimes) -> NDArray[np.void]:
    """Return times as scikit-survival takes them: fields "event", "time"; also "start" if late."""
    late = [] if times.start is None else [(START, np.float64)]
    y = np.empty(len(times), dtype=[(EVENT, np.bool_), *late, (TIME, np.float64)])
    y[EVENT], y[TIME] = times.event > 0, times.time
    if times.start is not None:
        y[START] = times.start
    return y


def survival_by_estimator(
    estimator: Any, X: NDArray[np.float32], at: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the survival (n, G) that a fitted estimator predicts at the times (G,)."""
    return np.stack([curve(at) for curve in estimator.predict_survival_function(X)])
