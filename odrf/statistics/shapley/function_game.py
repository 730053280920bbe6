"""Shapley values of any function of rows: mixed rows are predicted, many at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from odrf.engine.memory import require_memory
from odrf.engine.parallel import end_if_stopped
from odrf.statistics.shapley.coalition_weights import (
    every_coalition,
    interaction_weights,
    value_weights,
)
from odrf.statistics.shapley.drawn_coalitions import (
    DrawnCoalitions,
    drawn_interactions,
    drawn_values,
)
from odrf.statistics.shapley.game import OrderDraws, Shares

__all__ = ["BOXES_OF_COALITION", "FunctionGame", "interactions_of_function", "shares_of_function"]

# A coalition is predicted by a whole fit, which takes longer than a box in one tree.
BOXES_OF_COALITION = 16
# Mixed rows that are predicted together.
TOGETHER = 2**13


@dataclass(frozen=True, eq=False)
class FunctionGame:
    """What is divided among the terms: a function, the rows, and the background rows.

    Attributes
    ----------
    predict : callable
        From rows (m, r) to predictions (m, K).
    n_outputs : int
        K.
    n_terms : int
        P.
    term_of : (r,) int64
        The term of each number of a row.
    rows : (n_background + n, r) float32
        The background rows, then the rows that are explained.
    n_background : int
    """

    predict: Callable[[NDArray[np.float32]], NDArray[np.float64]]
    n_outputs: int
    n_terms: int
    term_of: NDArray[np.int64]
    rows: NDArray[np.float32]
    n_background: int


class _Way(NamedTuple):
    """How values, or interaction values, follow from the predictions of coalitions.

    Attributes
    ----------
    weights : callable
        From d to the weights of the predictions of `every_coalition`: (d, 2^d) or (d, d, 2^d).
    drawn : callable
        From orders (R, d) to the coalitions that these need, and what reads their predictions.
    n_axes : int
        Axes of the values of a row: 1, or 2 for interactions.
    """

    weights: Callable[[int], NDArray[np.float64]]
    drawn: Callable[[NDArray[np.int64]], DrawnCoalitions]
    n_axes: int


VALUES = _Way(value_weights, drawn_values, 1)
INTERACTIONS = _Way(interaction_weights, drawn_interactions, 2)


class _Pair(NamedTuple):
    """An explained row with a background row.

    `coalitions` (c, d) are those of the terms `which` (d,) in which the two rows differ; `read`
    makes values and their variances of the predictions (c, K).
    """

    explained: int
    background: int
    which: NDArray[np.int64]
    coalitions: NDArray[np.bool_]
    read: Callable[[NDArray[np.float64]], tuple[NDArray[np.float64], NDArray[np.float64] | None]]
    drawn: bool


def shares_of_function(
    game: FunctionGame, draws: OrderDraws, advance: Callable[[], object] = lambda: None
) -> Shares:
    """Return the Shapley values (n, P, K) of the rows; `advance` is called after each."""
    return _shares(game, draws, VALUES, advance)


def interactions_of_function(
    game: FunctionGame, draws: OrderDraws, advance: Callable[[], object] = lambda: None
) -> Shares:
    """Return the interaction values (n, P, P, K) of the rows; `advance` is called after each."""
    return _shares(game, draws, INTERACTIONS, advance)


def _shares(
    game: FunctionGame, draws: OrderDraws, way: _Way, advance: Callable[[], object]
) -> Shares:
    m, P, K = game.n_background, game.n_terms, game.n_outputs
    n, shape = len(game.rows) - m, (P,) * way.n_axes
    require_memory(
        16.0 * n * P**way.n_axes * K, "the Shapley values and their errors", "give fewer rows"
    )
    values, variances = np.zeros((n, *shape, K)), np.zeros((n, *shape, K))
    n_drawn = 0
    for batch in _batches(_pairs(game, draws, way)):
        end_if_stopped()
        predicted = game.predict(np.concatenate([_mixed(game, pair) for pair in batch]))
        ends = np.cumsum([len(pair.coalitions) for pair in batch])
        for pair, own in zip(batch, np.split(predicted, ends[:-1]), strict=True):
            found, variance = pair.read(own)
            place = np.ix_(*[pair.which] * way.n_axes)
            values[pair.explained][place] += found / m
            if variance is not None:
                variances[pair.explained][place] += variance / m**2
            n_drawn += pair.drawn
            if pair.background == m - 1:
                advance()
    return Shares(values, np.sqrt(variances), n_drawn / max(1, n * m))


def _pairs(game: FunctionGame, draws: OrderDraws, way: _Way) -> Iterator[_Pair]:
    """Yield the pairs of an explained row and a background row, one row after the other."""
    m, P = game.n_background, game.n_terms
    most = draws.max_boxes // BOXES_OF_COALITION
    # the same orders for every explained row: its values do not depend on the other rows
    rng = np.random.default_rng(draws.origin.tolist())
    orders = rng.permuted(np.tile(np.arange(P), (m, draws.n_draws, 1)), axis=2)
    weights: dict[int, NDArray[np.float64]] = {}
    for i in range(len(game.rows) - m):
        for b in range(m):
            which = _differing(game, m + i, b)
            d = len(which)
            if d < 2 or 2**d <= most:
                if d not in weights:
                    weights[d] = way.weights(d)
                read = _reading_all(weights[d])
                yield _Pair(i, b, which, every_coalition(d), read, False)
            else:
                place = np.searchsorted(which, orders[b])
                known = which[np.minimum(place, d - 1)] == orders[b]
                drawn = way.drawn(place[known].reshape(draws.n_draws, d))
                yield _Pair(i, b, which, drawn.coalitions, drawn.read, True)


def _differing(game: FunctionGame, one: int, other: int) -> NDArray[np.int64]:
    """Return the terms whose numbers are not the same in two rows; empty cells are alike."""
    first, second = game.rows[one], game.rows[other]
    differ = (first != second) & ~(np.isnan(first) & np.isnan(second))
    return np.unique(game.term_of[differ])


def _reading_all(
    weights: NDArray[np.float64],
) -> Callable[[NDArray[np.float64]], tuple[NDArray[np.float64], None]]:
    return lambda predicted: (weights @ predicted, None)


def _mixed(game: FunctionGame, pair: _Pair) -> NDArray[np.float32]:
    """Return the mixed rows (c, r) of a pair: those of the coalition from the explained row."""
    own = np.zeros((len(pair.coalitions), game.n_terms), dtype=np.bool_)
    own[:, pair.which] = pair.coalitions
    explained = game.rows[game.n_background + pair.explained]
    return np.where(own[:, game.term_of], explained, game.rows[pair.background])


def _batches(pairs: Iterator[_Pair]) -> Iterator[list[_Pair]]:
    batch, size = [], 0
    for pair in pairs:
        batch.append(pair)
        size += len(pair.coalitions)
        if size >= TOGETHER:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch
