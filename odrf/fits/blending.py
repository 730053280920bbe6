"""Blends: forests of several kinds of trees, whose shares are chosen by stacking.

Which kind of tree suits a table is not known in advance: greedy or randomised splits, small or
large leaves, many or few candidates at a node.  Pilot trees of each kind are evaluated on their
out-of-bag rows, and `odrf.fits.stacking` estimates weights of the kinds.  The forest has trees of
each kind in proportion to the weights, and predicts the plain mean of all trees.

The i-th trees of all kinds have the same random stream.  So kinds that draw equally many rows draw
the same rows, and are compared on the same rows.

A blend that is enlarged keeps its trees.  The weights are estimated again only if the larger forest
has more pilot trees.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import filterfalse
from operator import attrgetter, itemgetter
from typing import NamedTuple, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from odrf.engine.compiling import compiled_at_ease
from odrf.engine.directions.candidates import FeatureGroups
from odrf.engine.factors import Matrix, layout_of, stored
from odrf.engine.growth.backends import trees_in_order
from odrf.engine.growth.forest_builder import TreeGrower
from odrf.engine.growth.tree_kernel import grow_tree
from odrf.engine.kernel_params import KernelParams
from odrf.engine.numeric import apportion, streams
from odrf.engine.oob import write_out_of_bag_values, write_own_values
from odrf.engine.resamples import Draws, RowCodes, Sampling
from odrf.engine.running import in_order, one_thread, row_blocks
from odrf.engine.survival.event_ranks import EventRanks
from odrf.engine.trees.concatenate import require_memory_for_all, within_memory
from odrf.engine.trees.forest import Forest, joined
from odrf.engine.trees.routing import leaves_reached
from odrf.fits.stacking import (
    Evidence,
    LogLoss,
    SumsOfRows,
    log_loss_in_squares,
    mean_products,
    mean_sums,
    products_of_trees,
    sums_of_rows,
)
from odrf.options.blend import ERROR
from odrf.projections.mixture import Mixture

# How well pilot trees of each kind predict the rows that they did not sample.

Sums = TypeVar("Sums")

# Most rows that the pilot trees are evaluated on; more would change little.
EVALUATED_ROWS = 20_000
# Values of pilot trees that are looked up at a time; blocks of rows, if they are not small.
AT_ONCE, BLOCKS, SMALL = 2**18, 8, 128
# Most values of nodes of a kind's trees that are copied into one table.
IN_TABLE = 2**19


class Pilots(NamedTuple):
    """Pilot trees of G kinds, and how they drew their rows.

    `trees`: b forests of one tree of each kind, the i-th of which have the i-th of the `streams`
    (b, 4).  `samplings`: those of the kinds.  `X`, `weights`, `codes`: as in `grow_blend`.
    """

    trees: Sequence[Sequence[Forest]]
    X: Matrix
    weights: NDArray[np.float64]
    samplings: Sequence[Sampling]
    streams: NDArray[np.uint64]
    n_jobs: int
    codes: RowCodes | None = None


# What evaluates pilot trees by the responses (n,): `pilot_evidence`, or another function.
Evaluator: TypeAlias = "Callable[[Pilots, NDArray[np.float64]], Evidence]"


class _EvaluatedPilots(NamedTuple):
    """Pilot trees and their validation rows.

    `at` (m,), `out_of_bag` (m, b).  `leaves` (m, b): the root.  `tables`: they are many.
    """

    at: NDArray[np.int64]
    trees: Sequence[Sequence[Forest]]
    leaves: list[NDArray[np.int32]]
    tables: list[NDArray[np.float64] | None]
    out_of_bag: list[NDArray[np.bool_]]
    n_jobs: int

    @property
    def shape(self) -> tuple[int, int, int]:
        """Kinds G, trees b of each, and values K of a leaf."""
        return len(self.trees), len(self.trees[0]), self.trees[0][0].value.shape[1]

    def by_blocks(self, evaluated: Callable[[slice], Sums]) -> list[Sums]:
        """Return the results of `evaluated` for blocks of rows.

        The values of a thousand classes take gigabytes: they are never looked up for all rows.
        """
        m, (G, b, K) = len(self.at), self.shape
        size = min(AT_ONCE // (G * b * K), max(SMALL, -(-m // BLOCKS)))
        return list(in_order(evaluated, row_blocks(m, max(1, size)), self.n_jobs))

    def values(
        self, block: slice, centre: NDArray[np.float64], scale: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return the trees' values (G, m, b, K) for a block of rows; 0 for rows that they drew.

        They are centred and scaled, see `odrf.engine.oob.write_unseen_values`.
        """
        G, b, K = self.shape
        values = np.empty((G, block.stop - block.start, b, K))
        for g, table, first, last in self._tables():
            leaves, out_of_bag = self.leaves[g][block], self.out_of_bag[g][block]
            write_out_of_bag_values(
                table, leaves, out_of_bag, centre, scale, first, last, values[g]
            )
        return values

    def own_values(self, block: slice, code: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the trees' shares of the class `code` (m,) of each row (G, m, b)."""
        G, b, _ = self.shape
        own = np.empty((G, block.stop - block.start, b))
        for g, table, first, last in self._tables():
            leaves, out_of_bag = self.leaves[g][block], self.out_of_bag[g][block]
            write_own_values(table, leaves, out_of_bag, code, first, last, own[g])
        return own

    def _tables(self) -> Iterator[tuple[int, NDArray[np.float64], int, int]]:
        """Yield kinds, values of nodes, and the first and last of the trees that have them."""
        for g, (of_kind, table) in enumerate(zip(self.trees, self.tables, strict=True)):
            if table is not None:
                yield g, table, 0, len(of_kind)
            else:
                yield from ((g, tree.value, t, t + 1) for t, tree in enumerate(of_kind))


def pilot_evidence(pilots: Pilots, y: NDArray[np.float64]) -> Evidence:
    """Evaluate the pilot trees of each kind on their out-of-bag rows."""
    evaluated = _evaluated(pilots)
    y, weights = y[evaluated.at], pilots.weights[evaluated.at]
    K = evaluated.shape[2]
    if K == 1:
        return _evidence_of_numbers(evaluated, y[:, None], np.ones((len(y), 1)), weights)
    return _evidence_of_classes(evaluated, y.astype(np.int64), weights, K)


def evidence_of_errors(
    pilots: Pilots, target: NDArray[np.float64], root_weights: NDArray[np.float64]
) -> Evidence:
    """Evaluate pilot trees that predict K numbers of each row, by squared errors.

    `target` (n, K) are these numbers, `root_weights` (n, K) the square roots of the weights of the
    squared errors.
    """
    evaluated = _evaluated(pilots)
    at = evaluated.at
    return _evidence_of_numbers(evaluated, target[at], root_weights[at], pilots.weights[at])


def _evaluated(pilots: Pilots) -> _EvaluatedPilots:
    trees, X, weights, samplings, tree_streams, n_jobs, codes = pilots
    n = len(weights)
    at = np.unique(np.linspace(0, n - 1, min(n, EVALUATED_ROWS)).astype(np.int64))
    rows = np.take(stored(X).T, at, axis=0)
    masks: dict[Sampling, NDArray[np.bool_]] = {}
    for sampling in dict.fromkeys(samplings):
        draws = Draws(weights, [sampling] * len(tree_streams), tree_streams, n_jobs, codes)
        masks[sampling] = np.take(draws.all_unseen(), at, axis=1)
    layout = layout_of(X)
    tables: list[NDArray[np.float64] | None] = []
    for of_kind in trees:
        values = list(map(attrgetter("value"), of_kind))
        few = sum(map(np.size, values)) <= IN_TABLE
        tables.append(np.concatenate(values) if few else None)

    def leaves_of_kind(g: int) -> NDArray[np.int32]:
        """Return the leaf (m, b) of each row in each tree; its root if the tree sampled the row.

        If there is a table, nodes of all trees are numbered one tree after the other.
        """
        out_of_bag = masks[samplings[g]]
        leaves, root = np.zeros(out_of_bag.shape, dtype=np.int32), 0
        for tree, mask, of_tree in zip(trees[g], out_of_bag, leaves, strict=True):
            unseen = np.flatnonzero(mask)
            of_tree[unseen] = leaves_reached(tree, rows.take(unseen, axis=0), layout)
            if tables[g] is not None:
                of_tree += np.int32(root)
                root += len(tree.left)
        return np.ascontiguousarray(leaves.T)

    leaves = list(in_order(leaves_of_kind, range(len(trees)), n_jobs))
    of_rows = {sampling: np.ascontiguousarray(mask.T) for sampling, mask in masks.items()}
    out_of_bag = list(map(of_rows.__getitem__, samplings))
    return _EvaluatedPilots(at, trees, leaves, tables, out_of_bag, n_jobs)


def _evidence_of_numbers(
    evaluated: _EvaluatedPilots,
    target: NDArray[np.float64],
    root_weights: NDArray[np.float64],
    weights: NDArray[np.float64],
) -> Evidence:
    """Return the evidence on a regression, of K numbers for each row."""

    def products_of(block: slice) -> NDArray[np.float64]:
        return products_of_trees(evaluated.values(block, target[block], root_weights[block]))

    blocks = np.concatenate(evaluated.by_blocks(products_of), axis=2)
    products, rows = mean_products(blocks, evaluated.out_of_bag, weights)
    return Evidence(products, None, np.diag(products).copy(), rows, None)


@one_thread()
def _evidence_of_classes(
    evaluated: _EvaluatedPilots, code: NDArray[np.int64], weights: NDArray[np.float64], K: int
) -> Evidence:
    """Return the evidence on K classes."""
    target, total = np.eye(K)[code], weights.sum()
    shares = weights @ target / total
    target -= shares
    out_of_bag, ones = evaluated.out_of_bag, np.ones((1, K))

    def sums_of(block: slice) -> tuple[SumsOfRows, SumsOfRows]:
        masks, of_class = [mask[block] for mask in out_of_bag], code[block]
        own = evaluated.own_values(block, of_class)
        squares = log_loss_in_squares(own, masks, shares[of_class])
        return (
            sums_of_rows(evaluated.values(block, shares[None], ones), target[block]),
            sums_of_rows(*squares),
        )

    squared, logarithmic = zip(*evaluated.by_blocks(sums_of), strict=True)
    products, relations, rows = mean_sums(squared, out_of_bag, weights)
    errors = np.diag(products) - 2 * relations + weights @ np.sum(target**2, axis=1) / total
    log_loss = LogLoss(*mean_sums(logarithmic, out_of_bag, weights)[:2])
    return Evidence(products, relations, errors, rows, log_loss)


# Blends: forests of several kinds of trees, whose shares are chosen by stacking.

# Pilot trees of each kind: rows times trees is about PILOT_EVIDENCE, within these bounds.  Few rows
# need many trees to compare the kinds, and these are quickly grown.  On more than FEW_ROWS rows the
# pilot trees of all kinds together are no more than the trees of the forest.
FEWEST_PILOT, MOST_PILOT, PILOT_EVIDENCE = 5, 200, 60_000
FEW_ROWS = 500
# Pilot trees of more nodes wait without arrays that follow from others.
FEW_NODES = 4096


class Kind(NamedTuple):
    """A kind of tree: options of growth, where directions come from, and how rows are sampled."""

    settings: KernelParams
    mixture: Mixture
    sampling: Sampling


@dataclass(frozen=True)
class Blend:
    """The kinds of a blend's trees, and the result of stacking.

    `of_tree` (B,), `weights` (G,).  `errors` (G,): score.
    """

    of_tree: NDArray[np.int64]
    weights: NDArray[np.float64]
    errors: NDArray[np.float64]


class Blended(NamedTuple):
    """A forest of several kinds of trees, and the random stream (B, 4) of each tree."""

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
    evidence_of: Evaluator = pilot_evidence,
) -> Blended:
    """Return a forest of `n_trees` trees of several kinds.

    The i-th tree of each kind has the i-th random stream of the seed. `start` is a smaller forest
    of the same arguments, whose trees need not be grown again. `expect` is called with the number
    of trees to be grown, as far as known: at first the most, and again after the pilot trees.  The
    weights of the kinds are chosen for the `objective`, "error", "brier" or "log_loss" (see
    `odrf.fits.stacking`). `evidence_of` evaluates the pilot trees.  The others: see `grow_forest`.
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
    # the trees of each kind, in the order of their streams
    by_kind: list[list[Forest]] = [[] for _ in range(G)]
    if start is not None:
        for b, g in enumerate(start.blend.of_tree.tolist()):
            by_kind[g].append(start.forest.tree(b))
    n_missing = 0
    with compiled_at_ease(grow_tree):
        if start is not None and pilot_trees(len(y), G, start.forest.n_trees) == n_pilot:
            blend = start.blend
        else:
            missing = [(g, i) for i in range(n_pilot) for g in range(G) if i >= len(by_kind[g])]
            n_missing = len(missing)
            expect(n_missing + n_trees - n_pilot)
            _grow_pilots(growing, missing, by_kind, n_trees)
            pilots = [of_kind[:n_pilot] for of_kind in by_kind]
            samplings = [kind.sampling for kind in kinds]
            first = tree_streams[:n_pilot]
            evidence = evidence_of(Pilots(pilots, X, weights, samplings, first, n_jobs, codes), y)
            del pilots
            blend = Blend(np.empty(0, dtype=np.int64), evidence.weights(objective), evidence.errors)
        counts = apportion(blend.weights, n_trees)
        n_grown = list(map(len, by_kind))
        expect(n_missing + int(np.maximum(counts - n_grown, 0).sum()))
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
    """How the trees of all G kinds are grown; see `grow_blend` and `trees_in_order`."""

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
    # memory must suffice for trees like the smallest of the first ones, at least
    smallest = min(map(itemgetter(0), by_kind), key=attrgetter("nbytes"))
    require_memory_for_all(
        smallest.nbytes, 1, n_trees, len(smallest.left), "the smallest of the first"
    )
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
    new = growing.trees(list(filterfalse(grown.__contains__, places)))
    for g, i in places:
        yield grown.pop((g, i)) if (g, i) in grown else next(new)
        if i >= n_grown[g]:
            growing.advance()


def _waiting(tree: Forest) -> Forest:
    """Return a pilot tree in the form in which it is stored until all are grown."""
    return tree.lean() if len(tree.left) > FEW_NODES else tree
