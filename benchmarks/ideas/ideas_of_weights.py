"""Ways to weigh the kinds of trees of a forest for classes, other than that of the package.

Each way gets what pilot trees say of rows that they did not draw, and returns a weight of each
kind.  Wrong labels are counted for means of as many trees of each kind, because kinds that leave
more rows out would seem better.  Few trees have more wrong labels than many.  To first order the
excess falls with one over their number, so that twice the errors of b trees less those of b/2 are
about those of very many.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from odrf.fits.stacking import (
    free_weights,
    mean_products,
    mean_relations,
    products_of_rows,
    relations_of_rows,
)

__all__ = ["Pilots", "stacked_again", "weights_by_idea", "weights_near_boundaries"]

RANDOMISED = ("random", "extra", "few", "sparse", "axis")
"""The kinds whose trees are not greedy."""
PENALTY = 0.3
"""How strongly weights that minimise a logistic loss are pulled towards equal ones."""
CLEAR = 0.5
"""So many standard errors must another choice be better, to be made with some caution."""
ROWS_AT_ONCE = 200


class Pilots(NamedTuple):
    """What pilot trees of G kinds say of n training rows.

    Attributes
    ----------
    names : list of G str
    values : list of G arrays (n, b, K) float64
        The prediction of each of b trees.
    unseen : list of G arrays (n, b) bool
        Which rows are out of bag for each tree.
    y : (n,) int64
        Class codes.
    weights : (n,) float64
        Case weights.
    """

    names: list[str]
    values: list[NDArray[np.float64]]
    unseen: list[NDArray[np.bool_]]
    y: NDArray[np.int64]
    weights: NDArray[np.float64]


def weights_by_idea(pilots: Pilots, stacked: NDArray[np.float64]) -> dict[str, NDArray]:
    """Return the weights (G,) of the kinds by each idea; `stacked` are those of the package."""
    G, K = len(pilots.names), pilots.values[0].shape[2]
    randomised = np.isin(pilots.names, RANDOMISED) / np.isin(pilots.names, RANDOMISED).sum()
    halves, y = means_of_halves(pilots)
    logistic = weights_of_logistic_loss(halves.mean(axis=0), y)
    few, many = [stacked, randomised], [stacked, *np.eye(G)]
    return {
        "equal weights": np.full(G, 1 / G),
        "equal weights of randomised kinds": randomised,
        "margins instead of probabilities": weights_of_margins(pilots, stacked),
        "logistic loss": logistic,
        "half of it logistic loss": (stacked + logistic) / 2,
        "more equal with more classes": stacked_again(pilots, 30.0 * (K - 1) / 60.0),
        "equal randomised kinds if labels say so": chosen(few, halves, y, 0.0),
        "the same, if clearly": chosen(few, halves, y, CLEAR),
        "best kind if labels say so": chosen(many, halves, y, 0.0),
        "best kind, one standard error": chosen(many, halves, y, 1.0),
    }


def means_of_halves(pilots: Pilots) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return mean predictions (2, G, m, K) of halves of the trees, and classes (m,), of rows.

    Of each row each kind has as many trees: twice half of the fewest that any has.  Rows with fewer
    than two are left out.
    """
    half = np.min([mask.sum(axis=1) for mask in pilots.unseen], axis=0) // 2
    known = half > 0
    means = np.empty((2, len(pilots.names), known.sum(), pilots.values[0].shape[2]))
    for g, (values, mask) in enumerate(zip(pilots.values, pilots.unseen, strict=True)):
        place = np.cumsum(mask, axis=1)
        for h in range(2):
            used = mask & (place <= 2 * half[:, None]) & (place % 2 == h)
            means[h, g] = np.einsum("nbk,nb->nk", values, used)[known] / half[known, None]
    return means, pilots.y[known]


def chosen(
    weights: Sequence[NDArray[np.float64]],
    halves: NDArray[np.float64],
    y: NDArray[np.int64],
    least: float,
) -> NDArray[np.float64]:
    """Return those weights that have fewest wrong labels, as if there were very many trees.

    The first ones stay if no others are better by more than `least` standard errors.
    """

    def wrong(of_weights: NDArray[np.float64], means: NDArray[np.float64]) -> NDArray[np.float64]:
        return (np.tensordot(of_weights, means, 1).argmax(axis=1) != y).astype(float)

    losses = np.array(
        [2 * wrong(w, halves.mean(axis=0)) - sum(wrong(w, h) for h in halves) / 2 for w in weights]
    )
    gains = losses[0] - losses
    total, error = gains.sum(axis=1), np.sqrt(len(y)) * gains.std(axis=1)
    clear = total > least * error
    return weights[int(np.argmax(np.where(clear, total, -np.inf)))] if clear.any() else weights[0]


