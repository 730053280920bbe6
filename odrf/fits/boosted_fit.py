"""The fit of boosted trees."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from odrf.design import Design, TrainingData
from odrf.design.folds import held_out_share, rows_to_divide
from odrf.design.weights import Offset
from odrf.engine.boosting.losses import Loss, SurvivalLoss
from odrf.engine.boosting.runs import Sample, added_up
from odrf.engine.boosting.state import Boosted, boost
from odrf.engine.factors import Matrix, with_rows
from odrf.engine.trees.forest import Forest
from odrf.errors import InputError
from odrf.options.boosting import BoostingControl
from odrf.public.progress import progress_bar

__all__ = ["BoostedFit", "enlarged_boosted_fit", "grow_boosted_fit", "loss_and_responses"]

# A mean weight from here on counts as at least 1: balanced class weights have 1 but for rounding.
ALMOST_ONE = 1.0 - 1e-9


@dataclass(frozen=True)
class BoostedFit:
    """A fit of boosted trees, from which results are computed.  It can be pickled.

    Attributes
    ----------
    call : str
        The call that made it, as shown in summaries.
    design : Design
        The recipe from a data frame to predictors and response.
    data : TrainingData
        The training rows, including held-out rows.
    offset : Offset
        The offsets, which are added to the scores.
    control : BoostingControl
        The options, resolved.
    boosted : Boosted
        The trees, and the loss after each round.
    held : (n,) bool
        True for rows that were held out to choose the number of rounds.
    votes : bool
        False: values of leaves are not votes.
    summed : bool
        True: a prediction is the sum of the trees, not their mean.
    """

    votes: ClassVar[bool] = False
    summed: ClassVar[bool] = True

    call: str
    design: Design
    data: TrainingData
    offset: Offset
    control: BoostingControl
    boosted: Boosted
    held: NDArray[np.bool_]

    @property
    def kind(self) -> str:
        """``"regression"``, ``"classification"`` or ``"survival"``."""
        return self.design.response.kind

    @property
    def forest(self) -> Forest:
        """The trees of the rounds that are kept."""
        return self.boosted.forest

    @property
    def n_rounds(self) -> int:
        """Number of rounds that are kept; a round has a tree for every score of every run."""
        return self.forest.n_trees // (self.control.n_outputs * self.control.n_runs)

    @property
    def ordered(self) -> bool:
        """Whether the loss is the ordinal one, so that the predicted class is the median."""
        return self.loss.ordered

    @property
    def loss(self) -> Loss:
        """The loss that boosting minimises."""
        return self.control.plan.loss

    def scores(
        self,
        X: Matrix,
        offset: NDArray[np.float64],
        advance: Callable[[int], object] = lambda n: None,
    ) -> NDArray[np.float64]:
        """Return the scores (K, m) of the rows of X (p, m) with offsets (m,); see `added_up`."""
        jobs = self.control.n_jobs
        return added_up(self.forest, X, self.boosted.starts, jobs, advance) + offset


def grow_boosted_fit(
    call: str,
    design: Design,
    data: TrainingData,
    offset: Offset,
    control: BoostingControl,
    progress: bool,
) -> BoostedFit:
    """Boost, on all rows or on those that are not held out for validation.

    Raises
    ------
    InputError
        If there are too few rows to hold some out.
    """
    held = np.zeros(len(data.y), dtype=bool)
    if isinstance(control.validation, float):
        held = _held_out(design, data, control.validation, control.seed)
    boosted = _boosted(design, data, offset, control, held, None, progress)
    return BoostedFit(call, design, data, offset, control, boosted, held)


def enlarged_boosted_fit(fit: BoostedFit, k: int, n_jobs: int, progress: bool) -> BoostedFit:
    """Return the fit with `k` more rounds.

    Raises
    ------
    InputError
        If the number of rounds was chosen by ``validation=``.
    """
    if fit.control.validation is not None:
        raise InputError(
            f"grow() cannot add rounds: validation={fit.control.validation!r} has chosen the "
            "number of rounds; fit with validation=None, or with a larger n_trees="
        )
    control = fit.control.with_rounds(fit.control.n_trees + k)
    threaded = replace(control, n_jobs=n_jobs)
    boosted = _boosted(fit.design, fit.data, fit.offset, threaded, fit.held, fit.boosted, progress)
    return replace(fit, call=f"{fit.call}.grow({k})", control=control, boosted=boosted)


def _boosted(
    design: Design,
    data: TrainingData,
    offset: Offset,
    control: BoostingControl,
    held: NDArray[np.bool_],
    before: Boosted | None,
    progress: bool,
) -> Boosted:
    done = 0 if before is None else len(before.training) - 1
    unit, plan = _penalty_unit(data), control.plan
    loss, y = loss_and_responses(plan.loss, data)
    settings = plan.settings._replace(min_weight=plan.settings.min_weight * unit)
    with progress_bar(total=control.n_trees, initial=done, unit="round", progress=progress) as bar:
        return boost(
            _sample(data, y, offset, ~held),
            _sample(data, y, offset, held) if held.any() else None,
            design.feature_groups,
            plan._replace(loss=loss, l2=plan.l2 * unit, settings=settings),
            control.seed,
            control.n_jobs,
            bar.update,
            before,
        )


def _penalty_unit(data: TrainingData) -> float:
    """Return what penalty and `min_hessian` are multiplied by, beside sums of weights of `data`.

    Weights count rows: 2 is the same as the row twice.  Weights with a mean below 1, such as shares
    of a sum, cannot, and both are as if their mean was 1.
    """
    mean = float(data.weights[data.weights > 0].mean())
    return 1.0 / data.weight_unit if mean * data.weight_unit > ALMOST_ONE else mean


def loss_and_responses(loss: Loss, data: TrainingData) -> tuple[Loss, NDArray[np.float64]]:
    """Return the loss and the responses (n,) of the training rows, as the loss takes them.

    A loss of times to an event then knows those of all rows, and responses are numbers of rows.
    """
    times = data.times
    if times is None or not isinstance(loss, SurvivalLoss):
        return loss, data.y
    knowing = loss.knowing(times.time, times.event > 0, times.start)
    return knowing, np.arange(data.n_rows, dtype=np.float64)


def _sample(
    data: TrainingData, y: NDArray[np.float64], offset: Offset, which: NDArray[np.bool_]
) -> Sample:
    """Return the rows `which` with responses y (n,), without a copy if these are all."""
    if which.all():
        return Sample(data.X, y, data.weights, offset.values, data.codes)
    X, codes = with_rows(data.X, which), data.codes
    return Sample(
        X,
        y[which],
        data.weights[which],
        offset.values[which],
        None if codes is None else codes.keeping(which),
    )


def _held_out(design: Design, data: TrainingData, share: float, seed: int) -> NDArray[np.bool_]:
    """Hold out a `share` of the rows of positive weight: the same of those with an event."""
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(0, 0)))
    rows = rows_to_divide(design, data)
    held = held_out_share(rows, share, rng)
    weighted = int((data.weights > 0).sum())
    if not 0 < held.sum() < weighted:
        raise InputError(
            f"validation={share} holds out {held.sum()} of {weighted} rows: use a share that "
            "leaves rows on both sides, or None"
        )
    if data.times is not None and not data.times.keeping(np.flatnonzero(held)).n_events:
        raise InputError(
            f"validation={share} holds out no row with an event, and such rows cannot choose the "
            "number of rounds: use a larger share, or None"
        )
    return held
