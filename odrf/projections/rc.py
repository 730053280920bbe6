"""Random combinations of a few columns: Breiman's Forest-RC."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from odrf.checks import checked_whole
from odrf.engine.compiling import ZERO
from odrf.engine.directions.candidates import ROUND, FeatureGroups
from odrf.engine.directions.samplers import draws
from odrf.engine.kernel_params import Settings
from odrf.engine.numeric import shuffle_front, uniform
from odrf.projections.family import Family, Table

__all__ = ["RandomCombination", "RandomCombinationSampler"]


class RandomCombinationSampler(NamedTuple):
    """Random linear combinations of L columns.

    Attributes
    ----------
    number : int
    size : int
        L, the number of columns of each.
    weight : (L,) float64
        Scratch.
    """

    number: int
    size: int
    weight: np.ndarray


@dataclass(frozen=True)
class RandomCombination(Family):
    """Random linear combinations of L columns (Forest-RC).

    The columns are drawn without replacement; coefficients are uniform on [-1, 1], then scaled to
    length 1.

    Parameters
    ----------
    size : int, default 3
        L, the number of columns of a direction, as in Breiman (2001), section 5.  With 1,
        directions are single columns.  If there are fewer columns, all are used.

    Raises
    ------
    InputError
        If `size` is not a whole number of at least 1.

    Examples
    --------
    >>> import odrf
    >>> data = odrf.load_data("wine")
    >>> pairs = odrf.projections.RandomCombination(size=2)
    >>> forest = odrf.odrf("cultivar ~ .", data, projection=pairs, n_trees=20, seed=1)
    >>> forest.oob_error < 0.06
    True
    """

    size: int = 3

    name: ClassVar[str] = "rc"
    sampling_in_words: ClassVar[str] = "L distinct columns, weights uniform on [-1, 1]"
    source: ClassVar[str] = "Breiman (2001)"
    criterion: ClassVar[str] = "entropy"

    def __post_init__(self) -> None:
        checked_whole("size", self.size, 1)

    def n_default(self, table: Table) -> int:
        """Return p, as for sparse directions, with which these are compared."""
        return table.p

    def sampler(
        self, number: int, feature_groups: FeatureGroups, settings: Settings, n: int
    ) -> RandomCombinationSampler:
        """Return the sampler of a tree."""
        size = self.widest(feature_groups, settings, n)
        return RandomCombinationSampler(number, size, np.empty(size))

    def widest(self, feature_groups: FeatureGroups, settings: Settings, n: int) -> int:
        """Return L, at most p."""
        return min(self.size, int(feature_groups.first[-1]))

    def columns_read(self, feature_groups: FeatureGroups, settings: Settings, n: int) -> float:
        """Return L, at most p."""
        return self.widest(feature_groups, settings, n)

    def single_columns(self, number: int, p: int, subset_size: str | int) -> bool:
        """Return whether L = 1."""
        return min(self.size, p) == 1


@draws(RandomCombinationSampler)
def _draw(sampler, state, rows, lo, m, n_rows, first, feature_groups, proposals, work):
    columns, theta, order = proposals.columns, proposals.theta, proposals.mixed
    c, last = ZERO, min(first + ROUND, sampler.number)
    for _ in range(first, last):
        shuffle_front(state, order, sampler.size)
        length = 0.0
        for j in range(sampler.size):
            sampler.weight[j] = 2.0 * uniform(state) - 1.0
            length += sampler.weight[j] ** 2
        if not length > 0.0:
            continue
        for j in range(sampler.size):
            columns[c, j], theta[c, j] = order[j], sampler.weight[j] / math.sqrt(length)
        proposals.sizes[c] = sampler.size
        c += 1
    return c, last
