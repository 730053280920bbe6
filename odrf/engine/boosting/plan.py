"""How to boost, and what boosting gives."""

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
    """How to boost.

    Attributes
    ----------
    loss : Loss
    n_outputs : int
        K, trees of a round of one run.
    n_runs : int
        M, runs whose mean is the fit.
    n_rounds : int
        Rounds at most.
    rate : float
        By which the values of leaves are shrunken.
    l2 : float
        Penalty on the squares of leaf values.
    refit : bool
        Whether all leaves are refitted by least squares whenever a tree comes.
    patience : int or None
        Rounds without a smaller loss of the held_out rows after which it ends, and goes back to
        that of the smallest; None for all rounds.
    run_predictors, tree_predictors : int
        How many predictors each run draws, and of these each tree.
    sampling : Sampling
        How each tree's rows are drawn; without replacement, or all.
    settings : Settings
        Of a tree: a regression's.
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
        """Return what fills the leaves of a run."""
        if self.refit:
            return Refitting(run, self.l2)
        return Newton(run, self.loss, self.rate, self.l2)


class Boosted(NamedTuple):
    """What boosting gave.

    Attributes
    ----------
    starts : (M, K) float64
        Scores of each run before its first round.
    forest : Forest
        The trees of the rounds that are kept, round after round; within one, run after run.  A
        leaf's value is what it adds to the score of its run, inner nodes have 0.
    stages : tuple of arrays
        Where leaves were refitted, the values (m,) of the nodes of the trees so far after each
        round that is kept; else empty.
    drawn : tuple of RunRows
        What each run drew.
    training, held_out : (R + 1,) float64
        Mean loss of the rows, and of those that decide how many rounds there are, before the first
        and after each round, those included that are not kept; `held_out` is empty without such
        rows.
    """

    starts: Array
    forest: Forest
    stages: tuple[Array, ...]
    drawn: tuple[RunRows, ...]
    training: Array
    held_out: Array
