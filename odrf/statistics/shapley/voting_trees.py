"""Shapley values of shares of votes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from odrf.engine.parallel import end_if_stopped, in_order
from odrf.engine.shapley.votes import add_vote_shares
from odrf.engine.shapley.walk_memory import walk_memory
from odrf.statistics.shapley.box_weights import box_weights
from odrf.statistics.shapley.game import Game, OrderDraws, Shares

__all__ = ["shares_of_votes"]


def shares_of_votes(
    game: Game, draws: OrderDraws, n_jobs: int, advance: Callable[[], object] = lambda: None
) -> Shares:
    """Return the Shapley values of the shares of votes; `advance` is called after each row."""
    P, K, weights = game.used.shape[1], game.n_outputs, box_weights()
    flat, stride, used = game.rows.ravel(), game.rows.shape[1], game.used.any(axis=0)
    n = len(game.rows) - game.n_background

    def share(i: int) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]]:
        scratch = walk_memory(P, K, draws.max_boxes)
        votes = np.empty((max(draws.max_boxes, P + 1), K))
        total, variance, counts = np.zeros((P, K)), np.zeros((P, K)), np.zeros(2, dtype=np.int64)
        for row in range(game.n_background):
            end_if_stopped()
            add_vote_shares(
                flat, stride, game.n_background + i, row, row + 1, *game.packed, game.term_of, used,
                game.value, weights, draws.max_boxes, draws.n_draws, draws.origin, votes, scratch,
                total, variance, counts,
            )  # fmt: skip
        return total, variance, counts

    values, std_error = np.empty((n, P, K)), np.empty((n, P, K))
    counted = np.zeros(2, dtype=np.int64)
    for i, (total, variance, counts) in enumerate(in_order(share, range(n), n_jobs, flat.size)):
        values[i] = total / game.n_background
        std_error[i] = np.sqrt(variance) / game.n_background
        counted += counts
        advance()
    return Shares(values, std_error, counted[1] / max(1, int(counted.sum())))
