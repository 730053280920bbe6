"""Directions uniform on the sphere: random projection trees."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from odrf.engine.compiling import ZERO
from odrf.engine.directions.candidates import ROUND, FeatureGroups
from odrf.engine.directions.samplers import draws
from odrf.engine.kernel_params import Settings
from odrf.engine.numeric import uniform
from odrf.projections.family import Family, Table

__all__ = ["Sphere", "SphereSampler"]


class SphereSampler(NamedTuple):
    """Directions uniform on the sphere.

    Attributes
    ----------
    number : int
    normal : (p,) float64
        Scratch.
    """

    number: int
    normal: np.ndarray


@dataclass(frozen=True)
class Sphere(Family):
    """Directions of all columns, uniform on the sphere, drawn anew for each node.

    Trees of such splits adapt to the intrinsic dimension of the data, whatever the number of
    columns (Dasgupta and Freund 2008).  The paper cuts near the median of one direction; here
    several directions are tried and the best cut is chosen.

    Examples
    --------
    >>> import odrf
    >>> data = odrf.load_data("wine")
    >>> forest = odrf.odrf("cultivar ~ .", data, projection="sphere", n_trees=30, seed=1)
    >>> forest.oob_error < 0.08
    True
    """

    name: ClassVar[str] = "sphere"
    sampling_in_words: ClassVar[str] = "uniform on the sphere, all columns"
    source: ClassVar[str] = "Dasgupta and Freund (2008)"
    criterion: ClassVar[str] = "entropy"

    def n_default(self, table: Table) -> int:
        """Return p, as for sparse directions."""
        return table.p

    def sampler(
        self, number: int, feature_groups: FeatureGroups, settings: Settings, n: int
    ) -> SphereSampler:
        """Return the sampler of a tree."""
        return SphereSampler(number, np.empty(int(feature_groups.first[-1])))

    def widest(self, feature_groups: FeatureGroups, settings: Settings, n: int) -> int:
        """Return p, the number of columns."""
        return int(feature_groups.first[-1])

    def columns_read(self, feature_groups: FeatureGroups, settings: Settings, n: int) -> float:
        """Return p, the number of columns."""
        return float(feature_groups.first[-1])

    def single_columns(self, number: int, p: int, subset_size: str | int) -> bool:
        """Return whether there is one column: directions have all."""
        return p == 1


@draws(SphereSampler)
def _draw(sampler, state, rows, lo, m, n_rows, first, feature_groups, proposals, work):
    """Draw independent normal coefficients (Box-Muller) and scale them to length 1."""
    columns, theta, p = proposals.columns, proposals.theta, len(sampler.normal)
    c, last = ZERO, min(first + ROUND, sampler.number)
    for _ in range(first, last):
        length = 0.0
        for j in range(p):
            radius = math.sqrt(-2.0 * math.log(1.0 - uniform(state)))
            sampler.normal[j] = radius * math.cos(2.0 * math.pi * uniform(state))
            length += sampler.normal[j] ** 2
        if not length > 0.0:
            continue
        for j in range(p):
            columns[c, j], theta[c, j] = j, sampler.normal[j] / math.sqrt(length)
        proposals.sizes[c] = p
        c += 1
    return c, last
