"""The game of a stack, which is played by all its models together."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from odrf.engine.rows.coded import Matrix, layout_of, stored, with_layout
from odrf.fits.boosted_fit import BoostedFit
from odrf.fits.fit import Fit
from odrf.fits.prediction.expected_response import expected_response
from odrf.fits.shapley.games import term_of_rows
from odrf.fits.stacked.stacked_fit import StackedFit, StackedPart
from odrf.statistics.shapley.function_game import FunctionGame

__all__ = ["stacked_game"]


def stacked_game(fit: StackedFit, X: Matrix, n_background: int, n_jobs: int) -> FunctionGame:
    """Return the game of a stack on the rows of X (p, n), of which the first are the background."""
    design, layout = fit.design, layout_of(X)
    threaded = replace(fit, parts=tuple(_with_threads(part, n_jobs) for part in fit.parts))
    term = np.searchsorted(design.first, np.arange(len(design.columns)), side="right") - 1

    def predict(rows: NDArray[np.float32]) -> NDArray[np.float64]:
        return expected_response(threaded, with_layout(np.ascontiguousarray(rows.T), layout))

    return FunctionGame(
        predict,
        design.response.n_classes,
        len(design.predictors),
        term_of_rows(X, term),
        np.ascontiguousarray(stored(X).T),
        n_background,
    )


def _with_threads(part: StackedPart, n_jobs: int) -> StackedPart:
    """Return a model of a stack that predicts with `n_jobs` threads."""
    fit = part.fit
    if isinstance(fit, Fit):
        return part._replace(fit=replace(fit, control=replace(fit.control, n_jobs=n_jobs)))
    if isinstance(fit, BoostedFit):
        return part._replace(fit=replace(fit, control=replace(fit.control, n_jobs=n_jobs)))
    return part
