"""From a fit and rows to Shapley values as arrays."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf.checks import checked_whole, is_whole
from odrf.design import INDICATORS, Design
from odrf.engine.factors import Matrix, layout_of, stored, with_layout, with_rows
from odrf.engine.numeric import stream
from odrf.engine.trees.forest import Forest
from odrf.errors import InputError
from odrf.fits.fit import AnyFit, BoostedFit, RawRows, rows_of_scores
from odrf.fits.missing import empty_columns, reading_empty_cells
from odrf.fits.predicting import mean_values
from odrf.public.progress import progress_bar
from odrf.statistics.shapley import Game, OrderDraws, Shares, interactions_of_trees, shares_of_trees

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


def term_data(design: Design, rows: RawRows) -> pd.DataFrame:
    """Return the value of each term (n, P) in the rows."""
    columns = {name: _values(design, rows, j) for j, name in enumerate(design.predictors)}
    return pd.DataFrame(columns, index=rows.frame.index)


def _values(design: Design, rows: RawRows, j: int) -> Any:
    recipe, name = design.recipe, design.predictors[j]
    if name in rows.frame.columns:
        return rows.frame[name]
    width = design.first[j + 1] - design.first[j] - int(recipe.holes[j])
    if width == 1 and design.types[j] != INDICATORS:
        return _number(design, rows, j)
    used = list(dict.fromkeys(c for v in recipe.terms[j] for c in recipe.variables[v].columns))
    if len(used) == 1:
        return rows.frame[used[0]]
    joined = rows.frame[used[0]].astype(str)
    for other in used[1:]:
        joined = joined + ":" + rows.frame[other].astype(str)
    return joined


def _number(design: Design, rows: RawRows, j: int) -> Floats:
    """Return the number that a term of one column is; NaN where it is empty."""
    at = int(design.first[j])
    scaled = rows.X[at].astype(np.float64)
    if design.recipe.holes[j]:
        scaled[rows.X[at + 1] > 0] = np.nan
    return np.asarray(design.scaling.low[at] + design.scaling.range[at] * scaled)


# The game whose Shapley values are computed: trees, rows, and the terms of their numbers.
def side_by_side(first: Matrix, second: Matrix) -> Matrix:
    """Return the matrix of the rows of both matrices, which have the same design."""
    rows = np.concatenate([stored(first), stored(second)], axis=1)
    return with_layout(rows, layout_of(first))


def is_vote(fit: AnyFit) -> bool:
    """Return whether predictions are shares of votes, which are no mean over the trees."""
    return fit.votes and fit.design.response.classes is not None


def game_of(fit: AnyFit, X: Matrix, n_background: int) -> Game:
    """Return the game of a fit on the rows of X (p, n), of which the first are the background."""
    reader, read = reading_empty_cells(fit, X)
    forest, term = reader.forest, _term_of_columns(fit.design, X)
    K, scale = forest.value.shape[1], 1.0 / forest.n_trees
    if isinstance(fit, BoostedFit):
        K, scale = fit.control.n_outputs, 1.0 / fit.control.n_runs
    used, of_rows = _used(forest, term, len(fit.design.predictors)), _term_of_rows(read, term)
    values = np.ascontiguousarray(stored(read).T)
    packed = forest.packed_for(read)
    return Game(packed, forest.value, K, scale, used, of_rows, values, n_background)


def predicted_outputs(fit: AnyFit, X: Matrix) -> Floats:
    """Return the explained outputs (n, K) of X (p, n); of boosted trees scores without offsets."""
    reader, read = reading_empty_cells(fit, X)
    if isinstance(reader, BoostedFit):
        return reader.scores(read, np.zeros(read.shape[1])).T
    return mean_values(reader, read)


def output_names(fit: AnyFit) -> pd.Index:
    """Return the names (K,) of the explained outputs: the response, or the classes."""
    response = fit.design.response
    if response.classes is None:
        return pd.Index([response.name])
    if not isinstance(fit, BoostedFit):
        return response.classes
    if fit.loss.binary:
        return response.classes[1:]
    return response.classes[: fit.control.n_outputs]


def _term_of_rows(X: Matrix, term: Integers) -> Integers:
    """Return the predictor of each row of the stored X."""
    layout = layout_of(X)
    if layout is None:
        return term
    of_rows = np.empty(len(stored(X)), dtype=np.int64)
    of_rows[layout.place] = term
    return of_rows


def _term_of_columns(design: Design, X: Matrix) -> Integers:
    """Return the predictor of each column of a matrix, and of its missing indicators."""
    columns = np.concatenate([np.arange(len(design.columns)), empty_columns(X)])
    return np.searchsorted(design.first, columns, side="right") - 1


def _used(forest: Forest, term: Integers, P: int) -> NDArray[np.bool_]:
    """Return which predictors (B, P) the trees read; with surrogates any may be read."""
    used = np.ones((forest.n_trees, P), dtype=np.bool_)
    if forest.surrogates is None:
        used[:] = False
        sizes = np.diff(forest.start)
        kept = np.repeat(forest.is_split(), sizes)
        of_node = np.searchsorted(forest.root, np.arange(forest.n_nodes), side="right") - 1
        used[np.repeat(of_node, sizes)[kept], term[forest.index[kept]]] = True
    return used


# The key of the orders among those of the seed.
KEY = (22, 1)
# Standard errors are estimated from at least so many pairs of an order and its reverse, beyond one
# for each game.
DEGREES_OF_FREEDOM = 1000

Compute: TypeAlias = Callable[[Game, OrderDraws, int, Callable[[], object]], Shares]
"""From a game, the orders to draw, the threads, and what is called after each row, to the values of
the rows that are explained."""


@dataclass(frozen=True, eq=False)
class ExplainedRows:
    """Shapley or interaction values of n rows, `base` (K,) and `predicted` (n, K)."""

    shares: Shares
    base: Floats
    predicted: Floats
    data: pd.DataFrame
    n_background: int


@dataclass(frozen=True)
class HowToShare:
    """The options of Shapley values, checked; `n_draws` None for a usual number."""

    max_boxes: int
    n_draws: int | None
    seed: int
    n_jobs: int


def explained_rows(
    fit: AnyFit, newdata: pd.DataFrame | None, background: Matrix, how: HowToShare, progress: bool
) -> ExplainedRows:
    """Return the Shapley values of the rows of `newdata`, or of the training rows for None."""
    return _explained(shares_of_trees, fit, newdata, background, how, progress)


def interactions_in_rows(
    fit: AnyFit, newdata: pd.DataFrame | None, background: Matrix, how: HowToShare, progress: bool
) -> ExplainedRows:
    """Return the Shapley interaction values of the rows of `newdata`, or of the training rows."""
    return _explained(interactions_of_trees, fit, newdata, background, how, progress)


def _explained(
    compute: Compute,
    fit: AnyFit,
    newdata: pd.DataFrame | None,
    background: Matrix,
    how: HowToShare,
    progress: bool,
) -> ExplainedRows:
    rows = rows_of_scores(fit, newdata)
    X, m = side_by_side(background, rows.X), background.shape[1]
    with progress_bar(total=len(rows.frame), unit="row", progress=progress) as bar:
        game = game_of(fit, X, m)
        usual = 1 + -(-DEGREES_OF_FREEDOM // (m * len(game.packed.root)))
        draws = OrderDraws(how.max_boxes, how.n_draws or usual, stream(how.seed, *KEY))
        shares = compute(game, draws, how.n_jobs, bar.update)
    outputs = predicted_outputs(fit, X)
    base = outputs[:m].mean(axis=0)
    return ExplainedRows(shares, base, outputs[m:], term_data(fit.design, rows), m)


# Background rows: what a prediction is compared with.
USUAL_ROWS = 100
"""Background rows that are drawn by default."""
# The key of the draw among those of the fit's seed.
BACKGROUND_KEY = (22, 0)


def background_rows(fit: AnyFit, background: Any) -> Matrix:
    """Return the matrix (p, m) of background rows, or of so many training rows."""
    if background is None or is_whole(background):
        wanted = USUAL_ROWS if background is None else checked_whole("background", background, 1)
        return with_rows(fit.data.X, _drawn(fit, wanted))
    if not isinstance(background, pd.DataFrame):
        raise InputError(
            f"background={type(background).__name__}: use a data frame of rows, or a number of "
            "training rows to sample"
        )
    return rows_of_scores(fit, background).X


def _drawn(fit: AnyFit, wanted: int) -> Integers:
    """Return which training rows are sampled: with replacement, if case weights differ."""
    data = fit.data
    weights = data.weights
    if data.class_weights is not None:
        weights = weights / data.class_weights[data.y.astype(np.int64)]
    candidates = np.flatnonzero(weights > 0)
    weights = weights[candidates]
    rng = np.random.default_rng(np.random.SeedSequence(fit.control.seed, spawn_key=BACKGROUND_KEY))
    if np.ptp(weights) > 1e-9 * weights.max():
        return np.sort(rng.choice(candidates, wanted, p=weights / weights.sum()))
    if len(candidates) <= wanted:
        return candidates
    return np.sort(rng.choice(candidates, wanted, replace=False))
