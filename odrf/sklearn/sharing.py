"""Threads beside the workers of joblib: together no more than there are cores."""

from __future__ import annotations

import multiprocessing
from dataclasses import replace
from typing import Any, TypeVar

import numba
from joblib.parallel import get_active_backend

from odrf.checks import checked_jobs
from odrf.engine.running import usual_threads
from odrf.fits.stack.fit import StackedFit

__all__ = ["threads_for", "with_threads"]

Result = TypeVar("Result", bound=Any)


def threads_for(n_jobs: int | None) -> int | None:
    """Return the argument `n_jobs` of the functions for that of an estimator.

    It is the same, except for None and -1 in a worker of joblib.  joblib tells each of its worker
    processes how many threads it may use, by the variables that libraries read, Numba among them; a
    worker thread gets one.
    """
    checked_jobs(n_jobs)
    backend, _ = get_active_backend()
    if not backend.nesting_level or n_jobs not in (None, -1):
        return n_jobs
    if multiprocessing.parent_process() is None:
        return 1
    return min(usual_threads(), numba.config.NUMBA_NUM_THREADS)


def with_threads(results: Result, n_jobs: int | None) -> Result:
    """Return the results, which predict with so many threads; the predictions are the same."""
    fit, threads = results.fit, checked_jobs(n_jobs)
    if fit.control.n_jobs == threads:
        return results
    return type(results)(_threaded(fit, threads))


def _threaded(fit: Any, threads: int) -> Any:
    """Return the fit with so many threads; of a stack, also its models with trees."""
    threaded = replace(fit, control=replace(fit.control, n_jobs=threads))
    if not isinstance(fit, StackedFit):
        return threaded
    grown = {name: _threaded(part, threads) for name, part in fit.grown.items()}
    parts = tuple(part._replace(fit=grown.get(part.name, part.fit)) for part in fit.parts)
    return replace(threaded, parts=parts)
