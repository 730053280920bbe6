"""Ridge regression on random subsets, its penalty chosen at the node: Menze's oblique forests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from odrf.engine.compiling import ZERO, kernel
from odrf.engine.directions.candidates import ROUND, FeatureGroups
from odrf.engine.directions.cholesky import factorise, solve_lower, solve_upper, trace_of_inverse
from odrf.engine.directions.estimation import add_ridge, covariances, solve
from odrf.engine.directions.samplers import draws
from odrf.engine.directions.subsets import draw_terms, write_direction
from odrf.engine.settings import Settings
from odrf.projections.estimated.on_subsets import OnSubsets
from odrf.projections.parameters import positive_or_auto

__all__ = ["PENALTIES", "Ridge", "RidgeSampler", "cross_validated_ridge"]

# From the ridge that only makes a system solvable to one that leaves of the joint fit little but
# the covariances of the single columns.
PENALTIES = (1e-4, 1e-3, 1e-2, 1e-1, 1.0, 10.0)


class RidgeSampler(NamedTuple):
    """Ridge regressions on subsets.

    Attributes
    ----------
    number : int
    subset_size : int
        Predictors in each subset; 0 draws the size anew for every direction.
    direction_rows : int
        A direction is estimated on at most this many rows of a node, or ten per column.
    penalty : float
        In units of the mean variance; 0 chooses one of `PENALTIES` for each direction.
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

    θ minimises Σ a·(t - c - θᵀz)² + k·s·‖θ‖² on a random subset of q predictors, q as
    ``subset_size`` says; s is the mean of the columns' scatters Σ a·(z_j - z̄_j)².  For two
    classes t marks one of them; for more it marks a random side of them.  Between k = 0, for two
    classes Fisher's discriminant, and large k, where θ is as the covariances of t with the single
    columns, the penalty trades the variance of θ for bias.

    Parameters
    ----------
    penalty : "auto" or float, default "auto"
        k, in units of the mean variance of the columns.  ``"auto"`` takes the power of ten between
        10⁻⁴ and 10 of the smallest generalised cross-validation, RSS / (1 - f/m)² with f effective
        parameters on m rows (Golub, Heath and Wahba 1979), for each direction anew.

    Raises
    ------
    InputError
        If `penalty` is no number above 0.

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
def cross_validated_ridge(d, m, spread, L, trial, chosen, work, theta):
    """Ridge regression on d columns and m rows by the best of `PENALTIES`, which is returned.

    work.A and θ come as `odrf.engine.directions.estimation.covariances` writes them, A and c;
    `spread` is Σ a·(t - t̄)²; L (≥ d, ≥ d), trial and chosen (≥ d,) are scratch.  With
    θ = (A + k)⁻¹c, RSS = spread - θᵀc - k·θᵀθ and f = 1 + d - k·tr (A + k)⁻¹.  A factor of
    Cholesky's for each k costs less, of so few columns, than the eigenvectors of A that would do
    for all.  Rows are counted once however much they weigh: a row drawn twice says no more than
    once.  Where no penalty leaves fewer parameters than rows, the largest is taken.
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
        left, parameters = spread, 1.0 + d - k * trace_of_inverse(L, d, work.step)
        for j in range(d):
            left -= trial[j] * (theta[j] + k * trial[j])
        criterion = np.inf
        if parameters < m:
            criterion = max(left, 0.0) / (1.0 - parameters / m) ** 2
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
        width = proposals.sizes[c]
        if width == 1:
            c += not proposals.singly[0]
        elif terms > 0 and _regress(sampler, terms, used, total, work):
            c += write_direction(width, work, proposals.theta, c)
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
    spread = 0.0
    for i in range(m):
        spread += work.moment[i] * work.target[i]
    cross_validated_ridge(d, m, spread, sampler.factor, sampler.trial, sampler.chosen, work, theta)
    return True
