"""How many trees gather their rows on the workers of a cluster at the same time."""

from __future__ import annotations

from typing import Any

from odrf.design.chunks import StreamedRows
from odrf.engine.memory import in_bytes
from odrf.fits.streamed.growing_streamed import UNKNOWN, tree_bytes
from odrf.options.tree import Control

__all__ = ["trees_at_once"]

# Trees times stretches of a wave: a scheduler keeps some kilobytes for each, and takes a quarter
# of a millisecond (`benchmarks/many_rows/dask_workers.py`).
MOST_PIECES = 100_000


def trees_at_once(
    rows: StreamedRows, control: Control, client: Any, n_stretches: int, waves: int
) -> int:
    """Return the number of trees of a wave, of which as many as `waves` are there at once.

    The rows that are drawn, and the growth of as many trees as the workers have threads, take at
    most half of the workers' memory, or what `Chunks` allow.  The trees do not depend on it.

    Raises
    ------
    MemoryError
        One tree takes more than a worker has.
    """
    n_rows, of_rows, of_growth = tree_bytes(rows, control)
    workers = _workers(client)
    limits = [float(worker.get("memory_limit") or UNKNOWN) for worker in workers]
    threads = max(1, sum(int(worker["nthreads"]) for worker in workers))
    if limits and of_rows + of_growth > max(limits):
        raise MemoryError(
            f"growing a tree of {n_rows:.0f} rows would take "
            f"{in_bytes(of_rows + of_growth)} of memory, and the largest worker has "
            f"{in_bytes(max(limits))}: use a smaller sample_fraction="
        )
    budget = (rows.source.memory or sum(limits) / 2) / waves
    fits = int(budget / (of_rows + of_growth))
    if fits > threads:
        fits = int((budget - threads * of_growth) / of_rows)
    most = max(threads, MOST_PIECES // max(1, n_stretches))
    return max(1, min(fits, most, control.n_trees))


def _workers(client: Any) -> list[dict[str, Any]]:
    """Return what the scheduler knows of all workers."""
    try:
        found = client.scheduler_info(n_workers=-1)
    except TypeError:  # older versions tell of all workers without being asked to
        found = client.scheduler_info()
    return list(found["workers"].values())
