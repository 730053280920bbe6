"""Blends: forests of several kinds of trees, whose shares are found by stacking.

Which kind of tree suits a table is not known in advance: greedy or randomised splits, small or
large leaves, many or few candidates at a node.  Pilot trees of each kind are evaluated on their
out-of-bag rows, and `odrf.fits.stacking` finds weights of the kinds.  The forest has trees of each
kind in proportion to the weights, and predicts the plain mean of all trees.

The i-th trees of all kinds have the same random stream.  So kinds that draw equally many rows draw
the same rows, and are compared on the same rows.

A blend that is enlarged keeps its trees.  The weights are found again only if the larger forest has
more pilot trees.
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
from odrf.engine.rows.coded import Matrix, with_rows
from odrf.engine.rows.draws import Draws
from odrf.engine.rows.row_codes import RowCodes
from odrf.engine.rows.sampling import Sampling
from odrf.engine.settings import Settings
from odrf.engine.trees.forest_arrays import Forest, joined
from odrf.engine.trees.routing import leaf_nodes
from odrf.fits.stacking import Evidence, mean_products, mean_relations
from odrf.projections.mixture import Mixture

__all__ = ["Blend", "Blended", "Kind", "grow_blend", "pilot_evidence", "pilot_trees"]

# Pilot trees of each kind: rows times trees is about PILOT_EVIDENCE, within these bounds.  Few rows
# need many trees to compare the kinds, and these are quickly grown.  On more than FEW_ROWS rows the
# pilot trees of all kinds together are no more than the trees of the forest.
FEWEST_PILOT, MOST_PILOT, PILOT_EVIDENCE = 5, 200, 60_000
FEW_ROWS = 500
# Most rows that the pilot trees are evaluated on; more would change little.
EVALUATED_ROWS = 20_000


class Kind(NamedTuple):
    """A kind of tree.

    Attributes
    ----------
    settings : Settings
        Options of growth.
    mixture : Mixture
        Where candidate directions come from.
    sampling : Sampling
        How each tree's rows are drawn.
    """

    settings: Settings
    mixture: Mixture
    sampling: Sampling


@dataclass(frozen=True)
class Blend:
    """The kinds of a blend's trees, and the result of stacking.

    Attributes
    ----------
    of_tree : (B,) int64
        The kind of each tree, from 0.
    weights : (G,) float64
        The weight of each kind, found by stacking.
    errors : (G,) float64
        Out-of-bag mean squared error of each kind's pilot trees; for classes the Brier score.
    """

    of_tree: NDArray[np.int64]
    weights: NDArray[np.float64]
    errors: NDArray[np.float64]


class Blended(NamedTuple):
    """A forest of several kinds of trees.

    Attributes
    ----------
    forest : Forest
    streams : (B, 4) uint64
        Random stream of each tree.
    blend : Blend
        The kinds of the trees, and their weights.
    """

    forest: Forest
    streams: NDArray[np.uint64]
    blend: Blend


def pilot_trees(n: int, G: int, n_trees: int) -> int:
    """Return the number of pilot trees of each of G kinds, for n rows and a forest of `n_trees`."""
    most = MOST_PILOT if n <= FEW_ROWS else n_trees // G
    return max(FEWEST_PILOT, min(most, PILOT_EVIDENCE // n))


def _in_turn(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the kind of each tree (B,), so that the first b trees have about the same shares."""
    kind = np.repeat(np.arange(len(counts)), counts)
    place = np.concatenate([(np.arange(count) + 0.5) / count for count in counts if count > 0])
    return kind[np.argsort(place, kind="stable")]


def _by_kind(start: Blended | None, G: int) -> list[list[Forest]]:
    """Return the trees of `start` of each of G kinds, in the order of their streams."""
    if start is None:
        return [[] for _ in range(G)]
    forest, of_tree = start.forest, start.blend.of_tree
    return [[forest.tree(int(b)) for b in np.flatnonzero(of_tree == g)] for g in range(G)]


def _one_by_one(parts: Sequence[Forest]) -> Iterator[Forest]:
    for part in parts:
        for i in range(part.n_trees):
            yield part.tree(i)


