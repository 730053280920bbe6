"""From a fit and rows to Shapley values as arrays."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf.engine.randomness import stream
from odrf.engine.rows.coded import Matrix
from odrf.fits.fit import AnyFit
from odrf.fits.raw_rows import rows_of_scores
from odrf.fits.shapley.games import game_of, is_vote, predicted_outputs, side_by_side
from odrf.fits.shapley.stacked_game import stacked_game
from odrf.fits.shapley.term_data import term_data
from odrf.fits.stacked.stacked_fit import StackedFit
from odrf.public.progress import progress_bar
from odrf.statistics.shapley.additive_trees import interactions_of_trees, shares_of_trees
from odrf.statistics.shapley.function_game import (
    FunctionGame,
    interactions_of_function,
    shares_of_function,
)
from odrf.statistics.shapley.game import Game, OrderDraws, Shares
from odrf.statistics.shapley.voting_trees import interactions_of_votes, shares_of_votes

__all__ = ["ExplainedRows", "HowToShare", "explained_rows", "interactions_in_rows"]

# The key of the orders among those of the seed.
KEY = (22, 1)
# Standard errors are estimated from at least so many pairs of an order and its reverse, beyond one
# for each game.  Votes are looked up in tables, so that more orders take hardly longer; all models
# of a stack predict what an order needs.
DEGREES_OF_FREEDOM, OF_VOTES, OF_STACKS = 1000, 4000, 100

Share: TypeAlias = Callable[[Matrix, int, Callable[[], object]], Shares]
"""From the rows (p, m + n), how many of them are the background, and what is called after each row
that is explained, to the values of these."""


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
    if isinstance(fit, StackedFit):
        share = _sharing_stack(fit, how, shares_of_function)
    else:
        share = _sharing_trees(fit, how, shares_of_votes if is_vote(fit) else shares_of_trees)
    return _explained(share, fit, newdata, background, progress)


def interactions_in_rows(
    fit: AnyFit,
    newdata: pd.DataFrame | None,
    background: Matrix,
    how: HowToShare,
    progress: bool,
) -> ExplainedRows:
    """Return the Shapley interaction values of the rows of `newdata`, or of the training rows."""
    if isinstance(fit, StackedFit):
        share = _sharing_stack(fit, how, interactions_of_function)
    else:
        compute = interactions_of_votes if is_vote(fit) else interactions_of_trees
        share = _sharing_trees(fit, how, compute)
    return _explained(share, fit, newdata, background, progress)


def _sharing_trees(
    fit: AnyFit,
    how: HowToShare,
    compute: Callable[[Game, OrderDraws, int, Callable[[], object]], Shares],
) -> Share:
    def share(X: Matrix, n_background: int, advance: Callable[[], object]) -> Shares:
        game = game_of(fit, X, n_background)
        usual = 1 + -(-OF_VOTES // n_background)
        if not is_vote(fit):
            usual = 1 + -(-DEGREES_OF_FREEDOM // (n_background * len(game.packed.root)))
        return compute(game, _order_draws(how, usual), how.n_jobs, advance)

    return share


def _sharing_stack(
    fit: StackedFit,
    how: HowToShare,
    compute: Callable[[FunctionGame, OrderDraws, Callable[[], object]], Shares],
) -> Share:
    def share(X: Matrix, n_background: int, advance: Callable[[], object]) -> Shares:
        game = stacked_game(fit, X, n_background, how.n_jobs)
        usual = 1 + -(-OF_STACKS // n_background)
        return compute(game, _order_draws(how, usual), advance)

    return share


def _order_draws(how: HowToShare, usual: int) -> OrderDraws:
    return OrderDraws(how.max_boxes, how.n_draws or usual, stream(how.seed, *KEY))


def _explained(
    share: Share,
    fit: AnyFit,
    newdata: pd.DataFrame | None,
    background: Matrix,
    progress: bool,
) -> ExplainedRows:
    rows = rows_of_scores(fit, newdata)
    X, m = side_by_side(background, rows.X), background.shape[1]
    with progress_bar(total=len(rows.frame), unit="row", progress=progress) as bar:
        shares = share(X, m, bar.update)
    outputs = predicted_outputs(fit, X)
    base = outputs[:m].mean(axis=0)
    return ExplainedRows(shares, base, outputs[m:], term_data(fit.design, rows), m)
