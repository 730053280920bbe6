"""A forest on rows in chunks: grown by passes, evaluated and predicted block by block."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from itertools import count
from operator import add
from os import PathLike
from typing import Any, NamedTuple, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf.checks import is_list
from odrf.design import INDICATORS, Design
from odrf.design.chunks import BlockReader, StreamedRows
from odrf.design.design import RowCounts
from odrf.design.encoding import levels_warned_of
from odrf.engine.chunks import (
    Gathering,
    HashedDraw,
    Recipe,
    RowBlock,
    draw_keys,
    grown_apart,
    growth_bytes,
)
from odrf.engine.compiling import compiled_at_ease
from odrf.engine.factors import layout_of, stored
from odrf.engine.growth.tree_kernel import grow_tree
from odrf.engine.memory import available_memory, require_memory
from odrf.engine.numeric import streams
from odrf.engine.oob import (
    LeafScale,
    OutOfBag,
    add_to_leaves,
    leaf_scale,
    predict_out_of_bag,
)
from odrf.engine.running import in_order
from odrf.engine.trees.forest import Forest, joined, predicted_classes
from odrf.errors import InputError, installing, nearest
from odrf.fits.files.saving import replacing
from odrf.fits.fit import Fit, RowSums, StreamedFit
from odrf.fits.pruning import pruned_at
from odrf.options.blend import require_objective
from odrf.options.chunks import share_of_rows, streamed_request
from odrf.options.criteria import require_split_scale
from odrf.options.options import Options
from odrf.options.sizes import RuleFunction
from odrf.options.tree import ResolvedOptions, resolve
from odrf.public.chunks import Chunks, known_rows
from odrf.public.progress import progress_bar
from odrf.statistics.importance import importance_of_sums

# What a block adds is computed from the block alone (`evaluated_block`), so that it can be done
# anywhere, and is added up in the order of the blocks (`total_of_blocks`).

# What a probability of 0 counts as in the log loss.
LEAST = 2.0**-52


class BlockSums(NamedTuple):
    """The sums of a block of rows: of errors by the number of trees, out of bag, and of responses.

    `path` (B, 2), `confusion` (K, K), `columns` (p,), `classes` (K,).  `evaluated`: the weight of
    the `n_evaluated` rows.  `squares`: squares of responses around their `mean`.
    """

    path: NDArray[np.float64]
    n_evaluated: int
    evaluated: float
    log_loss: float
    brier: float
    confusion: NDArray[np.float64]
    weight: float
    mean: float
    squares: float
    columns: NDArray[np.float64]
    classes: NDArray[np.float64]


class Validation(NamedTuple):
    """What evaluates a block: trees, their draws, the scale of leaves.  It can be pickled."""

    forest: Forest
    reader: BlockReader
    draw: HashedDraw
    scale: LeafScale

    def no_sums(self) -> NDArray[np.int64]:
        """Return sums (m, K + 1) of the leaves before any row is added."""
        return np.zeros((self.forest.n_nodes, self.forest.value.shape[1] + 1), dtype=np.int64)


def validation_of(fit: Fit, rows: StreamedRows, draw: HashedDraw) -> Validation:
    """Return what evaluates the blocks of these rows."""
    scale = leaf_scale(rows.n, rows.span, rows.heaviest, fit.forest.value.shape[1] > 1)
    return Validation(fit.forest, rows.reader, draw, scale)


def evaluated_by_blocks(
    fit: Fit, rows: StreamedRows, draw: HashedDraw, advance: Callable[[int], object]
) -> RowSums:
    """Predict each row by the trees that did not sample it; sum up the losses, and the columns."""
    evaluating = validation_of(fit, rows, draw)
    leaf_sums = evaluating.no_sums()

    def evaluated() -> Iterator[BlockSums]:
        for block in rows.blocks():
            yield evaluated_block(evaluating, block, fit.control.n_jobs, leaf_sums)
            advance(len(block.y))

    return total_of_blocks(evaluated(), evaluating, leaf_sums)


def evaluated_block(
    evaluating: Validation, block: RowBlock, n_jobs: int, leaf_sums: NDArray[np.int64]
) -> BlockSums:
    """Return the sums of one block; those of its leaves are added to `leaf_sums` (m, K + 1)."""
    forest, draw, scale = evaluating.forest, evaluating.draw, evaluating.scale
    m, K = len(block.y), forest.value.shape[1]
    out_of_bag = ~draw.drawn(block.numbers, block.weights, n_jobs)
    predicted = OutOfBag(np.zeros((m, K)), np.zeros(m, dtype=np.int64), np.empty(0))

    def see(begin: int, leaves: NDArray[np.int32]) -> None:
        add_to_leaves(leaves, out_of_bag, begin, block.y, block.weights, K > 1, scale, leaf_sums)

    path = predict_out_of_bag(
        forest, block.X, block.y, block.weights, out_of_bag, n_jobs, predicted, see
    )
    known = (predicted.votes > 0) & (block.weights > 0)
    weight = float(block.weights.sum())
    # not by BLAS, whose sums may depend on the number of its threads
    mean = float((block.weights * block.y).sum()) / weight if weight else 0.0
    squares = float((block.weights * (block.y - mean) ** 2).sum())
    scores = 0.0, 0.0, 0.0, np.zeros((K, K))
    if K > 1:
        codes, weights = block.y[known].astype(np.int64), block.weights[known]
        scores = _scores(codes, weights, predicted.value[known], bool(forest.ordered))
    columns, classes = column_sums(evaluating.reader.design, block), np.array([weight])
    if K > 1:
        classes = np.bincount(block.y.astype(np.int64), block.weights, K).astype(np.float64)
    return BlockSums(path, int(known.sum()), *scores, weight, mean, squares, columns, classes)


def _scores(
    codes: NDArray[np.int64],
    weights: NDArray[np.float64],
    shares: NDArray[np.float64],
    ordered: bool,
) -> tuple[float, float, float, NDArray[np.float64]]:
    """Return weight, log loss, Brier score and confusion of class probabilities (m, K), summed."""
    K = shares.shape[1]
    cell = codes * K + predicted_classes(shares, ordered)
    confusion = np.bincount(cell, weights, K * K).reshape(K, K).astype(np.float64)
    of_class = shares[np.arange(len(codes)), codes]
    log_loss = -float((weights * np.log(np.maximum(of_class, LEAST))).sum())
    brier = float((weights * ((shares**2).sum(axis=1) - 2 * of_class + 1)).sum())
    return float(weights.sum()), log_loss, brier, confusion


def column_sums(design: Design, block: RowBlock) -> NDArray[np.float64]:
    """Return the weighted sums (p,) of the columns that hold numbers, 0 for indicators."""
    numbers = np.flatnonzero(np.repeat(design.types != INDICATORS, np.diff(design.first)))
    layout = layout_of(block.X)
    rows = numbers if layout is None else layout.place[numbers]
    sums = np.zeros(len(design.columns))
    for column, row in zip(numbers, rows, strict=True):
        sums[column] = (stored(block.X)[row] * block.weights).sum()
    return sums


def total_of_blocks(
    blocks: Iterable[BlockSums], evaluating: Validation, leaf_sums: NDArray[np.int64]
) -> RowSums:
    """Return the means over all blocks, of which there is one at least, added in their order.

    Means and squares of the response are put together as Chan, Golub and LeVeque (1983) do.
    """
    blocks = iter(blocks)
    total = next(blocks)
    for block in blocks:
        weight = total.weight + block.weight
        share, off = (block.weight / weight if weight else 0.0), block.mean - total.mean
        mean = total.mean + off * share
        squares = total.squares + block.squares + off**2 * total.weight * share
        total = BlockSums(*map(add, total, block))._replace(mean=mean, squares=squares)
    classes = len(total.confusion) > 1
    with np.errstate(invalid="ignore", divide="ignore"):
        error_path = total.path[:, 0] / total.path[:, 1]
        means = np.array([total.log_loss, total.brier]) / np.float64(total.evaluated)
    reader = evaluating.reader
    means_of_response = total.classes / total.weight if classes else np.array([total.mean])
    return RowSums(
        error_path=error_path,
        n_evaluated=total.n_evaluated,
        variance=np.nan if classes else total.squares / total.weight,
        log_loss=float(means[0]) if classes else np.nan,
        brier=float(means[1]) if classes else np.nan,
        confusion=total.confusion * reader.unit if classes else None,
        column_means=total.columns / total.weight,
        importance=importance_of_sums(
            evaluating.forest, leaf_sums, evaluating.scale, means_of_response, reader.design.first
        ),
    )


# Bytes of a response and a weight.
PER_ROW = 16.0
# Options that are settled even if they are no functions.
KNOWN = ("seed", "n_jobs", "split_scale")
# Where the system does not report free memory.
UNKNOWN = 4e9


class Passes(NamedTuple):
    """The passes over the rows that grow the trees of a forest, in their order, and evaluate them.

    `trees` takes rows, control, draw, and what is called after each tree; `evaluated` takes fit,
    rows, draw, and what is called with numbers of rows done.
    """

    trees: Callable[
        [StreamedRows, ResolvedOptions, HashedDraw, Callable[[], object]], Iterator[Forest]
    ]
    evaluated: Callable[[Fit, StreamedRows, HashedDraw, Callable[[int], object]], RowSums]


def grow_streamed(
    call: str, rows: StreamedRows, request: Options, passes: Passes, progress: bool = False
) -> StreamedFit:
    """Resolve the options of a call, grow the trees, and evaluate them by their out-of-bag rows.

    `passes` say where this is done; the fit does not depend on it.  Raises `InputError` if an
    option is invalid or needs all rows at once, or a tree samples no row, and `MemoryError` if one
    takes too much.
    """
    request = streamed_request(request)
    control = checked_control(request, rows)
    draw = HashedDraw(draw_keys(control.seed, 0, control.n_trees), control.sample_fraction)
    with (
        progress_bar(total=control.n_trees, unit="tree", progress=progress) as bar,
        compiled_at_ease(grow_tree),
    ):
        forest = joined(passes.trees(rows, control, draw, bar.update), control.n_trees)
    training = RowCounts(
        rows.n, rows.n_dropped, rows.missing_columns, rows.empty_cells, rows.reader.factors,
        rows.reader.unit,
    )  # fmt: skip
    tree_streams = streams(control.seed, 0, control.n_trees)
    fit = StreamedFit(
        call,
        rows.design,
        training,
        control,
        forest,
        tree_streams,
        settled_request(request, control),
    )
    if control.alpha is not None:
        pruned = pruned_at(fit, control.alpha, control.pruning, "")
        fit = replace(fit, forest=pruned.forest, pruning=pruned.pruning, control=pruned.control)
    with progress_bar(total=rows.n, unit="row", progress=progress) as bar:
        return replace(fit, sums=passes.evaluated(fit, rows, draw, bar.update))


def checked_control(request: Options, rows: StreamedRows) -> ResolvedOptions:
    """Return the options of `streamed_request`, resolved; a tree may not draw all rows."""
    classification = rows.design.response.kind == "classification"
    require_objective(request.objective, classification, False)
    require_split_scale(request.split_scale, rows.design.response.kind, False)
    control = control_of(request, rows)
    if control.sample_fraction == 1:
        raise InputError(
            "sample_fraction=1 with rows in chunks: a tree would have all rows in memory, and none "
            "would evaluate it: use a smaller share, or odt() for one tree of all rows"
        )
    return control


def control_of(request: Options, rows: StreamedRows) -> ResolvedOptions:
    """Return the options of a call, resolved for rows in chunks."""
    design = rows.design
    return resolve(
        request,
        kind=design.response.kind,
        n=rows.n,
        P=len(design.predictors),
        p=len(design.columns),
        n_classes=design.response.n_classes,
        ordinal=design.response.ordinal,
        ranges=design.scaling.range,
        grid=design.grid,
        terms=design.n_terms,
        empty=design.of_empty_cells,
    )


def settled_request(request: Options, control: ResolvedOptions) -> Options:
    """Return the options with functions replaced by their values; see `odrf.fits.growing`."""
    functions = {
        name: RuleFunction(name, value)
        for name in ("max_leaves", "alpha", "sample_fraction")
        if callable(value := getattr(request, name)) and value is not share_of_rows
    }
    settled: dict[str, Any] = {
        name: getattr(control, name)
        for name in ("max_leaves", "alpha", "sample_fraction", "seed", "n_jobs", "split_scale")
        if name in KNOWN or callable(getattr(request, name))
    }
    return replace(request, functions=functions, **settled)


def _trees(
    rows: StreamedRows, control: ResolvedOptions, draw: HashedDraw, advance: Callable[[], object]
) -> Iterator[Forest]:
    """Yield the trees in their order, those of a pass after the other."""
    recipe = Recipe(rows.design.feature_groups, control.settings, control.mixture, control.honest)
    at_once, n_jobs = abreast(rows, control)
    for first in range(0, control.n_trees, at_once):
        last = min(first + at_once, control.n_trees)
        gathering = Gathering(draw.of_trees(first, last), control.n_jobs)
        for block in rows.blocks():
            gathering.add(block)
        for t in range(last - first):
            require_rows(gathering.n_rows(t), first + t)
        grow = partial(_grown, gathering, recipe, streams(control.seed, first, last), n_jobs)
        size = int(control.sample_fraction * rows.n) * rows.design.n_terms
        for tree in in_order(grow, range(last - first), n_jobs, size):
            yield tree
            advance()


def _grown(
    gathering: Gathering, recipe: Recipe, states: NDArray[np.uint64], n_jobs: int, t: int
) -> Forest:
    return grown_apart(gathering.take(t), recipe, states[t], n_jobs)


def abreast(rows: StreamedRows, control: ResolvedOptions) -> tuple[int, int]:
    """Return the trees whose rows are gathered in one pass, and those that grow at the same time.

    Both take at most half of the memory that is free, or the limit of the chunks.
    """
    drawn, of_rows, of_growth = tree_bytes(rows, control)
    require_memory(
        of_rows + of_growth, f"growing a tree of {drawn:.0f} rows", "use a smaller sample_fraction="
    )
    free = available_memory()
    budget = rows.source.memory or (free / 2 if math.isfinite(free) else UNKNOWN)
    n_jobs = max(1, min(control.n_jobs, control.n_trees, int(budget / (of_rows + of_growth))))
    left = budget - n_jobs * of_growth
    return max(n_jobs, min(control.n_trees, int(left / of_rows))), n_jobs


class TreeBytes(NamedTuple):
    """The memory of a tree: rows drawn on average, bytes of these, and bytes of growth."""

    n_rows: float
    of_rows: float
    of_growth: float


def tree_bytes(rows: StreamedRows, control: ResolvedOptions) -> TreeBytes:
    """Return the memory of a tree."""
    drawn = control.sample_fraction * rows.n_positive
    of_rows = drawn * (4.0 * rows.design.n_terms + PER_ROW)
    # the pieces of a tree's rows are there until they are joined
    of_growth = growth_bytes(drawn, rows.design.n_terms, control.n_classes) + of_rows
    return TreeBytes(drawn, of_rows, of_growth)


def require_rows(n: int, tree: int) -> None:
    """Raise `InputError` if a tree samples no row."""
    if n == 0:
        raise InputError(
            f"tree {tree} samples no row: use a larger sample_fraction=, or a data frame in memory "
            "for so few rows"
        )


HERE = Passes(_trees, evaluated_by_blocks)
"""In threads of this process."""


Result = TypeVar("Result")
# The column of predictions beside the response itself, as `predict_to_parquet` writes them.
PREDICTION = "prediction"


def chunks_predicted(
    predict: Callable[[pd.DataFrame], pd.Series | pd.DataFrame],
    columns: Iterable[str],
    chunks: Chunks,
    kept: Sequence[str] = (),
    progress: bool = False,
) -> Iterator[tuple[pd.DataFrame, pd.Series | pd.DataFrame]]:
    """Yield the `kept` columns of each chunk, and what `predict`, which needs `columns`, gives.

    Warns of levels that no training row has, of each level once, not in each chunk.
    """
    names = chunks.columns()
    needed = {*columns, *kept}
    absent = [name for name in kept if name not in names]
    if absent:
        raise InputError(
            f"keep= names {absent[0]!r}, which is not a column of the chunks"
            f"{nearest(absent[0], names)}"
        )
    # a column that predictions need and chunks lack is refused when the rows are read
    frames = chunks.frames([name for name in names if name in needed])
    warned: set[tuple[str, Any]] = set()
    total = known_rows(chunks) if progress else None
    with progress_bar(total=total, unit="row", progress=progress) as bar:
        for frame in frames:
            with levels_warned_of(warned):
                predicted = predict(frame)
            yield frame[list(kept)], predicted
            bar.update(len(frame))


def predictions_to_parquet(
    predict: Callable[[pd.DataFrame], pd.Series | pd.DataFrame],
    columns: Iterable[str],
    chunks: Chunks,
    path: str | PathLike[str],
    keep: Any,
    progress: bool,
) -> int:
    """Write the predictions of all chunks to a file of Parquet; return the number of rows."""
    try:
        import pyarrow.parquet  # noqa: PLC0415  # optional
    except ImportError:
        raise InputError(
            f"files of Parquet need pyarrow: install it with {installing('parquet')}"
        ) from None
    if not is_list(keep) or not all(isinstance(name, str) for name in keep):
        raise InputError(f"keep={keep!r}: use a list of names of columns")
    if len(set(keep)) < len(keep):
        raise InputError(f"keep={list(keep)!r} names a column twice: name each once")
    n, writer = 0, None
    with replacing(path) as file, ExitStack() as opened:
        for kept, predicted in _read(
            chunks_predicted(predict, columns, chunks, list(keep), progress)
        ):
            frame = _table(kept, predicted)
            try:
                table = pyarrow.Table.from_pandas(frame, preserve_index=False)
                if writer is None:
                    writer = pyarrow.parquet.ParquetWriter(file, table.schema)
                    opened.enter_context(writer)
                writer.write_table(table.cast(writer.schema))
            except (pyarrow.ArrowException, ValueError) as error:
                raise InputError(
                    f"columns of keep={list(keep)!r} do not have one type in all chunks, as a file "
                    f"of Parquet needs: convert them in each chunk, or leave them out ({error})"
                ) from error
            n += len(kept)
    return n


def _read(chunks: Iterator[Result]) -> Iterator[Result]:
    """Yield the chunks; an error of reading them is not mistaken for one of writing the file."""
    for number in count(1):
        try:
            of_chunk = next(chunks)
        except StopIteration:
            return
        except OSError as error:
            raise InputError(
                f"chunk {number} of the rows to predict cannot be read "
                f"({error.strerror or error}): nothing was written"
            ) from error
        yield of_chunk


def _table(kept: pd.DataFrame, predicted: pd.Series | pd.DataFrame) -> pd.DataFrame:
    """Return both; predictions called as the response are "prediction" where it is kept."""
    if isinstance(predicted, pd.Series) and predicted.name in kept.columns:
        predicted = predicted.rename(PREDICTION)
    frame = predicted.to_frame() if isinstance(predicted, pd.Series) else predicted
    columns = {str(name): frame[name] for name in frame.columns}
    twice = [name for name in kept.columns if name in columns]
    if twice:
        raise InputError(
            f"keep= names {twice[0]!r}, which is the name of a prediction, too: rename this column "
            "of the rows"
        )
    return pd.concat([kept, pd.DataFrame(columns)], axis=1)
