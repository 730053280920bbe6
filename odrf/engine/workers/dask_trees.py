"""Trees of rows in memory, grown on the workers of a cluster of Dask."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

from odrf.engine.trees.forest_arrays import Forest
from odrf.engine.workers.dask_tasks import TasksOnWorkers, handed_out, prefixed, sent
from odrf.engine.workers.handing_out_trees import (
    Grower,
    TreeTask,
    groups_of_tasks,
    grown_together,
)

__all__ = ["DaskTrees"]


class DaskTrees(NamedTuple):
    """Grows trees on the workers of a client, to all of which the rows are sent.

    Attributes
    ----------
    client : distributed.Client
    """

    client: Any

    def __call__(
        self, growers: Sequence[Grower], tasks: Sequence[TreeTask]
    ) -> Iterator[list[Forest]]:
        """Yield the trees of all tasks, in their order, some after the other."""
        groups = groups_of_tasks(tasks, sum(self.client.nthreads().values()))

        def hand_out(numbers: Sequence[int]) -> Sequence[Any]:
            given, name = sent(self.client, growers), prefixed("grow trees")
            graph = {(name, i): (partial(_grown, groups[i]), given) for i in numbers}
            return handed_out(self.client, graph, [(name, i) for i in numbers])

        yield from TasksOnWorkers[list[Forest]](self.client, hand_out, len(groups)).results()


def _grown(tasks: Sequence[TreeTask], growers: Sequence[Grower]) -> list[Forest]:
    return grown_together(growers, tasks)
