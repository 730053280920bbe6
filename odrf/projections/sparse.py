"""Random combinations of few columns, or of all: SPORF, Forest-RC, random projection trees."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from odrf.checks import checked_whole
from odrf.engine.compiling import ZERO, kernel, part
from odrf.engine.directions.candidates import ROUND, FeatureGroups, count_terms
from odrf.engine.directions.samplers import begins, draws
from odrf.engine.kernel_params import KernelParams
from odrf.engine.numeric import below, shuffle_front, uniform
from odrf.engine.rows import level_at
from odrf.projections.base import Family, Table, share_or_auto

NONZEROS, MOST_SHARE = 3, 0.5
# Tolerance of ⌈λpd⌉, so that rounding of λ does not add one.
ROUNDING = 1e-9


class SparseSampler(NamedTuple):
    """Sparse random directions.

    `density`: λ, the share of nonzeros.  `nonzeros` (number,): number of columns of each direction
    of a node.
    """

    number: int
    density: float
    nonzeros: np.ndarray


@dataclass(frozen=True)
class Sparse(Family):
    """Random signs on a few columns (SPORF).

    A node draws a p × d matrix with ⌈λpd⌉ nonzeros in random cells, each 1 or -1 with probability
    1/2.  Its columns, scaled to length 1, are the directions (Tomita et al. 2020, section 3.1).  A
    factor of more than 6 levels counts as one of the p columns: the indicator of a level that is
    drawn by its frequency in the node.

    Parameters
    ----------
    density : "auto" or float, default "auto"
        λ, the share of nonzeros.  ``"auto"`` is the paper's 3/p, three columns for each direction
        on average, but at most 1/2: so that single columns are drawn even if p is small.

    Raises
    ------
    InputError
        If `density` is neither ``"auto"`` nor a number above 0 and at most 1.

    Examples
    --------
    >>> import odrf
    >>> data = odrf.load_data("wine")
    >>> pairs = odrf.projections.Sparse(density=2 / 13)
    >>> forest = odrf.odrf("cultivar ~ .", data, projection=pairs, n_trees=20, seed=1)
    >>> forest.oob_error < 0.06
    True
    """

    density: Any = "auto"

    name: ClassVar[str] = "sparse"
    sampling_in_words: ClassVar[str] = "⌈λpd⌉ cells of the p × d matrix are ±1, the others 0"
    source: ClassVar[str] = "Tomita et al. (2020)"
    criterion: ClassVar[str] = "entropy"

    def __post_init__(self) -> None:
        share_or_auto("density", self.density)

    def share(self, p: int) -> float:
        """Return λ for p columns."""
        return min(NONZEROS / p, MOST_SHARE) if self.density == "auto" else float(self.density)

    def n_default(self, table: Table) -> int:
        """Return p, the number of columns, a factor of many levels counting as one."""
        return table.p if table.terms is None else table.terms

    def sampler(
        self, number: int, feature_groups: FeatureGroups, settings: KernelParams, n: int
    ) -> SparseSampler:
        """Return the sampler of a tree."""
        share = self.share(int(count_terms(feature_groups).sum()))
        return SparseSampler(number, share, np.empty(number, dtype=np.int64))

    def widest(self, feature_groups: FeatureGroups, settings: KernelParams, n: int) -> int:
        """Return p, the number of columns."""
        return int(count_terms(feature_groups).sum())

    def columns_read(self, feature_groups: FeatureGroups, settings: KernelParams, n: int) -> float:
        """Return λp, at least 1."""
        p = int(count_terms(feature_groups).sum())
        return max(1.0, self.share(p) * p)

    def single_columns(self, number: int, p: int, subset_size: str | int) -> bool:
        """Return whether a direction can have a single nonzero: the others then have the rest."""
        nonzeros = math.ceil(self.share(p) * p * number - ROUNDING)
        return nonzeros - 1 <= p * (number - 1)


@kernel
def draw_nonzeros(state, p, density, nonzeros):
    """Draw the number of nonzeros in each of the d columns of SPORF's p × d matrix: nonzeros (d,).

    ⌈λpd⌉ cells are drawn without replacement (Tomita et al. 2020), λ being the `density`: the next
    cell is in a column with probability proportional to its empty cells.  If more than half of the
    cells are nonzero, the zeros are drawn instead.
    """
    d = len(nonzeros)
    number = int(np.ceil(density * p * d - ROUNDING))
    fewer = 2 * number <= p * d
    for c in range(d):
        nonzeros[c] = 0
    remaining = number if fewer else p * d - number
    while remaining > 0:
        c = below(state, d)
        if below(state, p) >= nonzeros[c]:
            nonzeros[c] += 1
            remaining -= 1
    if not fewer:
        for c in range(d):
            nonzeros[c] = p - nonzeros[c]


@part
def _sparse_direction(state, order, q, columns, theta, c):
    """Write q random units to columns[c], random signs, scaled to length 1, to theta[c]."""
    shuffle_front(state, order, q)
    size = np.float32(1.0 / np.sqrt(max(q, 1)))
    for i in range(q):
        columns[c, i] = order[i]
        theta[c, i] = size if uniform(state) < 0.5 else -size


@part
def _draw_levels(state, rows, lo, m, first, q, columns, c):
    """Replace each factor of many levels among q units by the column of a random row's level."""
    for i in range(q):
        if columns[c, i] < 0:
            column = first[-1 - columns[c, i]]
            level = level_at(rows, -1 - rows.place[column], lo + below(state, m))
            columns[c, i] = column + max(level - 1, 0)