def weights_of_logistic_loss(
    means: NDArray[np.float64], y: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return weights (G,) of the probabilities (G, m, K) whose sum, as scores, has least loss."""
    G, rows = len(means), np.arange(len(y))

    def loss(w: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        scores = np.tensordot(w, means, 1)
        logs = scores - scipy.special.logsumexp(scores, axis=1, keepdims=True)
        off = np.exp(logs)
        off[rows, y] -= 1
        apart = w - w.mean()
        total = -logs[rows, y].sum() + PENALTY * apart @ apart / 2
        return float(total), np.einsum("mk,gmk->g", off, means) + PENALTY * apart

    found = scipy.optimize.minimize(loss, np.ones(G), jac=True, bounds=[(0, None)] * G).x
    return found / found.sum() if found.sum() > 0 else np.full(G, 1 / G)


def weights_of_margins(pilots: Pilots, stacked: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return weights (G,) that bring the margins of a weighted sum closest to one number.

    A margin is the probability of the true class less that of the likeliest other one, as the
    `stacked` kinds say out of bag.
    """
    rows, pooled = np.arange(len(pilots.y)), _pooled(pilots, stacked)
    pooled[rows, pilots.y] = -1
    rival = pooled.argmax(axis=1)
    margins = [
        (values[rows, :, pilots.y] - values[rows, :, rival])[:, :, None] for values in pilots.values
    ]
    return _free(margins, pilots, np.ones((len(rows), 1)), 1.0)


def weights_near_boundaries(
    pilots: Pilots, stacked: NDArray[np.float64], share: float
) -> NDArray[np.float64]:
    """Return the weights (G,) that the package would find from rows whose labels may change alone.

    These are so large a share of the rows, those whose two likeliest classes differ least, as the
    `stacked` kinds say out of bag.
    """
    first, second = np.sort(_pooled(pilots, stacked), axis=1)[:, :-3:-1].T
    near = first - second <= np.quantile(first - second, share)
    return stacked_again(pilots._replace(weights=pilots.weights * near), 1.0)


def _pooled(pilots: Pilots, stacked: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return what the kinds say out of bag (n, K), with these weights."""
    pooled = np.zeros((len(pilots.y), pilots.values[0].shape[2]))
    for w, values, mask in zip(stacked, pilots.values, pilots.unseen, strict=True):
        of_kind = np.einsum("nbk,nb->nk", values, mask)
        pooled += w * of_kind / np.maximum(mask.sum(axis=1), 1)[:, None]
    return pooled


def stacked_again(pilots: Pilots, strength: float) -> NDArray[np.float64]:
    """Return weights like those of the package, pulled to equal ones `strength` times as much."""
    target = np.eye(pilots.values[0].shape[2])[pilots.y]
    shares = pilots.weights @ target / pilots.weights.sum()
    return _free([values - shares for values in pilots.values], pilots, target - shares, strength)


def _free(
    values: list[NDArray[np.float64]],
    pilots: Pilots,
    target: NDArray[np.float64],
    strength: float,
) -> NDArray[np.float64]:
    """Return the proportions of the sum of `values` nearest to the `target`, in squares."""
    unseen, case_weights = pilots.unseen, pilots.weights
    products, relations = [], []
    for start in range(0, len(target), ROWS_AT_ONCE):
        at = slice(start, start + ROWS_AT_ONCE)
        some, masks = [of_kind[at] for of_kind in values], [mask[at] for mask in unseen]
        products.append(products_of_rows(some, masks))
        relations.append(relations_of_rows(some, masks, target[at]))
    means, rows = mean_products(np.concatenate(products, axis=2), unseen, case_weights)
    related = mean_relations(np.concatenate(relations, axis=1), unseen, case_weights)
    square = case_weights @ np.sum(target**2, axis=1) / case_weights.sum()
    errors = np.abs(np.diag(means) - 2 * related + square)
    return free_weights(means, related, errors * strength, rows)
