"""Trees of rows in memory, grown in processes that joblib starts or knows of."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from odrf.engine.trees.forest_arrays import Forest
from odrf.engine.workers.handing_out_trees import (
    Grower,
    TreeTask,
    groups_of_tasks,
    grown_together,
)

__all__ = ["JoblibTrees"]


class JoblibTrees(NamedTuple):
    """Grows trees by `joblib.Parallel`, with the backend that `joblib.parallel_config` names.

    Attributes
    ----------
    joblib : module
    n_jobs : int or None
        Processes; None: as many as `joblib.parallel_config` says, or as there are cores.
    """

    joblib: Any
    n_jobs: int | None

    def __call__(
        self, growers: Sequence[Grower], tasks: Sequence[TreeTask]
    ) -> Iterator[list[Forest]]:
        """Yield the trees of all tasks, in their order, some after the other."""
        backend, configured = self.joblib.parallel.get_active_backend()
        n_jobs = self.n_jobs or (-1 if configured is None else configured)
        as_they_come = getattr(backend, "supports_return_generator", False)
        parallel = self.joblib.Parallel(
            n_jobs=n_jobs,
            return_as="generator" if as_they_come else "list",
            mmap_mode="c",  # copied on write: kernels are not compiled for arrays to be read only
        )
        groups = groups_of_tasks(tasks, self.joblib.effective_n_jobs(n_jobs))
        grow = self.joblib.delayed(grown_together)
        yield from parallel(grow(growers, group) for group in groups)
