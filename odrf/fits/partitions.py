"""A forest on the workers of a cluster that have its rows.

The worker of a partition draws from it the rows of each tree, which are collected on the worker
that grows the tree.  No worker waits for another one: each tree is a task.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from operator import getitem
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf.design.chunks import BlockChecksum, BlockReader, StreamedRows, checked_sum
from odrf.design.partitions import BlockRangeTasks, PartitionBlocks
from odrf.engine.chunks import Gathering, HashedDraw, Recipe, TreeRows, grown_apart, joined_rows
from odrf.engine.growth.backends import TasksOnWorkers, computed_by_workers, prefixed, scattered
from odrf.engine.memory import in_bytes
from odrf.engine.numeric import streams
from odrf.engine.trees.forest import Forest
from odrf.fits import chunks
from odrf.fits.fit import AnyFit, Fit, RowSums
from odrf.fits.predicting import predict_rows, rows_of
from odrf.options.tree import ResolvedOptions

# Trees times ranges of blocks of a batch: a scheduler keeps some kilobytes for each, and takes a
# quarter of a millisecond (`benchmarks/many_rows/dask_workers.py`).
MOST_PIECES = 100_000


def trees_at_once(
    rows: StreamedRows, control: ResolvedOptions, client: Any, n_ranges: int, batches: int
) -> int:
    """Return the number of trees of a batch, of which as many as `batches` exist at once.

    Rows and growth take at most half of the workers' memory, or the limit of `Chunks`.
    """
    n_rows, of_rows, of_growth = chunks.tree_bytes(rows, control)
    workers = _workers(client)
    limits = [float(worker.get("memory_limit") or chunks.UNKNOWN) for worker in workers]
    threads = max(1, sum(int(worker["nthreads"]) for worker in workers))
    if limits and of_rows + of_growth > max(limits):
        raise MemoryError(
            f"growing a tree of {n_rows:.0f} rows would take "
            f"{in_bytes(of_rows + of_growth)} of memory, and the largest worker has "
            f"{in_bytes(max(limits))}: use a smaller sample_fraction="
        )
    budget = (rows.source.memory or sum(limits) / 2) / batches
    fits = int(budget / (of_rows + of_growth))
    if fits > threads:
        fits = int((budget - threads * of_growth) / of_rows)
    most = max(threads, MOST_PIECES // max(1, n_ranges))
    return max(1, min(fits, most, control.n_trees))


def _workers(client: Any) -> list[dict[str, Any]]:
    """Return the scheduler's information on all workers."""
    try:
        information = client.scheduler_info(n_workers=-1)
    except TypeError:  # older versions report all workers in any case
        information = client.scheduler_info()
    return list(information["workers"].values())


# So many sums of leaves are added up by one task.
ADDED_AT_ONCE = 8
# Batches of trees at the same time: one draws rows while the other one grows.
BATCHES = 2


def _trees_on_workers(
    rows: StreamedRows, control: ResolvedOptions, draw: HashedDraw, advance: Callable[[], object]
) -> Iterator[Forest]:
    """Yield the trees in their order; see `Passes`."""
    source = _partitions(rows)
    n_ranges = len(source.ranges(rows.reader.used.columns))
    at_once = trees_at_once(rows, control, source.client, n_ranges, BATCHES)
    recipe = Recipe(rows.design.feature_groups, control.settings, control.mixture, control.honest)
    batches: deque[TasksOnWorkers[Any]] = deque()
    try:
        for first in range(0, control.n_trees, at_once):
            last = min(first + at_once, control.n_trees)
            if len(batches) == BATCHES:
                yield from _grown_trees(rows, batches[0], n_ranges, advance)
                batches.popleft()
            submit = partial(
                _submit_batch, rows, draw.of_trees(first, last), recipe, first,
                streams(control.seed, first, last), n_ranges,
            )  # fmt: skip
            batches.append(TasksOnWorkers(source.client, submit, n_ranges + last - first))
        while batches:
            yield from _grown_trees(rows, batches[0], n_ranges, advance)
            batches.popleft()
    finally:
        for batch in batches:
            batch.cancel()


