"""The values of the leaves of boosted trees, and the scores after adding a tree; the options.

Gradient boosting computes the values of a tree once, by Newton steps times the learning rate.
Orthogonal matching pursuit refits the leaves of all trees of the run together by least squares
whenever a tree is added.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from odrf.engine.boosting.losses import Derivatives, LeafRows, Loss
from odrf.engine.boosting.runs import Run
from odrf.engine.compiling import kernel
from odrf.engine.directions.samplers import SamplerMixture
from odrf.engine.kernel_params import KernelParams
from odrf.engine.resamples import Sampling
from odrf.engine.running import one_thread

Array = NDArray[np.float64]
# Conjugate gradients end when the norm of the residual of the normal equations is this share of
# their right side, or after so many steps.
TOLERANCE, MOST_STEPS = 1e-8, 1000


class NewTrees(NamedTuple):
    """Trees of a run whose leaves are to be filled, for outputs that follow each other.

    `root` (T + 1,): the nodes of tree t are numbers ``root[t]:root[t + 1]`` of all nodes of these
    trees.  `k`: the output whose score the first tree adds to; the next tree adds to the next.
    `leaf` (T, n): number of the leaf, within its tree, that each training row reaches.  `held`
    (T, m): number of the leaf that each row held out reaches.  `drawn`: the rows that the trees
    were grown on; numbers if it is one tree.
    """

    root: NDArray[np.int64]
    k: int
    leaf: NDArray[np.int32]
    held: NDArray[np.int32]
    drawn: slice | NDArray[np.int64]


class LeafValues(ABC):
    """How the leaf values of one run's trees are computed; fills update the scores of `run`."""

    def __init__(self, run: Run) -> None:
        self.run = run

    @abstractmethod
    def fill(self, trees: NewTrees, derivatives: Derivatives) -> Array:
        """Return the values of the new nodes, 0 for inner nodes; update the run's scores."""

    @abstractmethod
    def resume(self, trees: Sequence[tuple[NewTrees, Array]]) -> None:
        """Update the run's scores by these trees, whose values are known."""


class Newton(LeafValues):
    """Newton steps of the loss, with penalty `l2` on their squares, times the learning `rate`."""

    def __init__(self, run: Run, loss: Loss, rate: float, l2: float) -> None:
        super().__init__(run)
        self.loss, self.rate, self.l2 = loss, rate, l2

    def fill(self, trees: NewTrees, derivatives: Derivatives) -> Array:
        """Return the values of the new nodes."""
        drawn, rows, T = trees.drawn, self.run.rows, len(trees.leaf)
        outputs = slice(trees.k, trees.k + T)

        def of_rows(values: Array) -> Array:
            return np.asarray(values[:, drawn].ravel())

        leaf_rows = LeafRows(
            (trees.leaf[:, drawn] + trees.root[:-1, None]).ravel(), int(trees.root[-1]),
            of_rows(rows.y - self.run.scores[outputs]), of_rows(derivatives.first[outputs]),
            of_rows(derivatives.second[outputs]), np.tile(rows.weights[drawn], T),
        )  # fmt: skip
        value = self.rate * self.loss.leaf_values(leaf_rows, self.l2)
        self.resume([(trees, value)])
        return value

    def resume(self, trees: Sequence[tuple[NewTrees, Array]]) -> None:
        """Add the values of the trees to the scores, in their order."""
        for new, value in trees:
            last = new.k + len(new.leaf)
            _add_values(value, new.root, new.leaf, self.run.scores[new.k : last])
            _add_values(value, new.root, new.held, self.run.held[new.k : last])


@kernel
def _add_values(value, root, leaf, scores):
    """Add to scores (T, n) the values of the leaves (T, n) that rows reach in T trees."""
    for t in range(len(leaf)):
        of_tree = value[root[t] : root[t + 1]]
        for i in range(np.uint64(leaf.shape[1])):
            scores[t, i] += of_tree[np.uint64(leaf[t, i])]


