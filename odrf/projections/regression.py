"""Directions by regression on random subsets: logistic, least squares, ridge, pursuit."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from odrf.checks import checked_whole
from odrf.engine.compiling import NO, YES, ZERO, inlined, kernel
from odrf.engine.directions.candidates import (
    ROUND,
    FeatureGroups,
    count_terms,
    most_coefficients,
)
from odrf.engine.directions.estimation import (
    Pursuit,
    add_ridge,
    covariances,
    lda,
    least_squares,
    logistic,
    pursue,
    pursuit_for,
    solve,
)
from odrf.engine.directions.factors import MIXED_ROWS, append_effects, estimate_effects
from odrf.engine.directions.samplers import DirectionSampler, draws
from odrf.engine.directions.subsets import (
    count_columns,
    draw_subset,
    draw_target,
    draw_terms,
    largest_subset,
    load_terms,
    sample_sizes,
    write_direction,
    write_single,
)
from odrf.engine.kernel_params import KernelParams
from odrf.engine.numeric import factorise, solve_lower, solve_upper, trace_of_inverse
from odrf.projections.base import Family, positive_or_auto, share


@dataclass(frozen=True)
class OnSubsets(Family):
    """Directions estimated on random subsets of q predictors, one subset for each direction.

    Zhan, Liu and Xia, section 5; q is ``subset_size``, fixed or drawn anew for each direction.  In
    a direction of several predictors, a factor of more than six levels enters as one column, its
    levels scored by their mean target, shrunk towards that of the node; a factor of two levels
    enters by its indicators.  A factor of three to six levels enters by its indicators if the
    response is a number, and the gain of a split is reduced by what chance adds to the fit of their
    coefficients; for classes, where this would take much longer, it enters by scores.  In
    `Logistic`, `LeastSquares` and `Discriminant` factors that would enter by scores are random
    effects instead: a linear regression on numbers and levels shrinks the effect of each level by
    how reliable it is, and what they add by chance is subtracted from the gain of a split.

    A direction is estimated on random rows of the node: 1000 in a single tree and 200 in a forest,
    or 10 for each column if these are more, or all rows if there are fewer.  Its cuts are evaluated
    on all rows.
    """

    beside_singles: ClassVar[bool] = True
    on_subsets: ClassVar[bool] = True
    is_estimated: ClassVar[bool] = True

    def widest(self, feature_groups: FeatureGroups, settings: KernelParams, n: int) -> int:
        """Return the number of columns of the largest subset, of the widest predictors."""
        q = largest_subset(settings.subset_size, len(feature_groups.types), n)
        return most_coefficients(feature_groups, q)

    def columns_read(self, feature_groups: FeatureGroups, settings: KernelParams, n: int) -> float:
        """Return half the size of the largest subset, in columns."""
        P = len(feature_groups.types)
        columns = count_terms(feature_groups).mean()
        return float(columns * largest_subset(settings.subset_size, P, n) / 2)

    def single_columns(self, number: int, p: int, subset_size: str | int) -> bool:
        """Return whether subsets can have one predictor: if their size is random or 1."""
        return subset_size in ("random", 1)


# Directions estimated on random subsets of predictors: logistic, least squares, discriminant.

LOGISTIC, LEAST_SQUARES, LDA = 0, 1, 2
# With fewer rows a logistic model hardly differs from its linear limit, least squares.
LOGISTIC_ROWS = 50


class EstimatedSampler(NamedTuple):
    """Directions estimated on random subsets of predictors.

    `estimator`: `LOGISTIC`, `LEAST_SQUARES` or `LDA`.  `subset_size`: number of predictors in each
    subset; 0 draws the size anew for every direction.  `direction_rows`: most rows of a node on
    which a direction is estimated; or ten per column, if more.  `newton_steps`: Newton steps of a
    logistic model.  `class_weight`, `class_mean` (K,): scratch of
    `odrf.engine.directions.estimation.lda`; None for the other estimators of numbers and two
    classes.
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
        self, number: int, feature_groups: FeatureGroups, settings: KernelParams, n: int
    ) -> DirectionSampler:
        """Return the sampler of a tree."""
        # one compiled kernel does for all estimators of three classes and more
        K = settings.n_classes if self.code == LDA or settings.n_classes > 2 else 0
        return EstimatedSampler(
            number, self.code, settings.subset_size, settings.direction_rows, settings.newton_steps,
            np.empty(K) if K else None, np.empty(K) if K else None,
        )  # fmt: skip


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
        used = min(scored, max(used, MIXED_ROWS))
        if used != target_rows or len(proposals.chosen) > 2:
            target_rows = used
            total, share, varies = draw_target(state, rows, lo, used, proposals, work)
        if not varies:
            continue
        terms, _, _ = load_terms(
            rows, lo, used, used, feature_groups, order, q, few, NO, total, share, work, YES
        )
        reliability = estimate_effects(terms, used, total, work, work.levels)
        if reliability >= 0.0:
            append_effects(terms, work, work.levels)
            if write_direction(work, proposals, c):
                proposals.reliability[c] = reliability
                c += 1
        elif terms > 0 and _estimate_linear(sampler, rows, lo, used, total, share, terms, work):
            c += write_direction(work, proposals, c)
    return c, last


