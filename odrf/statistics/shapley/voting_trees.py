"""Shapley values of shares of votes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from odrf.engine.parallel import end_if_stopped
from odrf.engine.shapley.vote_tables import vote_tables
from odrf.engine.shapley.votes import add_vote_interactions, add_vote_shares
from odrf.engine.shapley.walk_memory import walk_memory
from odrf.errors import InputError
from odrf.statistics.shapley.box_weights import box_weights
from odrf.statistics.shapley.game import Game, OrderDraws, Shares
from odrf.statistics.shapley.row_by_row import OneRow, shares_of_rows

__all__ = ["interactions_of_votes", "shares_of_votes"]


def shares_of_votes(
    game: Game, draws: OrderDraws, n_jobs: int, advance: Callable[[], object] = lambda: None
) -> Shares:
    """Return the Shapley values of the shares of votes; `advance` is called after each row."""
    (B, P), K, weights = game.used.shape, game.n_outputs, box_weights()
    used = game.used.any(axis=0)

    def explain(i: int) -> OneRow:
        tables = vote_tables(B, P, K)
        scratch = walk_memory(P, K, max(draws.max_boxes, tables.votes.shape[1]))
        votes = np.empty((max(draws.max_boxes, P + 1), K))
        total, variance, counts = np.zeros((P, K)), np.zeros((P, K)), np.zeros(2, dtype=np.int64)
        for row in range(game.n_background):
            end_if_stopped()
            add_vote_shares(
                game.rows.ravel(), game.rows.shape[1], game.n_background + i, row, *game.packed,
                game.term_of, game.used, used, game.value, weights, draws.max_boxes,
                draws.n_draws, draws.origin, votes, tables, scratch, total, variance, counts,
            )  # fmt: skip
        return total, variance, counts

    return shares_of_rows(explain, game, (P, K), 1.0, n_jobs, advance)


def interactions_of_votes(
    game: Game, draws: OrderDraws, n_jobs: int, advance: Callable[[], object] = lambda: None
) -> Shares:
    """Return the interaction values of the shares of votes; `advance` is called after each row.

    Raises
    ------
    InputError
        A pair of rows has more than `draws.max_boxes` coalitions.
    """
    P, K, weights = game.used.shape[1], game.n_outputs, box_weights()
    used = game.used.any(axis=0)

    def explain(i: int) -> OneRow:
        scratch, total = walk_memory(P, K, draws.max_boxes), np.zeros((P, P, K))
        votes = np.empty((draws.max_boxes, K))
        for row in range(game.n_background):
            end_if_stopped()
            if not add_vote_interactions(
                game.rows.ravel(), game.rows.shape[1], game.n_background + i, row, *game.packed,
                game.term_of, used, game.value, weights, draws.max_boxes, votes, scratch, total,
            ):  # fmt: skip
                raise InputError(
                    f"interactions of votes need all coalitions, and of {used.sum()} terms there "
                    f"are more than max_boxes={draws.max_boxes}: use a larger max_boxes= or a "
                    "formula of fewer terms"
                )
        return total, np.zeros_like(total), np.array([game.n_background, 0])

    return shares_of_rows(explain, game, (P, P, K), 1.0, n_jobs, advance)
