"""Directions by one Newton step of Cox's partial likelihood, as a family of projections.

What the forests of aorsf do (Jaeger et al. 2024): from θ = 0, the step solves I θ = u on a random
subset of predictors, u being the covariances of the columns with the log-rank scores of the node
and I the information of the risk sets,

    I = Σ_r d_r (S2_r / S0_r - S1_r S1_rᵀ / S0_r²),

with d_r the events at the r-th time and S0_r, S1_r, S2_r the sums of w, w·z and w·z·zᵀ over the
rows at risk then.  The first term is Σ_i w_i H_i z_i z_iᵀ, H_i being the cumulative hazard of row
i.  Ties are Breslow's, so that the gradient is that of the scores.  I has the ridge of the other
estimators.  Rows are taken as observed from the beginning.  The family has the times of the
training rows, since kernels get rows without them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from odrf.engine.compiling import ZERO, kernel, summing
from odrf.engine.directions.candidates import ROUND
from odrf.engine.directions.estimation import RIDGE, UNRELATED, add_ridge, solve, weigh
from odrf.engine.directions.samplers import draws
from odrf.engine.directions.subsets import draw_terms, write_direction
from odrf.engine.numeric import POSITION, VALUE_SHIFT, sort_keys
from odrf.engine.survival.event_ranks import exit_rank, has_event
from odrf.projections.regression import OnSubsets

__all__ = ["CoxSampler", "CoxStep"]


class CoxSampler(NamedTuple):
    """Parameters; see `odrf.projections.regression.EstimatedSampler` and `EventRanks.code`."""

    number: int
    subset_size: int
    direction_rows: int
    code: NDArray[Any]


@dataclass(frozen=True)
class CoxStep(OnSubsets):
    """One penalised Newton step of Cox's partial likelihood, from 0.

    `code` (n,): exits and events of the training rows; see `EventRanks`.
    """

    code: NDArray[Any] = field(compare=False, repr=False)

    name: ClassVar[str] = "cox_step"
    by_name: ClassVar[bool] = False
    blended: ClassVar[bool] = True
    sampling_in_words: ClassVar[str] = "a Newton step of Cox's likelihood on a random subset"
    source: ClassVar[str] = "Jaeger et al. (2024)"
    tasks: ClassVar[tuple[str, ...]] = ("regression",)

    def sampler(self, number: int, feature_groups: Any, settings: Any, n: int) -> CoxSampler:
        """Return the sampler of a tree."""
        return CoxSampler(number, settings.subset_size, settings.direction_rows, self.code)


@draws(CoxSampler)
def _draw(
    sampler: Any, state: Any, rows: Any, lo: int, m: int, n_rows: int, first: int,
    feature_groups: Any, proposals: Any, work: Any,
) -> tuple[Any, int]:  # fmt: skip
    c, last = ZERO, min(first + ROUND, sampler.number)
    q, most = sampler.subset_size, sampler.direction_rows
    for _ in range(first, last):
        terms, used, total, _ = draw_terms(
            state, rows, lo, m, n_rows, q, most, feature_groups, proposals, c, work
        )
        if terms < 0:
            c += not proposals.singly[0]
        elif terms > 0 and _step(sampler.code, rows, lo, used, terms, total, work):
            c += write_direction(work, proposals, c)
    return c, last


@kernel
def _step(code: Any, rows: Any, lo: int, m: int, d: int, total: float, work: Any) -> bool:
    """Write the step on the d terms in work.Z, for the scores in `work`, to work.theta."""
    theta = work.theta
    theta[0] = 1.0
    if d == 1:
        return True
    if not weigh(work.Z, d, m, work.weights, work.moment, work, theta) > UNRELATED * total:
        return False
    _order(code, rows, lo, m, work)
    _information(d, m, work)
    add_ridge(work.A, d, RIDGE)
    solve(work.A, theta, d)
    return True


@kernel
def _order(code: Any, rows: Any, lo: int, m: int, work: Any) -> None:
    """Sort m rows by the ends of their observation; write what they add to the information.

    Keys are written to work.power, w_i H_i to work.variance, and to work.eta √d_r / S0_r at the
    first row of each time with events, 0 at others.
    """
    keys = work.power.view(np.uint64)
    for i in range(m):
        rank = exit_rank(code[rows.at[lo + i]])
        keys[i] = (np.uint64(rank) << VALUE_SHIFT) | np.uint64(i)
    sort_keys(keys, m)
    at_risk, last = 0.0, m - 1
    while last >= 0:
        rank, first, dead = keys[last] >> VALUE_SHIFT, last, 0.0
        while first >= 0 and keys[first] >> VALUE_SHIFT == rank:
            row = np.int64(keys[first] & POSITION)
            at_risk += work.weights[row]
            dead += work.weights[row] * has_event(code[rows.at[lo + row]])
            work.eta[first], work.product[first] = 0.0, 0.0
            first -= 1
        if dead > 0.0:
            work.eta[first + 1] = np.sqrt(dead) / at_risk
            work.product[first + 1] = dead / at_risk
        last = first
    hazard = 0.0
    for k in range(m):
        row = np.int64(keys[k] & POSITION)
        hazard += work.product[k]
        work.variance[row] = work.weights[row] * hazard


@kernel
def _information(d: int, m: int, work: Any) -> None:
    """Write I to work.A, after `_order`."""
    keys, Z, A, scaled = work.power.view(np.uint64), work.Z, work.A, work.weighted
    for j in range(d):
        for i in range(m):
            scaled[j, i] = work.variance[i] * Z[j, i]
    for j in range(d):
        for k in range(j + 1):
            A[j, k] = _products(scaled, Z, j, k, m)
    times = 0
    for j in range(d):
        total, times = 0.0, 0
        for k in range(m - 1, -1, -1):
            row = np.int64(keys[k] & POSITION)
            total += work.weights[row] * Z[j, row]
            if work.eta[k] > 0.0:
                scaled[j, times] = total * work.eta[k]
                times += 1
    for j in range(d):
        for k in range(j + 1):
            A[j, k] -= _products(scaled, scaled, j, k, times)


@summing
def _products(Y: Any, Z: Any, j: int, k: int, m: int) -> float:
    total = 0.0
    for i in range(m):
        total += Y[j, i] * Z[k, i]
    return total
