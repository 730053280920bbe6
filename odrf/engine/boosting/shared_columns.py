"""What trees on the same predictors share: their columns, and a pool of scratch."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from odrf.engine.boosting.fewer_predictors import narrowed_feature_groups
from odrf.engine.boosting.plan import Plan
from odrf.engine.directions.candidates import FeatureGroups, columns_of
from odrf.engine.growth.forest_growth import pays_to_copy
from odrf.engine.growth.growth_scratch import ScratchPool
from odrf.engine.growth.one_call import TreesInOneCall
from odrf.engine.rows.factors import Factors, n_kept, narrowed

__all__ = ["SharedColumns", "shared_columns"]


class SharedColumns(NamedTuple):
    """What trees on q of the predictors share.

    Attributes
    ----------
    X : (r, n) float32
    factors : Factors
        As `odrf.engine.growth.tree_growth.read_by_growth` returns them, of these predictors.
    feature_groups : FeatureGroups
        Those of these predictors.
    columns : (p,) int64 or None
        The columns of these predictors; None if they are all predictors.
    copied : bool
        Whether a tree copies X.
    pool : ScratchPool
    growers : list of TreesInOneCall
        Those that no thread uses.
    """

    X: NDArray[np.float32]
    factors: Factors
    feature_groups: FeatureGroups
    columns: NDArray[np.int64] | None
    copied: bool
    pool: ScratchPool
    growers: list[TreesInOneCall]

    def take_grower(self) -> TreesInOneCall:
        """Return what grows several trees in one thread; another one for each thread."""
        try:
            return self.growers.pop()
        except IndexError:
            return TreesInOneCall(self.X, self.factors, self.copied, self.pool)

    def give_back(self, grower: TreesInOneCall) -> None:
        """Take back what no thread uses any more; one that has failed is not given back."""
        self.growers.append(grower)


def shared_columns(
    X: NDArray[np.float32],
    factors: Factors,
    feature_groups: FeatureGroups,
    predictors: NDArray[np.int64],
    plan: Plan,
) -> SharedColumns:
    """Return what trees on these predictors (q,), in ascending order, share.

    X and `factors` are as `odrf.engine.growth.tree_growth.read_by_growth` returns them.
    """
    columns = None
    if len(predictors) < len(feature_groups.types):
        columns = columns_of(feature_groups, predictors)
        X, factors = narrowed(X, factors, columns)
        feature_groups = narrowed_feature_groups(feature_groups, predictors)
    columns_read = plan.mixture.columns_read(feature_groups, plan.settings, X.shape[1])
    copied = pays_to_copy(n_kept(X, factors), columns_read)
    pool = ScratchPool(feature_groups, plan.settings, plan.mixture)
    return SharedColumns(X, factors, feature_groups, columns, copied, pool, [])
