"""Trees of subsamples of one size, grown one after the other in the same arrays.

A tree of a small table grows in a fraction of a millisecond.  To make its arrays, to hand them to
the samplers and to ask for their types, as every call of a compiled kernel does, takes as long.  So
all this is done once for many trees.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from odrf.engine.directions.candidates import FeatureGroups
from odrf.engine.directions.samplers import SamplerMixture
from odrf.engine.growth.branches import grows_in_branches
from odrf.engine.growth.growing_on import as_lean_tree, grown_to_end, stepper
from odrf.engine.growth.growth_scratch import GrowthScratch, ScratchPool, renew
from odrf.engine.growth.tree_kernel import TreeBuffers
from odrf.engine.rows.factors import Factors
from odrf.engine.rows.row_codes import RowCodes
from odrf.engine.rows.rows import Rows, rows_at
from odrf.engine.rows.sampling import SUBSAMPLE, Sampling, n_drawn
from odrf.engine.rows.subsamples import draw_subsample
from odrf.engine.settings import Settings
from odrf.engine.splits.criteria import CRITERIA
from odrf.engine.survival.event_ranks import EventRanks
from odrf.engine.trees.forest_arrays import Forest

__all__ = ["RepeatedGrowth", "can_be_repeated"]

# Each thread keeps the rows of a tree of each kind: at most so many numbers, a megabyte.
MOST_NUMBERS = 2**18


def can_be_repeated(
    X: NDArray[np.float32],
    weights: NDArray[np.float64],
    feature_groups: FeatureGroups,
    sampling: Sampling,
    settings: Settings,
    mixture: SamplerMixture,
    factors: Factors,
    codes: RowCodes | None,
) -> bool:
    """Return whether `RepeatedGrowth` grows such trees.

    Not if rows have weights, are drawn together or were added later; if trees are honest, have
    surrogates, rotate their columns or do not grow breadth-first; nor if the table is large: time
    does not matter then.  The arguments are those of
    `odrf.engine.growth.forest_growth.TreeGrower`; X and `factors` are as `read_by_growth` returns
    them.
    """
    n = len(weights)
    plainly_drawn = sampling.resample == SUBSAMPLE and not (sampling.honest or sampling.later)
    plainly_grown = not (settings.surrogates or settings.best_first or mixture.rotates)
    return (
        plainly_drawn
        and plainly_grown
        and codes is None
        and not len(factors.codes)
        and X.size <= MOST_NUMBERS
        and not grows_in_branches(n, settings)
        and bool((weights == 1.0).all())
        # the sampler that all mixtures share draws anew at each node; others may go on with a draw
        and len(mixture.samplers(feature_groups, settings, n)) == 1
    )


@dataclass
class _Tree:
    """What a tree grows in, and the next one after it.

    Attributes
    ----------
    found : GrowthScratch
        Its scratch; other buffers take the place of these.
    buffers : TreeBuffers
    rows : Rows
    X : (p, m) or (0, m) float32
        Their columns, if they are copied.
    state : (4,) uint64
        Its random stream.
    reached : (4,) int64
        See `odrf.engine.growth.tree_kernel.grow_tree`.
    step : callable
        Grows it further.
    """

    found: GrowthScratch
    buffers: TreeBuffers
    rows: Rows
    X: NDArray[np.float32]
    state: NDArray[np.uint64]
    reached: NDArray[np.int64]
    step: Callable[[TreeBuffers], object]


class RepeatedGrowth:
    """Grows the tree of a stream (4,), which it does not modify: as `grow_one` does.

    Several threads may grow trees at the same time.

    Parameters
    ----------
    X, y : (p, n) float32; (n,) float64
    sampling : Sampling
    copied : bool
    pool : ScratchPool
        Where scratch comes from.
    factors : Factors
    ranks : EventRanks or None
        As in `odrf.engine.growth.tree_growth.grow_one`, where `can_be_repeated`.
    """

    def __init__(
        self,
        X: NDArray[np.float32],
        y: NDArray[np.float64],
        sampling: Sampling,
        copied: bool,
        pool: ScratchPool,
        factors: Factors,
        ranks: EventRanks | None,
    ) -> None:
        self._X, self._y, self._copied, self._ranks = X, y, copied, ranks
        self._size, self._factors, self._pool = n_drawn(sampling, len(y)), factors, pool
        self._most = 2 * min(pool.settings.max_leaves, self._size) + 1
        self._idle: list[_Tree] = []

    def __call__(self, stream: NDArray[np.uint64]) -> Forest:
        """Return the tree."""
        try:
            own = self._idle.pop()
        except IndexError:
            own = self._new()
        else:
            renew(own.found)
        rows, buffers, settings = own.rows, own.buffers, self._pool.settings
        own.state[:] = stream
        draw_subsample(own.state, self._X, self._y, rows.at, own.X, rows.y)
        buffers.begin[0], buffers.end[0], buffers.depth[0] = 0, self._size, 0
        own.reached[:] = 0, 1, 1, 0
        widest = own.found.scratch.columns.shape[1]
        own.buffers = grown_to_end(own.step, buffers, own.reached, widest, self._most)
        tree = as_lean_tree(own.buffers, own.reached, CRITERIA[settings.criterion].ordered)
        self._idle.append(own)
        return tree

    def _new(self) -> _Tree:
        n, size, settings = len(self._y), self._size, self._pool.settings
        found = self._pool.take(size, n)
        first, ones = np.arange(size), np.ones(n)
        once = ones.astype(np.int64)
        rows = rows_at(first, self._X, self._y, ones, once, self._copied, self._factors)
        rows = rows._replace(ranks=self._ranks)
        state, reached = np.empty(4, dtype=np.uint64), np.array([0, 1, 1, 0])
        growing = rows, self._pool.feature_groups, settings, state, found.scratch, found.samplers
        step = stepper(*growing, reached)
        columns = rows.X if self._copied else np.empty((0, size), dtype=np.float32)
        return _Tree(found, found.buffers, rows, columns, state, reached, step)
