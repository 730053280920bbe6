"""From a fit and rows to Shapley values as arrays."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf.engine.factors import Matrix
from odrf.engine.numeric import stream
from odrf.fits.fit import AnyFit
from odrf.fits.raw_rows import rows_of_scores
from odrf.fits.shapley.games import game_of, predicted_outputs, side_by_side
from odrf.fits.shapley.term_data import term_data
from odrf.public.progress import progress_bar
from odrf.statistics.shapley import Game, OrderDraws, Shares, interactions_of_trees, shares_of_trees

__all__ = ["ExplainedRows", "HowToShare", "explained_rows", "interactions_in_rows"]

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
    """Shapley values, or interaction values, of n rows, and what they add up to.

    Attributes
    ----------
    shares : Shares
        The values (n, P, K) or (n, P, P, K), and their standard errors.
    base : (K,) float64
        The mean prediction of the background rows.
    predicted : (n, K) float64
    data : DataFrame of n rows
        The values of the P terms.
    n_background : int
    """

    shares: Shares
    base: NDArray[np.float64]
    predicted: NDArray[np.float64]
    data: pd.DataFrame
    n_background: int


@dataclass(frozen=True)
class HowToShare:
    """The options of Shapley values, checked.

    Attributes
    ----------
    max_boxes : int
        Most boxes of coalitions that are enumerated.
    n_draws : int or None
        Orders that are drawn beyond this; None for a usual number.
    seed : int
        Seed of the orders.
    n_jobs : int
        Threads.
    """

    max_boxes: int
    n_draws: int | None
    seed: int
    n_jobs: int


def explained_rows(
    fit: AnyFit,
    newdata: pd.DataFrame | None,
    background: Matrix,
    how: HowToShare,
    progress: bool,
) -> ExplainedRows:
    """Return the Shapley values of the rows of `newdata`, or of the training rows for None."""
    return _explained(shares_of_trees, fit, newdata, background, how, progress)


def interactions_in_rows(
    fit: AnyFit,
    newdata: pd.DataFrame | None,
    background: Matrix,
    how: HowToShare,
    progress: bool,
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