def _grown_trees(
    rows: StreamedRows, batch: TasksOnWorkers[Any], n_ranges: int, advance: Callable[[], object]
) -> Iterator[Forest]:
    """Yield the trees of a batch, when the checksums of all its rows are right."""
    results, n = batch.results(), 0
    for _ in range(n_ranges):
        for block in next(results):
            rows.require_same(block)
            n += block.n_rows
    rows.require_all(n)
    for tree in results:
        yield tree
        advance()


def _submit_batch(
    rows: StreamedRows,
    draw: HashedDraw,
    recipe: Recipe,
    first: int,
    tree_streams: NDArray[np.uint64],
    n_ranges: int,
    numbers: Sequence[int],
) -> Sequence[Any]:
    """Submit the tasks of a batch of trees; return the futures of checksums and of trees.

    Numbers below `n_ranges` are those of checksums, those from there on of trees, of which the
    first one has the number `first` in the forest.
    """
    source = _partitions(rows)
    trees = [number - n_ranges for number in numbers if number >= n_ranges]
    drawing = rows.reader, draw._replace(keys=draw.keys[trees])
    tasks = _tasks(source, "draw rows", _drawn, drawing, rows)
    graph, sent = tasks.graph, scattered(source.client, recipe)
    check, pick, grow = prefixed("check rows"), prefixed("pick rows"), prefixed("grow tree")
    for s, key in enumerate(tasks.keys):
        graph[check, s] = (getitem, key, 0)
        for t in range(len(trees)):
            graph[pick, s, t] = (_picked, key, t)
    for t, tree in enumerate(trees):
        pieces = [(pick, s, t) for s in range(len(tasks.keys))]
        graph[grow, t] = (partial(_grown, first + tree, tree_streams[tree]), sent, *pieces)
    keys = [(check, number) for number in numbers if number < n_ranges]
    keys += [(grow, t) for t in range(len(trees))]
    return computed_by_workers(source.client, graph, keys)


def _drawn(
    drawing: tuple[BlockReader, HashedDraw], blocks: Iterator[pd.DataFrame]
) -> tuple[list[BlockChecksum], list[TreeRows | None]]:
    """Return the checksums of a range of blocks, and the rows that each tree draws from it."""
    reader, draw = drawing
    gathering, checksums = Gathering(draw, 1), []
    for rows in filter(None, map(reader.rows, blocks)):
        checksums.append(checked_sum(rows))
        gathering.add(rows)
    n_trees = len(draw.keys)
    return checksums, [gathering.take(t) if gathering.n_rows(t) else None for t in range(n_trees)]


def _picked(drawn: tuple[Any, list[TreeRows | None]], t: int) -> TreeRows | None:
    """Return the rows that one of the trees has drawn."""
    return drawn[1][t]


def _grown(
    number: int, stream: NDArray[np.uint64], recipe: Recipe, *pieces: TreeRows | None
) -> Forest:
    """Return the tree of a number and a stream that grows on the rows of all pieces."""
    drawn = [piece for piece in pieces if piece is not None]
    chunks.require_rows(len(drawn), number)
    return grown_apart(joined_rows(drawn), recipe, stream)


def _evaluated_on_workers(
    fit: Fit, rows: StreamedRows, draw: HashedDraw, advance: Callable[[int], object]
) -> RowSums:
    """Return the sums of all rows; see `Passes`."""
    source, evaluating = _partitions(rows), chunks.validation_of(fit, rows, draw)
    n_ranges = len(source.ranges(rows.reader.used.columns))
    submit = partial(_submit_evaluation, rows, evaluating)
    tasks = TasksOnWorkers[Any](source.client, submit, n_ranges + 1)
    leaf_sums = evaluating.no_sums()

    def evaluated() -> Iterator[chunks.BlockSums]:
        results, n = tasks.results(), 0
        for _ in range(n_ranges):
            for block, sums in next(results):
                rows.require_same(block)
                n += block.n_rows
                yield sums
                advance(block.n_rows)
        rows.require_all(n)
        for total in results:
            np.add(leaf_sums, total, out=leaf_sums)

    return chunks.total_of_blocks(evaluated(), evaluating, leaf_sums)


