"""What a forest of rows in chunks will take: pilot trees on a sample, a block of each pass."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import ceil, log2
from time import perf_counter
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf.design.streamed.blocks import ROWS_PER_BLOCK
from odrf.design.streamed.streamed_rows import StreamedRows, checked_sum
from odrf.design.withheld import STREAMED, WithheldData
from odrf.engine.growth.growth_bytes import bytes_of_growth
from odrf.engine.parallel import in_order
from odrf.engine.randomness import streams
from odrf.engine.rows.coded import with_rows
from odrf.engine.rows.sampling import ALL_ROWS, Sampling
from odrf.engine.streamed.gathering import RowBlock, TreeRows, drawn_rows
from odrf.engine.streamed.growing_apart import Recipe, grown_apart
from odrf.engine.streamed.hashed_draws import HashedDraw, draw_keys
from odrf.engine.streamed.leaf_sums import leaf_scale
from odrf.engine.trees.forest_arrays import Forest, joined
from odrf.engine.trees.packing import HEAD
from odrf.errors import InputError
from odrf.evaluation.foresight.forecast import Bytes, Forecast
from odrf.evaluation.foresight.of_forests import (
    COMPRESSED_BYTES,
    OF_ONE_KIND,
    OF_TERM,
    WARM,
    WORD,
    root_of,
)
from odrf.evaluation.foresight.pilot_rows import OF_SIZES, OF_TIME, at_all_rows, pilot_rows
from odrf.evaluation.foresight.sampled_blocks import SampledBlocks
from odrf.fits.fit import Fit
from odrf.fits.saving import saved_bytes
from odrf.fits.streamed.growing_streamed import abreast, checked_control, tree_bytes
from odrf.fits.streamed.judging_blocks import Judging, judged_block, total_of_blocks
from odrf.options.control import Control
from odrf.options.request import NAMES, Request, request_of
from odrf.options.streamed_options import streamed_request
from odrf.public.progress import progress_bar
from odrf.text.quantity import quantity

__all__ = ["READING", "array_seconds", "first_rows", "forecast_of_streamed", "weighted_rows"]

READING, PACKED = "reading chunks", "trees as predictions read them"
# Trees that judge a block, or draw of it, so that the time of each of them can be told.
JUDGES = 8
# Shares of the sample for pilot trees, if trees of the fit have more rows than the sample.
SHARES = (0.2, 0.5, 1.0)


class _SampledTrees(NamedTuple):
    """Trees on some rows, their predictors, and the seconds of each of all trees of the fit."""

    trees: list[Forest]
    rows: TreeRows
    seconds: float

    def mean(self, name: str) -> float:
        of_tree: dict[str, Callable[[Forest], float]] = {
            "bytes": lambda tree: joined([tree], 1).nbytes,
            "splits": lambda tree: int((tree.left >= 0).sum()),
            "terms": lambda tree: len(tree.index),
        }
        return float(np.mean([of_tree[name](tree) for tree in self.trees]))


class _DrawnTree(NamedTuple):
    """What a tree of the fit has, on average.

    Attributes
    ----------
    n_rows : int
    splits, terms, memory, seconds : float
    deeper : float
        How many times as deep it is as the pilot trees on the most rows.
    """

    n_rows: int
    splits: float
    terms: float
    memory: float
    seconds: float
    deeper: float

    @classmethod
    def like(
        cls, pilots: list[_SampledTrees], sizes: list[int], n_rows: int, most_leaves: int
    ) -> _DrawnTree:
        """Return what follows of pilot trees on so many rows."""

        def drawn(name: str) -> float:
            return at_all_rows(sizes, [each.mean(name) for each in pilots], n_rows, OF_SIZES)

        last = pilots[-1].mean("splits")
        splits = min(drawn("splits"), most_leaves - 1.0)
        share = splits / max(1.0, last)
        return cls(
            n_rows,
            splits,
            pilots[-1].mean("terms") * share,
            pilots[-1].mean("bytes") * share,
            at_all_rows(sizes, [each.seconds for each in pilots], n_rows, OF_TIME),
            log2(splits + 2) / log2(last + 2),
        )


def forecast_of_streamed(
    rows: StreamedRows,
    request: Request,
    seen: SampledBlocks,
    seconds: float,
    progress: bool = False,
) -> Forecast:
    """Return what a forest will take, whose design took so many `seconds` to learn.

    `seen` has been the source of the rows; `progress` shows a bar of the pilot trees.
    """
    control = checked_control(streamed_request(request), rows)
    at_once, jobs = abreast(rows, control)
    B, n_drawn = control.n_trees, max(1, round(tree_bytes(rows, control).n_rows))
    frame = seen.sample()
    sample = weighted_rows(rows, frame)
    number = max(OF_ONE_KIND, min(jobs, B))
    sizes = _sizes(n_drawn, number, B, len(sample.y))
    _grown(rows, control, sample, min(WARM, len(sample.y)), 1, 1)
    pilots = []
    with progress_bar(total=number * len(sizes), unit="tree", progress=progress) as bar:
        for size in sizes:
            pilots.append(_grown(rows, control, sample, size, number, jobs, bar.update))
    tree = _DrawnTree.like(pilots, sizes, n_drawn, control.settings.max_leaves)
    block, passes = first_rows(sample, ROWS_PER_BLOCK), ceil(B / at_once)
    judging = _judging_seconds(rows, control, block, pilots[-1].trees)
    of_row = _gathering_seconds(block, control) + tree.deeper * judging.of_row
    of_pass = seen.reading + rows.n * array_seconds(rows, frame)
    return Forecast(
        {READING: Bytes(seen.resident), **_parts(rows, control, pilots[-1], tree, at_once, jobs)},
        seconds + (passes + 1) * of_pass + B * (tree.seconds + rows.n * of_row + judging.of_tree),
        0.0,
        0.0,
        B,
        tree.splits + 1,
        f"{quantity(number, 'tree')} on {', '.join(f'{size:,}' for size in sizes)} rows, and "
        f"{len(frame):,} rows of the first pass",
        _notes(control, passes, len(sample.y), n_drawn),
    )


def _parts(
    rows: StreamedRows,
    control: Control,
    pilots: _SampledTrees,
    tree: _DrawnTree,
    at_once: int,
    jobs: int,
) -> dict[str, Bytes]:
    """Return the bytes of trees, and of the pass that takes the most beside them."""
    B, K, nodes = control.n_trees, control.n_classes, 2 * tree.splits + 1
    packed = B * (HEAD * WORD * tree.splits + OF_TERM * tree.terms)
    of_rows = tree_bytes(rows, control).of_rows
    growing = _growing_bytes(rows, control, pilots, tree)
    of_block = min(rows.n, ROWS_PER_BLOCK) * (6.0 * B + 8.0 * (K + 1))
    largest = _largest(
        {
            f"drawn rows of {quantity(at_once, 'tree')}": at_once * of_rows,
            f"growth in {quantity(jobs, 'thread')}": jobs * (of_rows + growing + tree.memory),
        },
        {"judging": 8.0 * (K + 1) * B * nodes + of_block, PACKED: packed},
    )
    memory = B * tree.memory
    return {
        "trees": Bytes(memory, memory, memory * _saved_share(rows, control, pilots.trees)),
        **{name: Bytes(size) for name, size in largest.items()},
        # they are kept when they have judged the rows
        PACKED: Bytes(largest.get(PACKED, 0.0), packed),
    }


class _Judging(NamedTuple):
    """Seconds of judging one row by one tree, and of what is done once for each tree."""

    of_row: float
    of_tree: float


def _largest(*phases: dict[str, float]) -> dict[str, float]:
    """Return the parts of the phase that takes the most memory."""
    return max(phases, key=lambda parts: sum(parts.values()))


def _sizes(n_drawn: int, number: int, n_trees: int, available: int) -> list[int]:
    """Return the numbers of rows on which pilot trees are grown."""
    sizes = pilot_rows(n_drawn, number, n_trees)
    if sizes[-1] <= available:
        return sizes
    if len(sizes) == 1:
        sizes = [max(1, round(share * available)) for share in SHARES]
    return sorted({min(size, available) for size in sizes})


def weighted_rows(rows: StreamedRows, frame: pd.DataFrame) -> RowBlock:
    """Return the rows of a sample that have positive weight, as arrays."""
    block = rows.reader.rows(frame)
    if block is None or not block.weights.any():
        raise InputError(
            "a sample of the rows has none with a response and a positive weight: foresee a data "
            "frame of such rows"
        )
    at = np.flatnonzero(block.weights > 0)
    return block if len(at) == len(block.y) else _rows_at(block, at)


def first_rows(block: RowBlock, m: int) -> RowBlock:
    """Return the first m rows."""
    return block if m >= len(block.y) else _rows_at(block, np.arange(m))


def _rows_at(block: RowBlock, at: NDArray[np.int64]) -> RowBlock:
    return RowBlock(block.numbers[at], with_rows(block.X, at), block.y[at], block.weights[at])


def array_seconds(rows: StreamedRows, frame: pd.DataFrame) -> float:
    """Return the seconds that it takes to make arrays of a row of a block, as each pass does."""
    some = frame[:ROWS_PER_BLOCK]
    rows.reader.rows(some[:WARM])
    began = perf_counter()
    found = rows.reader.rows(some)
    if found is not None:
        checked_sum(found)
    return (perf_counter() - began) / len(some)


def _grown(
    rows: StreamedRows,
    control: Control,
    sample: RowBlock,
    size: int,
    number: int,
    jobs: int,
    advance: Callable[[], object] = int,
) -> _SampledTrees:
    """Grow the first trees on random rows of the sample, each on as many as `size` says."""
    recipe = Recipe(rows.design.feature_groups, control.settings, control.mixture, control.honest)
    rng = np.random.default_rng(control.seed)
    draws = [rng.permutation(len(sample.y))[:size] for _ in range(number)]
    states = streams(control.seed, 0, number)

    def taken(t: int) -> TreeRows:
        at = draws[t]
        return TreeRows(with_rows(sample.X, at), sample.y[at], sample.weights[at])

    began, trees = perf_counter(), []
    grow = partial(_on_taken, taken, recipe, states, jobs)
    for tree in in_order(grow, range(number), jobs, sample.X.size):
        trees.append(tree)
        advance()
    of_one = (perf_counter() - began) / ceil(number / jobs)
    return _SampledTrees(trees, taken(0), of_one / jobs)


def _on_taken(
    taken: Callable[[int], TreeRows],
    recipe: Recipe,
    states: NDArray[np.uint64],
    jobs: int,
    t: int,
) -> Forest:
    return grown_apart(taken(t), recipe, states[t], jobs)


def _gathering_seconds(block: RowBlock, control: Control) -> float:
    """Return the seconds that one tree takes to draw of one row that passes by."""
    number = min(JUDGES, control.n_trees)
    draw = HashedDraw(draw_keys(control.seed, 0, number), control.sample_fraction)
    drawn_rows(first_rows(block, WARM), draw, control.n_jobs)
    began = perf_counter()
    drawn_rows(block, draw, control.n_jobs)
    return (perf_counter() - began) / number / len(block.y)


def _judging_seconds(
    rows: StreamedRows, control: Control, block: RowBlock, trees: list[Forest]
) -> _Judging:
    """Let the pilot trees, several times if they are few, judge a block."""
    number = min(control.n_trees, JUDGES)
    forest = joined((trees[t % len(trees)] for t in range(number)), number)
    draw = HashedDraw(draw_keys(control.seed, 0, number), control.sample_fraction)
    scale = leaf_scale(rows.n, rows.span, rows.heaviest, forest.value.shape[1] > 1)
    judging = Judging(forest, rows.reader, draw, scale)
    began = perf_counter()
    forest.packed_for(block.X)
    once = perf_counter() - began
    judged_block(judging, first_rows(block, WARM), control.n_jobs, judging.no_sums())
    leaf_sums, began = judging.no_sums(), perf_counter()
    judged = judged_block(judging, block, control.n_jobs, leaf_sums)
    of_block = perf_counter() - began
    began = perf_counter()
    total_of_blocks([judged], judging, leaf_sums)
    once += perf_counter() - began
    return _Judging(of_block / number / len(block.y), once / number)


def _growing_bytes(
    rows: StreamedRows, control: Control, pilots: _SampledTrees, tree: _DrawnTree
) -> float:
    """Return the bytes of a thread that grows trees, beside their rows."""
    found = bytes_of_growth(
        pilots.rows.X, rows.design.feature_groups, Sampling(ALL_ROWS, 1.0, control.honest),
        control.settings, control.mixture, 1, 2 * tree.splits + 1, tree.terms,
    )  # fmt: skip
    return (found.rows + found.scratch) * tree.n_rows / len(pilots.rows.y) + found.buffers


def _saved_share(rows: StreamedRows, control: Control, trees: list[Forest]) -> float:
    """Return the bytes in a file for each byte of trees."""
    size = np.cumsum([tree.nbytes for tree in trees])
    few = joined(trees[: max(1, int((size <= COMPRESSED_BYTES).sum()))], len(trees))
    root = joined([root_of(trees[0])], 1)
    saved = [saved_bytes(_fit_of(each, rows, control), False) for each in (few, root)]
    return max(0, saved[0] - saved[1]) / few.nbytes


def _fit_of(trees: Forest, rows: StreamedRows, control: Control) -> Fit:
    """Return a fit of a few trees, to see how large its file is."""
    data = WithheldData(
        rows.n, rows.n_dropped, rows.missing_columns, rows.empty_cells, rows.reader.factors,
        rows.reader.unit, STREAMED,
    )  # fmt: skip
    tree_streams = streams(control.seed, 0, trees.n_trees)
    request = request_of(dict.fromkeys(NAMES))
    return Fit("", rows.design, data, control, trees, tree_streams, request)


def _notes(control: Control, passes: int, available: int, n_drawn: int) -> tuple[str, ...]:
    times = "once" if passes == 1 else f"{passes} times"
    notes = [f"Rows of trees are gathered from all chunks {times}, and judged once."]
    if n_drawn > available:
        notes.append(
            f"A tree draws {n_drawn:,} rows; its time and size follow from those of trees on "
            f"{available:,} rows."
        )
    if control.alpha is not None:
        notes.append("Pruning by alpha= is not counted.")
    return tuple(notes)
