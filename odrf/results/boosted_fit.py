"""What a boosted fit consists of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from odrf.boosting_control import BoostingControl
from odrf.design import Design, TrainingData
from odrf.engine.boosting.adding import added_up
from odrf.engine.boosting.growing import Boosted, Sample, boost
from odrf.engine.boosting.losses import LOSSES, Loss
from odrf.engine.forest import Forest
from odrf.engine.proposals import Blocks
from odrf.errors import InputError

__all__ = ["BoostedFit", "grow_boosted_fit"]


@dataclass(frozen=True)
class BoostedFit:
    """Everything a result is computed from.  It pickles.

    Attributes
    ----------
    call : str
        The call that made it, as shown in summaries.
    design : Design
        How the formula turns a data frame into predictors and response.
    data : TrainingData
        The rows, those held out included.
    control : BoostingControl
        Every option, resolved.
    boosted : Boosted
        The trees, and the path of the loss.
    held : (n,) bool
        Which rows were held out to choose the number of rounds.
    """

    votes: ClassVar[bool] = False

    call: str
    design: Design
    data: TrainingData
    control: BoostingControl
    boosted: Boosted
    held: NDArray[np.bool_]

    @property
    def forest(self) -> Forest:
        """The trees of the rounds that were kept."""
        return self.boosted.forest

    @property
    def loss(self) -> Loss:
        """What was lowered."""
        return LOSSES[self.control.loss]()

    def scores(self, X: NDArray[np.float32]) -> NDArray[np.float64]:
        """Return the scores (K, m) of the rows of X (p, m)."""
        return added_up(self.forest, X, self.boosted.start, self.control.n_jobs)


def grow_boosted_fit(
    call: str, design: Design, data: TrainingData, control: BoostingControl, progress: bool
) -> BoostedFit:
    """Hold rows out if the options say so, and boost on the others.

    Raises
    ------
    InputError
        If there are too few rows to hold some out.
    """
    held = np.zeros(len(data.y), dtype=bool)
    if control.validation is not None:
        held = _held_out(data, control.validation, control.kind, control.seed)
    with tqdm(total=control.n_trees, unit="round", disable=not progress) as bar:
        boosted = boost(
            _sample(data, ~held),
            _sample(data, held) if held.any() else None,
            Blocks(design.first, design.types),
            control.plan(),
            control.seed,
            control.n_jobs,
            bar.update,
        )
    return BoostedFit(call, design, data, control, boosted, held)


def _sample(data: TrainingData, which: NDArray[np.bool_]) -> Sample:
    """Return some of the rows; all of them without a copy."""
    if which.all():
        return Sample(data.X, data.y, data.weights)
    X = np.ascontiguousarray(data.X[:, which])
    return Sample(X, data.y[which], data.weights[which])


def _held_out(data: TrainingData, share: float, kind: str, seed: int) -> NDArray[np.bool_]:
    """Draw this share of the rows that have weight, of classes about the same share of each."""
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(0, 0)))
    order = rng.permutation(np.flatnonzero(data.weights > 0))
    if kind == "classification":
        order = order[np.argsort(data.y[order], kind="stable")]
    ends = np.floor(share * np.arange(len(order) + 1) + 0.5)
    chosen = order[np.diff(ends) > 0]
    if not 0 < len(chosen) < len(order):
        raise InputError(
            f"validation={share} holds out {len(chosen)} of {len(order)} rows: use another share, "
            "or None"
        )
    held = np.zeros(len(data.y), dtype=bool)
    held[chosen] = True
    return held
