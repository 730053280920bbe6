"""Grow the trees of a forest in several threads, each tree from its random stream."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from odrf.engine.compiling import compiled_at_ease
from odrf.engine.directions.candidates import FeatureGroups
from odrf.engine.directions.samplers import SamplerMixture
from odrf.engine.factors import Matrix, n_kept
from odrf.engine.growth.backends import trees_in_order
from odrf.engine.growth.split_scales import splitting_response
from odrf.engine.growth.tree_batches import RepeatedGrowth, can_be_repeated
from odrf.engine.growth.tree_builder import grow_one, growth_kernel, read_by_growth
from odrf.engine.growth.tree_kernel import ScratchPool
from odrf.engine.kernel_params import KernelParams
from odrf.engine.memory import is_available
from odrf.engine.resamples import RowCodes, Sampling, rows_drawn_once
from odrf.engine.survival.event_ranks import EventRanks
from odrf.engine.trees.forest import Forest, joined

# Rough relative costs of one number: read in sequence from a copy, fetched by its row number, and
# moved when a split divides the rows.  They only choose between two ways to grow the same tree.
STREAMED, FETCHED, MOVED = 0.2, 1.2, 1.2


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
    """Grow one tree for each of the `streams` (B, 4) and join them in that order.

    `X` (p, n): predictors, one column of the design per row of the array, scaled to [0, 1].
    `y` (n,): response, or class codes 0 … K - 1.
    `weights` (n,): case weights.
    `feature_groups`: which columns make up each predictor.
    `sampling`: how each tree's rows are drawn.
    `settings`: options of growth.
    `mixture`: where candidate directions come from.
    `streams` (B, 4): initial state of each tree's random stream; not modified.
    `n_jobs`: threads.
    `advance`: called after each tree, in the order of the trees.
    `codes`: groups of rows that are resampled as one.
    `ranks`: if the response is a time to an event: each node is then split by its log-rank
      scores, and y has those of all rows.
    `case_weights` (n,): what rows count for surrogates, if `weights` are others.
    """
    grow = TreeGrower(
        X, y, weights, feature_groups, sampling, settings, mixture, len(streams), n_jobs, codes,
        ranks, case_weights,
    )  # fmt: skip

    def grown() -> Iterator[Forest]:
        for tree in trees_in_order([grow], [(0, stream) for stream in streams], n_jobs, X.size):
            yield tree
            advance()

    with compiled_at_ease(growth_kernel(settings)):
        return joined(grown(), len(streams))


class TreeGrower:
    """Grows the tree of a stream (4,), which it does not modify.  It can be pickled.

    `n_trees` will be grown, in as many of the `n_jobs` threads as there are trees; if trees are
    fewer, each has several.  In another process each tree has one thread.  The other arguments are
    those of `grow_forest`.
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
        if ranks is not None:
            settings = settings._replace(n_times=ranks.n_times)
        self._arguments = X, y, weights, feature_groups, sampling, settings, mixture
        self._codes, self._ranks, self._case_weights = codes, ranks, case_weights
        abreast = max(1, min(n_jobs, n_trees))
        self._array, self._factors = read_by_growth(X, feature_groups, mixture)
        columns_read = mixture.columns_read(feature_groups, settings, len(y))
        share = rows_drawn_once(sampling, len(y)) / len(y)
        self._copied = pays_to_copy(
            n_kept(self._array, self._factors), columns_read
        ) and is_available(abreast * self._array.nbytes * share)
        self._splitting = splitting_response(y, weights, settings.split_scale)
        self._pool = ScratchPool(feature_groups, settings, mixture)
        self._n_jobs = n_jobs // abreast
        self._repeated = None
        if self._splitting is None and can_be_repeated(
            self._array, weights, feature_groups, sampling, settings, mixture, self._factors, codes
        ):
            self._repeated = RepeatedGrowth(
                self._array, y, sampling, self._copied, self._pool, self._factors, ranks
            )

    def __call__(self, stream: NDArray[np.uint64]) -> Forest:
        """Return the tree."""
        if self._repeated is not None:
            return self._repeated(stream)
        _, y, weights, feature_groups, sampling, settings, mixture = self._arguments
        return grow_one(
            self._array, y, weights, feature_groups, sampling, settings, mixture, stream.copy(),
            self._copied, self._factors, self._codes, self._splitting, self._pool,
            n_jobs=self._n_jobs, ranks=self._ranks, case_weights=self._case_weights,
        )  # fmt: skip

    def __reduce__(self) -> tuple[Any, ...]:
        return TreeGrower, (
            *self._arguments, 1, 1, self._codes, self._ranks, self._case_weights
        )  # fmt: skip


def pays_to_copy(p: int, columns_read: float) -> bool:
    """Whether a tree should copy the p columns and move their rows at every split.

    Columns of a copy are read in sequence.  It pays if the candidates of a node read enough
    columns, `columns_read` on average, compared with the p columns that have to be moved.
    """
    return columns_read * (FETCHED - STREAMED) > p * MOVED
