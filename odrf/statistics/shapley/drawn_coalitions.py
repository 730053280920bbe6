"""The coalitions that random orders of terms need, and the Shapley values that follow from them.

Each order is read together with its reverse.  What changes as the terms enter one after the other
adds up to the whole change, whatever the order: so do the estimates.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["DrawnCoalitions", "drawn_interactions", "drawn_values"]

Read = Callable[[NDArray[np.float64]], tuple[NDArray[np.float64], NDArray[np.float64]]]


class DrawnCoalitions(NamedTuple):
    """Coalitions of d terms (c, d), each once, and what reads their predictions (c, K).

    `read` returns estimates and the variances of these: (d, K), or (d, d, K) of interactions.
    """

    coalitions: NDArray[np.bool_]
    read: Read


def drawn_values(orders: NDArray[np.int64]) -> DrawnCoalitions:
    """Return what the Shapley values need; `orders` (R, d) are at least two orders of d terms."""
    both = _with_reverses(orders)
    coalitions, place = _each_once(_before(both))

    def read(predicted: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        return _mean_of_draws(_changes(predicted[place], both))

    return DrawnCoalitions(coalitions, read)


def drawn_interactions(orders: NDArray[np.int64]) -> DrawnCoalitions:
    """Return what the Shapley interaction values need, as `drawn_values`.

    The interaction index of a pair (i, j) is estimated by what changes as j enters an order of the
    others with i there from the beginning, minus the same with i never there.
    """
    both, d = _with_reverses(orders), orders.shape[1]
    term = np.arange(d)
    chains = _before(both)[:, np.newaxis]  # (2R, 1, d + 1, d)
    is_term = (term[:, np.newaxis] == term)[:, np.newaxis]  # (d, 1, d)
    needed = np.concatenate([chains, chains | is_term, chains & ~is_term], axis=1)
    coalitions, place = _each_once(needed)

    def read(predicted: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        known = predicted[place]  # (2R, 1 + 2d, d + 1, K)
        repeated = np.broadcast_to(both[:, np.newaxis], (len(both), 2 * d + 1, d))
        change = _changes(known, repeated)
        index = change[:, 1 : d + 1] - change[:, d + 1 :]  # (2R, d, d, K), 0 for i = j
        halves = (index + index.swapaxes(1, 2)) / 4
        halves[:, term, term] = change[:, 0] - halves.sum(axis=2)
        return _mean_of_draws(halves)

    return DrawnCoalitions(coalitions, read)


def _with_reverses(orders: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.concatenate([orders, orders[:, ::-1]])


def _before(orders: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return the coalitions (R, d + 1, d) of the first 0, 1, …, d terms of orders (R, d)."""
    rank = np.argsort(orders, axis=1)
    return rank[:, np.newaxis] < np.arange(orders.shape[1] + 1)[:, np.newaxis]


def _each_once(coalitions: NDArray[np.bool_]) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
    """Return the distinct coalitions (c, d), and where each of the given ones (…, d) is."""
    d = coalitions.shape[-1]
    distinct, place = np.unique(coalitions.reshape(-1, d), axis=0, return_inverse=True)
    return distinct, place.reshape(coalitions.shape[:-1])


def _changes(predicted: NDArray[np.float64], orders: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return what each term changes as it enters (…, d, K), from predictions (…, d + 1, K)."""
    steps = np.diff(predicted, axis=-2)
    return np.take_along_axis(steps, np.argsort(orders, axis=-1)[..., np.newaxis], axis=-2)


def _mean_of_draws(
    of_orders: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the mean over draws, and its variance; a draw is an order and its reverse (2R, …)."""
    R = len(of_orders) // 2
    of_draws = (of_orders[:R] + of_orders[R:]) / 2
    return of_draws.mean(axis=0), of_draws.var(axis=0, ddof=1) / R
