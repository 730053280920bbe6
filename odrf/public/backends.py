"""Where trees are grown: the argument `backend` of `odrf.odrf`."""

from __future__ import annotations

from odrf.checks import AUTO

__all__ = ["BACKENDS", "DASK", "JOBLIB", "THREADS"]

THREADS, DASK, JOBLIB = "threads", "dask", "joblib"
BACKENDS = (AUTO, THREADS, DASK, JOBLIB)
"""The known backends."""
