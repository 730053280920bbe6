"""A forest of several kinds of trees, of each kind as many as its out-of-bag errors deserve.

Which kind of tree suits a table cannot be told beforehand: greedy splits or randomised ones,
small leaves or large, many candidates at a node or few.  A pilot of a few trees of each kind is
judged on the rows that they have not seen; `odrf.fits.stacking` weighs the kinds.  The forest then
has trees of each kind in proportion, and predicts their plain mean.

The i-th trees of all kinds have the same random stream, so that those that draw as many rows draw
the same, and the kinds are compared on the same.

A blend that is enlarged keeps its trees.  Pilots are judged anew only where the larger forest has
larger ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from odrf.engine.apportioning import apportion
from odrf.engine.directions.candidates import FeatureGroups
from odrf.engine.growth.forest_growth import grow_forest
from odrf.engine.randomness import streams
from odrf.engine.rows.sampling import Sampling, draw_counts
from odrf.engine.settings import Settings
from odrf.engine.trees.forest_arrays import Forest, joined
from odrf.engine.trees.routing import leaf_nodes
from odrf.fits.stacking import Evidence, mean_products, mean_relations
from odrf.projections.mixture import Mixture

__all__ = ["Blend", "Blended", "Kind", "grow_blend", "judged", "pilot_trees"]

# Trees of a pilot: the fewest, and so many that with the rows they make this number.  On few rows
# it takes many trees to tell the kinds apart, and they are quickly grown; on more than these the
# pilots together shall not outgrow the forest.
FEWEST_PILOT, MOST_PILOT, EVIDENCE = 5, 200, 60_000
FEW_ROWS = 500
# Rows that the pilots are judged on: more would say little more.
JUDGED_ROWS = 20_000


class Kind(NamedTuple):
    """How trees of a kind are grown, and on which rows."""

    settings: Settings
    mixture: Mixture
    sampling: Sampling


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


class Blended(NamedTuple):
    """A forest of several kinds of trees, the streams (B, 4) of these, and how it came about."""

    forest: Forest
    streams: NDArray[np.uint64]
    blend: Blend


def pilot_trees(n: int, G: int, n_trees: int) -> int:
    """Return how many trees each of G pilots has, for n rows and a forest of `n_trees`."""
    most = MOST_PILOT if n <= FEW_ROWS else n_trees // G
    return max(FEWEST_PILOT, min(most, EVIDENCE // n))


def _in_turn(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the kind of each tree (B,), so that any first trees are mixed as all are."""
    kind = np.repeat(np.arange(len(counts)), counts)
    place = np.concatenate([(np.arange(count) + 0.5) / count for count in counts if count > 0])
    return kind[np.argsort(place, kind="stable")]


def _by_kind(start: Blended | None, G: int) -> list[list[Forest]]:
    """Return the trees that there are of each of G kinds, in the order of their streams."""
    if start is None:
        return [[] for _ in range(G)]
    forest, of_tree = start.forest, start.blend.of_tree
    return [[forest.tree(int(b)) for b in np.flatnonzero(of_tree == g)] for g in range(G)]


def _one_by_one(parts: Sequence[Forest]) -> Iterator[Forest]:
    for part in parts:
        for i in range(part.n_trees):
            yield part.tree(i)


def grow_blend(
    X: NDArray[np.float32],
    y: NDArray[np.float64],
    weights: NDArray[np.float64],
    feature_groups: FeatureGroups,
    kinds: Sequence[Kind],
    seed: int,
    n_trees: int,
    n_jobs: int,
    advance: Callable[[], object],
    start: Blended | None = None,
) -> Blended:
    """Grow a forest of the `kinds` of trees.

    The i-th tree of each kind has the i-th stream of the seed.  `start` is a smaller forest of
    the same arguments, whose trees need not be grown again.  The other arguments are those of
    `odrf.engine.growth.forest_growth.grow_forest`.
    """
    G, n_pilot = len(kinds), pilot_trees(len(y), len(kinds), n_trees)
    own = streams(seed, 0, max(n_trees, n_pilot))

    def grow(g: int, first: int, last: int) -> Forest:
        settings, mixture, sampling = kinds[g]
        return grow_forest(
            X,
            y,
            weights,
            feature_groups,
            sampling,
            settings,
            mixture,
            own[first:last],
            n_jobs,
            advance,
        )

    def pilot(g: int, there: list[Forest]) -> Forest:
        missing = [grow(g, len(there), n_pilot)] if len(there) < n_pilot else []
        return joined([*there[:n_pilot], *missing], n_pilot) if there else missing[0]

    parts = _by_kind(start, G)
    if start is not None and pilot_trees(len(y), G, start.forest.n_trees) == n_pilot:
        found = start.blend
    else:
        pilots = [pilot(g, parts[g]) for g in range(G)]
        parts = [[pilots[g], *parts[g][n_pilot:]] for g in range(G)]
        evidence = judged(pilots, X, y, weights, kinds, own[:n_pilot], n_jobs)
        found = Blend(np.empty(0, dtype=np.int64), evidence.weights(), evidence.errors)
    counts = apportion(found.weights, n_trees)
    for g in range(G):
        there = sum(part.n_trees for part in parts[g])
        if there < counts[g]:
            parts[g].append(grow(g, there, counts[g]))
    of_tree = _in_turn(counts)
    rank = np.empty(n_trees, dtype=np.int64)
    for g in range(G):
        rank[of_tree == g] = np.arange(counts[g])
    trees = [_one_by_one(of_kind) for of_kind in parts]
    forest = joined((next(trees[g]) for g in of_tree), n_trees)
    return Blended(forest, own[rank], replace(found, of_tree=of_tree))


def judged(
    pilots: Sequence[Forest],
    X: NDArray[np.float32],
    y: NDArray[np.float64],
    weights: NDArray[np.float64],
    kinds: Sequence[Kind],
    own: NDArray[np.uint64],
    n_jobs: int,
) -> Evidence:
    """Judge the kinds by what the i-th trees of their `pilots`, of stream own[i], have not seen.

    The other arguments are those of `grow_blend`.
    """
    n, K = len(y), pilots[0].value.shape[1]
    at = np.unique(np.linspace(0, n - 1, min(n, JUDGED_ROWS)).astype(np.int64))
    some, given = np.take(X, at, axis=1), weights[at]
    values = [pilot.value[leaf_nodes(pilot, some, n_jobs)] for pilot in pilots]
    unseen = [
        np.array([draw_counts(stream.copy(), weights, kind.sampling)[at] == 0 for stream in own]).T
        for kind in kinds
    ]
    if K == 1:
        left = [value - y[at, None, None] for value in values]
        products, rows = mean_products(left, unseen, given)
        return Evidence(products, None, np.diag(products).copy(), rows)
    target = np.eye(K)[y[at].astype(np.int64)]
    shares = given @ target / given.sum()
    target -= shares
    centred = [value - shares for value in values]
    products, rows = mean_products(centred, unseen, given)
    relations = mean_relations(centred, unseen, given, target)
    errors = np.diag(products) - 2 * relations + given @ np.sum(target**2, axis=1) / given.sum()
    return Evidence(products, relations, errors, rows)
