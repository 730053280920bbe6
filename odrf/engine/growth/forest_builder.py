"""Grow the trees of a forest in several threads, each tree from its random stream."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from odrf.engine.compiling import compiled_at_ease
from odrf.engine.directions.candidates import FeatureGroups
from odrf.engine.directions.samplers import SamplerMixture
from odrf.engine.factors import Factors, Matrix, n_kept
from odrf.engine.growth.backends import trees_in_order
from odrf.engine.growth.branches import grows_in_branches
from odrf.engine.growth.split_scales import splitting_response
from odrf.engine.growth.tree_batches import SerialTrees
from odrf.engine.growth.tree_builder import (
    Resample,
    ScratchPool,
    Targets,
    TreeBuilder,
    read_by_growth,
)
from odrf.engine.growth.tree_kernel import grow_tree
from odrf.engine.kernel_params import KernelParams
from odrf.engine.memory import is_available
from odrf.engine.resamples import ALL_ROWS, SUBSAMPLE, RowCodes, Sampling, rows_drawn_once
from odrf.engine.survival.event_ranks import EventRanks
from odrf.engine.trees.forest import Forest, joined

# Rough relative costs of one number: read in sequence from a copy, fetched by its row number, and
# moved when a split divides the rows.  They only choose between two ways to grow the same tree.
STREAMED, FETCHED, MOVED = 0.2, 1.2, 1.2
# Ways in which trees grow; each gives the same trees.  `SINGLE`: each tree in arrays that are
# prepared for it.  `SERIAL`: one after the other in the same arrays.  `TOGETHER`: several trees of
# all rows in one call, see `odrf.engine.growth.tree_batches.TreeBatch`.
SINGLE, SERIAL, TOGETHER = "single", "serial", "together"
# Each thread keeps the rows of a tree of each kind: at most so many numbers, a megabyte.
MOST_NUMBERS = 2**18


def strategy(builder: TreeBuilder, weights: NDArray[np.float64], resample: Resample) -> str:
    """Return the way in which trees of rows with these case weights (n,) grow.

    They have arrays in common where they draw plainly, grow in one piece on the columns as they
    are, and have the one sampler that all mixtures share, which draws anew at each node.
    """
    X, factors, _, pool = builder
    n, sampling, settings = len(weights), resample.sampling, pool.settings
    if sampling.resample == ALL_ROWS:
        way, plain = TOGETHER, bool((weights > 0.0).all())
    else:
        way, plain = SERIAL, sampling.resample == SUBSAMPLE and resample.codes is None
        plain = plain and not (settings.best_first or len(factors.codes))
        plain = plain and X.size <= MOST_NUMBERS and bool((weights == 1.0).all())
    alone = sampling.honest or sampling.later or settings.surrogates or pool.mixture.rotates
    if not plain or alone or grows_in_branches(n, settings):
        return SINGLE
    return way if len(pool.mixture.samplers(pool.feature_groups, settings, n)) == 1 else SINGLE


def builder_of(
    X: NDArray[np.float32],
    factors: Factors,
    feature_groups: FeatureGroups,
    settings: KernelParams,
    mixture: SamplerMixture,
    copy_bytes: float = 0.0,
) -> TreeBuilder:
    """Return the builder of trees on X and `factors`, as `read_by_growth` returns them.

    Trees copy X if that pays, and there is memory for the copies of all of them.
    """
    columns_read = mixture.columns_read(feature_groups, settings, X.shape[1])
    copied = pays_to_copy(n_kept(X, factors), columns_read) and is_available(copy_bytes)
    return TreeBuilder(X, factors, copied, ScratchPool(feature_groups, settings, mixture))


def pays_to_copy(p: int, columns_read: float) -> bool:
    """Whether a tree should copy the p columns and move their rows at every split.

    Columns of a copy are read in sequence.  It pays if the candidates of a node read enough
    columns, `columns_read` on average, compared with the p columns that have to be moved.
    """
    return columns_read * (FETCHED - STREAMED) > p * MOVED


def grow_forest(
    X: Matrix,
    y: NDArray[np.float64],
    weights: NDArray[np.float64],
    feature_groups: FeatureGroups,
    sampling: Sampling,
    settings: KernelParams,
    mixture: SamplerMixture,
    streams: NDArray[np.uint64],
    n_jobs: int,
    advance: Callable[[], object],
    codes: RowCodes | None = None,
    ranks: EventRanks | None = None,
    case_weights: NDArray[np.float64] | None = None,
) -> Forest:
    """Grow one tree for each of the `streams` (B, 4), which stay as they are; join them in order.

    `X` (p, n): predictors, scaled to [0, 1]. `y` (n,): response, or class codes 0 … K - 1.
    `weights` (n,): case weights. `mixture`: where candidate directions come from. `advance`: called
    after each tree, in their order. `codes`: groups of rows that are resampled as one. `ranks`: of
    times to an event: each node is split by its log-rank scores, and y has those of all rows.
    `case_weights` (n,): what rows count for surrogates, if `weights` are others.
    """
    grow = TreeGrower(
        X, y, weights, feature_groups, sampling, settings, mixture, len(streams), n_jobs, codes,
        ranks, case_weights,
    )  # fmt: skip

    trees = trees_in_order([grow], [(0, stream) for stream in streams], n_jobs, X.size)

    def grown() -> Iterator[Forest]:
        for tree in trees:
            yield tree
            advance()

    with compiled_at_ease(grow_tree):
        if len(streams) > 1:
            return joined(grown(), len(streams))
        [tree] = trees
        advance()
        return tree.lean()


class TreeGrower:
    """Grows the tree of a stream (4,), which it does not modify.  It can be pickled.

    `n_trees` will be grown, in as many of the `n_jobs` threads as there are trees; if trees are
    fewer, each has several. In another process each tree has one thread. Others: see `grow_forest`.
    """

    def __init__(
        self,
        X: Matrix,
        y: NDArray[np.float64],
        weights: NDArray[np.float64],
        feature_groups: FeatureGroups,
        sampling: Sampling,
        settings: KernelParams,
        mixture: SamplerMixture,
        n_trees: int,
        n_jobs: int,
        codes: RowCodes | None = None,
        ranks: EventRanks | None = None,
        case_weights: NDArray[np.float64] | None = None,
    ) -> None:
        self._arguments = X, y, weights, feature_groups, sampling, settings, mixture
        self._others = codes, ranks, case_weights
        if ranks is not None:
            settings = settings._replace(n_times=ranks.n_times)
        abreast = max(1, min(n_jobs, n_trees))
        array, factors = read_by_growth(X, feature_groups, mixture)
        copies = abreast * array.nbytes * (rows_drawn_once(sampling, len(y)) / len(y))
        splitting = splitting_response(y, weights, settings.split_scale)
        self._targets = Targets(y, weights, splitting, ranks, case_weights)
        self._resample, self._n_jobs = Resample(sampling, codes), n_jobs // abreast
        self._builder = builder_of(array, factors, feature_groups, settings, mixture, copies)
        self._serial = None
        way = strategy(self._builder, weights, self._resample)
        if way == SERIAL and splitting is None:
            self._serial = SerialTrees(self._builder, self._targets, sampling)

    def __call__(self, stream: NDArray[np.uint64]) -> Forest:
        """Return the tree."""
        if self._serial is not None:
            return self._serial(stream)
        return self._builder.tree(self._targets, self._resample, stream.copy(), self._n_jobs)

    def __reduce__(self) -> tuple[Any, ...]:
        return TreeGrower, (*self._arguments, 1, 1, *self._others)
