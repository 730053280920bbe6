"""The options of boosting, and its result."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from odrf.engine.boosting.filling import Filling, Newton, Refitting
from odrf.engine.boosting.losses import Loss
from odrf.engine.boosting.runs import Run, RunRows
from odrf.engine.directions.samplers import SamplerMixture
from odrf.engine.rows.sampling import Sampling
from odrf.engine.settings import Settings
from odrf.engine.trees.forest_arrays import Forest

__all__ = ["Boosted", "Plan"]

Array = NDArray[np.float64]


class Plan(NamedTuple):
    """The options of boosting.

    Attributes
    ----------
    loss : Loss
    n_outputs : int
        K, the trees of a round of one run: ``loss.outputs(n_classes)``.
    n_runs : int
        M, the number of runs whose mean is the fit.
    n_rounds : int
        Most rounds.
    rate : float
        Learning rate, by which leaf values are multiplied.
    l2 : float
        Penalty on the squares of leaf values.
    refit : bool
        Whether the leaves of all trees are refitted by least squares whenever a tree is added.
    patience : int or None
        Boosting ends after so many rounds without a smaller held-out or out-of-bag loss; rounds up
        to the smallest loss are kept.  None for all rounds.
    run_predictors, tree_predictors : int
        How many predictors each run draws, and of these each tree.
    sampling : Sampling
        How each tree's rows are drawn; without replacement, or all.
    settings : Settings
        Options for growing each tree, a regression tree.
    mixture : SamplerMixture
        Where candidate directions come from.
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
    settings: Settings
    mixture: SamplerMixture

    def filling(self, run: Run) -> Filling:
        """Return how the leaf values of a run are computed."""
        if self.refit:
            return Refitting(run, self.l2)
        return Newton(run, self.loss, self.rate, self.l2)


class Boosted(NamedTuple):
    """The result of boosting.

    Attributes
    ----------
    starts : (M, K) float64
        Scores of each run before its first round.
    forest : Forest
        The trees of the rounds that are kept: round by round, within a round run by run, within a
        run output by output.  The value of a leaf is added to the score of its run; inner nodes
        have 0.
    stages : tuple of arrays
        If leaves were refitted, the values (m,) of the nodes of all trees so far after each kept
        round; else empty.
    drawn : tuple of RunRows
        The rows and predictors that each run drew.
    training : (R + 1,) float64
        Mean loss of the training rows before the first round and after each round, including
        rounds that are not kept.
    held_out : (R + 1,) float64
        The same for the rows held out or, with several runs, out of bag; empty without such rows.
    """

    starts: Array
    forest: Forest
    stages: tuple[Array, ...]
    drawn: tuple[RunRows, ...]
    training: Array
    held_out: Array
