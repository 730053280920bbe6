"""From a fit and rows to Shapley values as arrays."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from tqdm import tqdm

from odrf.engine.randomness import stream
from odrf.engine.rows.coded import Matrix
from odrf.fits.fit import AnyFit
from odrf.fits.raw_rows import raw_rows
from odrf.fits.shapley.games import game_of, is_vote, predicted_outputs, side_by_side
from odrf.fits.shapley.term_data import term_data
from odrf.statistics.shapley.additive_trees import shares_of_trees
from odrf.statistics.shapley.game import Game, OrderDraws, Shares
from odrf.statistics.shapley.voting_trees import shares_of_votes

__all__ = ["ExplainedRows", "explained_rows"]

# The key of the orders among those of the seed.
KEY = (22, 1)
# Standard errors are estimated from at least so many pairs of an order and its reverse, beyond one
# for each game.
DEGREES_OF_FREEDOM = 1000


@dataclass(frozen=True, eq=False)
class ExplainedRows:
    """Shapley values of n rows, and what they add up to.

    Attributes
    ----------
    shares : Shares
        The values (n, P, K) and their standard errors.
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


def explained_rows(
    fit: AnyFit,
    newdata: pd.DataFrame | None,
    background: Matrix,
    max_boxes: int,
    n_draws: int | None,
    seed: int,
    n_jobs: int,
    progress: bool,
) -> ExplainedRows:
    """Return the Shapley values of the rows of `newdata`, or of the training rows for None.

    The other arguments are those of
    `odrf.results.explaining.shared_by_shapley.ShapleyResults.shap`.
    """
    rows = raw_rows(fit, newdata)
    X, m = side_by_side(background, rows.X), background.shape[1]
    game = game_of(fit, X, m)
    votes = is_vote(fit)
    draws = OrderDraws(max_boxes, n_draws or _usual_draws(game, votes), stream(seed, *KEY))
    compute = shares_of_votes if votes else shares_of_trees
    with tqdm(total=len(rows.frame), unit="row", disable=not progress) as bar:
        shares = compute(game, draws, n_jobs, bar.update)
    outputs = predicted_outputs(fit, X)
    base = outputs[:m].mean(axis=0)
    return ExplainedRows(shares, base, outputs[m:], term_data(fit.design, rows), m)


def _usual_draws(game: Game, votes: bool) -> int:
    """Return how many orders are drawn for each pair of rows, and each tree unless these vote."""
    games = game.n_background * (1 if votes else len(game.packed.root))
    return 1 + -(-DEGREES_OF_FREEDOM // games)
