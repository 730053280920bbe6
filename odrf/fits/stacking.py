"""Stacking: the weight of each kind of tree in a blend, from out-of-bag predictions (Breiman 1996).

The weights w ≥ 0 minimise the mean squared error of the weighted sum of the kinds' predictions.
For a numeric response they add up to 1.  For classes the objective decides.  For few wrong labels
their sum is free and only their proportions are used: the largest probability decides, whatever
its size, and kinds whose probabilities are correctly ordered but too moderate, as those of
randomised trees are, must not be penalised.  For good probabilities the weights add up to 1, and a
Brier score or the log loss is to be small (``benchmarks/options/objectives.py``).

The predictions of a few trees have a large variance.  Mean products of predictions are therefore
estimated from products of different trees, which do not contain the variance of a single tree.
For the same reason log loss is replaced by a parabola: the logarithm of the mean of a few trees is
far below that of many, most of all for the kinds that leave the fewest rows out of bag.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from odrf.engine.numeric import products_of_pairs
from odrf.engine.running import one_thread
from odrf.options.blend import BRIER, ERROR, LOG_LOSS

# A penalty pulls the weights towards equal ones, as strongly as this many rows: for a number, and
# for classes, whose rows carry less information.
HELD_PRIOR_ROWS, FREE_PRIOR_ROWS = 20.0, 60.0
# The same for log loss, in which a row counts for more.
LOG_PRIOR_ROWS = 5.0
# The probability around which log loss is a parabola has the class shares as so many trees.
SHARE_TREES = 5.0
# How much more the equation "the weights add up to 1" counts than the others.
HELD = 1e3
TINY = 1e-200


class LogLoss(NamedTuple):
    """Log loss of the weighted sum of G kinds, less a constant: wᵀ·products·w - 2·wᵀ·relations.

    `products` is (G, G), `relations` (G,).
    """

    products: NDArray[np.float64]
    relations: NDArray[np.float64]


@dataclass(frozen=True)
class Evidence:
    """Out-of-bag mean products of G kinds of trees, from which their weights are computed.

    `errors` (G,).  `products` (G, G): the class shares.  `relations` (G,): class shares; or None.
    """

    products: NDArray[np.float64]
    relations: NDArray[np.float64] | None
    errors: NDArray[np.float64]
    rows: int
    log_loss: LogLoss | None

    def of(self, kinds: Sequence[int]) -> Evidence:
        """Return the evidence on the `kinds` with these numbers."""
        at = np.asarray(kinds)
        square, relations, log_loss = np.ix_(at, at), self.relations, self.log_loss
        return Evidence(
            self.products[square],
            None if relations is None else relations[at],
            self.errors[at],
            self.rows,
            log_loss and LogLoss(log_loss.products[square], log_loss.relations[at]),
        )

    def weights(self, objective: str = ERROR) -> NDArray[np.float64]:
        """Return the weights of the kinds (G,); they add up to 1.

        For classes they are chosen for the objective, "error", "brier" or "log_loss".
        """
        if self.relations is None or self.log_loss is None:
            return held_weights(self.products, self.rows)
        if objective == LOG_LOSS:
            return log_loss_weights(*self.log_loss, self.rows)
        if objective == BRIER:
            return held_weights_of_classes(self.products, self.relations, self.errors, self.rows)
        return free_weights(self.products, self.relations, self.errors, self.rows)


def products_of_trees(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the sums (G, G, m) of the products of different trees' values, for each row.

    `values` (G, m, b, K): errors or predictions of each kind's b trees for m rows; 0 where they do
    not count, as the row is not out of bag.
    """
    return _products(values, values.sum(axis=2))


def _products(values: NDArray[np.float64], sums: NDArray[np.float64]) -> NDArray[np.float64]:
    G, m = sums.shape[:2]
    products = np.empty((G, G, m))
    products_of_pairs(values.reshape(G, m, -1), sums, products)
    return products


