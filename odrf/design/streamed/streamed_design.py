"""The design of rows in chunks, and what is known of the rows when it has been learned."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from patsy import EvalEnvironment

from odrf.checks import checked_choice
from odrf.design.class_weights import BALANCED, class_factors
from odrf.design.columns.frame import learn_schema
from odrf.design.columns.listing import listed
from odrf.design.columns.missing import MISSING, find_missing
from odrf.design.columns.ranked import OwnRanks
from odrf.design.columns.unscaled import Levels
from odrf.design.columns.unseen_levels import UNSEEN
from odrf.design.design import Design
from odrf.design.formulas.formula import Formula, read_formula
from odrf.design.grid import grid_of
from odrf.design.predictors import unranked_predictors
from odrf.design.ranking import ranked_alone
from odrf.design.response import KINDS, read_response, require_variation
from odrf.design.streamed.blocks import in_blocks_of_rows
from odrf.design.streamed.streamed_rows import StreamedRows, UsedRows
from odrf.design.streamed.telling_rows import TellingRows
from odrf.design.variable import training_values
from odrf.design.weights import check_weights, unit_of
from odrf.errors import InputError
from odrf.public.chunks import Chunks
from odrf.public.progress import progress_bar
from odrf.warn import warn_user

__all__ = ["learn_streamed_design"]

CLASSES = "classification"


@dataclass
class _Counts:
    """What is counted of the rows in the first pass."""

    n: int = 0
    n_positive: int = 0
    dropped: int = 0
    largest_weight: float = 0.0
    missing: Counter[str] | None = None
    empty: Counter[str] | None = None


def learn_streamed_design(
    formula: str,
    chunks: Chunks,
    *,
    kind: str,
    missing: str,
    unseen: str,
    weights: str | None,
    class_weights: str | Mapping[Any, float] | None,
    env: EvalEnvironment,
    progress: bool = False,
) -> StreamedRows:
    """Learn the design of rows in chunks; return the rows with it, to be walked again.

    It is the design that `odrf.design.design.build_design` learns from the same rows in one data
    frame, but that no column counts as its ranks, which all its values would be needed for.

    Parameters
    ----------
    formula, kind, missing, unseen, class_weights, env
        As in `build_design`; `missing` is not "median".
    chunks : Chunks
    weights : str, optional
        The column of case weights.
    progress : bool, default False
        Show a progress bar of the blocks of the first pass.

    Raises
    ------
    InputError
        As in `build_design`; a term needs all rows at once; the chunks have not the same columns.

    Warns
    -----
    UserWarning
        A column would count as its ranks if all rows were there.
    """
    checked_choice("kind", kind, KINDS)
    checked_choice("missing", missing, [choice for choice in MISSING if choice != "surrogate"])
    checked_choice("unseen", unseen, UNSEEN)
    if missing == "median":
        raise InputError(
            'missing="median" needs all values of a column at once, which rows in chunks do not '
            'allow: use missing="split", or fill the cells before'
        )
    names = chunks.columns()
    if weights is not None and weights not in names:
        raise InputError(f"weights={weights!r} is not a column of the data")
    aside = [] if weights is None else [weights]
    terms = read_formula(formula, names, env, aside)
    needed = {*terms.columns, *terms.response.columns, *aside}
    columns = tuple(name for name in names if name in needed)
    used = UsedRows(columns, tuple(terms.response.columns), tuple(terms.columns), weights, missing)
    telling = TellingRows(terms, env, weights, kind == CLASSES)
    counts = _Counts(missing=Counter(), empty=Counter())
    first: pd.DataFrame | None = None
    blocks = in_blocks_of_rows(chunks.frames(columns))
    with progress_bar(blocks, unit="block", progress=progress) as bar:
        for block in bar:
            first = block if first is None else first
            _see(block, used, telling, counts)
    if first is None or telling.rows is None or counts.n < 2:
        raise InputError(
            f"data has {counts.n} rows with response and predictors as missing={missing!r} needs "
            "them: at least 2 are needed"
        )
    telling.require_shared_levels()
    if weights is not None:
        check_weights(np.array([counts.largest_weight]))
    design = _design(formula, terms, telling, counts, kind, env)
    design = replace(design, missing=missing, unseen=unseen, weights=weights, grid=grid_of(first))
    _warn_of_ties(design, first)
    unit = unit_of(np.array([counts.largest_weight])) if weights is not None else 1.0
    rows = StreamedRows(
        chunks, design, used, counts.n, counts.n_positive, counts.dropped,
        _sorted(counts.missing), _sorted(counts.empty), unit,
    )  # fmt: skip
    rows = replace(rows, design=_with_means(rows))
    return replace(rows, factors=_factors(class_weights, rows))


def _see(block: pd.DataFrame, used: UsedRows, telling: TellingRows, counts: _Counts) -> None:
    """Count the rows of a block, and keep those that tell."""
    left_out = used.left_out(block)
    frame = left_out.complete_rows(block)
    counts.dropped += left_out.n_incomplete
    assert counts.missing is not None and counts.empty is not None
    counts.missing.update(left_out.counts)
    if len(frame) == 0:
        return
    weights = used.weights_of(frame)
    # that all weights are 0 is no matter in one block
    check_weights(np.append(weights, 1.0))
    counts.n += len(frame)
    counts.n_positive += int((weights > 0).sum())
    counts.largest_weight = max(counts.largest_weight, float(weights.max()))
    counts.empty.update(find_missing(frame, used.predictors).counts)
    telling.add(frame)


def _design(
    formula: str,
    terms: Formula,
    telling: TellingRows,
    counts: _Counts,
    kind: str,
    env: EvalEnvironment,
) -> Design:
    """Return the design that the telling rows give; the means of columns with holes are theirs."""
    assert telling.rows is not None and counts.empty is not None
    # Each row twice: text of which every row here has a level of its own is not refused for it.
    frame = pd.concat([telling.rows, telling.rows], ignore_index=True)
    evaluation, values = training_values(terms.response, frame, env)
    response, y = read_response(values, kind)
    weights = np.ones(len(frame))
    if telling.weights is not None:
        weights = frame[telling.weights].to_numpy(dtype=np.float64)
    require_variation(response.name, y, weights)
    response = replace(response, columns=tuple(terms.response.columns), evaluation=evaluation)
    everywhere = {name for name, count in counts.empty.items() if count == counts.n}
    empty = {name: len(frame) if name in everywhere else 1 for name in counts.empty}
    recipe = unranked_predictors(terms.terms, frame, empty, env)
    scaling, _ = recipe.columns_on(frame).learned(recipe.columns)
    schema = learn_schema(frame, terms.columns)
    return Design(formula, response, recipe, schema, scaling, "split")


def _warn_of_ties(design: Design, first: pd.DataFrame) -> None:
    """Warn of columns that would be ranked if all rows were there, as the first block shows."""
    recipe = design.recipe
    variables, _ = ranked_alone(recipe.variables, recipe.terms, first)
    names = [each.name for each in variables if isinstance(each.encoding, OwnRanks)]
    if names:
        warn_user(
            f"32 bits cannot tell many values of {listed(names)} apart: without all rows in memory "
            "they have no ranks, and values close to each other count as equal; make numbers of "
            "fewer digits of them, or leave them out"
        )


def _with_means(rows: StreamedRows) -> Design:
    """Return the design with the means of columns with empty cells, which takes one more pass."""
    design = rows.design
    holes = design.scaling.holes
    if not holes.any():
        return design
    counts = np.zeros(len(holes), dtype=np.int64)
    sums: list[NDArray[np.float64]] = []
    for frame in rows.frames():
        of_block = np.zeros(len(holes))
        for piece in design.recipe.columns_on(frame).pieces():
            if isinstance(piece, Levels):
                continue
            known = ~np.isnan(piece.values)
            counts[piece.at] += known.sum(axis=1)
            above = piece.values - design.scaling.low[piece.at, np.newaxis]
            of_block[piece.at] = np.where(known, above, 0.0).sum(axis=1)
        sums.append(of_block)
    total = np.array([math.fsum(column) for column in zip(*sums, strict=True)])
    # `low` is the mean of the telling rows so far
    low = design.scaling.low + np.where(holes, total / np.maximum(counts, 1), 0.0)
    return replace(design, scaling=replace(design.scaling, low=low))


def _factors(class_weights: Any, rows: StreamedRows) -> NDArray[np.float64] | None:
    """Return the factor of each class (K,); those of balanced classes take one more pass."""
    response = rows.design.response
    if response.classes is None or class_weights is None:
        return class_factors(class_weights, response, np.empty(0), np.empty(0))
    totals = np.ones(response.n_classes)
    if isinstance(class_weights, str) and class_weights == BALANCED:
        totals = np.zeros(response.n_classes)
        for block in rows.responses():
            totals += np.bincount(block.y.astype(np.int64), block.weights, len(totals))
    return class_factors(class_weights, response, np.arange(float(len(totals))), totals)


def _sorted(counts: Counter[str] | None) -> dict[str, int]:
    return dict((counts or Counter()).most_common())
