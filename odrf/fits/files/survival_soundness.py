"""Whether times, curves and hazards from a file fit together, as kernels need."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from odrf.design.survival_times import SurvivalTimes
from odrf.engine.trees.forest import Forest
from odrf.errors import InputError
from odrf.fits.survival.survival_fit import SurvivalFit

__all__ = ["require_curves_of", "require_sound_survival", "require_sound_times"]


def require_sound_times(times: SurvivalTimes, n: int) -> None:
    """Raise `InputError` unless there is a time and an event for each of n rows."""
    causes = len(times.causes)
    _require(times.time.shape == times.event.shape == (n,) and causes > 0)
    _require(times.event.dtype == np.int64)
    _require(bool(np.isfinite(times.time).all() and (times.time >= 0).all()))
    _require(bool(((times.event >= 0) & (times.event <= causes)).all() and times.event.any()))
    if times.start is not None:
        _require(times.start.shape == (n,) and bool((times.start < times.time).all()))
        _require(bool((times.start >= 0).all()))


def require_sound_survival(fit: SurvivalFit) -> None:
    """Raise `InputError` unless curves are made of steps at known times, which ascend in each."""
    at, (start, rank, hazard, of_cause) = fit.event_times, fit.curves
    _require(at.ndim == 1 and len(at) > 0 and bool((np.diff(at) > 0).all()))
    _require(start.ndim == 1 and len(start) > 1 and start[0] == 0 and start[-1] == len(rank))
    _require(bool((np.diff(start) >= 0).all()) and rank.shape == hazard.shape == (len(rank),))
    _require(start.dtype == np.int64 and rank.dtype == np.int32 and hazard.dtype == np.float64)
    _require(bool(((rank > 0) & (rank <= len(at))).all() and ((hazard > 0) & (hazard <= 1)).all()))
    causes = len(fit.design.response.causes)
    _require(of_cause.shape == ((len(rank), causes) if causes > 1 else (0, 0)))
    _require(bool((of_cause >= 0).all()))
    first = np.zeros(len(rank) + 1, dtype=np.bool_)
    first[start] = True
    _require(bool(((np.diff(rank) > 0) | first[1:-1]).all()))
    _require_causes(of_cause, hazard, len(fit.design.response.causes))
    _require(fit.data.times is not None or not fit.data.has_rows)


def require_curves_of(fit: SurvivalFit, forest: Forest) -> None:
    """Raise `InputError` unless there is a curve for each node of the forest, and its hazard."""
    m, hazards = len(forest.left), fit.hazards
    _require(len(fit.curves.start) == m + 1)
    if hazards is not None:
        of_nodes = hazards.events, hazards.expected, hazards.person_time, hazards.relative
        _require(all(numbers.shape == (m,) for numbers in of_nodes))
        _require(hazards.log_rank.shape == (m,) and bool((hazards.log_rank >= 0).all()))
        causes = 1 if fit.control.cause is not None else len(fit.design.response.causes)
        _require(hazards.of_cause.shape == ((m, causes) if causes > 1 else (0, 0)))
        # older files do not have these two
        _require(hazards.subjects.shape in ((m,), (0,)))
        by_cause = (m, len(fit.design.response.causes))
        _require(hazards.events_of_cause.shape in (by_cause, (0, 0)))


def _require(sound: bool) -> None:
    if not sound:
        raise InputError("its parts do not fit together: use a copy, or fit again")


def _require_causes(
    of_cause: NDArray[np.float64], hazard: NDArray[np.float64], n_causes: int
) -> None:
    """Raise `InputError` unless each step is divided among the causes, if there are several."""
    shape = (0, 0) if n_causes == 1 else (len(hazard), n_causes)
    _require(of_cause.shape == shape and of_cause.dtype == np.float64)
    _require(n_causes == 1 or np.allclose(of_cause.sum(axis=1), hazard))
