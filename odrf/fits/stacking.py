"""How much of each kind of tree a forest should have, judged out of bag: stacking (Breiman 1996).

Weights w ≥ 0 of the kinds' mean predictions minimise the mean square of what their sum leaves of
the target.  For a numeric response they add up to 1.  For classes only their proportions matter,
because the largest of the probabilities decides, whatever its size: so what is minimised leaves
the size free, lest kinds whose probabilities are right but cautious, as those of randomised
trees are, be taken for bad ones.

Few trees err by chance as well.  So mean products are estimated from the products of different
trees, which leave that part out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

__all__ = ["Evidence", "free_weights", "held_weights", "mean_products", "mean_relations"]

# How many rows' worth of equal weights is added to the evidence: of numbers, of classes, which
# say less.
HELD_PRIOR_ROWS, FREE_PRIOR_ROWS = 20.0, 60.0
# The sum of the weights is held to 1 by an equation that counts so much more than the others.
HELD = 1e3
TINY = 1e-200


@dataclass(frozen=True)
class Evidence:
    """What is known of the kinds out of bag.

    Attributes
    ----------
    products : (G, G) float64
        Mean products of their errors; for classes of their predictions less the classes' shares.
    relations : (G,) float64 or None
        For classes, mean products of those with the target less the classes' shares.
    errors : (G,) float64
        Mean squared errors; for classes Brier scores.
    rows : int
        The fewest rows that a kind was judged on.
    """

    products: NDArray[np.float64]
    relations: NDArray[np.float64] | None
    errors: NDArray[np.float64]
    rows: int

    def of(self, kinds: Sequence[int]) -> Evidence:
        """Return the evidence on some of the kinds."""
        some = np.asarray(kinds)
        relations = None if self.relations is None else self.relations[some]
        return Evidence(self.products[np.ix_(some, some)], relations, self.errors[some], self.rows)

    def weights(self) -> NDArray[np.float64]:
        """Return how much of each kind (G,) a forest should have."""
        if self.relations is None:
            return held_weights(self.products, self.rows)
        return free_weights(self.products, self.relations, self.errors, self.rows)


def mean_products(
    values: list[NDArray[np.float64]],
    unseen: list[NDArray[np.bool_]],
    weights: NDArray[np.float64],
) -> tuple[NDArray[np.float64], int]:
    """Return the mean products (G, G) of the kinds' values, and the fewest rows they are from.

    Parameters
    ----------
    values : list of G arrays (m, b, K) float64
        What each kind's b trees say of m rows: errors, or predictions.
    unseen : list of G arrays (m, b) bool
        Which of the rows each tree has not seen.
    weights : (m,) float64
        Case weights.
    """
    known = [value * mask[:, :, None] for value, mask in zip(values, unseen, strict=True)]
    sums = [value.sum(axis=1) for value in known]
    trees = [mask.sum(axis=1) for mask in unseen]
    G = len(values)
    products = np.empty((G, G))
    for g in range(G):
        for h in range(g + 1):
            own = np.einsum("ibk,ibk->i", known[g], known[h])
            both = np.einsum("ik,ik->i", sums[g], sums[h])
            pairs = weights @ (trees[g] * trees[h] - np.sum(unseen[g] & unseen[h], axis=1))
            products[g, h] = products[h, g] = weights @ (both - own) / pairs if pairs else 0.0
    return products, min(int(np.sum(number > 1)) for number in trees)


def mean_relations(
    values: list[NDArray[np.float64]],
    unseen: list[NDArray[np.bool_]],
    weights: NDArray[np.float64],
    target: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return the mean products (G,) of the kinds' values with the target (m, K)."""
    relations = np.zeros(len(values))
    for g, (value, mask) in enumerate(zip(values, unseen, strict=True)):
        related = np.einsum("ibk,ik,ib->i", value, target, mask)
        relations[g] = weights @ related / max(weights @ mask.sum(axis=1), TINY)
    return relations


def held_weights(products: NDArray[np.float64], rows: int) -> NDArray[np.float64]:
    """Return the weights w ≥ 0 (G,), Σ w = 1, that minimise wᵀ·products·w.

    `products` (G, G) are the mean products of the kinds' errors; over how many `rows` decides
    how much they count against equal weights.
    """
    G = len(products)
    root = _root(products + _prior(np.diag(products), HELD_PRIOR_ROWS / max(rows, 1)))
    held = HELD * np.abs(root).max()
    equations = np.vstack([root, np.full((1, G), held)])
    return _normalised(scipy.optimize.nnls(equations, np.append(np.zeros(G), held))[0])


def free_weights(
    products: NDArray[np.float64],
    relations: NDArray[np.float64],
    errors: NDArray[np.float64],
    rows: int,
) -> NDArray[np.float64]:
    """Return w / Σ w (G,) of the w ≥ 0 that minimise wᵀ·products·w - 2·wᵀ·relations.

    `products` (G, G) are the mean products of the kinds' predictions, `relations` (G,) those with
    the target, both less their means; `errors` (G,) are mean squares of what each kind leaves.
    """
    root = _root(products + _prior(errors, FREE_PRIOR_ROWS / max(rows, 1)))
    return _normalised(scipy.optimize.nnls(root, np.linalg.solve(root.T, relations))[0])


def _prior(errors: NDArray[np.float64], share: float) -> NDArray[np.float64]:
    """Return the matrix (G, G) that charges weights for being unequal, a share of the errors."""
    G = len(errors)
    return share * np.abs(errors).mean() * (np.eye(G) - 1 / G)


def _root(products: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return a matrix whose square is the nearest to `products` that is no less than 0."""
    values, vectors = np.linalg.eigh(products)
    least = max(1e-9 * np.abs(values).max(), TINY)
    return (vectors * np.sqrt(np.maximum(values, least))).T


def _normalised(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    total = weights.sum()
    return weights / total if total > 0 else np.full(len(weights), 1 / len(weights))
