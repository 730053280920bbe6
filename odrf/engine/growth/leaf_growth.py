"""Grow branches from some leaves of a tree, all by one random stream."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from odrf.engine.directions.candidates import FeatureGroups
from odrf.engine.directions.samplers import SamplerMixture
from odrf.engine.growth.growth_scratch import FIRST_ROOM
from odrf.engine.growth.surrogate_growth import grow_with_surrogates
from odrf.engine.growth.tree_growth import grow_on
from odrf.engine.growth.tree_kernel import TreeBuffers, buffers_for
from odrf.engine.rows.rows import Rows
from odrf.engine.settings import Settings
from odrf.engine.splits.searching import as_searched, scratch_for
from odrf.engine.surrogates.scratch import surrogate_scratch
from odrf.engine.surrogates.surrogate_splits import SurrogateSplits, marks_of

__all__ = ["grow_from_leaves"]


def grow_from_leaves(
    leaf_rows: Rows,
    sizes: NDArray[np.integer],
    depths: NDArray[np.integer],
    root_impurity: float,
    n_leaves: int,
    n: int,
    feature_groups: FeatureGroups,
    settings: Settings,
    mixture: SamplerMixture,
    state: NDArray[np.uint64],
) -> tuple[TreeBuffers, NDArray[np.int64], SurrogateSplits | None]:
    """Grow branches from L leaves; return the buffers, how far they are filled, and surrogates.

    In the buffers, the nodes 1, 2, … L are the leaves; node 0 stands for the rest of the tree.

    Parameters
    ----------
    leaf_rows : Rows
        The rows of the leaves, one leaf after the other; they are reordered.
    sizes, depths : (L,) int
        How many of the rows each leaf has, and how deep it is.
    root_impurity : float
        The impurity of the root of the tree.
    n_leaves : int
        How many leaves the tree has.
    n : int
        The rows of the tree, counting repetitions.
    feature_groups, settings, mixture
        As in `odrf.engine.growth.forest_growth.grow_forest`.
    state : (4,) uint64
        The random stream, advanced.
    """
    L = len(sizes)
    feature_groups = as_searched(feature_groups, settings)
    scratch = scratch_for(len(leaf_rows.at), n, feature_groups, settings, mixture)
    widest = scratch.columns.shape[1]
    most = 3 + L + 2 * min(settings.max_leaves, len(leaf_rows.at))
    room = min(most, L + FIRST_ROOM)
    branches = buffers_for(room, widest + FIRST_ROOM, settings.n_classes)
    # node 0 has the impurity that growth reads from the root, and is not searched
    branches.left[0], branches.start[0], branches.impurity[0] = -1, 0, root_impurity
    ends = np.cumsum(sizes)
    branches.begin[1 : L + 1], branches.end[1 : L + 1] = ends - sizes, ends
    branches.depth[1 : L + 1] = depths
    reached = np.array([1, L + 1, n_leaves, 0])
    samplers = mixture.samplers(feature_groups, settings, n)
    growing = (
        leaf_rows, feature_groups, settings, state, branches, scratch, samplers, reached, most
    )  # fmt: skip
    if not settings.surrogates:
        return grow_on(*growing), reached, None
    work = surrogate_scratch(len(leaf_rows.at), marks_of(feature_groups), settings.n_classes)
    branches, surrogates = grow_with_surrogates(*growing, work)
    return branches, reached, surrogates
