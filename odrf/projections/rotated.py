"""Base class of families that rotate all columns of a tree and split on single rotated ones."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from odrf.engine.directions.candidates import FeatureGroups
from odrf.engine.directions.factors import class_shares_for
from odrf.engine.kernel_params import Settings
from odrf.engine.rows import Rows
from odrf.projections.axis import AxisSampler
from odrf.projections.family import Family, Table

__all__ = ["Rotated"]


@dataclass(frozen=True)
class Rotated(Family):
    """Single columns, after all columns are rotated by a matrix drawn for each tree.

    The rotation is the only difference from `odrf.projections.Axis`.  The indicators of a factor
    are rotated like other columns.
    """

    mixes: ClassVar[bool] = False

    def n_distinct(self, table: Table) -> int:
        """Return p, the number of columns."""
        return table.p

    @abstractmethod
    def rotation(
        self, state: NDArray[np.uint64], rows: Rows, settings: Settings
    ) -> NDArray[np.float32]:
        """Return the orthogonal matrix (p, p) that rotates the columns of one tree."""

    def sampler(
        self, number: int, feature_groups: FeatureGroups, settings: Settings, n: int
    ) -> AxisSampler:
        """Return the sampler of a tree, of at most p rotated columns."""
        p = int(feature_groups.first[-1])
        return AxisSampler(
            min(number, p),
            np.empty(p, dtype=np.int64),
            settings.direction_rows,
            class_shares_for(feature_groups, settings),
        )

    def widest(self, feature_groups: FeatureGroups, settings: Settings, n: int) -> int:
        """Return 1."""
        return 1

    def columns_read(self, feature_groups: FeatureGroups, settings: Settings, n: int) -> float:
        """Return 1."""
        return 1.0
