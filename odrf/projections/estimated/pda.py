"""Penalised discriminants of two groups of classes: projection pursuit forests."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from odrf.engine.compiling import ZERO, kernel, part
from odrf.engine.directions.candidates import ROUND, FeatureGroups
from odrf.engine.directions.estimation import (
    ClassScatter,
    add_within_ridge,
    between,
    class_scatter_for,
    covariances,
    scatter,
    solve,
    varies,
    weigh,
    whiten,
    within,
)
from odrf.engine.directions.samplers import draws
from odrf.engine.directions.subsets import draw_terms, write_direction
from odrf.engine.kernel_params import Settings
from odrf.engine.numeric import Spectrum, right_singular, spectrum_for
from odrf.projections.estimated.on_subsets import OnSubsets
from odrf.projections.parameters import from_zero_to_one

__all__ = ["PenalisedDiscriminant", "PenalisedSampler", "penalised_discriminant"]


class PenalisedSampler(NamedTuple):
    """Penalised discriminants on random subsets of predictors.

    Attributes
    ----------
    number : int
    subset_size : int
        Number of predictors in each subset; 0 draws the size anew for every direction.
    direction_rows : int
        Most rows of a node on which a direction is estimated; or ten per column, if more.
    penalty : float
        λ.
    classes : ClassScatter
    spectrum : Spectrum
        Scratch.
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
        self, number: int, feature_groups: FeatureGroups, settings: Settings, n: int
    ) -> PenalisedSampler:
        """Return the sampler of a tree."""
        D = self.widest(feature_groups, settings, n)
        return PenalisedSampler(
            number,
            settings.subset_size,
            settings.direction_rows,
            float(self.penalty),
            class_scatter_for(settings.n_classes, D),
            spectrum_for(D),
        )


@draws(PenalisedSampler)
def _draw(sampler, state, rows, lo, m, n_rows, first, feature_groups, proposals, work):
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