class SumsOfRows(NamedTuple):
    """Sums over the trees that each row is out of bag for.

    `products` (G, G, m): those of `products_of_trees`.  `relations` (G, m): sums of the products
    of the trees' values with the target.
    """

    products: NDArray[np.float64]
    relations: NDArray[np.float64]


def sums_of_rows(values: NDArray[np.float64], target: NDArray[np.float64]) -> SumsOfRows:
    """Return both sums for each row, of values as in `products_of_trees` and a target (m, K)."""
    sums = values.sum(axis=2)
    return SumsOfRows(_products(values, sums), np.einsum("gik,ik->gi", sums, target))


def log_loss_in_squares(
    own: NDArray[np.float64], out_of_bag: list[NDArray[np.bool_]], shares: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return values (G, m, b, 1) and a target (m, 1) of squared errors about twice the log loss.

    Let r be the out-of-bag probability of a row's own class by the trees of all kinds.  That of a
    weighted sum, x, has about the log loss (x - r)²/(2r) - x/r, less a constant.  Twice that is
    (x/√r - √r - 1/√r)², less a constant.  At r this has the slope of the logarithm, so that true
    probabilities are best, but not its curvature 1/r²: rows on which all kinds fail would decide.
    `own` (G, m, b) are the probabilities of each row's own class by each kind's trees, 0 where they
    do not count; `out_of_bag` G arrays (m, b): which rows are; `shares` (m,) those of the rows'
    classes, towards which r is shrunk if there are few trees.
    """
    total = own.sum(axis=2).sum(axis=0)
    trees = np.sum([mask.sum(axis=1) for mask in out_of_bag], axis=0)
    pooled = (total + SHARE_TREES * shares) / (trees + SHARE_TREES)
    root = np.sqrt(np.maximum(pooled, TINY))[:, None]
    return (own / root)[..., None], root + 1 / root


@one_thread()
def mean_products(
    products: NDArray[np.float64], out_of_bag: list[NDArray[np.bool_]], weights: NDArray[np.float64]
) -> tuple[NDArray[np.float64], int]:
    """Return the mean products (G, G) of the kinds' values, and the fewest rows that a kind has.

    `products` (G, G, m): of rows.  `out_of_bag`: G arrays (m, b), which rows are so for each tree.
    """
    trees = [mask.sum(axis=1) for mask in out_of_bag]
    G = len(products)
    means, known = np.empty((G, G)), {}
    for g in range(G):
        for h in range(g + 1):
            masks = id(out_of_bag[g]), id(out_of_bag[h])  # kinds that draw alike share one
            if masks not in known:
                both = np.sum(out_of_bag[g] & out_of_bag[h], axis=1)
                known[masks] = weights @ (trees[g] * trees[h] - both)
            pairs = known[masks]
            means[g, h] = means[h, g] = weights @ products[g, h] / pairs if pairs else 0.0
    return means, min(int(np.sum(number > 1)) for number in trees)


@one_thread()
def mean_relations(
    relations: NDArray[np.float64],
    out_of_bag: list[NDArray[np.bool_]],
    weights: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return the mean products (G,) of the kinds' values with the target.

    `relations` (G, m): of rows.  `out_of_bag`, `weights`: as in `mean_products`.
    """
    means = np.zeros(len(relations))
    for g, (of_rows, mask) in enumerate(zip(relations, out_of_bag, strict=True)):
        means[g] = weights @ of_rows / max(weights @ mask.sum(axis=1), TINY)
    return means


def mean_sums(
    sums: Sequence[SumsOfRows], out_of_bag: list[NDArray[np.bool_]], weights: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64], int]:
    """Return mean products (G, G) and relations (G,), and the fewest rows that a kind has.

    `sums` are those of consecutive blocks of rows; `out_of_bag` and `weights` are of all rows.
    """
    products = np.concatenate([block.products for block in sums], axis=2)
    relations = np.concatenate([block.relations for block in sums], axis=1)
    means, rows = mean_products(products, out_of_bag, weights)
    return means, mean_relations(relations, out_of_bag, weights), rows


