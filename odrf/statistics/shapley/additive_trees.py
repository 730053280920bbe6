"""Shapley values of the mean or the sum of trees."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from odrf.engine.running import end_if_stopped
from odrf.engine.shapley import TRIALS, add_interactions, add_shares, count_failures
from odrf.engine.shapley_boxes import walk_memory
from odrf.statistics.shapley.box_weights import box_weights
from odrf.statistics.shapley.game import Game, OrderDraws, Shares
from odrf.statistics.shapley.row_by_row import OneRow, shares_of_rows

__all__ = ["interactions_of_trees", "shares_of_trees"]

# Background rows that a kernel takes at a time: it returns several times a second.
AT_A_TIME = 16


def shares_of_trees(
    game: Game, draws: OrderDraws, n_jobs: int, advance: Callable[[], object] = lambda: None
) -> Shares:
    """Return the Shapley values (n, P, K) of the rows; `advance` is called after each."""
    size = game.used.shape[1], game.n_outputs
    weights, known_failures = box_weights(), _failures(game, draws.max_boxes)

    def explain(i: int) -> OneRow:
        scratch = walk_memory(size[0], game.value.shape[1], draws.max_boxes)
        total, variance, counts = np.zeros(size), np.zeros(size), np.zeros(2, dtype=np.int64)
        failed = known_failures.copy()
        for first, last in _parts(game):
            add_shares(
                game.rows.ravel(), game.rows.shape[1], game.n_background + i, game.n_background,
                first, last, *game.packed, game.term_of, game.used, game.value, game.n_outputs,
                weights, draws.max_boxes, draws.lightest, draws.n_draws, draws.origin, failed,
                scratch, total, variance, counts,
            )  # fmt: skip
        return total, variance, counts

    return shares_of_rows(explain, game, size, game.scale, n_jobs, advance)


def interactions_of_trees(
    game: Game, draws: OrderDraws, n_jobs: int, advance: Callable[[], object] = lambda: None
) -> Shares:
    """Return the interaction values (n, P, P, K) of the rows; `advance` is called after each."""
    P, K = game.used.shape[1], game.value.shape[1]
    size = P, P, game.n_outputs
    weights, known_failures = box_weights(), _failures(game, draws.max_boxes)

    def explain(i: int) -> OneRow:
        scratch, drawn = walk_memory(P, K, draws.max_boxes), np.empty((3, P, P, K))
        total, variance, counts = np.zeros(size), np.zeros(size), np.zeros(2, dtype=np.int64)
        failed = known_failures.copy()
        for first, last in _parts(game):
            add_interactions(
                game.rows.ravel(), game.rows.shape[1], game.n_background + i, game.n_background,
                first, last, *game.packed, game.term_of, game.used, game.value, game.n_outputs,
                weights, draws.max_boxes, draws.n_draws, draws.origin, failed, scratch, drawn,
                total, variance, counts,
            )  # fmt: skip
        return total, variance, counts

    return shares_of_rows(explain, game, size, game.scale, n_jobs, advance)


def _parts(game: Game) -> Iterator[tuple[int, int]]:
    """Yield the first background row of each part, and the one after its last."""
    for first in range(0, game.n_background, AT_A_TIME):
        end_if_stopped()
        yield first, min(first + AT_A_TIME, game.n_background)


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
