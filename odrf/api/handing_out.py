"""Where the trees of a forest on rows in memory are grown: the argument `backend`."""

from __future__ import annotations

from contextlib import AbstractContextManager

from odrf.engine.workers.dask_trees import DaskTrees
from odrf.engine.workers.handing_out_trees import GroupsElsewhere, growing_elsewhere
from odrf.engine.workers.joblib_trees import JoblibTrees
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
    place: GroupsElsewhere | None = None
    if backend == DASK:
        place = DaskTrees(required_client(f'backend="{DASK}"'))
    elif backend == JOBLIB:
        place = _by_joblib(n_jobs)
    return growing_elsewhere(place)


def _by_joblib(n_jobs: int | None) -> JoblibTrees:
    try:
        import joblib  # noqa: PLC0415  # optional
    except ImportError:
        raise InputError(
            f'backend="{JOBLIB}" needs joblib: install it with pip install joblib'
        ) from None
    return JoblibTrees(joblib, n_jobs)
