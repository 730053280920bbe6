"""Ridge regression on random subsets, its penalty chosen at the node: oblique forests of Menze."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from odrf.engine.compiling import ZERO, kernel
from odrf.engine.directions.candidates import ROUND, FeatureGroups
from odrf.engine.directions.estimation import add_ridge, covariances, solve
from odrf.engine.directions.samplers import draws
from odrf.engine.directions.subsets import draw_terms, write_direction
from odrf.engine.kernel_params import Settings
from odrf.engine.numeric import factorise, solve_lower, solve_upper, trace_of_inverse
from odrf.projections.estimated.on_subsets import OnSubsets
from odrf.projections.parameters import positive_or_auto

__all__ = ["PENALTIES", "Ridge", "RidgeSampler", "cross_validated_ridge"]

# From a ridge that only makes the system solvable to one with which θ is nearly proportional to
# the covariances of the single columns with the response.
PENALTIES = (1e-4, 1e-3, 1e-2, 1e-1, 1.0, 10.0)


class RidgeSampler(NamedTuple):
    """Ridge regressions on random subsets of predictors.

    Attributes
    ----------
    number : int
    subset_size : int
        Number of predictors in each subset; 0 draws the size anew for every direction.
    direction_rows : int
        Most rows of a node on which a direction is estimated; or ten per column, if more.
    penalty : float
        k, in units of the mean variance of the columns; 0 chooses one of `PENALTIES` for each
        direction.
    factor : (D, D) float64
    trial, chosen : (D,) float64
        Scratch.
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
        self, number: int, feature_groups: FeatureGroups, settings: Settings, n: int
    ) -> RidgeSampler:
        """Return the sampler of a tree."""
        D = self.widest(feature_groups, settings, n)
        return RidgeSampler(
            number,
            settings.subset_size,
            settings.direction_rows,
            0.0 if self.penalty == "auto" else float(self.penalty),
            np.empty((D, D)),
            np.empty(D),
            np.empty(D),
        )


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
    for share in PENALTIES:
        k = share * unit
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
            best, least = share, criterion
            for j in range(d):
                chosen[j] = trial[j]
    for j in range(d):
        theta[j] = chosen[j]
    return best


@draws(RidgeSampler)
def _draw(sampler, state, rows, lo, m, n_rows, first, feature_groups, proposals, work):
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
