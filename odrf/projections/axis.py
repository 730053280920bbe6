"""Single predictors: the splits of CART and of the ordinary random forest."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from odrf.engine.compiling import ONE, ZERO, part
from odrf.engine.directions.candidates import PLAIN, ROUND, FeatureGroups
from odrf.engine.directions.estimation import covariances, least_squares
from odrf.engine.directions.samplers import begins, draws
from odrf.engine.directions.subsets import aim, load_terms, write_columns, write_direction
from odrf.engine.randomness import shuffle_front
from odrf.engine.settings import Settings
from odrf.projections.family import Family, Table

__all__ = ["Axis", "AxisSampler", "begin_axis", "draw_axis"]


class AxisSampler(NamedTuple):
    """Single predictors.

    Attributes
    ----------
    number : int
    singles : (P,) int64
        Those that the node tries come first.
    direction_rows : int
        A factor's levels are scored on at most so many rows, or ten per level.
    """

    number: int
    singles: np.ndarray
    direction_rows: int


@dataclass(frozen=True)
class Axis(Family):
    """Distinct single predictors, drawn anew for each node.

    A predictor of one column is its own direction.  A factor's levels are ordered by their mean
    target, which contains the best of all their partitions (Breiman et al. 1984, Theorem 4.5);
    the columns of a basis are combined by least squares.

    Examples
    --------
    >>> import odrf
    >>> data = odrf.load_data("wine")
    >>> cart = odrf.odt("cultivar ~ .", data, projection=odrf.projections.Axis(), seed=1)
    >>> bool((cart.splits["coefficient"] == 1).all())
    True
    """

    name: ClassVar[str] = "axis"
    sampling_in_words: ClassVar[str] = "distinct unit vectors"
    source: ClassVar[str] = "Breiman (2001)"

    def n_default(self, table: Table) -> int:
        """Return all of a single tree; in forests ⌈√P⌉ for classes, ⌈P/3⌉ for a regression."""
        if table.lone:
            return table.P
        return math.ceil(table.P / 3 if table.n_classes == 1 else math.sqrt(table.P))

    def n_distinct(self, table: Table) -> int:
        """Return P."""
        return table.P

    def sampler(
        self, number: int, feature_groups: FeatureGroups, settings: Settings, n: int
    ) -> AxisSampler:
        """Return the sampler of a tree, for its predictors: no more than there are."""
        P = len(feature_groups.types)
        return AxisSampler(min(number, P), np.empty(P, dtype=np.int64), settings.direction_rows)

    def widest(self, feature_groups: FeatureGroups, settings: Settings, n: int) -> int:
        """Return the columns of the widest predictor."""
        return int(np.diff(feature_groups.first).max())

    def estimated(self, feature_groups: FeatureGroups, settings: Settings, n: int) -> int:
        """Return as many: the columns of factors and bases are weighed."""
        return self.widest(feature_groups, settings, n)

    def looked_at(self, feature_groups: FeatureGroups, settings: Settings, n: int) -> float:
        """Return the mean number of columns of a predictor."""
        return float(feature_groups.first[-1] / len(feature_groups.types))

    def single_columns(self, number: int, p: int, subset_size: str | int) -> bool:
        """Return True; that the columns of a factor are weighed together is left aside."""
        return True


@begins(AxisSampler)
def begin_axis(sampler, state, proposals):
    """Draw the node's predictors, in random order, so that none wins ties by its place."""
    shuffle_front(state, proposals.order, sampler.number)
    for j in range(sampler.number):
        sampler.singles[j] = proposals.order[j]
    proposals.singly[0] = sampler.number == len(proposals.order)


@draws(AxisSampler)
def draw_axis(sampler, state, rows, lo, m, n_rows, first, feature_groups, proposals, work):
    """Take predictors one by one; weigh the columns of those that have several."""
    columns, theta, sizes = proposals.columns, proposals.theta, proposals.sizes
    last = min(first + ROUND, sampler.number)
    c, aimed, total, known = ZERO, ZERO, 0.0, False
    for candidate in range(first, last):
        chosen = sampler.singles[candidate:]
        width = write_columns(feature_groups, chosen, ONE, columns, c)
        sizes[c], theta[c, 0] = width, 1.0
        if feature_groups.types[chosen[0]] == PLAIN or width == 1:
            c += 1
            continue
        used = min(m, max(sampler.direction_rows, 10 * width))
        if used != aimed or len(proposals.chosen) > 2:
            aimed = used
            total, _, known = aim(state, rows, lo, used, proposals, work)
        if known and _weigh(rows, lo, used, feature_groups, chosen, total, work):
            c += write_direction(width, work, theta, c)
    return c, last


@part
def _weigh(rows, lo, m, feature_groups, chosen, total, work):
    """Weigh the columns of the first of the `chosen` by their levels' means or least squares."""
    terms = load_terms(rows, lo, m, feature_groups, chosen, ONE, ONE, work)
    work.theta[0] = 1.0
    if terms > 1:
        if not covariances(work.Z, terms, m, work.weights, work.moment, total, work, work.theta):
            return False
        least_squares(terms, work, work.theta)
    return True
