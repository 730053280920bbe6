"""Canonical correlations with the classes: canonical correlation forests."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from odrf.checks import checked_truth
from odrf.engine.compiling import ZERO, kernel, part
from odrf.engine.directions.candidates import ROUND, FeatureGroups
from odrf.engine.directions.cholesky import solve_upper
from odrf.engine.directions.eigen import Spectrum, right_singular, spectrum
from odrf.engine.directions.estimation import (
    RIDGE,
    add_ridge,
    covariances,
    least_squares,
    moments,
    scatter,
    weigh,
)
from odrf.engine.directions.samplers import draws
from odrf.engine.directions.scatter import Groups, between, groups, varies, whiten
from odrf.engine.directions.subsets import (
    FEW_LEVELS,
    aim,
    load_terms,
    write_columns,
    write_direction,
)
from odrf.engine.randomness import below, shuffle_front
from odrf.engine.settings import Settings
from odrf.projections.estimated.on_subsets import widest_columns
from odrf.projections.family import Family, Table
from odrf.projections.parameters import whole_or_auto

__all__ = ["CanonicalCorrelation", "CanonicalSampler", "canonical_directions"]

# Of a squared correlation: below is rounding.
UNCORRELATED = 1e-9


class CanonicalSampler(NamedTuple):
    """Canonical directions on subsets.

    Attributes
    ----------
    number : int
    size : int
        Predictors in each subset.
    each : int
        Directions of a subset, at most.
    direction_rows : int
        Directions are estimated on at most this many rows of a node, or ten per column.
    bootstrap : bool
        Whether on a bootstrap sample of these.
    times : (most rows,) int64
        How often each row is drawn.
    classes : Groups
    found : Spectrum
        Scratch.
    """

    number: int
    size: int
    each: int
    direction_rows: int
    bootstrap: bool
    times: np.ndarray
    classes: Groups
    found: Spectrum


@dataclass(frozen=True)
class CanonicalCorrelation(Family):
    """Canonical directions between a random subset of predictors and the classes (CCF).

    Rainforth and Wood (2015): the directions θ of greatest correlation with a combination of the
    indicators of the K classes, uncorrelated with one another; of a subset of q predictors there
    are min(q, K - 1), each of them a candidate.  They are the directions of linear discriminant
    analysis.  For two classes, and for numbers, it is the one of least squares.  The columns'
    covariance has the ridge of the other families.

    The paper's forests grow their trees on all rows, ``resample="none"``: the bootstrap at each
    node takes the place of that of each tree.  With it, out-of-bag rows are there as ever.

    Parameters
    ----------
    bootstrap : bool, default True
        Estimate on a bootstrap sample of the node's rows, drawn anew for each subset (projection
        bootstrap); cuts are judged on all.  A subset of all predictors has none, as in the
        authors' program; where the sample lacks one of two classes, or one of two random sides of
        more, all rows are taken.
    size : "auto" or int, default "auto"
        q; the authors' ⌈log₂P + 1⌉ of P predictors, but 2 of 3.

    Raises
    ------
    InputError
        If `bootstrap` is no truth value, or `size` no whole number of at least 1.

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
        """Return min(q, K - 1), one subset's, as in the paper."""
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
            groups(K, D),
            spectrum(D),
        )

    def widest(self, feature_groups: FeatureGroups, settings: Settings, n: int) -> int:
        """Return the columns of the q widest predictors."""
        return widest_columns(self.subset(len(feature_groups.types)), feature_groups)

    def estimated(self, feature_groups: FeatureGroups, settings: Settings, n: int) -> int:
        """Return the same."""
        return self.widest(feature_groups, settings, n)

    def looked_at(self, feature_groups: FeatureGroups, settings: Settings, n: int) -> float:
        """Return q, in columns."""
        P = len(feature_groups.types)
        return feature_groups.first[-1] / P * self.subset(P)

    def _each(self, P: int, K: int) -> int:
        """Return how many directions a subset has."""
        return max(1, min(self.subset(P), K - 1))


@draws(CanonicalSampler)
def _draw(sampler, state, rows, lo, m, n_rows, first, feature_groups, proposals, work):
    """Draw subsets while there is room for all directions of one more.

    One counts as `sampler.each` candidates, however few directions it gives.
    """
    c, following = ZERO, first
    while following < sampler.number and c + sampler.each <= ROUND:
        most = min(sampler.each, sampler.number - following)
        following += sampler.each
        shuffle_front(state, proposals.order, sampler.size)
        width = write_columns(feature_groups, proposals.order, sampler.size, proposals.columns, c)
        used = min(m, max(sampler.direction_rows, 10 * width))
        total, known = _aim(sampler, state, rows, lo, used, proposals, work)
        if not known:
            continue
        terms = load_terms(
            rows, lo, used, feature_groups, proposals.order, sampler.size, FEW_LEVELS, work
        )
        K = len(proposals.chosen)
        y = rows.y[lo : lo + used]
        found = canonical_directions(terms, used, y, K, total, sampler.classes, sampler.found, work)
        for r in range(min(found, most)):
            for j in range(terms):
                work.theta[j] = sampler.found.vectors[r, j]
            write_columns(feature_groups, proposals.order, sampler.size, proposals.columns, c)
            proposals.sizes[c] = width
            c += write_direction(width, work, proposals.theta, c)
    return c, min(following, sampler.number)


@part
def _aim(sampler, state, rows, lo, m, proposals, work):
    """Draw a target for the m rows from `lo` on, and a bootstrap sample of them, as weights.

    Returns the sum of the weights and whether the target varies.  The target is what factors of
    many levels are scored by.
    """
    total, _, known = aim(state, rows, lo, m, proposals, work)
    if not (known and sampler.bootstrap):
        return total, known
    for i in range(m):
        sampler.times[i] = 0
    for _ in range(m):
        sampler.times[below(state, m)] += 1
    if not _varies(sampler.times, work.target, work.weights, m):
        return total, known
    for i in range(m):
        work.weights[i] *= sampler.times[i]
    total, _ = moments(work.target, work.weights, m, work.moment)
    return total, known


@part
def _varies(times, target, a, m):
    """Whether rows that are drawn, and weigh something, differ in their target."""
    low, high = np.inf, -np.inf
    for i in range(m):
        if times[i] > 0 and a[i] > 0.0:
            low, high = min(low, target[i]), max(high, target[i])
    return low < high


@kernel
def canonical_directions(d, m, y, K, total, classes, found, work):
    """Write the canonical directions of the d terms in work.Z to the vectors of `found`.

    For the target in `work`, with its moments, where the response is a number or there are K = 2
    classes; for more classes with their indicators.  Returns how many there are, the most
    correlated first.
    """
    Z, a, theta = work.Z, work.weights, work.theta
    if K <= 2:
        if not covariances(Z, d, m, a, work.moment, total, work, theta):
            return 0
        least_squares(d, work, theta)
        for j in range(d):
            found.vectors[0, j] = theta[j]
        return 1
    weigh(Z, d, m, a, work.moment, work, theta)
    scatter(Z, d, m, total, work)
    if not varies(work.A, d, total):
        return 0
    g = between(Z, d, m, a, y, work.sums, total, classes)
    add_ridge(work.A, d, RIDGE)
    if not whiten(work.A, g, d, classes):
        return 0
    n = min(right_singular(classes.whitened, g, d, found), g - 1)
    for r in range(n):
        if not found.values[r] > UNCORRELATED:
            return r
        solve_upper(work.A, found.vectors[r], d)
    return n
