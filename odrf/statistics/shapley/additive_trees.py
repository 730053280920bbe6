"""Shapley values of the mean or the sum of trees."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from odrf.engine.parallel import end_if_stopped, in_order
from odrf.engine.shapley.tree_shares import TRIALS, add_shares, count_failures
from odrf.engine.shapley.walk_memory import walk_memory
from odrf.statistics.shapley.box_weights import box_weights
from odrf.statistics.shapley.game import Game, OrderDraws, Shares

__all__ = ["shares_of_trees"]

# Background rows that a kernel takes at a time: it returns several times a second.
AT_A_TIME = 16


def shares_of_trees(
    game: Game, draws: OrderDraws, n_jobs: int, advance: Callable[[], object] = lambda: None
) -> Shares:
    """Return the Shapley values of the rows; `advance` is called after each."""
    P, weights = game.used.shape[1], box_weights()
    n = len(game.rows) - game.n_background
    size = P, game.n_outputs
    flat, stride = game.rows.ravel(), game.rows.shape[1]
    known_failures = _failures(game, draws.max_boxes)

    def share(i: int) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]]:
        scratch = walk_memory(P, game.value.shape[1], draws.max_boxes)
        total, variance, counts = np.zeros(size), np.zeros(size), np.zeros(2, dtype=np.int64)
        failed = known_failures.copy()
        for first in range(0, game.n_background, AT_A_TIME):
            end_if_stopped()
            last = min(first + AT_A_TIME, game.n_background)
            add_shares(
                flat, stride, game.n_background + i, game.n_background, first, last, *game.packed,
                game.term_of, game.used, game.value, game.n_outputs, weights, draws.max_boxes,
                draws.n_draws, draws.origin, failed, scratch, total, variance, counts,
            )  # fmt: skip
        return total, variance, counts

    values, std_error = np.empty((n, *size)), np.empty((n, *size))
    counted = np.zeros(2, dtype=np.int64)
    mean = game.scale / game.n_background
    for i, (total, variance, counts) in enumerate(in_order(share, range(n), n_jobs, flat.size)):
        values[i], std_error[i] = mean * total, mean * np.sqrt(variance)
        counted += counts
        advance()
    return Shares(values, std_error, counted[1] / max(1, int(counted.sum())))


def _failures(game: Game, max_boxes: int) -> NDArray[np.int64]:
    """Return how many pairs of background rows (B,) have too many boxes, of `TRIALS` pairs.

    They tell which trees are not worth a trial, whatever row is explained.
    """
    failed = np.zeros(len(game.packed.root), dtype=np.int64)
    scratch = walk_memory(game.used.shape[1], 1, max_boxes)
    pairs = min(TRIALS, game.n_background // 2)
    count_failures(
        game.rows.ravel(), game.rows.shape[1], pairs, *game.packed, game.term_of, max_boxes,
        scratch, failed,
    )  # fmt: skip
    return failed
