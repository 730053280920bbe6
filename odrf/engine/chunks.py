"""Trees of rows in chunks: rows drawn by a hash, gathered by block, summed up in leaves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from odrf.engine.compiling import kernel, part
from odrf.engine.directions.candidates import FeatureGroups
from odrf.engine.directions.samplers import SamplerMixture
from odrf.engine.factors import Matrix, layout_of, stored, with_layout
from odrf.engine.growth.forest_builder import TreeGrower
from odrf.engine.kernel_params import KernelParams
from odrf.engine.numeric import stream
from odrf.engine.resamples import ALL_ROWS, Sampling
from odrf.engine.running import in_order
from odrf.engine.trees.forest import Forest

# Whether a tree draws a row depends on nothing else: not on the other rows, nor on how the rows are
# cut into chunks, nor on who asks.  So a draw can be repeated anywhere, and is never stored.
#
# The hash is the output function of SplitMix64, a generator whose r-th number can be computed
# without those before it: G. L. Steele, D. Lea and C. H. Flood, "Fast splittable pseudorandom
# number generators", OOPSLA 2014.

# The key of a tree is a number of its own stream, which growth does not use.
DRAW = 2
# The increment of SplitMix64, 2⁶⁴ over the golden ratio, and the factors of its output function.
STEP = np.uint64(0x9E3779B97F4A7C15)
FIRST, SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
# Trees whose draws are marked by one task.
ABREAST = 16


@part
def _word(key, row):
    """Return the hash of a row number: the output of SplitMix64 after so many steps from a key."""
    word = key + (row + np.uint64(1)) * STEP
    word = (word ^ (word >> np.uint64(30))) * FIRST
    word = (word ^ (word >> np.uint64(27))) * SECOND
    return word ^ (word >> np.uint64(31))


@kernel
def mark_drawn(keys, rows, fraction, drawn):
    """Write to drawn (T, m) which of the rows numbered `rows` (m,) each tree of keys (T,) draws."""
    for t in range(len(keys)):
        for i in range(len(rows)):
            word = _word(keys[t], rows[i])
            drawn[t, i] = np.float64(word >> np.uint64(11)) * (1.0 / 9007199254740992.0) < fraction


def draw_keys(seed: int, first: int, last: int) -> NDArray[np.uint64]:
    """Return the keys (last - first,) of the trees `first` … `last` - 1 of a seed."""
    keys = [stream(seed, b, DRAW)[0] for b in range(first, last)]
    return np.array(keys, dtype=np.uint64)


class HashedDraw(NamedTuple):
    """How each of B trees, with `keys` (B,), draws its rows: each with probability `fraction`."""

    keys: NDArray[np.uint64]
    fraction: float

    def of_trees(self, first: int, last: int) -> HashedDraw:
        """Return the draws of the trees `first` … `last` - 1."""
        return self._replace(keys=self.keys[first:last])

    def drawn(
        self, rows: NDArray[np.uint64], weights: NDArray[np.float64], n_jobs: int
    ) -> NDArray[np.bool_]:
        """Return which trees draw which rows of these numbers (m,), (B, m); none of weight 0."""
        mask: NDArray[np.bool_] = np.empty((len(self.keys), len(rows)), dtype=np.bool_)

        def mark(first: int) -> None:
            some = slice(first, first + ABREAST)
            mark_drawn(self.keys[some], rows, self.fraction, mask[some])

        for _ in in_order(mark, range(0, len(self.keys), ABREAST), n_jobs):
            pass
        if not weights.all():
            mask[:, weights == 0] = False
        return mask


class RowBlock(NamedTuple):
    """Rows that pass by together: `numbers` (m,), X (p, m) scaled, y (m,) and weights (m,)."""

    numbers: NDArray[np.uint64]
    X: Matrix
    y: NDArray[np.float64]
    weights: NDArray[np.float64]


class TreeRows(NamedTuple):
    """The rows that one tree has drawn: X (p, s), y (s,) and weights (s,)."""

    X: Matrix
    y: NDArray[np.float64]
    weights: NDArray[np.float64]


def drawn_rows(block: RowBlock, draw: HashedDraw, n_jobs: int) -> list[TreeRows]:
    """Return the rows of a block that each tree draws; trees may draw none."""
    array, layout = stored(block.X), layout_of(block.X)
    pieces = []
    for of_tree in draw.drawn(block.numbers, block.weights, n_jobs):
        # by numbers of rows: several times as fast as by a mask of two dimensions
        rows = np.flatnonzero(of_tree)
        X = with_layout(np.take(array, rows, axis=1), layout)
        pieces.append(TreeRows(X, block.y[rows], block.weights[rows]))
    return pieces


def joined_rows(pieces: Sequence[TreeRows]) -> TreeRows:
    """Return the rows that one tree draws from all blocks, of which there is one at least."""
    X = np.concatenate([stored(piece.X) for piece in pieces], axis=1)
    y = np.concatenate([piece.y for piece in pieces])
    weights = np.concatenate([piece.weights for piece in pieces])
    return TreeRows(with_layout(X, layout_of(pieces[0].X)), y, weights)


class Gathering:
    """The rows that some trees draw, in the order of their numbers."""

    def __init__(self, draw: HashedDraw, n_jobs: int) -> None:
        self.draw, self.n_jobs = draw, n_jobs
        self._pieces: list[list[TreeRows]] = [[] for _ in draw.keys]

    def add(self, block: RowBlock) -> None:
        """Keep of a block what the trees draw."""
        drawn = drawn_rows(block, self.draw, self.n_jobs)
        for pieces, piece in zip(self._pieces, drawn, strict=True):
            pieces.append(piece)

    def n_rows(self, t: int) -> int:
        """Return how many rows tree `t` of these trees has drawn."""
        return sum(len(piece.y) for piece in self._pieces[t])

    def take(self, t: int) -> TreeRows:
        """Return the rows of tree `t` of these trees, and forget them."""
        pieces, self._pieces[t] = self._pieces[t], []
        return joined_rows(pieces)


# It needs nothing else, and can be pickled: so it can run in a thread, in a process, or on another
# machine, and the tree is the same.

# Bytes that growth takes for each row beside a copy of the predictors: projections and sums, row
# numbers, nodes.  It took 120 to 200 of them for a number, on 400,000 rows of 20 to 100 columns.
PER_ROW, PER_CLASS = 200.0, 16.0


class Recipe(NamedTuple):
    """How the trees of a forest are grown; see `odrf.engine.growth.forest_builder.grow_forest`."""

    feature_groups: FeatureGroups
    settings: KernelParams
    mixture: SamplerMixture
    honest: bool


def grown_apart(
    rows: TreeRows, recipe: Recipe, stream: NDArray[np.uint64], abreast: int = 1
) -> Forest:
    """Return the tree of a random stream (4,), of all these rows; `abreast` grow at a time."""
    sampling = Sampling(ALL_ROWS, 1.0, recipe.honest)
    grow = TreeGrower(
        rows.X, rows.y, rows.weights, recipe.feature_groups, sampling, recipe.settings,
        recipe.mixture, abreast, abreast,
    )  # fmt: skip
    return grow(stream)


def growth_bytes(n_rows: float, stored_rows: int, n_classes: int) -> float:
    """Return about how many bytes growth takes beside its rows of `stored_rows` numbers each."""
    return n_rows * (4.0 * stored_rows + PER_ROW + PER_CLASS * n_classes)
