"""Shapley values: games, coalitions and their weights."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import comb
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from odrf.engine.memory import require_memory
from odrf.engine.running import end_if_stopped, in_order
from odrf.engine.shapley import TRIALS, add_interactions, add_shares, count_failures
from odrf.engine.shapley_boxes import MOST_PLAYERS, walk_memory
from odrf.engine.trees.packing import Packed

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


def box_weights() -> Floats:
    """Return the weights (65, 65) of a player of a box of coalitions.

    Of a game that is 1 for coalitions with all of a players and none of b others, the value of each
    of the a players is (a - 1)! b! / (a + b)!, entry [a, b]; of each of the b minus entry [b, a].
    """
    weights = np.zeros((MOST_PLAYERS + 1, MOST_PLAYERS + 1))
    for a in range(1, MOST_PLAYERS + 1):
        for b in range(MOST_PLAYERS + 1):
            weights[a, b] = 1 / (a * comb(a + b, a))
    return weights


# Drawing the boxes below this weight, over the root of `max_boxes`, takes about as long as
# enumerating `max_boxes` boxes.
LIGHTEST = 3.0


@dataclass(frozen=True, eq=False)
class Game:
    """Trees, rows and background rows, between whose terms predictions are divided.

    `value` (m, K), `used` (B, P), `term_of` (r,), `rows` (n_background + n, r).
    """

    packed: Packed
    value: Floats
    n_outputs: int
    scale: float
    used: NDArray[np.bool_]
    term_of: Integers
    rows: NDArray[np.float32]
    n_background: int


@dataclass(frozen=True)
class OrderDraws:
    """At most `max_boxes` of coalitions are enumerated; else `n_draws` orders are drawn."""

    max_boxes: int
    n_draws: int
    origin: NDArray[np.uint64]

    @property
    def lightest(self) -> float:
        """The least weight of a box that is divided, in a tree that has more than `max_boxes`."""
        return LIGHTEST / max(1, self.max_boxes) ** 0.5


class Shares(NamedTuple):
    """Values (n, P, K) or (n, P, P, K), their errors, and the share of games `drawn`."""

    values: Floats
    std_error: Floats
    drawn: float


# Rows explained one by one, in threads.
OneRow = tuple[Floats, Floats, Integers]
"""Of one row, summed over the background and the trees: values, their variances, and how many games
were enumerated and how many drawn."""


def shares_of_rows(
    explain: Callable[[int], OneRow],
    game: Game,
    shape: tuple[int, ...],
    scale: float,
    n_jobs: int,
    advance: Callable[[], object],
) -> Shares:
    """Return the values (n, *shape) of all rows: `scale` times the mean over the background."""
    n, mean = len(game.rows) - game.n_background, scale / game.n_background
    require_memory(
        16.0 * n * math.prod(shape),
        f"the {' × '.join(map(str, shape))} values of each of {n} rows and their errors",
        "give fewer rows as newdata=",
    )
    values, errors = [], []
    counted = np.zeros(2, dtype=np.int64)
    for total, variance, counts in in_order(explain, range(n), n_jobs, game.rows.size):
        values.append(mean * total)
        errors.append(mean * np.sqrt(variance))
        counted += counts
        advance()
    return Shares(np.array(values), np.array(errors), counted[1] / max(1, int(counted.sum())))


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


def _failures(game: Game, max_boxes: int) -> Integers:
    """Return how many of `TRIALS` pairs of background rows (B,) show trees not worth a trial."""
    failed = np.zeros(len(game.packed.root), dtype=np.int64)
    scratch = walk_memory(game.used.shape[1], 1, max_boxes)
    pairs = min(TRIALS, game.n_background // 2)
    count_failures(
        game.rows.ravel(), game.rows.shape[1], pairs, *game.packed, game.term_of, max_boxes,
        scratch, failed,
    )  # fmt: skip
    return failed