def held_weights(products: NDArray[np.float64], rows: int) -> NDArray[np.float64]:
    """Return the weights w ≥ 0 (G,), Σ w = 1, that minimise wᵀ·products·w.

    `products` (G, G) are the mean products of the kinds' errors.  The fewer `rows` they are from,
    the closer are the weights to equal ones.
    """
    root = _root(products + _prior(np.diag(products), HELD_PRIOR_ROWS / max(rows, 1)))
    return _on_the_simplex(root, np.zeros(len(products)))


def held_weights_of_classes(
    products: NDArray[np.float64],
    relations: NDArray[np.float64],
    errors: NDArray[np.float64],
    rows: int,
) -> NDArray[np.float64]:
    """Return the weights w ≥ 0 (G,), Σ w = 1, that minimise wᵀ·products·w - 2·wᵀ·relations.

    That is the Brier score of the weighted sum, less a constant; see `free_weights`.
    """
    return _held(products + _prior(errors, FREE_PRIOR_ROWS / max(rows, 1)), relations)


def log_loss_weights(
    products: NDArray[np.float64], relations: NDArray[np.float64], rows: int
) -> NDArray[np.float64]:
    """Return the weights w ≥ 0 (G,), Σ w = 1, that minimise wᵀ·products·w - 2·wᵀ·relations.

    These are mean `products` and `relations` of the values of `log_loss_in_squares`.  The penalty
    on unequal weights is scaled to a relative error of 1.  `rows` is that of `held_weights`.
    """
    penalty = _prior(np.ones(len(relations)), LOG_PRIOR_ROWS / max(rows, 1))
    return _held(products + penalty, relations)


def _held(products: NDArray[np.float64], relations: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the weights w ≥ 0 (G,), Σ w = 1, that minimise wᵀ·products·w - 2·wᵀ·relations."""
    root = _root(products)
    return _on_the_simplex(root, np.asarray(np.linalg.solve(root.T, relations), dtype=np.float64))


def _on_the_simplex(root: NDArray[np.float64], aim: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the weights w ≥ 0 (G,), Σ w = 1, that minimise |root·w - aim|²."""
    held = HELD * np.abs(root).max()
    equations = np.vstack([root, np.full((1, len(root)), held)])
    return _normalised(scipy.optimize.nnls(equations, np.append(aim, held))[0])


def free_weights(
    products: NDArray[np.float64],
    relations: NDArray[np.float64],
    errors: NDArray[np.float64],
    rows: int,
) -> NDArray[np.float64]:
    """Return w / Σ w (G,) of the w ≥ 0 that minimise wᵀ·products·w - 2·wᵀ·relations.

    `products` (G, G) are the mean products of the kinds' predictions, `relations` (G,) those with
    the target, all minus the class shares.  `errors` (G,) are the kinds' mean squared errors, to
    which the penalty on unequal weights is scaled.  `rows` is that of `held_weights`.
    """
    root = _root(products + _prior(errors, FREE_PRIOR_ROWS / max(rows, 1)))
    return _normalised(scipy.optimize.nnls(root, np.linalg.solve(root.T, relations))[0])


def _prior(errors: NDArray[np.float64], share: float) -> NDArray[np.float64]:
    """Return the matrix (G, G) of the penalty on unequal weights, a `share` of the mean error."""
    G = len(errors)
    return share * np.abs(errors).mean() * (np.eye(G) - 1 / G)


def _root(products: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return a matrix R such that RᵀR is the positive definite matrix nearest to `products`."""
    values, vectors = np.linalg.eigh(products)
    least = max(1e-9 * np.abs(values).max(), TINY)
    return (vectors * np.sqrt(np.maximum(values, least))).T


def _normalised(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    total = weights.sum()
    return weights / total if total > 0 else np.full(len(weights), 1 / len(weights))