def grow_blend(
    X: Matrix,
    y: NDArray[np.float64],
    weights: NDArray[np.float64],
    feature_groups: FeatureGroups,
    kinds: Sequence[Kind],
    seed: int,
    n_trees: int,
    n_jobs: int,
    advance: Callable[[], object],
    start: Blended | None = None,
    expect: Callable[[int], object] = lambda n: None,
    codes: RowCodes | None = None,
) -> Blended:
    """Grow a forest of several kinds of trees.

    Parameters
    ----------
    X, y, weights, feature_groups, n_jobs, advance, codes
        See `odrf.engine.growth.forest_growth.grow_forest`.
    kinds : sequence of G Kind
    seed : int
        The i-th tree of each kind has the i-th random stream of this seed.
    n_trees : int
        Trees of all kinds together.
    start : Blended, optional
        A smaller forest of the same arguments, whose trees need not be grown again.
    expect : callable
        Called with the number of trees to be grown, as far as known: at first with the most, and
        again after the pilot trees.
    """
    G, n_pilot = len(kinds), pilot_trees(len(y), len(kinds), n_trees)
    tree_streams = streams(seed, 0, max(n_trees, n_pilot))

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
            tree_streams[first:last],
            n_jobs,
            advance,
            codes,
        )

    def pilot(g: int, grown: list[Forest]) -> Forest:
        missing = [grow(g, len(grown), n_pilot)] if len(grown) < n_pilot else []
        return joined([*grown[:n_pilot], *missing], n_pilot) if grown else missing[0]

    parts, piloted = _by_kind(start, G), 0
    if start is not None and pilot_trees(len(y), G, start.forest.n_trees) == n_pilot:
        blend = start.blend
    else:
        piloted = sum(max(0, n_pilot - len(grown)) for grown in parts)
        expect(piloted + n_trees - n_pilot)
        pilots = [pilot(g, parts[g]) for g in range(G)]
        parts = [[pilots[g], *parts[g][n_pilot:]] for g in range(G)]
        evidence = pilot_evidence(
            pilots, X, y, weights, kinds, tree_streams[:n_pilot], n_jobs, codes
        )
        blend = Blend(np.empty(0, dtype=np.int64), evidence.weights(), evidence.errors)
    counts = apportion(blend.weights, n_trees)
    n_grown = [sum(part.n_trees for part in of_kind) for of_kind in parts]
    expect(piloted + sum(max(0, int(counts[g]) - n_grown[g]) for g in range(G)))
    for g in range(G):
        if n_grown[g] < counts[g]:
            parts[g].append(grow(g, n_grown[g], counts[g]))
    of_tree = _in_turn(counts)
    rank = np.empty(n_trees, dtype=np.int64)
    for g in range(G):
        rank[of_tree == g] = np.arange(counts[g])
    trees = [_one_by_one(of_kind) for of_kind in parts]
    forest = joined((next(trees[g]) for g in of_tree), n_trees)
    return Blended(forest, tree_streams[rank], replace(blend, of_tree=of_tree))


def pilot_evidence(
    pilots: Sequence[Forest],
    X: Matrix,
    y: NDArray[np.float64],
    weights: NDArray[np.float64],
    kinds: Sequence[Kind],
    tree_streams: NDArray[np.uint64],
    n_jobs: int,
    codes: RowCodes | None = None,
) -> Evidence:
    """Evaluate the pilot trees of each kind on their out-of-bag rows.

    The i-th tree of each of the `pilots` has the stream tree_streams[i].  The other arguments are
    those of `grow_blend`.
    """
    n, K = len(y), pilots[0].value.shape[1]
    at = np.unique(np.linspace(0, n - 1, min(n, EVALUATED_ROWS)).astype(np.int64))
    X_evaluated, case_weights = with_rows(X, at), weights[at]
    values = [pilot.value[leaf_nodes(pilot, X_evaluated, n_jobs)] for pilot in pilots]
    unseen = []
    for kind in kinds:
        draws = Draws(weights, [kind.sampling] * len(tree_streams), tree_streams, n_jobs, codes)
        unseen.append(np.take(draws.all_unseen(), at, axis=1).T)
    if K == 1:
        errors_of_trees = [value - y[at, None, None] for value in values]
        products, rows = mean_products(errors_of_trees, unseen, case_weights)
        return Evidence(products, None, np.diag(products).copy(), rows)
    target = np.eye(K)[y[at].astype(np.int64)]
    total = case_weights.sum()
    shares = case_weights @ target / total
    target -= shares
    centred = [value - shares for value in values]
    products, rows = mean_products(centred, unseen, case_weights)
    relations = mean_relations(centred, unseen, case_weights, target)
    errors = np.diag(products) - 2 * relations + case_weights @ np.sum(target**2, axis=1) / total
    return Evidence(products, relations, errors, rows)
