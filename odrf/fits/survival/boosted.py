"""Boosted trees for survival times: the trees, and the survival curves of their scores."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from odrf.design import Design, TrainingData
from odrf.design.columns import rows_listed
from odrf.design.survival_times import SurvivalTimes
from odrf.design.weights import Offset
from odrf.engine.boosting.losses import FailureTimeLoss, SurvivalLoss
from odrf.engine.survival.likelihoods import best_scale, log_times
from odrf.errors import InputError
from odrf.fits.fit import BoostedFit, enlarged_boosted_fit, grow_boosted_fit
from odrf.fits.responses import boosted_out_of_bag
from odrf.options.boosting import ResolvedBoostingOptions
from odrf.statistics.survival import score_curves

# Curves of fewer events that the trees have not seen vary more than those of all rows are wrong.
FEWEST_EVENTS = 20


@dataclass(frozen=True)
class BoostedSurvivalFit(BoostedFit):
    """A fit of boosted trees for survival times, with the event times (R,)."""

    curves: score_curves.CurvesOfScores
    event_times: NDArray[np.float64]
    evaluated: str

    @property
    def times(self) -> SurvivalTimes:
        """Times and events of the training rows; `InputError` if the fit has none."""
        return self.data.require_times()


def grow_boosted_survival(
    call: str,
    design: Design,
    data: TrainingData,
    offset: Offset,
    control: ResolvedBoostingOptions,
    progress: bool,
    held: NDArray[np.bool_] | None = None,
) -> BoostedSurvivalFit:
    """Boost for survival times, of one cause and not 0 for its logarithm; else `InputError`."""
    require_boostable_times(design, data, control)
    return _with_curves(grow_boosted_fit(call, design, data, offset, control, progress, held))


def require_boostable_times(
    design: Design, data: TrainingData, control: ResolvedBoostingOptions
) -> None:
    """Raise `InputError` if the loss cannot take the times: they have several causes, or are 0."""
    times = data.require_times()
    if len(times.causes) > 1:
        raise InputError(
            f"response {design.response.name!r} has events of {len(times.causes)} causes, and "
            f"odbt() takes one: write Surv(time, event == {times.causes[0]!r}), for which the "
            "other causes count as censored"
        )
    loss = control.plan.loss
    if isinstance(loss, SurvivalLoss) and loss.of_logarithms and (times.time <= 0).any():
        raise InputError(
            f'loss="{loss.name}" takes logarithms of times, which are 0 in '
            f'{rows_listed(times.time <= 0, data.index)}: use loss="cox", or a small number in '
            "place of 0"
        )


def enlarged_boosted_survival(
    fit: BoostedSurvivalFit, k: int, n_jobs: int, progress: bool
) -> BoostedSurvivalFit:
    """Return the fit with `k` more rounds, as by `enlarged_boosted_fit`."""
    return _with_curves(enlarged_boosted_fit(fit, k, n_jobs, progress))


def _with_curves(fit: BoostedFit) -> BoostedSurvivalFit:
    """Return the fit with the curves of its scores, of validation rows if 20 have an event."""
    evaluated, scores, rows = "training", fit.scores(fit.data.X, fit.offset.values)[0], ~fit.held
    if fit.control.n_runs > 1:
        out_of_bag = boosted_out_of_bag(fit)[0]
        if _has_events(fit, ~np.isnan(out_of_bag)):
            evaluated, scores, rows = "out of bag", out_of_bag, ~np.isnan(out_of_bag)
    elif _has_events(fit, fit.held):
        evaluated, rows = "held out", fit.held
    curves = _curves(fit, scores[rows], rows, evaluated != "training")
    known = {each.name: getattr(fit, each.name) for each in fields(BoostedFit)}
    return BoostedSurvivalFit(
        **known,
        curves=curves,
        event_times=fit.data.require_times().event_times,
        evaluated=evaluated,
    )


def _has_events(fit: BoostedFit, rows: NDArray[np.bool_]) -> bool:
    counted = rows & (fit.data.require_times().event > 0) & (fit.data.weights > 0)
    return int(counted.sum()) >= FEWEST_EVENTS


def _curves(
    fit: BoostedFit, scores: NDArray[np.float64], rows: NDArray[np.bool_], calibrated: bool
) -> score_curves.CurvesOfScores:
    """Return the curves of the scores of some rows, with a slope if `calibrated`."""
    times, weights, loss = fit.data.require_times().keeping(rows), fit.data.weights[rows], fit.loss
    event = times.event > 0
    if not isinstance(loss, FailureTimeLoss):
        curves = score_curves.calibrated_hazards if calibrated else score_curves.breslow_baseline
        return curves(scores, times.time, event, times.start, weights)
    logarithms = log_times(times.time, event, times.start)
    if calibrated:
        return score_curves.calibrated_failure_times(loss.law, logarithms, scores, weights)
    return score_curves.FailureTimes(loss.law, best_scale(loss.law, logarithms, scores, weights))
