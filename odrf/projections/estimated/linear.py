"""Directions estimated on random subsets of predictors: logistic, least squares, discriminants."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from odrf.engine.compiling import ZERO, inlined
from odrf.engine.directions.candidates import ROUND, FeatureGroups
from odrf.engine.directions.estimation import covariances, lda, least_squares, logistic
from odrf.engine.directions.samplers import DirectionSampler, draws
from odrf.engine.directions.subsets import (
    FEW_LEVELS,
    aim,
    draw_subset,
    load_terms,
    write_columns,
    write_direction,
)
from odrf.engine.settings import Settings
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
# Fewer rows do not tell a logistic model from its linear limit, least squares.
LOGISTIC_ROWS = 50


class EstimatedSampler(NamedTuple):
    """Directions estimated on subsets.

    Attributes
    ----------
    number : int
    estimator : int
        `LOGISTIC`, `LEAST_SQUARES` or `LDA`.
    subset_size : int
        Predictors in each subset; 0 draws the size anew for every direction.
    direction_rows : int
        A direction is estimated on at most this many rows of a node, or ten per column.
    newton_steps : int
        Of a logistic model.
    class_weight, class_mean : (K,) float64 or None
        As `odrf.engine.directions.estimation.lda` takes them.
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
    """A direction by one of the estimators that share a sampler.

    For more than two classes a random side of them is set apart.
    """

    blended: ClassVar[bool] = True
    code: ClassVar[int]

    def sampler(
        self, number: int, feature_groups: FeatureGroups, settings: Settings, n: int
    ) -> DirectionSampler:
        """Return the sampler of a tree."""
        K = settings.n_classes if self.code == LDA else 0
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
    """The weights of a one-unit logistic model, the choice of Zhan, Liu and Xia.

    For classes a logistic regression; for numbers the ridge function a + b·σ(θᵀx + c), its
    asymptotes held at the extremes of the response.

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
    """Least squares, made stable by a ridge of a thousandth of the mean variance.

    The linear limit of `Logistic`; for two classes Fisher's discriminant.

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
    """Fisher's discriminant of a random side of the classes, scatter pooled within all of them.

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
    """Draw subsets and estimate on each node's first rows, which are in random order.

    A subset of one column is no candidate where all predictors are tried singly.
    """
    columns, theta, order = proposals.columns, proposals.theta, proposals.order
    last = min(first + ROUND, sampler.number)
    c, aimed, total, share, known = ZERO, ZERO, 0.0, 0.0, False
    for _ in range(first, last):
        q = draw_subset(state, n_rows, sampler.subset_size, order)
        width = write_columns(feature_groups, order, q, columns, c)
        proposals.sizes[c], theta[c, 0] = width, 1.0
        if width == 1:
            c += not proposals.singly[0]
            continue
        used = min(m, max(sampler.direction_rows, 10 * width))
        if used != aimed or len(proposals.chosen) > 2:
            aimed = used
            total, share, known = aim(state, rows, lo, used, proposals, work)
        if not known:
            continue
        terms = load_terms(rows, lo, used, feature_groups, order, q, FEW_LEVELS, work)
        if _estimate(sampler, rows, lo, used, total, share, terms, work):
            c += write_direction(width, work, theta, c)
    return c, last


@inlined
def _estimate(sampler, rows, lo, m, total, share, terms, work):
    """Estimate a direction on the terms in work.Z, for the target there; False without one."""
    Z, a, estimated = work.Z, work.weights, work.theta
    estimated[0] = 1.0
    if terms == 1:  # a factor's scores are its direction
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
