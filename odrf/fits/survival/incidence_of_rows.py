"""Predicted incidences of causes, and the time lost by them: means over the trees."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from odrf.engine.survival.curve_numbers import time_lost_at
from odrf.engine.survival.curves import mean_incidences
from odrf.engine.trees.routing import EVERY_ROW
from odrf.fits.survival.curves_of_rows import PredictedRows

__all__ = ["incidences", "times_lost"]


def incidences(
    rows: PredictedRows,
    times: NDArray[np.float64],
    causes: NDArray[np.int64],
    advance: Callable[[int], object] = lambda n: None,
) -> NDArray[np.float64]:
    """Return the cumulative incidences (n, K, G) of causes (K,), from 0, at ascending times (G,).

    NaN for a row without trees.
    """
    fit = rows.fit
    return mean_incidences(
        fit.forest, fit.curves, rows.X, rows.ranks(times), causes, fit.control.n_jobs,
        EVERY_ROW if rows.unseen is None else rows.unseen, advance,
    )  # fmt: skip


def times_lost(
    rows: PredictedRows, horizons: NDArray[np.float64], causes: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return the time (n, K, G) that is lost by each cause, from 0, up to each horizon."""
    curves, times = rows.fit.curves, rows.fit.event_times
    values = [time_lost_at(curves, k, times, tau) for k in causes.tolist() for tau in horizons]
    found = rows.means(values)
    return found.reshape(len(found), len(causes), len(horizons))
