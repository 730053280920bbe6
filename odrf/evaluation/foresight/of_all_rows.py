"""What one tree of all rows in chunks will take: the same fit on three sizes of a sample."""

from __future__ import annotations

from dataclasses import replace
from time import perf_counter
from typing import NamedTuple

import numpy as np
import pandas as pd

from odrf.design.streamed.blocks import ChunkBlocks
from odrf.design.streamed.streamed_rows import StreamedRows
from odrf.engine.growth.growth_bytes import bytes_of_growth
from odrf.engine.memory import in_bytes
from odrf.engine.rows.sampling import ALL_ROWS, Sampling
from odrf.engine.streamed.gathering import RowBlock
from odrf.engine.trees.packing import HEAD
from odrf.evaluation.foresight.forecast import Bytes, Forecast
from odrf.evaluation.foresight.of_forests import OF_TERM, WARM, WORD, root_of
from odrf.evaluation.foresight.of_streamed import READING, weighted_rows
from odrf.evaluation.foresight.pilot_rows import OF_SIZES, OF_TIME, at_all_rows, pilot_rows
from odrf.evaluation.foresight.sampled_blocks import SampledBlocks
from odrf.fits.all_rows.all_rows_fit import AllRowsFit
from odrf.fits.all_rows.growing_all_rows import grow_all_rows
from odrf.fits.all_rows.growing_below import PER_ROW, branches_of_passes, rows_that_fit
from odrf.fits.all_rows.growing_levels import GrownCrown, LowerBranch
from odrf.fits.files.costs import bytes_in_memory
from odrf.fits.saving import saved_bytes
from odrf.fits.streamed.growing_streamed import control_of
from odrf.options.all_rows_options import checked_tree_request, share_judging
from odrf.options.control import Control
from odrf.options.request import Request
from odrf.public.chunks import Chunks
from odrf.public.progress import progress_bar

__all__ = ["at_all_by_line", "forecast_of_all_rows"]


class _SampledTree(NamedTuple):
    """The tree of some rows; its upper nodes and their seconds, and those of all else."""

    fit: AllRowsFit
    crown: GrownCrown | None
    of_crown: float
    seconds: float

    @property
    def splits(self) -> int:
        """Splits of the tree before it is pruned."""
        return (self.fit.forest.n_nodes - 1) // 2


def forecast_of_all_rows(
    rows: StreamedRows,
    request: Request,
    seen: SampledBlocks,
    seconds: float,
    progress: bool = False,
) -> Forecast:
    """Return what a tree of all rows will take, whose design took so many `seconds` to learn.

    `seen` has been the source of the rows; `progress` shows a bar of the pilot trees.
    """
    asked = checked_tree_request(request)
    control = control_of(asked, rows)
    asked = replace(asked, seed=control.seed)
    most = rows_that_fit(rows.design.n_terms, control.n_classes)
    frame, n = seen.sample(), rows.n
    sizes = sorted({min(size, len(frame)) for size in pilot_rows(n, 1, 1)})
    _grown(rows, frame[:WARM], asked, most)
    pilots = []
    with progress_bar(total=len(sizes), unit="tree", progress=progress) as bar:
        for size in sizes:
            # nodes have the same share of the rows as in the fit when they grow in memory
            of_share = most if rows.n_positive <= most else max(1, round(most * size / n))
            pilots.append(_grown(rows, frame[:size], asked, of_share))
            bar.update()
    last = pilots[-1]

    def at_n(values: list[float], slopes: tuple[float, float] = OF_SIZES) -> float:
        return at_all_rows(sizes, values, n, slopes)

    splits = at_n([float(each.splits) for each in pilots])
    terms = len(last.fit.forest.index) / max(1, last.splits) * splits
    fitted = at_n([float(bytes_in_memory(each.fit)) for each in pilots])
    of_tree = last.fit.forest.nbytes / max(1, last.splits) * splits
    root = saved_bytes(replace(last.fit, forest=root_of(last.fit.forest), pruning=None), False)
    saved = root + at_n([max(0.0, saved_bytes(each.fit, False) - root) for each in pilots])
    block = weighted_rows(rows, frame[: sizes[-1]])
    levels = 0 if last.crown is None else last.crown.levels
    return Forecast(
        {
            READING: Bytes(seen.resident),
            **_growing(rows, control, block, last, 2 * splits + 1, terms),
            "trees": Bytes(max(fitted, 2 * of_tree), fitted, saved),
        },
        seconds
        + seen.reading
        + at_all_by_line(sizes, [each.of_crown for each in pilots], n)
        + at_n([each.seconds for each in pilots], OF_TIME),
        HEAD * WORD * splits + OF_TERM * terms,
        0.0,
        1,
        at_n([float(each.fit.forest.leaves()[0]) for each in pilots]),
        f"the tree of {', '.join(f'{size:,}' for size in sizes)} rows",
        _notes(levels, rows, control),
    )


