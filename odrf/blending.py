"""A forest of several kinds of trees, of each kind as many as its out-of-bag errors deserve.

Which kind of tree suits a table cannot be told beforehand: greedy splits or randomised ones,
small leaves or large.  A pilot of a few trees of each kind is judged on the rows that they have
not seen.  With E_g the error of the kind's mean prediction there, the weights minimise the
mean of (Σ w_g·E_g)² over w ≥ 0, Σ w_g = 1: stacking (Breiman 1996, "Stacked regressions").  The
forest then has trees of each kind in proportion, and predicts their plain mean.

Few trees err by chance as well.  So the mean of E_g·E_h is estimated from the products of the
errors of different trees, which leave that part out, and the i-th trees of all kinds draw the same
rows, so that the kinds are compared on the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls

from odrf.engine.candidates import Blocks
from odrf.engine.forest import Forest, joined
from odrf.engine.growth import grow_forest
from odrf.engine.randomness import streams
from odrf.engine.routing import leaf_nodes
from odrf.engine.sampling import Sampling, draw_counts
from odrf.engine.settings import Settings

__all__ = ["Blend", "apportion", "grow_blend", "mean_products", "stacking_weights"]

# Trees of a pilot: the fewest, and so many that with the rows they make this number.  On few rows
# it takes many trees to tell the kinds apart, and they are quickly grown.
FEWEST_PILOT, MOST_PILOT, EVIDENCE = 5, 200, 60_000
# Rows that the pilots are judged on: more would say little more.
JUDGED_ROWS = 10_000
# How many rows' worth of equal weights is added to the evidence.
PRIOR_ROWS = 20.0
# The sum of the weights is held to 1 by an equation that counts so much more than the others.
HELD = 1e3
TINY = 1e-200


@dataclass(frozen=True)
class Blend:
    """How a blended forest came about.

    Attributes
    ----------
    of_tree : (B,) int64
        The number of each tree's kind.
    weights : (G,) float64
        The kinds' weights.
    errors : (G,) float64
        Their pilots' out-of-bag mean squared errors; for classes Brier scores.
    """

    of_tree: NDArray[np.int64]
    weights: NDArray[np.float64]
    errors: NDArray[np.float64]


def stacking_weights(products: NDArray[np.float64], rows: float) -> NDArray[np.float64]:
    """Return the weights w ≥ 0 (G,), Σ w = 1, that minimise wᵀ·products·w.

    `products` (G, G) are the mean products of the kinds' errors; over how many `rows` decides
    how much they count against equal weights.
    """
    G = len(products)
    prior = np.abs(np.diag(products)).mean() * PRIOR_ROWS / max(rows, 1.0)
    root = _root(products + prior * np.eye(G))
    held = HELD * np.abs(root).max()
    equations = np.vstack([root, np.full((1, G), held)])
    found, _ = nnls(equations, np.append(np.zeros(G), held))
    return found / found.sum()


def mean_products(
    errors: list[NDArray[np.float64]], unseen: NDArray[np.bool_], weights: NDArray[np.float64]
) -> tuple[NDArray[np.float64], float]:
    """Return the mean products (G, G) of the kinds' errors, and the number of rows they are from.

    Parameters
    ----------
    errors : list of G arrays (m, b, K) float64
        Errors of the b trees of each kind on m rows.
    unseen : (m, b) bool
        Which rows the i-th trees have not seen.
    weights : (m,) float64
        Case weights.
    """
    known = [error * unseen[:, :, None] for error in errors]
    sums = [error.sum(axis=1) for error in known]
    G, trees = len(errors), unseen.sum(axis=1)
    products = np.empty((G, G))
    pairs = weights @ (trees * (trees - 1.0))
    for g in range(G):
        for h in range(g + 1):
            own = np.einsum("ibk,ibk->i", known[g], known[h])
            both = np.einsum("ik,ik->i", sums[g], sums[h])
            products[g, h] = products[h, g] = weights @ (both - own) / pairs if pairs else 0.0
    return products, float(np.sum(trees > 1))


def _root(products: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return a matrix whose square is the nearest to `products` that is no less than 0."""
    values, vectors = np.linalg.eigh(products)
    least = max(1e-9 * np.abs(values).max(), TINY)
    return (vectors * np.sqrt(np.maximum(values, least))).T


