"""Stages of trees: with the leaves that they had earlier in their growth; rates in n."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from odrf.engine.factors import Matrix, with_rows
from odrf.engine.oob import stage_losses
from odrf.engine.trees.forest import Forest
from odrf.engine.trees.routing import EVERY_ROW
from odrf.pruning.complexity import growth_ranks
from odrf.pruning.validation import HeldOut, held_out, held_out_groups

# Stages of trees: with the leaves that they had earlier in their growth, or cut at a depth.

LEAVES, DEPTH = "leaves", "depth"
ALONG = (LEAVES, DEPTH)
SMALLEST = {LEAVES: 1, DEPTH: 0}
# A forest is evaluated at every number of leaves up to 30, then at four per doubling.
EVERY, PER_DOUBLING = 30, 4


@dataclass(frozen=True)
class Stages:
    """Sizes at which all trees of a forest stop, and their leaves then.

    `critical` (m,): the critical values of its splits, from `stage_alphas`.  `sizes` (k,): sizes,
    rising.  `leaves` (k,): mean number of leaves of the trees.
    """

    critical: NDArray[np.float64]
    sizes: NDArray[np.int64]
    leaves: NDArray[np.float64]

    @property
    def alpha(self) -> NDArray[np.float64]:
        """The values of α (k,), rising, that prune the trees to the sizes, the largest first."""
        return -self.sizes[::-1].astype(float)


def stage_alphas(forest: Forest, along: str) -> NDArray[np.float64]:
    """Return critical values (m,) such that pruning at α = -s stops the trees at size s.

    `along`: ``"leaves"``: the splits made before there were s leaves (Zhan, Liu and Xia, section
    3.2), s from 1; ``"depth"``: those above the depth s, from 0.
    """
    rank = growth_ranks(forest) if along == LEAVES else forest.depth()
    return np.where(forest.is_split(), -rank, -np.inf)


def stages_of(forest: Forest, along: str) -> Stages:
    """Return the stages at which a forest is evaluated, the full size last.

    A tree is evaluated at every size, a forest at every depth or at some numbers of leaves.
    """
    critical = stage_alphas(forest, along)
    rising = np.sort(-critical[critical > -np.inf])
    first = SMALLEST[along]
    last = int(np.max(rising, initial=first - 1)) + 1
    sizes = np.arange(first, last + 1)
    if forest.n_trees > 1 and along == LEAVES and last > EVERY:
        steps = math.ceil(PER_DOUBLING * math.log2(last / EVERY))
        larger = np.geomspace(EVERY, last, steps + 1).round().astype(np.int64)
        sizes = np.unique(np.concatenate([sizes[:EVERY], larger]))
    leaves = forest.n_trees + np.searchsorted(rising, sizes)
    return Stages(critical, sizes, leaves / forest.n_trees)


def evaluated_stages(
    forest: Forest,
    stages: Stages,
    X: Matrix,
    y: NDArray[np.float64],
    weights: NDArray[np.float64],
    n_jobs: int,
    wanted: NDArray[np.bool_] | None = None,
    advance: Callable[[int], object] = lambda n: None,
    groups: NDArray[np.int64] | None = None,
) -> HeldOut:
    """Evaluate the forest at each of its stages on the rows of X (p, n), the largest size first.

    With `wanted` (B, n), a tree predicts only the rows for which it is true. Rows of one group, of
    `groups` (n,), count as one unit.
    """
    critical, alpha = stages.critical, stages.alpha
    if forest.n_trees == 1 and wanted is None:
        # faster: the loss of a row at a node is computed once for all sizes
        held = held_out(forest, critical, alpha, X, y, weights, groups)
        advance(len(y))
        return held
    first = np.searchsorted(alpha, critical)

    def losses(rows: Any = slice(None)) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        mask = EVERY_ROW if wanted is None else np.ascontiguousarray(wanted[:, rows])
        some = X if isinstance(rows, slice) else with_rows(X, rows)
        return stage_losses(
            forest, first, len(alpha), some, y[rows], weights[rows], n_jobs, mask, advance
        )

    if groups is not None:
        each = np.split(
            np.argsort(groups, kind="stable"), np.cumsum(np.unique(groups, return_counts=True)[1])
        )
        sums_of_groups = [losses(rows) for rows in each if len(rows)]
        weight = np.array([mass[0] for mass, _ in sums_of_groups])
        loss = np.column_stack([sums[0] for _, sums in sums_of_groups])
        return held_out_groups(loss, weight)
    mass, sums = losses()
    return HeldOut(float(mass[0]), float(mass[1]), *sums)


# Zhan, Liu and Xia, Theorems 1, 3, 4 and 5: trees that stop at t_n leaves are consistent if t_n → ∞
# and t_n = o(n/ln⁴n); pruned ones if α_n → 0 and ln⁵n/(α_n·n) → 0 (the exponent is hard to read in
# print; 5 is enough in every reading).  A rate fixes α_n or t_n up to a constant, which theory
# leaves open.  The constant is chosen on held-out rows, at the number of rows that the trees of the
# folds grow on, and is then used at n.

Rate = Callable[[float], float]
# ln n stays positive.
LEAST = 2.0

ALPHA_RATES: dict[str, Rate] = {
    "log6/n": lambda n: math.log(max(n, LEAST)) ** 6 / n,
    "1/sqrt(n)": lambda n: 1 / math.sqrt(n),
}
"""Names of rates for α_n."""

LEAF_RATES: dict[str, Rate] = {
    "sqrt": math.sqrt,
    "n/log5": lambda n: n / math.log(max(n, LEAST)) ** 5,
}
"""Names of rates for t_n."""

IN_WORDS = {
    "log6/n": "ln(n)^6/n",
    "1/sqrt(n)": "1/sqrt(n)",
    "sqrt": "sqrt(n)",
    "n/log5": "n/ln(n)^5",
}
"""The rates as functions of n, by name."""
