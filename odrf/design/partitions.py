"""Tables in partitions, which the workers of a cluster of Dask read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple, TypeVar

import numpy as np
import pandas as pd

from odrf.design import blocks
from odrf.design.blocks import in_blocks_of_rows, rows_have_changed, rows_of_weight
from odrf.engine.growth.backends import TasksOnWorkers, computed_by_workers, prefixed, scattered
from odrf.public.chunks import Chunks, checked_frame

# Blocks of one size do not end where partitions end.  So the worker with the partition in which a
# block begins takes what is missing of it from the heads of the following partitions.


class BlockRange(NamedTuple):
    """Consecutive blocks of rows, which all begin in one `partition` of `n_rows` rows.

    `begin` is the number of the first row.  The first `skipped` rows of the partition belong to the
    range before.  `heads` are following partitions, and how many of their first rows are taken.
    """

    begin: int
    partition: int
    n_rows: int
    skipped: int
    heads: tuple[tuple[int, int], ...]


def block_ranges(lengths: Sequence[int], size: int) -> list[BlockRange]:
    """Return the ranges of blocks of `size` rows, in order, of partitions of these lengths."""
    bounds = np.concatenate([[0], np.cumsum(np.asarray(lengths, dtype=np.int64))]).tolist()
    starts = [-(-begin // size) * size for begin in bounds[:-1]]
    owners = [i for i, start in enumerate(starts) if start < bounds[i + 1]]
    ranges = []
    for owner, following in pairwise([*owners, len(lengths)]):
        end = starts[following] if following < len(lengths) else bounds[-1]
        last = min(following + 1, len(lengths))
        heads = [(i, min(bounds[i + 1], end) - bounds[i]) for i in range(owner + 1, last)]
        taken = tuple((i, n) for i, n in heads if n > 0)
        skipped = starts[owner] - bounds[owner]
        ranges.append(BlockRange(starts[owner], owner, lengths[owner], skipped, taken))
    return ranges


Argument = TypeVar("Argument")
Result = TypeVar("Result")


class BlockRangeTasks(NamedTuple):
    """Tasks of a graph of Dask for ranges of blocks, and those that read partitions."""

    graph: dict[Any, Any]
    keys: list[Any]


class _Work(NamedTuple):
    """What is done with the blocks of a blocks_here: any value that is the same for all of them."""

    function: Callable[[Any, Iterator[pd.DataFrame]], Any]
    columns: tuple[str, ...]
    size: int


@dataclass(frozen=True, eq=False)
class PartitionBlocks:
    """The blocks of a data frame of Dask, whose partitions stay on the workers.

    What moves is less than a block from each partition to the worker of the one before.  A frame
    that is not persisted is read anew in each pass.  Rows of weight 0 are left out.
    """

    chunks: Chunks
    client: Any
    weights: str | None = None
    _ranges: list[BlockRange] = field(default_factory=list)

    @property
    def memory(self) -> float | None:
        """The bytes that drawn rows and growing trees may take, if the user has set it."""
        return self.chunks.memory

    def columns(self) -> list[str]:
        """Return the names of the columns; see `Chunks.columns`."""
        return self.chunks.columns()

    def known_blocks(self, columns: Sequence[str]) -> int | None:
        """Return how many blocks there are: the workers count rows before the first pass."""
        ranges = self.ranges(columns)
        rows = sum(own.n_rows - own.skipped + sum(n for _, n in own.heads) for own in ranges)
        return -(-rows // blocks.ROWS_PER_BLOCK)

    def over_blocks(
        self,
        what: str,
        function: Callable[[Argument, pd.DataFrame], Result],
        argument: Argument,
        columns: Sequence[str],
    ) -> Iterator[Result]:
        """Yield ``function(argument, block)`` for all blocks; see `BlockSource`."""
        for results in self.over_ranges(what, partial(_each, function), argument, columns):
            yield from results

    def over_ranges(
        self,
        what: str,
        function: Callable[[Argument, Iterator[pd.DataFrame]], Result],
        argument: Argument,
        columns: Sequence[str],
    ) -> Iterator[Result]:
        """Yield ``function(argument, blocks)`` for all ranges of blocks in their order."""

        def submit(numbers: Sequence[int]) -> Sequence[Any]:
            tasks = self.tasks(what, function, scattered(self.client, argument), columns, numbers)
            return computed_by_workers(self.client, tasks.graph, tasks.keys)

        n = len(self.ranges(columns))
        return TasksOnWorkers[Result](self.client, submit, n).results()

    def ranges(self, columns: Sequence[str]) -> list[BlockRange]:
        """Return the ranges of blocks; the rows of partitions are counted once, in one column."""
        if not self._ranges:
            parts = self._partitions(columns[:1])
            name = prefixed("count rows")
            keys = [(name, i) for i in range(len(parts.keys))]
            counting = {key: (len, part) for key, part in zip(keys, parts.keys, strict=True)}

            def submit(numbers: Sequence[int]) -> Sequence[Any]:
                graph = {**parts.graph, **counting}
                return computed_by_workers(self.client, graph, [keys[i] for i in numbers])

            lengths = list(TasksOnWorkers[int](self.client, submit, len(keys)).results())
            self._ranges.extend(block_ranges(lengths, blocks.ROWS_PER_BLOCK))
        return self._ranges

    def tasks(
        self,
        what: str,
        function: Callable[[Any, Iterator[pd.DataFrame]], Any],
        argument: Any,
        columns: Sequence[str],
        numbers: Sequence[int],
    ) -> BlockRangeTasks:
        """Return tasks ``function(argument, blocks)`` of these ranges; `argument` is a future."""
        reading = self._partitions(columns)
        graph, parts = reading.graph, reading.keys
        work = _Work(function, tuple(columns), blocks.ROWS_PER_BLOCK)
        name, head, keys = prefixed(what), prefixed("take head"), []
        for number in numbers:
            blocks_here = self.ranges(columns)[number]
            for i, n_rows in blocks_here.heads:
                graph[head, i] = (_head, parts[i], n_rows)
            graph[name, number] = (
                _walked, _Held(work), _Held(blocks_here), argument,
                parts[blocks_here.partition], *[(head, i) for i, _ in blocks_here.heads],
            )  # fmt: skip
            keys.append((name, number))
        return BlockRangeTasks(graph, keys)

    def _partitions(self, columns: Sequence[str]) -> BlockRangeTasks:
        """Return the tasks that read these columns of each partition."""
        aside = [] if self.weights is None or self.weights in columns else [self.weights]
        frame = self.chunks.source[[*columns, *aside]]
        if self.weights is not None:
            frame = frame.map_partitions(rows_of_weight, self.weights)[list(columns)]
        parts = frame.to_delayed()
        graphs = {id(part.dask): part.dask for part in parts}  # mostly one for all of them
        graph = {key: task for each in graphs.values() for key, task in each.items()}
        return BlockRangeTasks(graph, [part.key for part in parts])


class _Held:
    """A value that Dask takes as it is, and does not look for tasks in."""

    def __init__(self, value: Any) -> None:
        self.value = value


def _each(
    function: Callable[[Any, pd.DataFrame], Any], argument: Any, blocks: Iterable[pd.DataFrame]
) -> list[Any]:
    return [function(argument, block) for block in blocks]


def _head(partition: Any, n_rows: int) -> Any:
    """Return the first rows of a partition."""
    return partition.iloc[:n_rows]


def _walked(work: _Held, held: _Held, argument: Any, partition: Any, *heads: Any) -> Any:
    """Do the work of a range on the worker that has its partition."""
    function, columns, size = work.value
    blocks_here: BlockRange = held.value
    if (len(partition), *map(len, heads)) != (
        blocks_here.n_rows,
        *(n for _, n in blocks_here.heads),
    ):
        raise rows_have_changed()
    frames = [partition.iloc[blocks_here.skipped :], *heads]
    frames = [
        checked_frame(each, columns, f"chunk {blocks_here.partition + i + 1} of data")
        for i, each in enumerate(frames)
    ]
    return function(argument, in_blocks_of_rows(frames, size, blocks_here.begin))