def _submit_evaluation(
    rows: StreamedRows, evaluating: chunks.Validation, numbers: Sequence[int]
) -> Sequence[Any]:
    """Submit the tasks that evaluate; return the futures of sums of rows, last of leaves."""
    source = _partitions(rows)
    tasks = _tasks(source, "evaluate rows", _evaluated_range, evaluating, rows)
    graph, of_rows, of_leaves = tasks.graph, prefixed("pick sums"), prefixed("pick leaf sums")
    for s, key in enumerate(tasks.keys):
        graph[of_rows, s] = (getitem, key, 0)
        graph[of_leaves, s] = (getitem, key, 1)
    left = [(of_leaves, s) for s in range(len(tasks.keys))]
    while len(left) > 1:
        add = prefixed("add leaf sums")
        for i in range(0, len(left), ADDED_AT_ONCE):
            graph[add, i] = (_added, *left[i : i + ADDED_AT_ONCE])
        left = [(add, i) for i in range(0, len(left), ADDED_AT_ONCE)]
    keys = [(of_rows, n) if n < len(tasks.keys) else left[0] for n in numbers]
    return computed_by_workers(source.client, graph, keys)


def _evaluated_range(
    evaluating: chunks.Validation, blocks: Iterator[pd.DataFrame]
) -> tuple[list[tuple[BlockChecksum, chunks.BlockSums]], NDArray[np.int64]]:
    """Return the checksum and the sums of each block of a range, and the sums of leaves."""
    leaf_sums, of_blocks = evaluating.no_sums(), []
    for rows in filter(None, map(evaluating.reader.rows, blocks)):
        of_blocks.append(
            (checked_sum(rows), chunks.evaluated_block(evaluating, rows, 1, leaf_sums))
        )
    return of_blocks, leaf_sums


def _added(*parts: NDArray[np.int64]) -> NDArray[np.int64]:
    total = parts[0].copy()
    for part in parts[1:]:
        total += part
    return total


def _partitions(rows: StreamedRows) -> PartitionBlocks:
    assert isinstance(rows.source, PartitionBlocks)
    return rows.source


def _tasks(
    source: PartitionBlocks,
    what: str,
    function: Callable[[Any, Iterator[pd.DataFrame]], Any],
    argument: Any,
    rows: StreamedRows,
) -> BlockRangeTasks:
    """Return a task ``function(argument, blocks)`` for each of all ranges of blocks."""
    columns = rows.reader.used.columns
    numbers = range(len(source.ranges(columns)))
    return source.tasks(what, function, scattered(source.client, argument), columns, numbers)


ON_WORKERS = chunks.Passes(_trees_on_workers, _evaluated_on_workers)
"""On the workers of a cluster of Dask, which have the rows in partitions."""


def partitions_predicted(fit: AnyFit, frame: Any, type: str, priors: Any) -> Any:
    """Return the predictions of a data frame of Dask, lazily; workers get the fit once."""
    from dask.delayed import delayed  # noqa: PLC0415  # optional: there is no such frame without it

    # a worker has several threads, and each of them predicts a partition
    any_fit: Any = fit
    one_thread = replace(any_fit, control=replace(any_fit.control, n_jobs=1))
    predictor = _PartitionPredictor(one_thread, type, priors)
    nothing = pd.DataFrame({name: pd.Series(dtype=dtype) for name, dtype in frame.dtypes.items()})
    meta = _predicted(nothing, predictor)
    used = frame[list(fit.design.schema.columns)]
    sent = delayed(predictor, traverse=False, pure=False)
    return used.map_partitions(_predicted, sent, meta=meta)


class _PartitionPredictor:
    """A fit and the type to predict: Dask does not search it for tasks."""

    def __init__(self, fit: AnyFit, type: str, priors: Any) -> None:
        self.fit, self.type, self.priors = fit, type, priors


def _predicted(frame: pd.DataFrame, predictor: _PartitionPredictor) -> pd.Series | pd.DataFrame:
    return predict_rows(rows_of(predictor.fit, frame), predictor.type, predictor.priors)