@inlined
def _estimate_linear(sampler, rows, lo, m, total, share, terms, work):
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


# Ridge regression on random subsets, its penalty chosen at the node: oblique forests of Menze.

# From a ridge that only makes the system solvable to one with which θ is nearly proportional to
# the covariances of the single columns with the response.
PENALTIES = (1e-4, 1e-3, 1e-2, 1e-1, 1.0, 10.0)


class RidgeSampler(NamedTuple):
    """Ridge regressions on random subsets of predictors.

    `factor` (D, D).  `subset_size`: number of predictors in each subset; 0 draws the size anew for
    every direction.  `direction_rows`: most rows of a node on which a direction is estimated; or
    ten per column, if more.  `penalty`: k, in units of the mean variance of the columns; 0 chooses
    one of `PENALTIES` for each direction.  `trial`, `chosen` (D,): scratch.
    """

    number: int
    subset_size: int
    direction_rows: int
    penalty: float
    factor: np.ndarray
    trial: np.ndarray
    chosen: np.ndarray


@dataclass(frozen=True)
class Ridge(OnSubsets):
    """Ridge regression of the response, as in Menze et al. (2011).

    θ minimises Σ a·(t - c - θᵀz)² + k·s·‖θ‖² on a random subset of ``subset_size`` predictors, with
    case weights a; s is the mean of the sums of squares Σ a·(z_j - z̄_j)² of the columns.  The
    target t is the response, the indicator of one of two classes, or of a random subset of more.
    With k = 0 and two classes θ is Fisher's discriminant; with large k it is proportional to the
    covariances of t with the single columns.  The penalty reduces the variance of θ and adds bias.

    Parameters
    ----------
    penalty : "auto" or float, default "auto"
        k, in units of the mean variance of the columns.  ``"auto"`` chooses it for each direction
        among the powers of ten from 10⁻⁴ to 10, by generalised cross-validation: it minimises
        RSS / (1 - f/m)², with f effective parameters on m rows (Golub, Heath and Wahba 1979).

    Raises
    ------
    InputError
        If `penalty` is not ``"auto"`` or a number above 0.

    Examples
    --------
    >>> import odrf
    >>> data = odrf.load_data("wine")
    >>> forest = odrf.odrf("cultivar ~ .", data, projection="ridge", n_trees=20, seed=1)
    >>> forest.oob_error < 0.06
    True
    """

    penalty: Any = "auto"

    name: ClassVar[str] = "ridge"
    sampling_in_words: ClassVar[str] = "ridge regression on a random subset"
    source: ClassVar[str] = "Menze et al. (2011)"

    def __post_init__(self) -> None:
        positive_or_auto("penalty", self.penalty)

    def sampler(
        self, number: int, feature_groups: FeatureGroups, settings: KernelParams, n: int
    ) -> RidgeSampler:
        """Return the sampler of a tree."""
        D = self.widest(feature_groups, settings, n)
        return RidgeSampler(
            number, settings.subset_size, settings.direction_rows,
            0.0 if self.penalty == "auto" else float(self.penalty), np.empty((D, D)), np.empty(D),
            np.empty(D),
        )  # fmt: skip


