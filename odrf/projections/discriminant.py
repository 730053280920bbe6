"""Discriminant directions: canonical correlation forests, and projection pursuit forests."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from odrf.checks import checked_truth
from odrf.engine.compiling import NO, ZERO, kernel, part
from odrf.engine.directions.candidates import (
    ROUND,
    FeatureGroups,
    count_terms,
    most_coefficients,
)
from odrf.engine.directions.estimation import (
    RIDGE,
    ClassScatter,
    add_ridge,
    add_within_ridge,
    between,
    class_scatter_for,
    covariances,
    least_squares,
    moments,
    scatter,
    solve,
    varies,
    weigh,
    whiten,
    within,
)
from odrf.engine.directions.samplers import draws, forget_levels
from odrf.engine.directions.subsets import (
    draw_target,
    draw_terms,
    load_terms,
    sample_sizes,
    write_direction,
)
from odrf.engine.kernel_params import KernelParams
from odrf.engine.numeric import (
    Spectrum,
    below,
    right_singular,
    shuffle_front,
    solve_upper,
    spectrum_for,
)
from odrf.projections.base import Family, Table, from_zero_to_one, whole_or_auto
from odrf.projections.regression import OnSubsets

# Squared correlations below this are rounding errors.
UNCORRELATED = 1e-9


class CanonicalSampler(NamedTuple):
    """Canonical directions on random subsets of predictors.

    `size`: number of predictors in each subset.  `each`: most directions of a subset.
    `direction_rows`: most rows of a node on which directions are estimated; or ten per column, if
    more.  `bootstrap`: whether they are estimated on a bootstrap sample of these rows.  `times`
    (most rows,): how often each row is drawn.  `spectrum`: scratch.
    """

    number: int
    size: int
    each: int
    direction_rows: int
    bootstrap: bool
    times: np.ndarray
    classes: ClassScatter
    spectrum: Spectrum


@dataclass(frozen=True)
class CanonicalCorrelation(Family):
    """Canonical directions between a random subset of predictors and the classes (CCF).

    Rainforth and Wood (2015): the directions θ that have the greatest correlation with a linear
    combination of the indicators of the K classes and are uncorrelated with each other.  A subset
    of q predictors has min(q, K - 1) of them, and each is a candidate.  They are the directions of
    linear discriminant analysis.  For two classes, and for a numeric response, there is one: least
    squares.  The covariance of the columns has the same ridge as in `LeastSquares`.

    In the paper every tree is grown on all rows, as with ``resample="none"``, since the bootstrap
    at each node replaces the bootstrap of each tree.  The default here resamples rows for each tree
    too, so that there are out-of-bag rows.

    Parameters
    ----------
    bootstrap : bool, default True
        Estimate on a bootstrap sample of the node's rows, drawn anew for each subset (projection
        bootstrap); cuts are evaluated on all rows of the node.  As in the authors' program, no
        bootstrap is drawn if a subset has all predictors.  All rows are used if the sample has only
        one value of the target: one of two classes or, with more classes, one side of a random
        division of them into two.
    size : "auto" or int, default "auto"
        q, the number of predictors in a subset.  ``"auto"`` is the authors' ⌈log₂P + 1⌉, but 2 if
        P = 3.

    Raises
    ------
    InputError
        If `bootstrap` is not True or False, or `size` is not a whole number of at least 1.

    Examples
    --------
    >>> import odrf
    >>> data = odrf.load_data("wine")
    >>> pairs = odrf.projections.CanonicalCorrelation(size=2)
    >>> forest = odrf.odrf("cultivar ~ .", data, projection=pairs, n_trees=20, seed=1)
    >>> forest.oob_error < 0.06
    True
    """

    bootstrap: bool = True
    size: Any = "auto"

    is_estimated: ClassVar[bool] = True
    name: ClassVar[str] = "cca"
    sampling_in_words: ClassVar[str] = "canonical directions of a random subset with the classes"
    source: ClassVar[str] = "Rainforth and Wood (2015)"
    criterion: ClassVar[str] = "entropy"

    def __post_init__(self) -> None:
        checked_truth("bootstrap", self.bootstrap)
        whole_or_auto("size", self.size, 1)

    def subset(self, P: int) -> int:
        """Return q for P predictors."""
        if self.size != "auto":
            return min(int(self.size), P)
        return 2 if P == 3 else min(math.ceil(math.log2(P) + 1), P)

    def n_default(self, table: Table) -> int:
        """Return min(q, K - 1), at least 1: the directions of one subset, as in the paper."""
        return self._each(table.P, table.n_classes)

    def sampler(
        self, number: int, feature_groups: FeatureGroups, settings: KernelParams, n: int
    ) -> CanonicalSampler:
        """Return the sampler of a tree."""
        P, K, D = (
            len(feature_groups.types),
            settings.n_classes,
            self.widest(feature_groups, settings, n),
        )
        most = min(n, max(settings.direction_rows, 10 * D))
        return CanonicalSampler(
            number, self.subset(P), min(self._each(P, K), ROUND), settings.direction_rows,
            bool(self.bootstrap) and self.subset(P) < P, np.empty(most, dtype=np.int64),
            class_scatter_for(K, D), spectrum_for(D),
        )  # fmt: skip

    def widest(self, feature_groups: FeatureGroups, settings: KernelParams, n: int) -> int:
        """Return the number of columns of the q widest predictors."""
        return most_coefficients(feature_groups, self.subset(len(feature_groups.types)))

    def columns_read(self, feature_groups: FeatureGroups, settings: KernelParams, n: int) -> float:
        """Return q times the mean number of columns of a predictor."""
        return float(count_terms(feature_groups).mean() * self.subset(len(feature_groups.types)))

    def _each(self, P: int, K: int) -> int:
        """Return the number of directions of a subset."""
        return max(1, min(self.subset(P), K - 1))


@draws(CanonicalSampler)
def _draw_canonical(sampler, state, rows, lo, m, n_rows, first, feature_groups, proposals, work):
    """Draw subsets while the round has room for all directions of one more.

    A subset counts as `sampler.each` candidates, even if it gives fewer directions.
    """
    c, following = ZERO, first
    while following < sampler.number and c + sampler.each <= ROUND:
        most = min(sampler.each, sampler.number - following)
        following += sampler.each
        shuffle_front(state, proposals.order, sampler.size)
        order, q = proposals.order, sampler.size
        few, most_rows = proposals.indicator_levels, sampler.direction_rows
        used, scored = sample_sizes(feature_groups, order, q, m, most_rows, few)
        total, share, target_varies = _draw_target_and_sample(
            sampler, state, rows, lo, scored, proposals, work
        )
        if not target_varies:
            continue
        terms, total, _ = load_terms(
            rows, lo, used, scored, feature_groups, order, q, few, NO, total, share, work
        )
        K = len(proposals.chosen)
        y = rows.y[lo : lo + used]
        if terms == 0:
            continue
        number = canonical_directions(
            terms, used, y, K, total, sampler.classes, sampler.spectrum, work
        )
        for r in range(min(number, most)):
            for j in range(terms):
                work.theta[j] = sampler.spectrum.vectors[r, j]
            c += write_direction(work, proposals, c)
    if sampler.bootstrap:  # other directions are not estimated on the sample
        forget_levels(work.levels)
    return c, min(following, sampler.number)


@part
def _draw_target_and_sample(sampler, state, rows, lo, m, proposals, work):
    """Draw a target for the m rows from `lo` on, and a bootstrap sample of them, as weights.

    Returns the sum of the weights, the mean target and whether it varies.  Factors of many levels
    are scored by the target.
    """
    total, share, target_varies = draw_target(state, rows, lo, m, proposals, work)
    if not (target_varies and sampler.bootstrap):
        return total, share, target_varies
    for i in range(m):
        sampler.times[i] = 0
    for _ in range(m):
        sampler.times[below(state, m)] += 1
    if not _sample_varies(sampler.times, work.target, work.weights, m):
        return total, share, target_varies
    for i in range(m):
        work.weights[i] *= sampler.times[i]
    forget_levels(work.levels)
    total, share = moments(work.target, work.weights, m, work.moment)
    return total, share, target_varies


@part
def _sample_varies(times, target, a, m):
    """Whether the rows drawn, of positive weight, differ in their target."""
    low, high = np.inf, -np.inf
    for i in range(m):
        if times[i] > 0 and a[i] > 0.0:
            low, high = min(low, target[i]), max(high, target[i])
    return low < high


@kernel
def canonical_directions(d, m, y, K, total, classes, spectrum, work):
    """Write the canonical directions of the d terms in work.Z to the vectors of `spectrum`.

    For a numeric response (K = 1) and for two classes with the target in `work`, with its moments;
    for more classes with the class indicators.  Returns how many there are; the most correlated
    comes first.
    """
    Z, a, theta = work.Z, work.weights, work.theta
    if K <= 2:
        if not covariances(Z, d, m, a, work.moment, total, work, theta):
            return 0
        least_squares(d, work, theta)
        for j in range(d):
            spectrum.vectors[0, j] = theta[j]
        return 1
    weigh(Z, d, m, a, work.moment, work, theta)
    scatter(Z, d, m, total, work)
    if not varies(work.A, d, total):
        return 0
    g = between(Z, d, m, a, y, work.sums, total, classes)
    add_ridge(work.A, d, RIDGE)
    if not whiten(work.A, g, d, classes):
        return 0
    n = min(right_singular(classes.whitened, g, d, spectrum), g - 1)
    for r in range(n):
        if not spectrum.values[r] > UNCORRELATED:
            return r
        solve_upper(work.A, spectrum.vectors[r], d)
    return n


# Penalised discriminants of two groups of classes: projection pursuit forests.


class PenalisedSampler(NamedTuple):
    """Penalised discriminants on random subsets of predictors.

    `subset_size`: number of predictors in each subset; 0 draws the size anew for every direction.
    `direction_rows`: most rows of a node on which a direction is estimated; or ten per column, if
    more.  `penalty`: λ.  `spectrum`: scratch.
    """

    number: int
    subset_size: int
    direction_rows: int
    penalty: float
    classes: ClassScatter
    spectrum: Spectrum


@dataclass(frozen=True)
class PenalisedDiscriminant(OnSubsets):
    """The direction of the largest penalised discriminant (PDA) index (PPtree, PPforest).

    The index of θ is 1 - θᵀW_λθ / θᵀ(W_λ + B)θ, with B and W the scatters between and within the
    classes and W_λ = (1 - λ)·W + λ·diag(W) (Lee and Cook 2010, as in their R packages).  It is
    largest for the first discriminant direction.  With more than two classes, that direction
    divides them into two groups, at the widest gap between their projected means.  The direction
    is then computed again for the two groups, as in PPtree (Lee, Cook, Park and Lee 2013).  W_λ has
    the same ridge as in `LeastSquares`.

    PPforest (da Silva, Cook and Lee 2021) tries one direction at a node, on a fixed share of the
    predictors, with a threshold given by a rule, and a tree has one leaf for each class.  Here a
    node tries several directions, on random subsets of ``subset_size`` predictors, and single
    predictors beside them (not with ``n_singles=0``); the best of all cuts is chosen, and trees
    grow further.

    Parameters
    ----------
    penalty : float, default 0.1
        λ, from 0 to 1.  With 0 this is linear discriminant analysis; with 1 columns are treated as
        uncorrelated within classes.  0.1 is the authors' default.

    Raises
    ------
    InputError
        If `penalty` is not between 0 and 1.

    Examples
    --------
    >>> import odrf
    >>> data = odrf.load_data("wine")
    >>> forest = odrf.odrf("cultivar ~ .", data, projection="pda", n_trees=20, seed=1)
    >>> forest.oob_error < 0.06
    True
    """

    penalty: Any = 0.1

    name: ClassVar[str] = "pda"
    sampling_in_words: ClassVar[str] = "penalised discriminant of two groups on a random subset"
    source: ClassVar[str] = "da Silva, Cook and Lee (2021)"
    tasks: ClassVar[tuple[str, ...]] = ("classification",)

    def __post_init__(self) -> None:
        from_zero_to_one("penalty", self.penalty)

    def sampler(
        self, number: int, feature_groups: FeatureGroups, settings: KernelParams, n: int
    ) -> PenalisedSampler:
        """Return the sampler of a tree."""
        D = self.widest(feature_groups, settings, n)
        return PenalisedSampler(
            number, settings.subset_size, settings.direction_rows, float(self.penalty),
            class_scatter_for(settings.n_classes, D), spectrum_for(D),
        )  # fmt: skip


@draws(PenalisedSampler)
def _draw_penalised(sampler, state, rows, lo, m, n_rows, first, feature_groups, proposals, work):
    c, last = ZERO, min(first + ROUND, sampler.number)
    q, most = sampler.subset_size, sampler.direction_rows
    for _ in range(first, last):
        terms, used, total, mean = draw_terms(
            state, rows, lo, m, n_rows, q, most, feature_groups, proposals, c, work
        )
        if terms < 0:
            c += not proposals.singly[0]
        elif terms > 0:
            y, K = rows.y[lo : lo + used], len(proposals.chosen)
            if penalised_discriminant(
                terms,
                used,
                y,
                K,
                total,
                mean,
                sampler.penalty,
                sampler.classes,
                sampler.spectrum,
                work,
            ):
                c += write_direction(work, proposals, c)
    return c, last


@kernel
def penalised_discriminant(d, m, y, K, total, mean, penalty, classes, spectrum, work):
    """Write to work.theta the direction of the largest index on the d terms in work.Z.

    With K = 2 classes, between the rows with target t = 1 and those with t = 0; t and its moments
    are in `work`, `mean` is its mean.  With more classes, the target only scores factors of many
    levels.  Returns False if there is no direction.
    """
    Z, a, theta = work.Z, work.weights, work.theta
    if K == 2:
        if not covariances(Z, d, m, a, work.moment, total, work, theta):
            return False
        _store_total(d, work.A, classes)
        weight = mean * total
    else:
        weigh(Z, d, m, a, work.moment, work, theta)
        scatter(Z, d, m, total, work)
        if not varies(work.A, d, total):
            return False
        _store_total(d, work.A, classes)
        g = between(Z, d, m, a, y, work.sums, total, classes)
        if not _divide_classes(g, d, total, penalty, classes, spectrum, work):
            return False
        weight = _pool_classes(g, d, classes, theta)
    root = math.sqrt(total / (weight * (total - weight)))
    for j in range(d):
        classes.roots[0, j] = root * theta[j]
    within(classes.roots, 1, d, penalty, classes, work.A)
    add_within_ridge(work.A, d, total)
    solve(work.A, theta, d)
    return True


@part
def _store_total(d, A, classes):
    """Copy the total scatter T from A, which is overwritten later, to classes.total."""
    for j in range(d):
        for k in range(j + 1):
            classes.total[j, k] = A[j, k]


@part
def _divide_classes(g, d, total, penalty, classes, spectrum, work):
    """Divide g classes into two groups, at the widest gap of their means along the best direction.

    Writes the groups to classes.side; returns False if all means are equal.
    """
    weight, side, position = classes.weight, classes.side, classes.position
    if g == 2:
        side[0], side[1] = False, True
        return True
    within(classes.roots, g, d, penalty, classes, work.A)
    add_within_ridge(work.A, d, total)
    if not whiten(work.A, g, d, classes):
        return False
    right_singular(classes.whitened, g, d, spectrum)
    for k in range(g):
        position[k] = 0.0
        for j in range(d):
            position[k] += classes.whitened[k, j] * spectrum.vectors[0, j]
        position[k] /= math.sqrt(weight[k])
    return _widest_gap(position, g, side)


@part
def _widest_gap(position, g, side):
    """Write to `side` which of g positions are above the widest gap; False if there is no gap."""
    widest, above = 0.0, 0.0
    for k in range(g):
        gap = math.inf
        for i in range(g):
            if position[i] < position[k]:
                gap = min(gap, position[k] - position[i])
        if gap < math.inf and gap > widest:
            widest, above = gap, position[k]
    for k in range(g):
        side[k] = position[k] >= above
    return widest > 0.0


@part
def _pool_classes(g, d, classes, theta):
    """Write Σ w_k·(z̄_k - z̄) over the classes of one group to θ; return Σ w_k."""
    total = 0.0
    for j in range(d):
        theta[j] = 0.0
    for k in range(g):
        if classes.side[k]:
            total += classes.weight[k]
            for j in range(d):
                theta[j] += math.sqrt(classes.weight[k]) * classes.roots[k, j]
    return total
