"""Rows explained one by one, in threads."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from odrf.engine.memory import require_memory
from odrf.engine.running import in_order
from odrf.statistics.shapley.game import Game, Shares

__all__ = ["OneRow", "shares_of_rows"]

OneRow = tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]]
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
    """Return the values of all rows: `scale` times the mean over the background rows.

    `shape` is that of the values of a row.
    """
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
