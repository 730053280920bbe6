"""The game whose Shapley values are asked: trees, rows, and the terms that own their numbers."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf.design import Design
from odrf.engine.factors import Matrix, layout_of, stored, with_layout
from odrf.engine.trees.forest import Forest
from odrf.fits.boosted_fit import BoostedFit
from odrf.fits.fit import AnyFit
from odrf.fits.prediction.empty_cells import empty_columns, reading_empty_cells
from odrf.fits.prediction.predicting import mean_values
from odrf.statistics.shapley import Game

__all__ = ["game_of", "is_vote", "output_names", "predicted_outputs", "side_by_side"]


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
    return Game(
        forest.packed_for(read),
        forest.value,
        K,
        scale,
        _used(forest, term, len(fit.design.predictors)),
        _term_of_rows(read, term),
        np.ascontiguousarray(stored(read).T),
        n_background,
    )


def predicted_outputs(fit: AnyFit, X: Matrix) -> NDArray[np.float64]:
    """Return what Shapley values explain of the rows of X (p, n): (n, K).

    The mean response or the probabilities of the classes; of boosted trees the scores, without
    offsets.
    """
    reader, read = reading_empty_cells(fit, X)
    if isinstance(reader, BoostedFit):
        return reader.scores(read, np.zeros(read.shape[1])).T
    return mean_values(reader, read)


def output_names(fit: AnyFit) -> pd.Index:
    """Return the names (K,) of what is explained: the response, or the classes."""
    response = fit.design.response
    if response.classes is None:
        return pd.Index([response.name])
    if not isinstance(fit, BoostedFit):
        return response.classes
    if fit.loss.binary:
        return response.classes[1:]
    return response.classes[: fit.control.n_outputs]


def _term_of_rows(X: Matrix, term: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the predictor of each row of what X holds."""
    layout = layout_of(X)
    if layout is None:
        return term
    of_rows = np.empty(len(stored(X)), dtype=np.int64)
    of_rows[layout.place] = term
    return of_rows


def _term_of_columns(design: Design, X: Matrix) -> NDArray[np.int64]:
    """Return the predictor of each column of a matrix, and of those that tell its empty cells."""
    columns = np.concatenate([np.arange(len(design.columns)), empty_columns(X)])
    return np.searchsorted(design.first, columns, side="right") - 1


def _used(forest: Forest, term: NDArray[np.int64], P: int) -> NDArray[np.bool_]:
    """Return which predictors (B, P) the trees read; with surrogates any may be read."""
    used = np.ones((forest.n_trees, P), dtype=np.bool_)
    if forest.surrogates is None:
        used[:] = False
        sizes = np.diff(forest.start)
        kept = np.repeat(forest.is_split(), sizes)
        of_node = np.searchsorted(forest.root, np.arange(forest.n_nodes), side="right") - 1
        used[np.repeat(of_node, sizes)[kept], term[forest.index[kept]]] = True
    return used
