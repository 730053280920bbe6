"""Directions estimated on random subsets of predictors: logistic, least squares, discriminant."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from odrf.engine.compiling import NO, ZERO, inlined
from odrf.engine.directions.candidates import ROUND, FeatureGroups
from odrf.engine.directions.estimation import covariances, lda, least_squares, logistic
from odrf.engine.directions.samplers import DirectionSampler, draws
from odrf.engine.directions.subsets import (
    count_columns,
    draw_subset,
    draw_target,
    load_terms,
    sample_sizes,
    write_direction,
    write_single,
)
from odrf.engine.kernel_params import Settings
from odrf.projections.estimated.on_subsets import OnSubsets

__all__ = [
    "LDA",
    "LEAST_SQUARES",
    "LOGISTIC",
    "Discriminant",
    "Estimated",
    "EstimatedSampler",
    "LeastSquares",
    "Logistic",
    "draw_estimated",
]

LOGISTIC, LEAST_SQUARES, LDA = 0, 1, 2
# With fewer rows a logistic model hardly differs from its linear limit, least squares.
LOGISTIC_ROWS = 50


class EstimatedSampler(NamedTuple):
    """Directions estimated on random subsets of predictors.

    Attributes
    ----------
    number : int
    estimator : int
        `LOGISTIC`, `LEAST_SQUARES` or `LDA`.
    subset_size : int
        Number of predictors in each subset; 0 draws the size anew for every direction.
    direction_rows : int
        Most rows of a node on which a direction is estimated; or ten per column, if more.
    newton_steps : int
        Newton steps of a logistic model.
    class_weight, class_mean : (K,) float64 or None
        Scratch of `odrf.engine.directions.estimation.lda`; None for the other estimators of
        numbers and two classes.
    """

    number: int
    estimator: int
    subset_size: int
    direction_rows: int
    newton_steps: int
    class_weight: np.ndarray | None
    class_mean: np.ndarray | None


@dataclass(frozen=True)
class Estimated(OnSubsets):
    """Base class of the estimators that share one sampler.

    For more than two classes the target is the indicator of a random subset of them.
    """

    blended: ClassVar[bool] = True
    code: ClassVar[int]

    def sampler(
        self, number: int, feature_groups: FeatureGroups, settings: Settings, n: int
    ) -> DirectionSampler:
        """Return the sampler of a tree."""
        # one compiled kernel does for all estimators of three classes and more
        K = settings.n_classes if self.code == LDA or settings.n_classes > 2 else 0
        return EstimatedSampler(
            number,
            self.code,
            settings.subset_size,
            settings.direction_rows,
            settings.newton_steps,
            np.empty(K) if K else None,
            np.empty(K) if K else None,
        )


@dataclass(frozen=True)
class Logistic(Estimated):
    """The coefficients of a logistic regression, the choice of Zhan, Liu and Xia.

    With more than two classes, a random subset of them is separated from the others.  A numeric
    response is mapped to [0, 1] first: this fits a ridge function a + b·σ(θᵀx + c) whose asymptotes
    are the extremes of the response.  It takes 8 Newton steps in a single tree and 2 in a
    forest, which begin at θ = 0.  Nodes of fewer than 50 rows use the direction of `LeastSquares`.

    Examples
    --------
    >>> import odrf
    >>> odrf.projections.Logistic().name
    'logistic'
    """

    name: ClassVar[str] = "logistic"
    sampling_in_words: ClassVar[str] = "logistic weights on a random subset"
    source: ClassVar[str] = "Zhan, Liu and Xia"
    code: ClassVar[int] = LOGISTIC


@dataclass(frozen=True)
class LeastSquares(Estimated):
    """The coefficients of a least squares regression with a small ridge.

    The ridge is 0.001 times the mean variance of the columns, so that collinear columns do no harm.
    It is the linear limit of `Logistic`, and for two classes Fisher's discriminant.

    Examples
    --------
    >>> import odrf
    >>> odrf.projections.LeastSquares().name
    'least_squares'
    """

    name: ClassVar[str] = "least_squares"
    sampling_in_words: ClassVar[str] = "least squares on a random subset"
    source: ClassVar[str] = "Zhan, Liu and Xia"
    code: ClassVar[int] = LEAST_SQUARES


@dataclass(frozen=True)
class Discriminant(Estimated):
    """Fisher's discriminant between a random subset of the classes and the others.

    The scatter is pooled within all classes.

    Examples
    --------
    >>> import odrf
    >>> odrf.projections.Discriminant().name
    'lda'
    """

    name: ClassVar[str] = "lda"
    sampling_in_words: ClassVar[str] = "Fisher's discriminant on a random subset"
    source: ClassVar[str] = "Menze et al. (2011)"
    tasks: ClassVar[tuple[str, ...]] = ("classification",)
    code: ClassVar[int] = LDA


@draws(EstimatedSampler)
def draw_estimated(sampler, state, rows, lo, m, n_rows, first, feature_groups, proposals, work):
    """Draw subsets and estimate directions on the first rows of a node, which are in random order.

    A subset of one column is left out if all predictors are tried singly anyway.
    """
    order, few, most = proposals.order, proposals.indicator_levels, sampler.direction_rows
    last = min(first + ROUND, sampler.number)
    c, target_rows, total, share, varies = ZERO, ZERO, 0.0, 0.0, False
    for _ in range(first, last):
        q = draw_subset(state, n_rows, sampler.subset_size, order)
        if count_columns(feature_groups, order, q) == 1:
            write_single(feature_groups.first[order[0]], proposals, c)
            c += not proposals.singly[0]
            continue
        used, scored = sample_sizes(feature_groups, order, q, m, most, few)
        if scored != target_rows or len(proposals.chosen) > 2:
            target_rows = scored
            total, share, varies = draw_target(state, rows, lo, scored, proposals, work)
        if not varies:
            continue
        terms, of_used, mean = load_terms(
            rows, lo, used, scored, feature_groups, order, q, few, NO, total, share, work
        )
        if used < scored:  # the moments are now those of the rows used
            target_rows = ZERO
        if _estimate(sampler, rows, lo, used, of_used, mean, terms, work):
            c += write_direction(work, proposals, c)
    return c, last


@inlined
def _estimate(sampler, rows, lo, m, total, share, terms, work):
    """Estimate a direction on the terms in work.Z for the target in `work`; False if none."""
    Z, a, estimated = work.Z, work.weights, work.theta
    estimated[0] = 1.0
    if terms == 1:  # the scores of a factor are its direction
        return True
    if not covariances(Z, terms, m, a, work.moment, total, work, estimated):
        return False
    if sampler.estimator == LDA:
        y, weight, mean = rows.y[lo : lo + m], sampler.class_weight, sampler.class_mean
        lda(Z, terms, m, a, y, total, share, weight, mean, work, estimated)
    elif sampler.estimator == LOGISTIC and m >= LOGISTIC_ROWS and sampler.newton_steps > 1:
        steps = sampler.newton_steps
        logistic(Z, terms, m, work.target, a, total, share, steps, work, estimated)
    else:
        least_squares(terms, work, estimated)
    return True
