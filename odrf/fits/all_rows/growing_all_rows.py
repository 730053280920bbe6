"""Growing one tree of all rows in chunks, more of them than memory holds."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from odrf.design.chunks import StreamedRows
from odrf.design.design import STREAMED, NoData
from odrf.engine.all_rows.grafting import grafted
from odrf.engine.chunks import HashedDraw, Recipe, RowBlock, TreeRows, draw_keys, joined_rows
from odrf.engine.compiling import compiled_at_ease
from odrf.engine.factors import Matrix, with_rows
from odrf.engine.growth.tree_builder import growth_kernel
from odrf.engine.numeric import branched, streams
from odrf.engine.splits.impurity import CRITERIA
from odrf.engine.trees.forest import Forest
from odrf.errors import InputError
from odrf.fits.all_rows.all_rows_fit import AllRowsFit
from odrf.fits.all_rows.all_rows_totals import Totals
from odrf.fits.all_rows.growing_below import grow_below, grown_in_memory, rows_that_fit
from odrf.fits.all_rows.growing_levels import (
    OF_SAMPLE,
    GrownCrown,
    grow_crown,
    sample_size,
)
from odrf.fits.all_rows.row_file import row_file
from odrf.fits.chunks import control_of, settled_request
from odrf.fits.pruning import CHOSEN_BY, path_by_arrays, pruned_at
from odrf.options.chunks import (
    checked_tree_request,
    require_streamable,
    share_judging,
)
from odrf.options.criteria import require_split_scale
from odrf.options.options import Options
from odrf.options.tree import ResolvedOptions
from odrf.pruning.complexity import ERROR
from odrf.public.progress import progress_bar

__all__ = ["grow_all_rows"]

# Nodes count their rows in 32 bits.
MOST_ROWS = 2**31 - 1


class _Grown(NamedTuple):
    """A tree, and how many levels of its nodes had more rows than grow in memory."""

    forest: Forest
    levels: int


def grow_all_rows(
    call: str,
    rows: StreamedRows,
    request: Options,
    progress: bool = False,
    rows_in_memory: int | None = None,
    crowned: Callable[[GrownCrown], object] = lambda crown: None,
) -> AllRowsFit:
    """Resolve the request, and grow and prune a tree of all rows.

    Parameters
    ----------
    call : str
        The call as text, for summaries.
    rows : StreamedRows
    request : Options
    progress : bool, default False
        Show a progress bar of the rows whose branches have grown.
    rows_in_memory : int, optional
        Nodes of so many rows grow in memory; by default `rows_that_fit` says how many they are.
    crowned : callable, optional
        Told the nodes of more rows, as soon as they have grown, if there are any.

    Raises
    ------
    InputError
        An option is invalid, or rows in chunks do not allow it; the disk has no room for the rows.
    MemoryError
        A branch that grows in memory takes more than there is.
    """
    asked = checked_tree_request(request)
    require_split_scale(asked.split_scale, rows.design.response.kind, False)
    control = control_of(asked, rows)
    require_streamable(control)
    if rows.n > MOST_ROWS:
        raise InputError(
            f"one tree of {rows.n} rows: it can have {MOST_ROWS}: grow a forest by odrf()"
        )
    tree_streams = streams(control.seed, 0, 1)
    most = rows_in_memory or rows_that_fit(rows.design.n_terms, control.n_classes)
    totals, judging = Totals(rows.design), _HeldOut(rows, control)
    with (
        progress_bar(total=rows.n, unit="row", progress=progress) as bar,
        compiled_at_ease(growth_kernel(control.settings)),
    ):
        blocks = partial(_growing_blocks, rows, judging, totals)
        grown = _grown(rows, control, blocks, totals, tree_streams[0], most, crowned, bar.update)
    data = NoData(
        rows.n, rows.n_dropped, rows.missing_columns, rows.empty_cells, rows.reader.factors,
        rows.reader.unit, STREAMED,
    )  # fmt: skip
    fit = AllRowsFit(
        call, rows.design, data, control, grown.forest, tree_streams,
        settled_request(asked, control), column_means=totals.column_means, levels=grown.levels,
        n_held_out=judging.n,
    )  # fmt: skip
    return _sized(fit, judging)


class _HeldOut:
    """The rows that are held out to choose the size of the tree; none if it is given."""

    def __init__(self, rows: StreamedRows, control: ResolvedOptions) -> None:
        self.n_jobs, self._pieces = control.n_jobs, list[TreeRows]()
        searched = control.alpha_rule.needs_search
        share = share_judging(rows.n_positive) if searched else 0.0
        self._draw = HashedDraw(draw_keys(control.seed, 0, 1), share)

    @property
    def n(self) -> int:
        """How many they are."""
        return sum(len(piece.y) for piece in self._pieces)

    def rest(self, block: RowBlock) -> RowBlock:
        """Keep the rows of a block that are held out; return the others of positive weight."""
        kept = block.weights > 0
        if self._draw.fraction > 0:
            held = self._draw.drawn(block.numbers, block.weights, self.n_jobs)[0]
            at = np.flatnonzero(held)
            self._pieces.append(TreeRows(with_rows(block.X, at), block.y[at], block.weights[at]))
            kept &= ~held
        if kept.all():
            return block
        at = np.flatnonzero(kept)
        return RowBlock(block.numbers[at], with_rows(block.X, at), block.y[at], block.weights[at])

    def rows(self) -> tuple[Matrix, NDArray[np.float64], NDArray[np.float64]]:
        """Return the predictors, the responses and the weights of the rows held out."""
        if self.n == 0:
            raise InputError(
                "alpha= is chosen by rows held out, and of so few rows none is: use a number or "
                "None, or a data frame"
            )
        X, y, weights = joined_rows(self._pieces)
        return X, y, weights


def _growing_blocks(rows: StreamedRows, judging: _HeldOut, totals: Totals) -> Iterator[TreeRows]:
    """Yield the rows that the tree grows on; hold out some, and sum up the others."""
    for block in rows.blocks():
        rest = judging.rest(block)
        totals.add(rest)
        yield TreeRows(rest.X, rest.y, rest.weights)


def _grown(
    rows: StreamedRows,
    control: ResolvedOptions,
    blocks: Callable[[], Iterator[TreeRows]],
    totals: Totals,
    state: NDArray[np.uint64],
    most: int,
    crowned: Callable[[GrownCrown], object],
    advance: Callable[[int], object],
) -> _Grown:
    recipe = Recipe(rows.design.feature_groups, control.settings, control.mixture, False)
    settings, n_jobs = control.settings, control.n_jobs
    if rows.n_positive <= most:
        whole = joined_rows(list(blocks()))
        tree = grown_in_memory(whole, recipe, settings, state, n_jobs)
        advance(len(whole.y))
        return _Grown(tree, 0)
    unit = rows.reader.used.weights is None and rows.reader.factors is None
    size, key = sample_size(recipe), branched(state, OF_SAMPLE)[:1]
    sampling = _Sampling(HashedDraw(key, min(1.0, size / rows.n_positive)), n_jobs)
    passing = blocks()
    first = next(passing)
    with row_file(rows.n_positive, first.X, unit) as file:
        file.write(sampling.seen(chain([first], passing)))
        root, sample = totals.as_root(settings.criterion), joined_rows(sampling.pieces)
        grown = grow_crown(file, recipe, root, sample, state, most, n_jobs)
        crowned(grown)
        crown, branches, levels = grown
        below = grow_below(file, recipe, branches, n_jobs, rows.source.memory, advance)
    ordered = CRITERIA[settings.criterion].ordered
    return _Grown(grafted(crown.as_forest(ordered), below, settings.max_leaves), levels)


class _Sampling:
    """Rows that pass by, and of which a sample is kept by a hash of their place."""

    def __init__(self, draw: HashedDraw, n_jobs: int) -> None:
        self.draw, self.n_jobs, self.pieces, self.n = draw, n_jobs, list[TreeRows](), 0

    def seen(self, blocks: Iterator[TreeRows]) -> Iterator[TreeRows]:
        for block in blocks:
            places = np.arange(self.n, self.n + len(block.y), dtype=np.uint64)
            at = np.flatnonzero(self.draw.drawn(places, block.weights, self.n_jobs)[0])
            self.pieces.append(TreeRows(with_rows(block.X, at), block.y[at], block.weights[at]))
            self.n += len(block.y)
            yield block


def _sized(fit: AllRowsFit, judging: _HeldOut) -> AllRowsFit:
    """Return the tree pruned at the α that is given, or that the rows held out choose."""
    control, path = fit.control, None
    alpha, rule = control.alpha, control.alpha_rule
    if rule.needs_search:
        by = f"{judging.n:,} rows held out"
        path = path_by_arrays(fit, control.pruning, ERROR, *judging.rows(), by)
        alpha, rule = path.alpha(CHOSEN_BY[rule.kind]), rule.found(by)
    if alpha is None:
        return fit
    pruned = pruned_at(fit, alpha, control.pruning, "", path=path)
    control = replace(pruned.control, alpha_rule=rule)
    return replace(fit, forest=pruned.forest, pruning=pruned.pruning, control=control)