def _grown(rows: StreamedRows, frame: pd.DataFrame, request: Request, most: int) -> _SampledTree:
    """Return the tree of a sample, of which nodes of `most` rows grow in memory."""
    block = rows.reader.rows(frame)
    n = 0 if block is None else len(block.y)
    positive = 0 if block is None else int((block.weights > 0).sum())
    source = ChunkBlocks(Chunks(frame, rows.source.memory))
    some = replace(rows, source=source, n=n, n_positive=positive, _sums={})
    crowns, ends, began = [], [], perf_counter()

    def crowned(crown: GrownCrown) -> None:
        crowns.append(crown)
        ends.append(perf_counter())

    fit = grow_all_rows("", some, request, False, most, crowned)
    end = perf_counter()
    if not crowns:
        return _SampledTree(fit, None, 0.0, end - began)
    return _SampledTree(fit, crowns[0], ends[0] - began, end - ends[0])


def _growing(
    rows: StreamedRows,
    control: Control,
    block: RowBlock,
    pilot: _SampledTree,
    nodes: float,
    terms: float,
) -> dict[str, Bytes]:
    """Return the bytes of the rows in memory, and of growth."""
    of_row = 4.0 * rows.design.n_terms + PER_ROW
    searched = control.alpha_rule.needs_search
    held = rows.n_positive * share_judging(rows.n_positive) if searched else 0.0
    n = rows.n_positive - held
    largest, gathered = n, n
    if pilot.crown is not None:
        larger = n / max(1, sum(branch.n_rows for branch in pilot.crown.branches))
        branches = [
            branch._replace(n_rows=round(branch.n_rows * larger)) for branch in pilot.crown.branches
        ]
        largest, gathered = _in_memory(rows, control, branches)
    found = bytes_of_growth(
        block.X, rows.design.feature_groups, Sampling(ALL_ROWS, 1.0, False), control.settings,
        control.mixture, 1, nodes * largest / n, terms * largest / n,
    )  # fmt: skip
    growth = (found.rows + found.scratch) * largest / len(block.y) + found.buffers
    if pilot.crown is None:  # the blocks are there until they are joined
        growth = max(growth, of_row * n)
    return {
        **({"rows held out": Bytes(held * of_row)} if held else {}),
        "rows in memory": Bytes(gathered * of_row),
        "growth": Bytes(growth),
    }


def _in_memory(
    rows: StreamedRows, control: Control, branches: list[LowerBranch]
) -> tuple[float, float]:
    """Return the rows of the largest branch, and those of all that are in memory at once."""
    found = branches_of_passes(rows.design.n_terms, control.n_classes, branches, rows.source.memory)
    at_once = max((sum(each.n_rows for each in some) for some in found), default=0)
    return float(max((each.n_rows for each in branches), default=0)), float(at_once)


def at_all_by_line(sizes: list[int], seconds: list[float], n: int) -> float:
    """Return what seconds at some numbers of rows are at n rows, by a straight line."""
    if len(sizes) == 1:
        return seconds[0] * n / sizes[0]
    slope, constant = np.polyfit(sizes, seconds, 1)
    return float(max(slope, 0.0) * n + max(constant, 0.0))


def _notes(levels: int, rows: StreamedRows, control: Control) -> tuple[str, ...]:
    notes = []
    if levels:
        size = rows.n_positive * (4 * rows.design.n_terms + 12)
        notes.append(
            f"Nodes of {levels} levels have more rows than grow in memory, and the rows are in a "
            f"temporary file of {in_bytes(size)}; reading it from a slow disk is not counted."
        )
    if control.alpha_rule.needs_search:
        notes.append("How far the tree is pruned is foreseen less well than its growth.")
    return tuple(notes)