@kernel
def cross_validated_ridge(d, m, total_squares, L, trial, chosen, work, theta):
    """Ridge regression on d columns and m rows by the best of `PENALTIES`, which is returned.

    work.A = A and θ = c as written by `odrf.engine.directions.estimation.covariances`;
    `total_squares` is Σ a·(t - t̄)²; L (≥ d, ≥ d), trial and chosen (≥ d,) are scratch.  With
    θ = (A + kI)⁻¹c, RSS = Σ a·(t - t̄)² - θᵀc - k·θᵀθ and f = 1 + d - k·tr (A + kI)⁻¹.  For so few
    columns, a Cholesky factor for each k is faster than the eigenvectors of A, which would serve
    all k.  Every row counts once in m, whatever its weight, as a row drawn twice has no more
    information than once.  If no penalty has fewer effective parameters than rows, the largest
    penalty is chosen.
    """
    best, least = PENALTIES[-1], np.inf
    unit = 0.0
    for j in range(d):
        unit += work.A[j, j] / d
    for penalty in PENALTIES:
        k = penalty * unit
        for j in range(d):
            trial[j] = theta[j]
            for i in range(j):
                L[j, i] = work.A[j, i]
            L[j, j] = work.A[j, j] + k
        factorise(L, d)
        solve_lower(L, trial, d)
        solve_upper(L, trial, d)
        residual_squares = total_squares
        parameters = 1.0 + d - k * trace_of_inverse(L, d, work.step)
        for j in range(d):
            residual_squares -= trial[j] * (theta[j] + k * trial[j])
        criterion = np.inf
        if parameters < m:
            criterion = max(residual_squares, 0.0) / (1.0 - parameters / m) ** 2
        if criterion < least or least == np.inf:
            best, least = penalty, criterion
            for j in range(d):
                chosen[j] = trial[j]
    for j in range(d):
        theta[j] = chosen[j]
    return best


@draws(RidgeSampler)
def _draw_ridge(sampler, state, rows, lo, m, n_rows, first, feature_groups, proposals, work):
    c, last = ZERO, min(first + ROUND, sampler.number)
    q, most = sampler.subset_size, sampler.direction_rows
    for _ in range(first, last):
        terms, used, total, _ = draw_terms(
            state, rows, lo, m, n_rows, q, most, feature_groups, proposals, c, work
        )
        if terms < 0:
            c += not proposals.singly[0]
        elif terms > 0 and _regress(sampler, terms, used, total, work):
            c += write_direction(work, proposals, c)
    return c, last


@kernel
def _regress(sampler, d, m, total, work):
    """Write to work.theta the regression of the target in `work` on the terms in work.Z."""
    theta = work.theta
    if not covariances(work.Z, d, m, work.weights, work.moment, total, work, theta):
        return False
    if sampler.penalty > 0.0:
        add_ridge(work.A, d, sampler.penalty)
        solve(work.A, theta, d)
        return True
    total_squares = 0.0
    for i in range(m):
        total_squares += work.moment[i] * work.target[i]
    cross_validated_ridge(
        d, m, total_squares, sampler.factor, sampler.trial, sampler.chosen, work, theta
    )
    return True


# Directions of projection pursuit: those along which a smooth function fits best.

