"""Penalised discriminants of classes, then of two groups of them: projection pursuit forests."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from odrf.engine.compiling import ZERO, kernel, part
from odrf.engine.directions.candidates import ROUND, FeatureGroups
from odrf.engine.directions.eigen import Spectrum, right_singular, spectrum
from odrf.engine.directions.estimation import covariances, hold, scatter, solve, weigh
from odrf.engine.directions.samplers import draws
from odrf.engine.directions.scatter import Groups, between, groups, varies, whiten, within
from odrf.engine.directions.subsets import draw_terms, write_direction
from odrf.engine.settings import Settings
from odrf.projections.estimated.on_subsets import OnSubsets
from odrf.projections.parameters import from_zero_to_one

__all__ = ["PenalisedDiscriminant", "PenalisedSampler", "penalised_discriminant"]


class PenalisedSampler(NamedTuple):
    """Penalised discriminants on subsets.

    Attributes
    ----------
    number : int
    subset_size : int
        Predictors in each subset; 0 draws the size anew for every direction.
    direction_rows : int
        A direction is estimated on at most this many rows of a node, or ten per column.
    penalty : float
        λ.
    classes : Groups
    found : Spectrum
        Scratch.
    """

    number: int
    subset_size: int
    direction_rows: int
    penalty: float
    classes: Groups
    found: Spectrum


@dataclass(frozen=True)
class PenalisedDiscriminant(OnSubsets):
    """The direction of the largest index of penalised discriminant analysis (PPtree, PPforest).

    The index of θ is 1 - θᵀW_λθ / θᵀ(W_λ + B)θ, with B and W the scatters between and within the
    classes and W_λ = (1 - λ)·W + λ·diag(W) (Lee and Cook 2010, as their R packages have it).  It
    is largest for the first discriminant direction.  Of more than two classes that direction
    tells two groups, parted at the widest gap between the classes' projected means; the direction
    is then found anew for these two, as in PPtree (Lee, Cook, Park and Lee 2013).  W_λ has the
    ridge of the other families.

    PPforest (da Silva, Cook and Lee 2021) tries one direction at a node, on a fixed share of the
    predictors, cuts it by a rule and ends with one leaf for each class.  Here there are several,
    on subsets as ``subset_size`` says, single predictors beside them (``n_singles=0`` leaves these
    out), the best of all cuts, and trees that grow on.

    Parameters
    ----------
    penalty : float, default 0.1
        λ, between 0, where this is linear discriminant analysis, and 1, where columns count as
        uncorrelated within classes; 0.1 is the authors' default.

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
        self, number: int, feature_groups: FeatureGroups, settings: Settings, n: int
    ) -> PenalisedSampler:
        """Return the sampler of a tree."""
        D = self.widest(feature_groups, settings, n)
        return PenalisedSampler(
            number,
            settings.subset_size,
            settings.direction_rows,
            float(self.penalty),
            groups(settings.n_classes, D),
            spectrum(D),
        )


@draws(PenalisedSampler)
def _draw(sampler, state, rows, lo, m, n_rows, first, feature_groups, proposals, work):
    c, last = ZERO, min(first + ROUND, sampler.number)
    q, most = sampler.subset_size, sampler.direction_rows
    for _ in range(first, last):
        terms, used, total, mean = draw_terms(
            state, rows, lo, m, n_rows, q, most, feature_groups, proposals, c, work
        )
        width = proposals.sizes[c]
        if width == 1:
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
                sampler.found,
                work,
            ):
                c += write_direction(width, work, proposals.theta, c)
    return c, last


@kernel
def penalised_discriminant(d, m, y, K, total, mean, penalty, classes, found, work):
    """Write to work.theta the direction of the largest index on the d terms in work.Z.

    For K = 2 classes between the rows with t = 1 and those with t = 0, t as `work` has it with its
    moments, and `mean` its mean.  For more, these only score factors of many levels.  False
    without a direction.
    """
    Z, a, theta = work.Z, work.weights, work.theta
    if K == 2:
        if not covariances(Z, d, m, a, work.moment, total, work, theta):
            return False
        _keep(d, work.A, classes)
        weight = mean * total
    else:
        weigh(Z, d, m, a, work.moment, work, theta)
        scatter(Z, d, m, total, work)
        if not varies(work.A, d, total):
            return False
        _keep(d, work.A, classes)
        g = between(Z, d, m, a, y, work.sums, total, classes)
        if not _part(g, d, total, penalty, classes, found, work):
            return False
        weight = _pool(g, d, classes, theta)
    root = math.sqrt(total / (weight * (total - weight)))
    for j in range(d):
        classes.roots[0, j] = root * theta[j]
    within(classes.roots, 1, d, penalty, classes, work.A)
    hold(work.A, d, total)
    solve(work.A, theta, d)
    return True


@part
def _keep(d, A, classes):
    """Keep T, which work.A holds, where it is not overwritten."""
    for j in range(d):
        for k in range(j + 1):
            classes.total[j, k] = A[j, k]


@part
def _part(g, d, total, penalty, classes, found, work):
    """Part g classes in two at the widest gap between their means along the best direction.

    Writes their sides; False where their means are one.
    """
    weight, side, position = classes.weight, classes.side, classes.position
    if g == 2:
        side[0], side[1] = False, True
        return True
    within(classes.roots, g, d, penalty, classes, work.A)
    hold(work.A, d, total)
    if not whiten(work.A, g, d, classes):
        return False
    right_singular(classes.whitened, g, d, found)
    for k in range(g):
        position[k] = 0.0
        for j in range(d):
            position[k] += classes.whitened[k, j] * found.vectors[0, j]
        position[k] /= math.sqrt(weight[k])
    return _widest_gap(position, g, side)


@part
def _widest_gap(position, g, side):
    """Write to `side` which of g positions are above the widest gap between two neighbours."""
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
def _pool(g, d, classes, theta):
    """Write Σ w_k·(z̄_k - z̄) over the classes of one side to θ; return Σ w_k."""
    total = 0.0
    for j in range(d):
        theta[j] = 0.0
    for k in range(g):
        if classes.side[k]:
            total += classes.weight[k]
            for j in range(d):
                theta[j] += math.sqrt(classes.weight[k]) * classes.roots[k, j]
    return total