def apportion(weights: NDArray[np.float64], n: int) -> NDArray[np.int64]:
    """Return whole numbers (G,) in proportion to the weights, in all n, by largest remainders."""
    shares = n * weights
    counts = np.floor(shares).astype(np.int64)
    first = np.argsort(counts - shares, kind="stable")[: n - int(counts.sum())]
    counts[first] += 1
    return counts


def _in_turn(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the kind of each tree (B,), so that any first trees are mixed as all are."""
    kind = np.repeat(np.arange(len(counts)), counts)
    place = np.concatenate([(np.arange(count) + 0.5) / count for count in counts if count > 0])
    return kind[np.argsort(place, kind="stable")]


def grow_blend(
    X: NDArray[np.float32],
    y: NDArray[np.float64],
    weights: NDArray[np.float64],
    blocks: Blocks,
    sampling: Sampling,
    kinds: list[Settings],
    seed: int,
    n_trees: int,
    n_jobs: int,
    advance: Callable[[], object],
) -> tuple[Forest, NDArray[np.uint64], Blend]:
    """Grow a forest of the `kinds` of trees; return it, its streams (B, 4) and how it came about.

    The i-th tree of each kind has the i-th stream of the seed.  The other arguments are those of
    `odrf.engine.growth.grow_forest`.
    """
    G, n_pilot = len(kinds), max(FEWEST_PILOT, min(MOST_PILOT, EVIDENCE // len(y)))
    own = streams(seed, 0, max(n_trees, n_pilot))

    def grow(g: int, first: int, last: int) -> Forest:
        return grow_forest(
            X, y, weights, blocks, sampling, kinds[g], own[first:last], n_jobs, advance
        )

    pilots = [grow(g, 0, n_pilot) for g in range(G)]
    products, rows = _judged(pilots, X, y, weights, sampling, own[:n_pilot], n_jobs)
    shares = stacking_weights(products, rows)
    counts = apportion(shares, n_trees)
    more = [grow(g, n_pilot, counts[g]) if counts[g] > n_pilot else None for g in range(G)]
    of_tree = _in_turn(counts)
    rank = np.empty(n_trees, dtype=np.int64)
    for g in range(G):
        rank[of_tree == g] = np.arange(counts[g])

    def trees() -> Iterator[Forest]:
        for g, i in zip(of_tree, rank, strict=True):
            rest = more[g]
            yield pilots[g].tree(i) if i < n_pilot or rest is None else rest.tree(i - n_pilot)

    return joined(trees(), n_trees), own[rank], Blend(of_tree, shares, np.diag(products).copy())


def _judged(
    pilots: list[Forest],
    X: NDArray[np.float32],
    y: NDArray[np.float64],
    weights: NDArray[np.float64],
    sampling: Sampling,
    own: NDArray[np.uint64],
    n_jobs: int,
) -> tuple[NDArray[np.float64], float]:
    """Return the mean products of the pilots' errors, and the number of rows they are from."""
    n, K = len(y), pilots[0].value.shape[1]
    at = np.unique(np.linspace(0, n - 1, min(n, JUDGED_ROWS)).astype(np.int64))
    some = np.take(X, at, axis=1)
    target = y[at, None] if K == 1 else np.eye(K)[y[at].astype(np.int64)]
    unseen = np.array([draw_counts(stream.copy(), weights, sampling)[at] == 0 for stream in own]).T
    errors = [pilot.value[leaf_nodes(pilot, some, n_jobs)] - target[:, None, :] for pilot in pilots]
    return mean_products(errors, unseen, weights[at])