# With fewer rows a smooth function hardly differs from a line.
SMOOTH_ROWS = 50


class ProjectionPursuitSampler(NamedTuple):
    """Directions of projection pursuit.

    `number`, `subset_size`, `direction_rows`: as in `EstimatedSampler`.  `steps`: most Gauss-Newton
    steps.  `span`: share of the rows to which a running line is fitted.
    """

    number: int
    subset_size: int
    direction_rows: int
    steps: int
    span: float
    scratch: Pursuit


@dataclass(frozen=True)
class ProjectionPursuit(OnSubsets):
    """One term of projection pursuit regression: the θ for which a smooth g(θᵀx) fits best.

    Starting from the least squares direction, Gauss-Newton steps lower the squared error of a
    smooth function g (Friedman and Stuetzle 1981).  The smoother is running lines.  So g need not
    be monotone, unlike the function of `odrf.projections.Logistic`.  For classes the response is
    the indicator of one of two classes, or of a random subset of more.  Nodes of fewer than 50 rows
    use the least squares direction.

    Parameters
    ----------
    steps : int, default 3
        Most Gauss-Newton steps; a step that does not lower the error is not taken and ends the
        search.
    span : float, default 0.5
        Share of the rows to which each running line is fitted.

    Raises
    ------
    InputError
        If `steps` is not a whole number of at least 1, or `span` is not above 0 and at most 1.

    Examples
    --------
    >>> import odrf
    >>> data = odrf.load_data("diabetes")
    >>> smooth = odrf.projections.ProjectionPursuit(span=0.7)
    >>> forest = odrf.odrf("progression ~ .", data, projection=smooth, n_trees=50, seed=1)
    >>> forest.oob_error < 3600
    True
    """

    steps: int = 3
    span: float = 0.5

    name: ClassVar[str] = "ppr"
    sampling_in_words: ClassVar[str] = "projection pursuit with running lines on a random subset"
    source: ClassVar[str] = "Friedman and Stuetzle (1981)"
    blended: ClassVar[bool] = True

    def __post_init__(self) -> None:
        checked_whole("steps", self.steps, 1)
        share("span", self.span)

    def sampler(
        self, number: int, feature_groups: FeatureGroups, settings: KernelParams, n: int
    ) -> ProjectionPursuitSampler:
        """Return the sampler of a tree."""
        widest = self.widest(feature_groups, settings, n)
        most_rows = min(n, max(settings.direction_rows, 10 * widest))
        return ProjectionPursuitSampler(
            number, settings.subset_size, settings.direction_rows, self.steps, float(self.span),
            pursuit_for(widest, most_rows),
        )  # fmt: skip


@draws(ProjectionPursuitSampler)
def _draw_pursuit(sampler, state, rows, lo, m, n_rows, first, feature_groups, proposals, work):
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
        terms, of_used, _ = load_terms(
            rows, lo, used, scored, feature_groups, order, q, few, NO, total, share, work
        )
        if used < scored:  # the moments are now those of the rows used
            target_rows = ZERO
        if _estimate_pursuit(sampler, used, of_used, terms, work):
            c += write_direction(work, proposals, c)
    return c, last


@inlined
def _estimate_pursuit(sampler, m, total, terms, work):
    """Estimate a direction on the terms in work.Z for the target in `work`; False if none."""
    Z, a, estimated = work.Z, work.weights, work.theta
    estimated[0] = 1.0
    if terms == 1:  # the scores of a factor are its direction
        return True
    if not covariances(Z, terms, m, a, work.moment, total, work, estimated):
        return False
    least_squares(terms, work, estimated)
    if m >= SMOOTH_ROWS:
        half = max(1, math.ceil(sampler.span * m / 2.0))
        t, scratch = work.target, sampler.scratch
        pursue(Z, terms, m, t, a, total, sampler.steps, half, work, scratch, estimated)
    return True
