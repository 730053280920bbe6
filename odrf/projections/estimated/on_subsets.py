"""Base class of families that estimate each direction on a random subset of predictors."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from odrf.engine.directions.candidates import FeatureGroups, count_terms
from odrf.engine.directions.subsets import largest_subset
from odrf.engine.kernel_params import Settings
from odrf.projections.family import Family, Table

__all__ = ["OnSubsets", "few_directions", "widest_columns"]

# Fewest directions that a node tries by default.
FEWEST = 5


@dataclass(frozen=True)
class OnSubsets(Family):
    """Directions estimated on random subsets of q predictors, one subset for each direction.

    Zhan, Liu and Xia, section 5; q is ``subset_size``, fixed or drawn anew for each direction.  In
    a direction of several predictors, a factor of more than six levels enters as one column, its
    levels scored by their mean target, shrunk towards that of the node; a factor of two levels
    enters by its indicators.  A factor of three to six levels enters by its indicators if the
    response is a number, and the gain of a split is reduced by what chance adds to the fit of their
    coefficients; for classes, where this would take much longer, it enters by scores.

    A direction is estimated on random rows of the node: 1000 in a single tree and 200 in a forest,
    or 10 for each column if these are more, or all rows if there are fewer.  Its cuts are judged on
    all rows.
    """

    beside_singles: ClassVar[bool] = True
    on_subsets: ClassVar[bool] = True

    def n_default(self, table: Table) -> int:
        """Return max(5, ⌈√P⌉)."""
        return few_directions(table.P)

    def widest(self, feature_groups: FeatureGroups, settings: Settings, n: int) -> int:
        """Return the number of columns of the largest subset, of the widest predictors."""
        return widest_columns(
            largest_subset(settings.subset_size, len(feature_groups.types), n), feature_groups
        )

    def estimated(self, feature_groups: FeatureGroups, settings: Settings, n: int) -> int:
        """Return the same."""
        return self.widest(feature_groups, settings, n)

    def columns_read(self, feature_groups: FeatureGroups, settings: Settings, n: int) -> float:
        """Return half the size of the largest subset, in columns."""
        P = len(feature_groups.types)
        columns = count_terms(feature_groups).mean()
        return float(columns * largest_subset(settings.subset_size, P, n) / 2)

    def single_columns(self, number: int, p: int, subset_size: str | int) -> bool:
        """Return whether subsets can have one predictor: if their size is random or 1."""
        return subset_size in ("random", 1)


def few_directions(P: int) -> int:
    """Return max(5, ⌈√P⌉): few, as an estimated direction is worth many random ones."""
    return max(FEWEST, math.ceil(math.sqrt(P)))


def widest_columns(q: int, feature_groups: FeatureGroups) -> int:
    """Return the most coefficients that the q widest predictors have."""
    return int(np.sort(feature_groups.most_entries)[::-1][:q].sum())