@begins(SparseSampler)
def begin_sparse(sampler, state, proposals):
    """Draw the number of columns of each direction of a node."""
    draw_nonzeros(state, len(proposals.units), sampler.density, sampler.nonzeros)


@draws(SparseSampler)
def draw_sparse(sampler, state, rows, lo, m, n_rows, first, feature_groups, proposals, work):
    """Draw columns and signs; directions without columns are left out."""
    c, last = ZERO, min(first + ROUND, sampler.number)
    for candidate in range(first, last):
        q = sampler.nonzeros[candidate]
        _sparse_direction(state, proposals.units, q, proposals.columns, proposals.theta, c)
        _draw_levels(state, rows, lo, m, feature_groups.first, q, proposals.columns, c)
        proposals.sizes[c] = q
        c += q > 0
    return c, last


# Random combinations of a few columns: Breiman's Forest-RC.


class RandomCombinationSampler(NamedTuple):
    """Random linear combinations of L columns.

    `size`: L, the number of columns of each.  `weight` (L,): scratch.
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
        self, number: int, feature_groups: FeatureGroups, settings: KernelParams, n: int
    ) -> RandomCombinationSampler:
        """Return the sampler of a tree."""
        size = self.widest(feature_groups, settings, n)
        return RandomCombinationSampler(number, size, np.empty(size))

    def widest(self, feature_groups: FeatureGroups, settings: KernelParams, n: int) -> int:
        """Return L, at most p."""
        return min(self.size, int(feature_groups.first[-1]))

    def columns_read(self, feature_groups: FeatureGroups, settings: KernelParams, n: int) -> float:
        """Return L, at most p."""
        return self.widest(feature_groups, settings, n)

    def single_columns(self, number: int, p: int, subset_size: str | int) -> bool:
        """Return whether L = 1."""
        return min(self.size, p) == 1


@draws(RandomCombinationSampler)
def _draw_combination(sampler, state, rows, lo, m, n_rows, first, feature_groups, proposals, work):
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


# Directions uniform on the sphere: random projection trees.


class SphereSampler(NamedTuple):
    """Directions uniform on the sphere.

    `normal` (p,): scratch.
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
        self, number: int, feature_groups: FeatureGroups, settings: KernelParams, n: int
    ) -> SphereSampler:
        """Return the sampler of a tree."""
        return SphereSampler(number, np.empty(int(feature_groups.first[-1])))

    def widest(self, feature_groups: FeatureGroups, settings: KernelParams, n: int) -> int:
        """Return p, the number of columns."""
        return int(feature_groups.first[-1])

    def columns_read(self, feature_groups: FeatureGroups, settings: KernelParams, n: int) -> float:
        """Return p, the number of columns."""
        return float(feature_groups.first[-1])

    def single_columns(self, number: int, p: int, subset_size: str | int) -> bool:
        """Return whether there is one column: directions have all."""
        return p == 1


@draws(SphereSampler)
def _draw_on_sphere(sampler, state, rows, lo, m, n_rows, first, feature_groups, proposals, work):
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
