"""What the workers of Dask are asked for, by a client that stands for that of Dask."""

from __future__ import annotations

import asyncio

import pytest

from odrf.engine.growth.backends import scattered


class WithoutWorkers:
    """A client whose cluster has no worker."""

    status = "running"

    def scatter(self, values, **options):
        raise asyncio.TimeoutError("No valid workers found")


def test_a_cluster_without_workers_is_told_from_a_broken_one():
    with pytest.raises(RuntimeError, match="the cluster of Dask has no worker: start one"):
        scattered(WithoutWorkers(), 1)
