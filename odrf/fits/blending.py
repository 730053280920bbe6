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

from odrf.engine.compiling import compiled_at_ease
from odrf.engine.directions.candidates import FeatureGroups
from odrf.engine.factors import Matrix
from odrf.engine.growth.backends import trees_in_order
from odrf.engine.growth.forest_builder import TreeGrower
from odrf.engine.growth.tree_kernel import grow_tree
from odrf.engine.kernel_params import Settings
from odrf.engine.numeric import apportion, streams
from odrf.engine.resamples import RowCodes, Sampling
from odrf.engine.survival.event_ranks import EventRanks
from odrf.engine.trees.concatenate import require_memory_for_all, within_memory
from odrf.engine.trees.forest import Forest, joined
from odrf.fits.judging.pilot_evidence import Judge, pilot_evidence
from odrf.options.blend import ERROR
from odrf.projections.mixture import Mixture

__all__ = ["Blend", "Blended", "Kind", "grow_blend", "pilot_trees"]

# Pilot trees of each kind: rows times trees is about PILOT_EVIDENCE, within these bounds.  Few rows
# need many trees to compare the kinds, and these are quickly grown.  On more than FEW_ROWS rows the
# pilot trees of all kinds together are no more than the trees of the forest.
FEWEST_PILOT, MOST_PILOT, PILOT_EVIDENCE = 5, 200, 60_000
FEW_ROWS = 500
# Pilot trees of more nodes wait without arrays that follow from others.
FEW_NODES = 4096


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
    objective: str = ERROR,
    ranks: EventRanks | None = None,
    evidence_of: Judge = pilot_evidence,
) -> Blended:
    """Grow a forest of several kinds of trees.

    Parameters
    ----------
    X, y, weights, feature_groups, n_jobs, advance, codes, ranks
        See `odrf.engine.growth.forest_builder.grow_forest`.
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
    objective : {"error", "brier", "log_loss"}, default "error"
        What the weights of the kinds are chosen for, see `odrf.fits.stacking`.
    evidence_of : callable
        How pilot trees are judged: `pilot_evidence`, or another function of the same arguments.
    """
    G, n_pilot = len(kinds), pilot_trees(len(y), len(kinds), n_trees)
    tree_streams = streams(seed, 0, max(n_trees, n_pilot))
    growers = [
        TreeGrower(
            X, y, weights, feature_groups, kind.sampling, kind.settings, kind.mixture, n_trees,
            n_jobs, codes, ranks,
        )
        for kind in kinds
    ]  # fmt: skip
    growing = _KindsGrowth(growers, tree_streams, n_jobs, X.size, advance)
    by_kind, n_missing = _by_kind(start, G), 0
    with compiled_at_ease(grow_tree):
        if start is not None and pilot_trees(len(y), G, start.forest.n_trees) == n_pilot:
            blend = start.blend
        else:
            missing = [(g, i) for i in range(n_pilot) for g in range(G) if i >= len(by_kind[g])]
            n_missing = len(missing)
            expect(n_missing + n_trees - n_pilot)
            _grow_pilots(growing, missing, by_kind, n_trees)
            evidence = evidence_of(
                [of_kind[:n_pilot] for of_kind in by_kind], X, y, weights,
                [kind.sampling for kind in kinds], tree_streams[:n_pilot], n_jobs, codes,
            )  # fmt: skip
            blend = Blend(np.empty(0, dtype=np.int64), evidence.weights(objective), evidence.errors)
        counts = apportion(blend.weights, n_trees)
        n_grown = [len(of_kind) for of_kind in by_kind]
        expect(n_missing + sum(max(0, int(counts[g]) - n_grown[g]) for g in range(G)))
        of_tree = _in_turn(counts)
        rank = np.empty(n_trees, dtype=np.int64)
        for g in range(G):
            rank[of_tree == g] = np.arange(counts[g])
        grown = {(g, i): tree for g in range(G) for i, tree in enumerate(by_kind[g][: counts[g]])}
        by_kind.clear()
        places = list(zip(of_tree.tolist(), rank.tolist(), strict=True))
        forest = joined(_in_place(growing, places, grown, n_grown), n_trees)
    return Blended(forest, tree_streams[rank], replace(blend, of_tree=of_tree))


class _KindsGrowth(NamedTuple):
    """How the trees of all kinds are grown; the arguments are those of `grow_blend`.

    Attributes
    ----------
    growers : list of G TreeGrower
    tree_streams : (≥ B, 4) uint64
        The i-th trees of all kinds have the i-th of them.
    n_jobs : int
    size : int
        As in `odrf.engine.growth.backends.trees_in_order`.
    advance : callable
    """

    growers: list[TreeGrower]
    tree_streams: NDArray[np.uint64]
    n_jobs: int
    size: int
    advance: Callable[[], object]

    def trees(self, places: Sequence[tuple[int, int]]) -> Iterator[Forest]:
        """Yield the i-th tree of kind g for each of the `places`, (g, i)."""
        tasks = [(g, self.tree_streams[i]) for g, i in places]
        return trees_in_order(self.growers, tasks, self.n_jobs, self.size)


def _grow_pilots(
    growing: _KindsGrowth,
    missing: Sequence[tuple[int, int]],
    by_kind: list[list[Forest]],
    n_trees: int,
) -> None:
    """Append to the trees `by_kind` the pilot trees that are missing.

    The first of each kind come first: they show whether memory suffices at all.
    """
    trees, n_first = map(_waiting, growing.trees(missing)), by_kind.count([])
    first, others = missing[:n_first], missing[n_first:]
    for (g, _), tree in zip(first, trees, strict=False):
        by_kind[g].append(tree)
        growing.advance()
    _require_memory_for_smallest([of_kind[0] for of_kind in by_kind], n_trees)
    for (g, _), tree in zip(others, within_memory(trees, len(others)), strict=True):
        by_kind[g].append(tree)
        growing.advance()


def _in_place(
    growing: _KindsGrowth,
    places: Sequence[tuple[int, int]],
    grown: dict[tuple[int, int], Forest],
    n_grown: Sequence[int],
) -> Iterator[Forest]:
    """Yield the trees at the `places`, (g, i), in this order; those that are not `grown` are grown.

    A tree is taken from `grown` as it is yielded, so that nothing else holds it.  Of kind g,
    `n_grown[g]` trees have been grown, and counted, before.
    """
    new = growing.trees([place for place in places if place not in grown])
    for g, i in places:
        yield grown.pop((g, i)) if (g, i) in grown else next(new)
        if i >= n_grown[g]:
            growing.advance()


def _waiting(tree: Forest) -> Forest:
    """Return a pilot tree as it waits for the others; a small one takes little memory anyway."""
    return tree.lean() if tree.n_nodes > FEW_NODES else tree


def _require_memory_for_smallest(trees: Sequence[Forest], n_trees: int) -> None:
    """Raise `MemoryError` if not even trees like the smallest one fit."""
    smallest = min(trees, key=lambda tree: tree.nbytes)
    require_memory_for_all(
        smallest.nbytes, 1, n_trees, smallest.n_nodes, "the smallest of the first"
    )
