"""Single predictors: CART, random forests, extremely randomised trees."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from odrf.engine.compiling import NO, ONE, YES, ZERO, part
from odrf.engine.directions.candidates import (
    FEW_LEVELS,
    PLAIN,
    ROUND,
    FeatureGroups,
    count_terms,
    most_coefficients,
)
from odrf.engine.directions.estimation import covariances, least_squares
from odrf.engine.directions.factors import (
    ClassShares,
    class_shares_for,
    is_ordered_by_shares,
    principal_scores,
    principal_target,
)
from odrf.engine.directions.missing import has_missing, write_two_sided
from odrf.engine.directions.samplers import begins, draws
from odrf.engine.directions.subsets import (
    count_columns,
    draw_target,
    load_terms,
    sample_sizes,
    write_direction,
    write_single,
)
from odrf.engine.kernel_params import KernelParams
from odrf.engine.numeric import shuffle_front
from odrf.projections.base import Family, Table


class AxisSampler(NamedTuple):
    """Single predictors.

    `singles` (P,): the predictors that the node tries, in its first `number` entries.
    `direction_rows`: a factor's levels are scored on at most so many rows; or ten per level, if
    more.  `few`: the scores of more levels are shrunk.  `shares`: scratch for factors and more than
    two classes.
    """

    number: int
    singles: np.ndarray
    direction_rows: int
    few: int
    shares: ClassShares | None


@dataclass(frozen=True)
class Axis(Family):
    """Distinct single predictors, drawn anew for each node.

    A numeric predictor is split as it is.  The levels of a factor are ordered by their mean
    response: the best cut of this order is the best of all partitions into two, for a numeric
    response and for two classes (Breiman et al. 1984, Theorem 4.5).  For more classes they are
    ordered by the first principal component of their class shares (Coppersmith, Hong and Hosking
    1999), whose best cut is nearly the best of all partitions; for ordered classes by the share of
    the classes below a random one.  The means or shares of more than 6 levels are shrunk towards
    those of the node, and their gain is compared without what it owes to chance; but not in trees
    of single predictors alone that try every cut (``split_search="exact"``).  A level that a
    node does not have goes to the side with more weight, and so does a row without any level.  The
    columns of a basis, such as a spline, are combined by least squares.

    Examples
    --------
    >>> import odrf
    >>> data = odrf.load_data("wine")
    >>> cart = odrf.odt("cultivar ~ .", data, projection=odrf.projections.Axis(), seed=1)
    >>> bool((cart.splits["coefficient"] == 1).all())
    True
    """

    # those of factors and bases
    is_estimated: ClassVar[bool] = True
    name: ClassVar[str] = "axis"
    sampling_in_words: ClassVar[str] = "distinct unit vectors"
    source: ClassVar[str] = "Breiman (2001)"

    def n_default(self, table: Table) -> int:
        """Return P for a single tree; in forests ⌈√P⌉ for classes, ⌈P/3⌉ for a regression."""
        if table.single_tree:
            return table.P
        return math.ceil(table.P / 3 if table.n_classes == 1 else math.sqrt(table.P))

    def n_distinct(self, table: Table) -> int:
        """Return P, the number of predictors."""
        return table.P

    def sampler(
        self, number: int, feature_groups: FeatureGroups, settings: KernelParams, n: int
    ) -> AxisSampler:
        """Return the sampler of a tree, of at most P predictors."""
        P = len(feature_groups.types)
        return AxisSampler(
            min(number, P), np.empty(P, dtype=np.int64), settings.direction_rows, FEW_LEVELS,
            class_shares_for(feature_groups, settings),
        )  # fmt: skip

    def widest(self, feature_groups: FeatureGroups, settings: KernelParams, n: int) -> int:
        """Return the number of columns of the widest predictor."""
        return most_coefficients(feature_groups, 1)

    def columns_read(self, feature_groups: FeatureGroups, settings: KernelParams, n: int) -> float:
        """Return the mean number of columns of a predictor."""
        return float(count_terms(feature_groups).mean())

    def single_columns(self, number: int, p: int, subset_size: str | int) -> bool:
        """Return True; it ignores that the columns of a factor are combined."""
        return True


@begins(AxisSampler)
def begin_axis(sampler, state, proposals):
    """Draw the predictors of a node, in random order so that ties favour none of them."""
    shuffle_front(state, proposals.order, sampler.number)
    for j in range(sampler.number):
        sampler.singles[j] = proposals.order[j]
    proposals.singly[0] = sampler.number == len(proposals.order)


@draws(AxisSampler)
def draw_axis(sampler, state, rows, lo, m, n_rows, first, feature_groups, proposals, work):
    """Write single predictors; estimate the coefficients of those that have several columns."""
    last, holes = min(first + ROUND, sampler.number), feature_groups.holes
    c, target = ZERO, (ZERO, 0.0, 0.0, NO)
    for candidate in range(first, last):
        chosen = sampler.singles[candidate:]
        if has_missing(holes, chosen[0]) and feature_groups.types[chosen[0]] == PLAIN:
            column = feature_groups.first[chosen[0]]
            write_two_sided(column, column + 1, proposals, c, proposals.two_sided)
            c += 1
        elif count_columns(feature_groups, chosen, ONE) == 1:
            write_single(feature_groups.first[chosen[0]], proposals, c)
            c += 1
        else:
            written, target = _propose_columns(
                sampler, state, rows, lo, m, chosen, feature_groups, proposals, c, target, work
            )
            c += written
    return c, last


@part
def _propose_columns(
    sampler, state, rows, lo, m, chosen, feature_groups, proposals, c, target, work
):
    """Write proposal c, on the predictor chosen[0] of several columns.

    `target` describes the target in `work`: of how many rows it is, their weight, its mean, and
    whether it varies.  Returns whether there is a proposal, and the new `target`.
    """
    target_rows, total, share, varies = target
    used, scored = sample_sizes(feature_groups, chosen, ONE, m, sampler.direction_rows, sampler.few)
    by_shares = is_ordered_by_shares(sampler.shares, feature_groups, chosen[0])
    column = feature_groups.first[chosen[0]]
    width = feature_groups.first[chosen[0] + 1] - column
    if by_shares and width <= FEW_LEVELS:
        if principal_scores(rows, lo, used, column, width, sampler.shares, work):
            return write_direction(work, proposals, c), target
        return False, target
    # one predictor never has the moments of fewer rows written over those of the target
    if by_shares:
        total, share, varies = principal_target(rows, lo, scored, column, sampler.shares, work)
    elif scored != target_rows or len(proposals.chosen) > 2:
        target_rows = scored
        total, share, varies = draw_target(state, rows, lo, scored, proposals, work)
    target = target_rows, total, share, varies
    if not varies:
        return False, target
    terms, of_used, _ = load_terms(
        rows, lo, used, scored, feature_groups, chosen, ONE, sampler.few, YES, total, share, work
    )
    if _estimate_coefficients(terms, used, of_used, work):
        return write_direction(work, proposals, c), target
    return False, target


@part
def _estimate_coefficients(terms, m, total, work):
    """Write coefficients of the terms to work.theta: 1 for scores of levels, else least squares.

    Returns False if the target is unrelated to the terms.
    """
    work.theta[0] = 1.0
    if terms > 1:
        if not covariances(work.Z, terms, m, work.weights, work.moment, total, work, work.theta):
            return False
        least_squares(terms, work, work.theta)
    return True


@dataclass(frozen=True)
class ExtraTrees(Axis):
    """Distinct single predictors with one random threshold each.

    A threshold is uniform between the least and the largest value in the node; the best of them is
    the split (Geurts, Ernst and Wehenkel 2006).  ``n_thresholds=`` tries more thresholds.  In the
    paper every tree is grown on all rows, as with ``resample="none"``.  The default is a bootstrap
    sample, as in other forests, since out-of-bag results need one.  The levels of a factor are
    ordered as in `Axis`.

    Examples
    --------
    >>> import odrf
    >>> data = odrf.load_data("wine")
    >>> forest = odrf.odrf("cultivar ~ .", data, projection="extra", n_trees=50, seed=1)
    >>> forest.oob_error < 0.06
    True
    """

    name: ClassVar[str] = "extra"
    sampling_in_words: ClassVar[str] = "distinct unit vectors, one uniform threshold each"
    source: ClassVar[str] = "Geurts, Ernst and Wehenkel (2006)"
    n_thresholds: ClassVar[str | int] = 1

    def n_default(self, table: Table) -> int:
        """Return ⌈√P⌉ for classes, P for a regression: the K of the paper, for single trees too."""
        return table.P if table.n_classes == 1 else math.ceil(math.sqrt(table.P))
