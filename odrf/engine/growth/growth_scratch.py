"""Scratch of growing trees, made once and used again by one tree after the other.

For small tables it takes longer to make than a tree to grow.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from odrf.engine.directions.candidates import FeatureGroups, Proposals
from odrf.engine.directions.samplers import DirectionSampler, SamplerMixture
from odrf.engine.growth.tree_kernel import TreeBuffers, buffers_for
from odrf.engine.settings import Settings
from odrf.engine.splits.criteria import CRITERIA
from odrf.engine.splits.impurity import whole_logs
from odrf.engine.splits.searching import Scratch, as_searched, scratch_for

__all__ = ["FIRST_ROOM", "GrowthScratch", "ScratchPool", "renew"]

# Nodes and terms that a tree has room for at first; the room is doubled as the tree grows.
FIRST_ROOM = 1024


class GrowthScratch(NamedTuple):
    """Scratch arrays, samplers and buffers with which a tree is grown.

    Attributes
    ----------
    scratch : Scratch
    samplers : tuple of DirectionSampler
    buffers : TreeBuffers
        They may be replaced by longer ones.
    n : int
        The most rows of a tree, counting repetitions.
    permutations : tuple of arrays
        Those of the proposals as they are before a tree is grown.
    """

    scratch: Scratch
    samplers: tuple[DirectionSampler, ...]
    buffers: TreeBuffers
    n: int
    permutations: tuple[NDArray[np.int64], ...]


class ScratchPool:
    """Makes scratch for trees on the same predictors, and keeps what no tree uses.

    Several threads may take scratch at the same time: each has its own.  What a tree that failed
    has taken is not returned, and never used again.

    Parameters
    ----------
    feature_groups : FeatureGroups
    settings : Settings
    mixture : SamplerMixture
        As in `odrf.engine.growth.forest_growth.grow_forest`.

    Attributes
    ----------
    feature_groups : FeatureGroups
        Those that `as_searched` returns.
    """

    def __init__(
        self, feature_groups: FeatureGroups, settings: Settings, mixture: SamplerMixture
    ) -> None:
        self.feature_groups = as_searched(feature_groups, settings)
        self.settings, self.mixture = settings, mixture
        self._idle: list[GrowthScratch] = []

    def take(self, size: int, n: int) -> GrowthScratch:
        """Return scratch for a tree of `size` distinct rows, and n counting repetitions.

        The tree is the same whether the scratch is new or not.
        """
        try:
            found = self._idle.pop()
        except IndexError:
            return self._new(size, n)
        return self._renewed(found, size) if found.n == n else self._new(size, n)

    def of_branch(self, m: int, n: int, logs: NDArray[np.float64], room: int) -> GrowthScratch:
        """Return new scratch for a branch of m distinct rows, which is not to be given back.

        Parameters
        ----------
        m : int
        n : int
            The rows of the tree, counting repetitions.
        logs : (≥ 1,) float64
            The logarithms of the tree.
        room : int
            Nodes that the buffers have room for.
        """
        scratch = scratch_for(m, n, self.feature_groups, self.settings, self.mixture)
        terms = scratch.columns.shape[1] + FIRST_ROOM
        buffers = buffers_for(room, terms, self.settings.n_classes)
        return GrowthScratch(scratch._replace(logs=logs), self._samplers(n), buffers, n, ())

    def give_back(self, found: GrowthScratch) -> None:
        """Take back the scratch of a tree that is complete; nothing refers to its arrays now."""
        self._idle.append(found)

    def _new(self, size: int, n: int) -> GrowthScratch:
        settings = self.settings
        # the next tree may have more distinct rows, but not more than n
        scratch = scratch_for(n, n, self.feature_groups, settings, self.mixture)
        room = min(2 * n + 1, FIRST_ROOM)
        buffers = buffers_for(room, scratch.columns.shape[1] + FIRST_ROOM, settings.n_classes)
        permutations = tuple(each.copy() for each in _permutations(scratch.proposals))
        found = GrowthScratch(scratch, self._samplers(n), buffers, n, permutations)
        return self._with_logs(found, size)

    def _renewed(self, found: GrowthScratch, size: int) -> GrowthScratch:
        """Return the scratch as it was before a tree was grown with it."""
        renew(found)
        # the sampler that all mixtures share draws anew at each node; others may go on with a draw
        if len(found.samplers) > 1:
            found = found._replace(samplers=self._samplers(found.n))
        return self._with_logs(found, size)

    def _samplers(self, n: int) -> tuple[DirectionSampler, ...]:
        return self.mixture.samplers(self.feature_groups, self.settings, n)

    def _with_logs(self, found: GrowthScratch, size: int) -> GrowthScratch:
        """Return the scratch with as many logarithms as the tree has rows, if any are used.

        Kernels compute those of larger numbers, not to the last bit in the same way.
        """
        if not CRITERIA[self.settings.criterion].uses_logs:
            return found
        logs = whole_logs(self.settings.criterion, size)
        return found._replace(scratch=found.scratch._replace(logs=logs))


def renew(found: GrowthScratch) -> None:
    """Undo what a tree has done to the scratch, but for samplers that go on with a draw."""
    for used, new in zip(_permutations(found.scratch.proposals), found.permutations, strict=True):
        used[:] = new


def _permutations(proposals: Proposals) -> tuple[NDArray[np.int64], ...]:
    """Return the arrays that samplers shuffle, and go on shuffling from node to node."""
    return proposals.order, proposals.mixed, proposals.units
