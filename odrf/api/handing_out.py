"""Where the trees of a forest on rows in memory are grown: the argument `backend`."""

from __future__ import annotations

from contextlib import AbstractContextManager

from odrf.engine.growth.backends import Backend, DaskTrees, JoblibTrees, grown_by_backend
from odrf.errors import InputError
from odrf.public.arguments import DASK, JOBLIB
from odrf.public.frames import required_client

__all__ = ["grown_by"]


def grown_by(backend: str, n_jobs: int | None) -> AbstractContextManager[None]:
    """Return a context in which trees are grown as `backend` says.

    Raises
    ------
    InputError
        What the backend needs is not installed, or Dask has no client.
    """
    place: Backend | None = None
    if backend == DASK:
        place = DaskTrees(required_client(f'backend="{DASK}"'))
    elif backend == JOBLIB:
        place = _by_joblib(n_jobs)
    return grown_by_backend(place)


def _by_joblib(n_jobs: int | None) -> JoblibTrees:
    try:
        import joblib  # noqa: PLC0415  # optional
    except ImportError:
        raise InputError(
            f'backend="{JOBLIB}" needs joblib: install it with pip install joblib'
        ) from None
    return JoblibTrees(joblib, n_jobs)