class Refitting(LeafValues):
    """Least squares for the leaves of all trees together, with a ridge penalty.

    Orthogonal matching pursuit, as in the boosting ensemble of Zhan, Liu and Xia (arXiv
    2211.12653v4).  Conjugate gradients start from the last solution.  `l2`: penalty on the squares
    of leaf values.  `value` (m,): values of the nodes of all trees so far, tree by tree.
    """

    def __init__(self, run: Run, l2: float) -> None:
        super().__init__(run)
        self.l2 = l2
        self.before, self.held_before = run.scores[0].copy(), run.held[0].copy()
        self.value = np.empty(0)
        self.leaves: list[NDArray[np.int32]] = []
        self.held: list[NDArray[np.int32]] = []

    def fill(self, trees: NewTrees, derivatives: Derivatives) -> Array:
        """Refit the leaves of all trees; return the values of the new nodes."""
        rows, n_nodes = self.run.rows, int(trees.root[-1])
        self._take(trees, np.zeros(n_nodes))
        reached = self._reached(self.leaves)
        self.value = refitted(reached, rows.y - self.before, rows.weights, self.l2, self.value)
        self._move_on(reached)
        return self.value[-n_nodes:]

    def resume(self, trees: Sequence[tuple[NewTrees, Array]]) -> None:
        """Take over all trees of the run with their values."""
        for new, value in trees:
            self._take(new, value)
        self._move_on(self._reached(self.leaves))

    def _take(self, trees: NewTrees, value: Array) -> None:
        first = len(self.value)
        for t, begin in enumerate(trees.root[:-1]):
            self.leaves.append(first + int(begin) + trees.leaf[t])
            self.held.append(first + int(begin) + trees.held[t])
        self.value = np.concatenate([self.value, value])

    def _move_on(self, reached: scipy.sparse.csr_array) -> None:
        self.run.scores[0] = self.before + reached @ self.value
        self.run.held[0] = self.held_before + self._reached(self.held) @ self.value

    def _reached(self, leaves: list[NDArray[np.int32]]) -> scipy.sparse.csr_array:
        """Return the indicators (n rows, all nodes) of the leaves that each row reaches, sparse."""
        nodes = np.column_stack(leaves)
        n, r = nodes.shape
        ends = np.arange(0, n * r + 1, r)
        return scipy.sparse.csr_array(
            (np.ones(n * r), nodes.ravel(), ends), shape=(n, len(self.value))
        )


@one_thread()
def refitted(
    reached: scipy.sparse.csr_array, target: Array, weights: Array, l2: float, first: Array
) -> Array:
    """Return the β (m,) that minimises Σ weights·(target - reached·β)² + l2·Σ β².

    reached (n, m) has indicators of the leaves that each row reaches.  With `l2` 0 there are many
    solutions: the one nearest to `first` is returned, by the squared differences times the weight
    of each leaf.  first (m,) is the start of the conjugate gradients.
    """
    back = reached.T.tocsr()
    diagonal = back @ weights + l2
    scale = np.divide(1.0, diagonal, out=np.ones_like(diagonal), where=diagonal > 0)
    m = len(first)
    normal = scipy.sparse.linalg.LinearOperator(
        (m, m), matvec=lambda b: back @ (weights * (reached @ b)) + l2 * b, dtype=np.float64
    )
    preconditioner = scipy.sparse.linalg.LinearOperator(
        (m, m), matvec=lambda b: scale * b, dtype=np.float64
    )
    solution, _ = scipy.sparse.linalg.cg(
        normal, back @ (weights * target), first, rtol=TOLERANCE, maxiter=MOST_STEPS,
        M=preconditioner,
    )  # fmt: skip
    return np.asarray(solution, dtype=np.float64)


# The options of boosting.


class BoostingParams(NamedTuple):
    """The options of boosting.

    `n_outputs`: K, the trees of a round of one run: ``loss.outputs(n_classes)``.
    `n_runs`: M, the number of runs whose mean is the fit.
    `n_rounds`: most rounds.
    `rate`: learning rate, by which leaf values are multiplied.
    `l2`: penalty on the squares of leaf values.
    `refit`: whether the leaves of all trees are refitted by least squares whenever a tree is
      added.
    `patience`: boosting ends after so many rounds without a smaller held-out or out-of-bag loss;
      rounds up to the smallest loss are kept.  None for all rounds.
    `run_predictors`, `tree_predictors`: how many predictors each run draws, and of these each
      tree.
    `sampling`: how each tree's rows are drawn; without replacement, or all.
    `settings`: options for growing each tree, a regression tree.
    `mixture`: where candidate directions come from.
    """

    loss: Loss
    n_outputs: int
    n_runs: int
    n_rounds: int
    rate: float
    l2: float
    refit: bool
    patience: int | None
    run_predictors: int
    tree_predictors: int
    sampling: Sampling
    settings: KernelParams
    mixture: SamplerMixture

    def filling(self, run: Run) -> LeafValues:
        """Return how the leaf values of a run are computed."""
        if self.refit:
            return Refitting(run, self.l2)
        return Newton(run, self.loss, self.rate, self.l2)
