"""Growing a forest on rows in chunks: passes that gather the rows of trees, and one that judges."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from odrf.design.chunks import StreamedRows
from odrf.design.design import STREAMED, NoData
from odrf.engine.chunks import Gathering, HashedDraw, Recipe, draw_keys, grown_apart, growth_bytes
from odrf.engine.compiling import compiled_at_ease
from odrf.engine.growth.tree_builder import growth_kernel
from odrf.engine.memory import available_memory, require_memory
from odrf.engine.numeric import streams
from odrf.engine.running import in_order
from odrf.engine.trees.forest import Forest, joined
from odrf.errors import InputError
from odrf.fits.fit import Fit
from odrf.fits.pruned import pruned_at
from odrf.fits.streamed.judging_blocks import judged_by_blocks
from odrf.fits.streamed.streamed_fit import RowSums, StreamedFit
from odrf.options.blend import require_objective
from odrf.options.chunks import share_of_rows, streamed_request
from odrf.options.criteria import require_split_scale
from odrf.options.request import Request
from odrf.options.sizes import RuleFunction
from odrf.options.tree import Control, resolve
from odrf.public.progress import progress_bar

__all__ = [
    "HERE",
    "Passes",
    "TreeBytes",
    "abreast",
    "checked_control",
    "control_of",
    "grow_streamed",
    "require_rows",
    "settled_request",
    "tree_bytes",
]

# Bytes of a response and a weight.
PER_ROW = 16.0
# Options that are settled even if they are no functions.
KNOWN = ("seed", "n_jobs", "split_scale")
# Where the system does not tell what is free.
UNKNOWN = 4e9


class Passes(NamedTuple):
    """The passes over the rows that grow and judge a forest.

    Attributes
    ----------
    trees : callable
        Takes rows, control, draw, and what is called after each tree; yields the trees in their
        order.
    judged : callable
        Takes fit, rows, draw, and what is told the rows that are judged; returns the sums of all.
    """

    trees: Callable[[StreamedRows, Control, HashedDraw, Callable[[], object]], Iterator[Forest]]
    judged: Callable[[Fit, StreamedRows, HashedDraw, Callable[[int], object]], RowSums]


def grow_streamed(
    call: str,
    rows: StreamedRows,
    request: Request,
    passes: Passes,
    progress: bool = False,
) -> StreamedFit:
    """Resolve the request, grow the trees, and judge them by the rows that they did not draw.

    Parameters
    ----------
    call : str
        The call as text, for summaries.
    rows : StreamedRows
    request : Request
    passes : Passes
        Where and how trees are grown and judged; the fit does not depend on it.
    progress : bool, default False
        Show a progress bar of the trees, and one of the rows that judge them.

    Raises
    ------
    InputError
        An option is invalid, or needs all rows at once; a tree draws no row.
    MemoryError
        One tree with its rows takes more memory than there is.
    """
    asked = streamed_request(request)
    control = checked_control(asked, rows)
    draw = HashedDraw(draw_keys(control.seed, 0, control.n_trees), control.sample_fraction)
    with (
        progress_bar(total=control.n_trees, unit="tree", progress=progress) as bar,
        compiled_at_ease(growth_kernel(control.settings)),
    ):
        forest = joined(passes.trees(rows, control, draw, bar.update), control.n_trees)
    data = NoData(
        rows.n, rows.n_dropped, rows.missing_columns, rows.empty_cells, rows.reader.factors,
        rows.reader.unit,
        STREAMED,
    )  # fmt: skip
    tree_streams = streams(control.seed, 0, control.n_trees)
    fit = StreamedFit(
        call, rows.design, data, control, forest, tree_streams, settled_request(asked, control)
    )
    if control.alpha is not None:
        pruned = pruned_at(fit, control.alpha, control.pruning, "")
        fit = replace(fit, forest=pruned.forest, pruning=pruned.pruning, control=pruned.control)
    with progress_bar(total=rows.n, unit="row", progress=progress) as bar:
        return replace(fit, sums=passes.judged(fit, rows, draw, bar.update))


def checked_control(asked: Request, rows: StreamedRows) -> Control:
    """Return the options of a forest, as `streamed_request` returns them, resolved and checked.

    Raises
    ------
    InputError
        An option is invalid, or a tree would draw all rows.
    """
    classification = rows.design.response.kind == "classification"
    require_objective(asked.objective, classification, False)
    require_split_scale(asked.split_scale, rows.design.response.kind, False)
    control = control_of(asked, rows)
    if control.sample_fraction == 1:
        raise InputError(
            "sample_fraction=1 with rows in chunks: a tree would have all rows in memory, and none "
            "would judge it: use a smaller share, or odt() for one tree of all rows"
        )
    return control


def control_of(request: Request, rows: StreamedRows) -> Control:
    """Return the options of a request, resolved for rows in chunks."""
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


def settled_request(request: Request, control: Control) -> Request:
    """Return the request with functions replaced by what they gave; see `odrf.fits.growing`."""
    functions = {
        name: RuleFunction(name, value)
        for name in ("max_leaves", "alpha", "sample_fraction")
        if callable(value := getattr(request, name)) and value is not share_of_rows
    }
    found: dict[str, Any] = {
        name: getattr(control, name)
        for name in ("max_leaves", "alpha", "sample_fraction", "seed", "n_jobs", "split_scale")
        if name in KNOWN or callable(getattr(request, name))
    }
    return replace(request, functions=functions, **found)


def _trees(
    rows: StreamedRows, control: Control, draw: HashedDraw, advance: Callable[[], object]
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


def abreast(rows: StreamedRows, control: Control) -> tuple[int, int]:
    """Return the trees whose rows are gathered in one pass, and those that grow at the same time.

    The rows of the former and the growth of the latter take at most half of the memory that is
    free, or what the chunks allow.  The trees do not depend on it.

    Raises
    ------
    MemoryError
        One tree takes more than is free.
    """
    drawn, of_rows, of_growth = tree_bytes(rows, control)
    require_memory(
        of_rows + of_growth,
        f"growing a tree of {drawn:.0f} rows",
        "use a smaller sample_fraction=",
    )
    free = available_memory()
    budget = rows.source.memory or (free / 2 if math.isfinite(free) else UNKNOWN)
    n_jobs = max(1, min(control.n_jobs, control.n_trees, int(budget / (of_rows + of_growth))))
    left = budget - n_jobs * of_growth
    return max(n_jobs, min(control.n_trees, int(left / of_rows))), n_jobs


class TreeBytes(NamedTuple):
    """What a tree takes.

    Attributes
    ----------
    n_rows : float
        The rows that it draws, on average.
    of_rows, of_growth : float
        Bytes of the rows that are drawn, and beside them while the tree grows.
    """

    n_rows: float
    of_rows: float
    of_growth: float


def tree_bytes(rows: StreamedRows, control: Control) -> TreeBytes:
    """Return what a tree takes."""
    drawn = control.sample_fraction * rows.n_positive
    of_rows = drawn * (4.0 * rows.design.n_terms + PER_ROW)
    # the pieces of a tree's rows are there until they are joined
    of_growth = growth_bytes(drawn, rows.design.n_terms, control.n_classes) + of_rows
    return TreeBytes(drawn, of_rows, of_growth)


def require_rows(n: int, tree: int) -> None:
    """Raise `InputError` if a tree draws no row."""
    if n == 0:
        raise InputError(
            f"tree {tree} draws no row: use a larger sample_fraction=, or a data frame in memory "
            "for so few rows"
        )


HERE = Passes(_trees, judged_by_blocks)
"""In threads of this process."""
