"""The task of one tree: the rows that it has drawn come in, the grown tree goes out.

It needs nothing else, and can be pickled: so it can run in a thread, in a process, or on another
machine, and the tree is the same.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from odrf.engine.directions.candidates import FeatureGroups
from odrf.engine.directions.samplers import SamplerMixture
from odrf.engine.growth.forest_growth import TreeGrower
from odrf.engine.rows.sampling import ALL_ROWS, Sampling
from odrf.engine.settings import Settings
from odrf.engine.streamed.gathering import TreeRows
from odrf.engine.trees.forest_arrays import Forest

__all__ = ["Recipe", "grown_apart", "growth_bytes"]

# Bytes that growth takes for each row beside a copy of the predictors: projections and sums, row
# numbers, nodes.  It took 120 to 200 of them for a number, on 400,000 rows of 20 to 100 columns.
PER_ROW, PER_CLASS = 200.0, 16.0


class Recipe(NamedTuple):
    """How the trees of a forest are grown; see `odrf.engine.growth.forest_growth.grow_forest`.

    Attributes
    ----------
    feature_groups : FeatureGroups
    settings : Settings
    mixture : SamplerMixture
    honest : bool
        Whether half of the rows of a tree choose its splits and the others give its values.
    """

    feature_groups: FeatureGroups
    settings: Settings
    mixture: SamplerMixture
    honest: bool


def grown_apart(
    rows: TreeRows, recipe: Recipe, stream: NDArray[np.uint64], abreast: int = 1
) -> Forest:
    """Return the tree of a random stream (4,), grown on all these rows.

    About `abreast` trees are grown at the same time; the tree does not depend on their number.
    """
    sampling = Sampling(ALL_ROWS, 1.0, recipe.honest)
    grow = TreeGrower(
        rows.X, rows.y, rows.weights, recipe.feature_groups, sampling, recipe.settings,
        recipe.mixture, abreast, abreast,
    )  # fmt: skip
    return grow(stream)


def growth_bytes(n_rows: float, stored_rows: int, n_classes: int) -> float:
    """Return about how many bytes growth takes beside its rows of `stored_rows` numbers each."""
    return n_rows * (4.0 * stored_rows + PER_ROW + PER_CLASS * n_classes)
