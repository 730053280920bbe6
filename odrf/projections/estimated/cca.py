"""Canonical correlations with the classes: canonical correlation forests."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from odrf.checks import checked_truth
from odrf.engine.compiling import NO, ZERO, kernel, part
from odrf.engine.directions.candidates import ROUND, FeatureGroups, count_terms
from odrf.engine.directions.estimation import (
    RIDGE,
    ClassScatter,
    add_ridge,
    between,
    class_scatter_for,
    covariances,
    least_squares,
    moments,
    scatter,
    varies,
    weigh,
    whiten,
)
from odrf.engine.directions.samplers import draws, forget_levels
from odrf.engine.directions.subsets import draw_target, load_terms, sample_sizes, write_direction
from odrf.engine.kernel_params import Settings
from odrf.engine.numeric import (
    Spectrum,
    below,
    right_singular,
    shuffle_front,
    solve_upper,
    spectrum_for,
)
from odrf.projections.estimated.on_subsets import widest_columns
from odrf.projections.family import Family, Table
from odrf.projections.parameters import whole_or_auto

__all__ = ["CanonicalCorrelation", "CanonicalSampler", "canonical_directions"]

# Squared correlations below this are rounding errors.
UNCORRELATED = 1e-9


class CanonicalSampler(NamedTuple):
    """Canonical directions on random subsets of predictors.

    Attributes
    ----------
    number : int
    size : int
        Number of predictors in each subset.
    each : int
        Most directions of a subset.
    direction_rows : int
        Most rows of a node on which directions are estimated; or ten per column, if more.
    bootstrap : bool
        Whether they are estimated on a bootstrap sample of these rows.
    times : (most rows,) int64
        How often each row is drawn.
    classes : ClassScatter
    spectrum : Spectrum
        Scratch.
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
        self, number: int, feature_groups: FeatureGroups, settings: Settings, n: int
    ) -> CanonicalSampler:
        """Return the sampler of a tree."""
        P, K, D = (
            len(feature_groups.types),
            settings.n_classes,
            self.widest(feature_groups, settings, n),
        )
        most = min(n, max(settings.direction_rows, 10 * D))
        return CanonicalSampler(
            number,
            self.subset(P),
            min(self._each(P, K), ROUND),
            settings.direction_rows,
            bool(self.bootstrap) and self.subset(P) < P,
            np.empty(most, dtype=np.int64),
            class_scatter_for(K, D),
            spectrum_for(D),
        )

    def widest(self, feature_groups: FeatureGroups, settings: Settings, n: int) -> int:
        """Return the number of columns of the q widest predictors."""
        return widest_columns(self.subset(len(feature_groups.types)), feature_groups)

    def estimated(self, feature_groups: FeatureGroups, settings: Settings, n: int) -> int:
        """Return the same."""
        return self.widest(feature_groups, settings, n)

    def columns_read(self, feature_groups: FeatureGroups, settings: Settings, n: int) -> float:
        """Return q times the mean number of columns of a predictor."""
        return float(count_terms(feature_groups).mean() * self.subset(len(feature_groups.types)))

    def _each(self, P: int, K: int) -> int:
        """Return the number of directions of a subset."""
        return max(1, min(self.subset(P), K - 1))


@draws(CanonicalSampler)
def _draw(sampler, state, rows, lo, m, n_rows, first, feature_groups, proposals, work):
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
