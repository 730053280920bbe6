"""How well pilot trees of each kind predict the rows that they did not draw."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from odrf.engine.boosting.state import leaves_reached
from odrf.engine.factors import Layout, Matrix, layout_of, stored
from odrf.engine.oob import write_out_of_bag_values, write_own_values
from odrf.engine.resamples import Draws, RowCodes, Sampling
from odrf.engine.running import in_order, one_thread, row_blocks
from odrf.engine.trees.forest import Forest
from odrf.fits.stacking import (
    Evidence,
    LogLoss,
    SumsOfRows,
    log_loss_in_squares,
    mean_products,
    mean_sums,
    products_of_unseen,
    sums_of_rows,
)

__all__ = ["Judge", "evidence_of_errors", "pilot_evidence"]

Sums = TypeVar("Sums")

# Most rows that the pilot trees are evaluated on; more would change little.
EVALUATED_ROWS = 20_000
# Values of pilot trees that are looked up at a time; blocks of rows, if they are not small.
AT_ONCE, BLOCKS, SMALL = 2**18, 8, 128
# Most values of nodes of a kind's trees that are copied into one table.
IN_TABLE = 2**19


class Judge(Protocol):
    """A function that judges pilot trees, as `pilot_evidence` does."""

    def __call__(
        self,
        pilots: Sequence[Sequence[Forest]],
        X: Matrix,
        y: NDArray[np.float64],
        weights: NDArray[np.float64],
        samplings: Sequence[Sampling],
        tree_streams: NDArray[np.uint64],
        n_jobs: int,
        codes: RowCodes | None,
    ) -> Evidence:
        """Return the evidence."""


class _JudgedPilots(NamedTuple):
    """Pilot trees and the rows that they are judged on.

    Attributes
    ----------
    at : (m,) int64
        The rows.
    trees : sequence of G sequences of b Forest
        By each kind.
    leaves : list of G arrays (m, b) int32
        Where rows end in the trees that they are out of bag for; of others, their roots.
    tables : list of G arrays or None
        The values of all nodes of a kind's trees, in which its leaves are then numbered; None if
        they are many.
    unseen : list of G arrays (m, b) bool
        Which of them are out of bag for each tree.
    n_jobs : int
    """

    at: NDArray[np.int64]
    trees: Sequence[Sequence[Forest]]
    leaves: list[NDArray[np.int32]]
    tables: list[NDArray[np.float64] | None]
    unseen: list[NDArray[np.bool_]]
    n_jobs: int

    @property
    def shape(self) -> tuple[int, int, int]:
        """Kinds G, trees b of each, and values K of a leaf."""
        return len(self.trees), len(self.trees[0]), self.trees[0][0].value.shape[1]

    def by_blocks(self, evaluated: Callable[[slice], Sums]) -> list[Sums]:
        """Return what `evaluated` gives for blocks of rows.

        The values of a thousand classes take gigabytes: they are never looked up for all rows.
        """
        m, (G, b, K) = len(self.at), self.shape
        size = min(AT_ONCE // (G * b * K), max(SMALL, -(-m // BLOCKS)))
        return list(in_order(evaluated, row_blocks(m, max(1, size)), self.n_jobs))

    def values(
        self, block: slice, centre: NDArray[np.float64], scale: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return what trees say of a block of rows (G, m, b, K); 0 of rows that they drew.

        Centred and scaled, see `odrf.engine.oob.write_unseen_values`.
        """
        G, b, K = self.shape
        values = np.empty((G, block.stop - block.start, b, K))
        for g, table, first, last in self._tables():
            leaves, unseen = self.leaves[g][block], self.unseen[g][block]
            write_out_of_bag_values(table, leaves, unseen, centre, scale, first, last, values[g])
        return values

    def own_values(self, block: slice, code: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return what trees say of the class `code` (m,) of each row (G, m, b)."""
        G, b, _ = self.shape
        own = np.empty((G, block.stop - block.start, b))
        for g, table, first, last in self._tables():
            leaves, unseen = self.leaves[g][block], self.unseen[g][block]
            write_own_values(table, leaves, unseen, code, first, last, own[g])
        return own

    def _tables(self) -> Iterator[tuple[int, NDArray[np.float64], int, int]]:
        """Yield kinds, values of nodes, and the first and last of the trees that have them."""
        for g, (of_kind, table) in enumerate(zip(self.trees, self.tables, strict=True)):
            if table is not None:
                yield g, table, 0, len(of_kind)
            else:
                yield from ((g, tree.value, t, t + 1) for t, tree in enumerate(of_kind))


def pilot_evidence(
    pilots: Sequence[Sequence[Forest]],
    X: Matrix,
    y: NDArray[np.float64],
    weights: NDArray[np.float64],
    samplings: Sequence[Sampling],
    tree_streams: NDArray[np.uint64],
    n_jobs: int,
    codes: RowCodes | None = None,
) -> Evidence:
    """Evaluate the pilot trees of each kind on their out-of-bag rows.

    The i-th of the `pilots` of each kind, forests of one tree, has the stream tree_streams[i], and
    draws its rows as the `samplings` of its kind say.  The other arguments are those of
    `odrf.fits.blending.grow_blend`.
    """
    judged = _judged(pilots, X, weights, samplings, tree_streams, n_jobs, codes)
    y, case_weights, K = y[judged.at], weights[judged.at], pilots[0][0].value.shape[1]
    if K == 1:
        return _evidence_of_numbers(judged, y[:, None], np.ones((len(y), 1)), case_weights)
    return _evidence_of_classes(judged, y.astype(np.int64), case_weights, K)


def evidence_of_errors(
    pilots: Sequence[Sequence[Forest]],
    X: Matrix,
    target: NDArray[np.float64],
    root_weights: NDArray[np.float64],
    weights: NDArray[np.float64],
    samplings: Sequence[Sampling],
    tree_streams: NDArray[np.uint64],
    n_jobs: int,
    codes: RowCodes | None = None,
) -> Evidence:
    """Evaluate pilot trees that predict K numbers of each row, by squared errors.

    Parameters
    ----------
    target, root_weights : (n, K) float64
        What is to be predicted, and the square roots of the weights of the squared errors.
    pilots, X, weights, samplings, tree_streams, n_jobs, codes
        As in `pilot_evidence`.
    """
    judged = _judged(pilots, X, weights, samplings, tree_streams, n_jobs, codes)
    at = judged.at
    return _evidence_of_numbers(judged, target[at], root_weights[at], weights[at])


def _judged(
    pilots: Sequence[Sequence[Forest]],
    X: Matrix,
    weights: NDArray[np.float64],
    samplings: Sequence[Sampling],
    tree_streams: NDArray[np.uint64],
    n_jobs: int,
    codes: RowCodes | None,
) -> _JudgedPilots:
    n = len(weights)
    at = np.unique(np.linspace(0, n - 1, min(n, EVALUATED_ROWS)).astype(np.int64))
    rows = np.take(stored(X).T, at, axis=0)
    masks: dict[Sampling, NDArray[np.bool_]] = {}
    for sampling in dict.fromkeys(samplings):
        draws = Draws(weights, [sampling] * len(tree_streams), tree_streams, n_jobs, codes)
        masks[sampling] = np.take(draws.all_unseen(), at, axis=1)
    tables = [_table(of_kind) for of_kind in pilots]

    def leaves_of_kind(g: int) -> NDArray[np.int32]:
        shared = tables[g] is not None
        return _leaves_out_of_bag(pilots[g], rows, layout_of(X), masks[samplings[g]], shared)

    leaves = list(in_order(leaves_of_kind, range(len(pilots)), n_jobs))
    of_rows = {sampling: np.ascontiguousarray(mask.T) for sampling, mask in masks.items()}
    unseen = [of_rows[sampling] for sampling in samplings]
    return _JudgedPilots(at, pilots, leaves, tables, unseen, n_jobs)


def _table(trees: Sequence[Forest]) -> NDArray[np.float64] | None:
    """Return the values of all nodes of the trees, one tree after the other; None if many."""
    size = sum(tree.value.size for tree in trees)
    return np.concatenate([tree.value for tree in trees]) if size <= IN_TABLE else None


def _leaves_out_of_bag(
    trees: Sequence[Forest],
    rows: NDArray[np.float32],
    layout: Layout | None,
    unseen: NDArray[np.bool_],
    shared: bool,
) -> NDArray[np.int32]:
    """Return the leaf (m, b) of each row (m, r) in each tree; its root if not `unseen` (b, m).

    If numbers are `shared`, nodes of all trees are numbered one tree after the other.
    """
    leaves = np.zeros(unseen.shape, dtype=np.int32)
    root = 0
    for tree, mask, of_tree in zip(trees, unseen, leaves, strict=True):
        at = np.flatnonzero(mask)
        of_tree[at] = leaves_reached(tree, rows.take(at, axis=0), layout)
        if shared:
            of_tree += np.int32(root)
            root += tree.n_nodes
    return np.ascontiguousarray(leaves.T)


def _evidence_of_numbers(
    judged: _JudgedPilots,
    target: NDArray[np.float64],
    root_weights: NDArray[np.float64],
    weights: NDArray[np.float64],
) -> Evidence:
    """Return the evidence on a regression, of K numbers for each row."""

    def products_of(block: slice) -> NDArray[np.float64]:
        return products_of_unseen(judged.values(block, target[block], root_weights[block]))

    blocks = np.concatenate(judged.by_blocks(products_of), axis=2)
    products, rows = mean_products(blocks, judged.unseen, weights)
    return Evidence(products, None, np.diag(products).copy(), rows, None)


@one_thread()
def _evidence_of_classes(
    judged: _JudgedPilots, code: NDArray[np.int64], weights: NDArray[np.float64], K: int
) -> Evidence:
    """Return the evidence on K classes."""
    target, total = np.eye(K)[code], weights.sum()
    shares = weights @ target / total
    target -= shares
    unseen, ones = judged.unseen, np.ones((1, K))

    def sums_of(block: slice) -> tuple[SumsOfRows, SumsOfRows]:
        masks, of_class = [mask[block] for mask in unseen], code[block]
        own = judged.own_values(block, of_class)
        squares = log_loss_in_squares(own, masks, shares[of_class])
        return (
            sums_of_rows(judged.values(block, shares[None], ones), target[block]),
            sums_of_rows(squares.values, squares.target),
        )

    squared, logarithmic = zip(*judged.by_blocks(sums_of), strict=True)
    products, relations, rows = mean_sums(squared, unseen, weights)
    errors = np.diag(products) - 2 * relations + weights @ np.sum(target**2, axis=1) / total
    log_loss = LogLoss(*mean_sums(logarithmic, unseen, weights)[:2])
    return Evidence(products, relations, errors, rows, log_loss)
