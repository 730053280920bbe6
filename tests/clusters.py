"""Clusters of Dask for tests: quick ones within the process, and ones of processes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import dask
from distributed import Client, LocalCluster


@contextmanager
def cluster(n_workers: int, threads: int = 1, processes: bool = False) -> Iterator[tuple[Any, Any]]:
    """Start a cluster; yield the client, which is active, and the cluster.

    Workers within the process would pause for good where all tests before have taken much memory.
    """
    soon = {"distributed.comm.timeouts.connect": "2s"}
    with (
        dask.config.set(soon),
        LocalCluster(
            n_workers=n_workers, threads_per_worker=threads, processes=processes,
            dashboard_address=":0", silence_logs=50, memory_limit="auto" if processes else 0,
        ) as started,
        Client(started) as client,
    ):  # fmt: skip
        yield client, started
