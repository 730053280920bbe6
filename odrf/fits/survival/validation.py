"""Predicted risks and curves of rows beside their observed times."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from odrf.design.survival_times import SurvivalTimes
from odrf.engine.factors import Matrix, layout_of, rows_of_predictors, stored, with_layout
from odrf.engine.survival.curve_numbers import incidence_at, mortality, survival_at, time_lost_at
from odrf.errors import AbsentError, InputError
from odrf.fits.fit import Fit
from odrf.fits.missing import reading_empty_cells
from odrf.fits.responses import groups_of_rows, leaves_rows_out
from odrf.fits.survival import hazards
from odrf.fits.survival.boosted import BoostedSurvivalFit
from odrf.fits.survival.curves import PredictedRows, PredictedScores, incidences, times_lost
from odrf.fits.survival.fit import SurvivalFit, with_curves
from odrf.public.progress import progress_bar
from odrf.statistics.survival.curves import StepCurve, cumulative_incidence, product_limit
from odrf.statistics.survival.observation import weighted_states
from odrf.statistics.survival.pseudo_values import RowwiseEstimate, difference_of_estimates
from odrf.statistics.survival.scores import (
    UNO,
    EvaluatedTimes,
    brier_of_curves,
    concordances,
    conditional_survival,
    scores_of_curves,
    trapezoidal_shares,
)

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

OUT_OF_BAG_ROWS, TRAINING, NEW = "out of bag", "training", "new"


class NoValidationRowsError(AbsentError):
    """None of the evaluated rows has an event."""


@dataclass(frozen=True)
class PredictedCause:
    """Rows whose risk of one `cause`, from 0, is predicted."""

    rows: PredictedRows
    cause: int

    def risk(self) -> Floats:
        """Return the time (m,) lost by the cause up to the last event time."""
        last = self.rows.fit.event_times[-1:]
        return times_lost(self.rows, last, np.array([self.cause]))[:, 0, 0]

    def survival(self, times: Floats, advance: Callable[[int], object] = lambda n: None) -> Floats:
        """Return the probability (m, G) not to have had an event of the cause by the times."""
        return 1 - incidences(self.rows, times, np.array([self.cause]), advance)[:, 0]


PredictedCurves = PredictedRows | PredictedScores | PredictedCause
"""Rows (m,) whose risks, and curves at ascending times, are predicted."""


@dataclass(frozen=True, eq=False)
class EvaluatedPredictions:
    """Predictions of the rows with observed times that are `used` (m,), and a `reference`."""

    rows: EvaluatedTimes
    risk: Floats
    predicted: PredictedCurves
    used: Mask
    reference: StepCurve

    def survival(self, times: Floats, advance: Callable[[int], object] = lambda n: None) -> Floats:
        """Return the predicted survival (n, G) at ascending times (G,)."""
        if self.rows.since == 0:
            return self.predicted.survival(times, advance)[self.used]
        since = np.array([self.rows.since])
        spared = self.predicted.survival(np.concatenate([since, times]), advance)[self.used]
        alive = spared
        if isinstance(self.predicted, PredictedCause):
            alive = self.predicted.rows.survival(since)[self.used]
        return conditional_survival(spared, alive[:, 0])

    def scores(
        self, until: float | None = None, advance: Callable[[int], object] = lambda n: None
    ) -> dict[str, RowwiseEstimate]:
        """Return the scores by name; see `scores_of_curves`."""
        until = self.rows.last_time() if until is None else until
        curves = partial(self.survival, advance=advance)
        return scores_of_curves(self.rows, self.risk, curves, self.reference, until)

    def concordances(self) -> dict[str, RowwiseEstimate]:
        """Return those of the scores that risks alone have."""
        return concordances(self.rows, self.risk, self.rows.last_time())


def evaluated_training_rows(
    fit: SurvivalFit, out_of_bag: Mask, cause: str | None
) -> EvaluatedPredictions:
    """Return the training rows, predicted by their trees of `out_of_bag` (B, n), else by all."""
    trees, source = (out_of_bag, OUT_OF_BAG_ROWS) if leaves_rows_out(fit) else (None, TRAINING)
    predicted = _of_cause(PredictedRows(fit, fit.data.X, trees), cause)
    return evaluated_rows(fit, predicted, fit.times, fit.data.weights, source, None, cause)


def evaluated_out_of_bag(fit: Fit) -> EvaluatedPredictions:
    """Return the training rows of a forest for times, predicted out of bag, of all causes."""
    curved = fit if isinstance(fit, SurvivalFit) else with_curves(fit)
    return evaluated_training_rows(curved, fit.draws.all_unseen(), None)


def evaluated_new(
    fit: SurvivalFit | BoostedSurvivalFit,
    newdata: pd.DataFrame,
    cause: str | None = None,
    offset: str | ArrayLike | None = None,
) -> EvaluatedPredictions:
    """Return new rows with their times, each of weight 1, predicted by all trees.

    The risk is that of a `cause`; only boosted trees have an `offset`.
    """
    X, complete = fit.design.matrix(newdata)
    rows = newdata[complete]
    predicted: PredictedCurves
    if isinstance(fit, BoostedSurvivalFit):
        boosted, X = reading_empty_cells(fit, X)
        scores = boosted.scores(X, fit.offset.of(newdata, offset, complete))[0]
        predicted = PredictedScores(fit.curves, scores)
    else:
        predicted = _of_cause(PredictedRows(*reading_empty_cells(fit, X)), cause)
    times = fit.design.response.times(rows)
    return evaluated_rows(fit, predicted, times, np.ones(len(times)), NEW, rows, cause)


def evaluated_rows(
    fit: SurvivalFit | BoostedSurvivalFit,
    predicted: PredictedCurves,
    times: SurvivalTimes,
    weights: Floats,
    source: str,
    newdata: pd.DataFrame | None,
    cause: str | None = None,
) -> EvaluatedPredictions:
    """Return predictions of rows with their times (m,), those of positive weight (m,) evaluated.

    `newdata` has the rows if they are new, a `cause` is the one whose risk is `predicted`. Raises
    `NoValidationRowsError` if no row has a prediction and an event.
    """
    risk = predicted.risk()
    used = (weights > 0) & ~np.isnan(risk)
    kept, code = times.keeping(used), _code(fit, cause)
    groups = groups_of_rows(fit, newdata, used)
    rows = EvaluatedTimes(kept.time, kept.event, weights[used], source, kept.start, groups, code)
    if not rows.happened.any():
        of_cause = "" if cause is None else f" of the cause {cause!r}"
        raise NoValidationRowsError(
            f"none of the {len(kept)} validation rows has an event{of_cause}: give rows with events"
        )
    if rows.start is not None:
        since = rows.first_time()
        used[used] = rows.time > since
        rows = rows.given_none_before(since)
    return EvaluatedPredictions(rows, risk[used], predicted, used, _reference(fit, rows))


def _reference(fit: SurvivalFit | BoostedSurvivalFit, rows: EvaluatedTimes) -> StepCurve:
    """Return the curve of the training rows by which the evaluated rows are predicted."""
    trained, weights = fit.times, fit.data.weights
    lives = trained.time, trained.event
    known = cumulative_incidence(*lives, rows.cause, weights, trained.start)
    if rows.since == 0:
        return StepCurve(known.times, 1 - known.incidence, 1.0)
    later = known.times[known.times > rows.since]
    spared = 1 - known.curve(np.concatenate([[rows.since], later]))
    alive = product_limit(known.sets).curve(rows.since)
    return StepCurve(later, conditional_survival(spared, alive), 1.0)


def _of_cause(rows: PredictedRows, cause: str | None) -> PredictedCurves:
    code = _code(rows.fit, cause)
    return rows if code is None else PredictedCause(rows, code - 1)


def _code(fit: SurvivalFit | BoostedSurvivalFit, cause: str | None) -> int | None:
    """Return the number of a cause from 1; None: all causes."""
    if cause is None:
        return None
    return int(hazards.cause_numbers(cause, fit.design.response.causes)[0]) + 1


# By how much survival is predicted worse out of bag when a predictor is permuted among the rows.
# Each row is predicted by the mean of the trees that did not sample it, as it is and with the value
# of another row: so it is the forest that is evaluated, not each tree.

# Permutations of a predictor, of fewer rows more of them.
FEWEST, MOST, ROWS = 2, 10, 2000
# Times of the integrated Brier score.
TIMES = 20
# Keeps these permutations apart from others that are drawn by the fit's seed.
KEY = 45


class RepeatedEstimate(NamedTuple):
    """The mean of an estimate over random permutations, and the standard error of this mean."""

    mean: RowwiseEstimate
    monte_carlo_error: float


class LossesByPredictor(NamedTuple):
    """How much Uno's C falls and the integrated Brier score rises without each of P predictors."""

    concordance: list[RepeatedEstimate]
    brier: list[RepeatedEstimate]


def losses_when_permuted(
    evaluated: EvaluatedPredictions, seed: int, progress: bool = False
) -> LossesByPredictor:
    """Return the losses of the fit whose out-of-bag predictions are `evaluated`."""
    of_cause = evaluated.predicted if isinstance(evaluated.predicted, PredictedCause) else None
    predicted = evaluated.predicted if of_cause is None else of_cause.rows
    assert isinstance(predicted, PredictedRows)
    used = np.flatnonzero(evaluated.used)
    until = evaluated.rows.last_time()
    at = evaluated.rows.grid(until, TIMES)
    cause = None if of_cause is None else of_cause.cause
    values = _values(predicted, at, cause, evaluated.rows.since)

    def scores(of: PredictedRows) -> list[RowwiseEstimate]:
        """Return C and minus the integrated Brier score of the means of the trees."""
        means, rows = of.means(values)[evaluated.used], evaluated.rows
        C = concordances(rows, means[:, 0], until)
        survival = conditional_survival(means[:, 2:], means[:, 1]) if rows.since else means[:, 1:]
        score = brier_of_curves(rows, survival, at).integrated
        return [C[UNO], RowwiseEstimate(-score.estimate, -score.influence)]

    base = scores(predicted)
    repeats = int(np.clip(np.ceil(ROWS / len(used)), FEWEST, MOST))
    first, forest = predicted.fit.design.first, predicted.fit.forest
    in_splits = np.zeros(first[-1], dtype=np.bool_)
    in_splits[forest.index] = True
    losses: list[list[RepeatedEstimate]] = []
    with progress_bar(total=len(first) - 1, unit="predictor", progress=progress) as bar:
        for j in range(len(first) - 1):
            after = [base] * repeats
            if in_splits[first[j] : first[j + 1]].any():
                after = list(map(scores, _permutations(predicted, j, used, repeats, seed)))
            losses.append(
                [_mean_fall(*pair) for pair in zip(base, zip(*after, strict=True), strict=True)]
            )
            bar.update()
    concordance, brier = map(list, zip(*losses, strict=True))
    return LossesByPredictor(concordance, brier)


def _values(predicted: PredictedRows, at: Floats, cause: int | None, since: float) -> list[Floats]:
    """Return the numbers of nodes: risk, and probabilities of no event by the times."""
    curves, times = predicted.fit.curves, predicted.fit.event_times
    begun = predicted.ranks(np.array([since] if since else [])).tolist()
    alive = [survival_at(curves, rank) for rank in begun]
    ranks = begun + predicted.ranks(at).tolist()
    if cause is None:
        risk = mortality(curves, len(times))
        return [risk, *alive, *(survival_at(curves, rank) for rank in ranks)]
    risk = time_lost_at(curves, cause, times, float(times[-1]))
    return [risk, *alive, *(1 - incidence_at(curves, cause, rank) for rank in ranks)]


def _permutations(
    predicted: PredictedRows, j: int, used: NDArray[np.int64], repeats: int, seed: int
) -> Iterator[PredictedRows]:
    """Yield the rows with predictor j permuted among the `used` ones, each time anew."""
    X, rng = predicted.X, np.random.default_rng((seed, KEY, j))
    begin, end = (int(edge[j]) for edge in rows_of_predictors(X, predicted.fit.design.first))
    array = stored(X).copy()
    for _ in range(repeats):
        array[begin:end, used] = stored(X)[begin:end, rng.permutation(used)]
        yield replace(predicted, X=with_layout(array, layout_of(X)))


def _mean_fall(before: RowwiseEstimate, after: Sequence[RowwiseEstimate]) -> RepeatedEstimate:
    falls = [difference_of_estimates(before, each) for each in after]
    values = np.array([fall.estimate for fall in falls])
    influence = np.mean([fall.influence for fall in falls], axis=0)
    error = float(values.std(ddof=1) / np.sqrt(len(values)))
    return RepeatedEstimate(RowwiseEstimate(float(values.mean()), influence), error)


class BrierLosses(NamedTuple):
    """What the integrated Brier score of each of n rows is computed from, at G times.

    Rows have the `weight` (n, G) of the inverse probability to be seen, each divided by its case
    weight; `happened` (n, G): whether the event has; `shares` (G,) of the times in the mean.
    """

    at: Floats
    shares: Floats
    weight: Floats
    happened: Mask
    cause: int | None

    def of_rows(self, fit: SurvivalFit, X: Matrix, rows: NDArray[np.int64]) -> Floats:
        """Return the losses (m,) of rows with these numbers, as they are in X (p, m), by a fit."""
        of_all = PredictedRows(fit, X)
        predicted = of_all if self.cause is None else PredictedCause(of_all, self.cause - 1)
        error = 1 - predicted.survival(self.at) - self.happened[rows]
        return np.asarray((self.weight[rows] * error**2) @ self.shares)


def brier_losses(fit: Fit, cause: str | None) -> BrierLosses:
    """Return the losses of the training rows, by the censoring curve of all of them.

    Their weighted mean is the integrated Brier score up to the last time at which a tenth of the
    rows is at risk. Raises `InputError` if rows enter late, or none has an event.
    """
    times, weights = fit.data.require_times(), fit.data.weights
    if times.start is not None:
        raise InputError(
            "tests of importance compare Brier scores from time 0 on, and rows enter late: use "
            'importance("permutation")'
        )
    number = None
    if cause is not None:
        number = int(hazards.cause_numbers(cause, fit.design.response.causes)[0]) + 1
    rows = EvaluatedTimes(times.time, times.event, weights, TRAINING, cause=number)
    used = weights > 0
    if not (rows.happened & used).any():
        raise InputError("tests of importance need events: none of the rows has one")
    seen = rows.keeping(used)
    at = seen.grid(seen.last_time(), TIMES)
    states = weighted_states(times.time, times.event, weights, None)
    of_times = [states.at(float(t)) for t in at]
    each = np.where(used, weights, 1.0)
    weight = np.stack([now.weight / each for now in of_times], axis=1)
    happened = np.stack([now.past & rows.happened for now in of_times], axis=1)
    return BrierLosses(at, trapezoidal_shares(at), weight, happened, number)


# Risks and curves by boosted trees beside the observed times of the rows.
HELD_OUT_ROWS = "held out"


def evaluated_training_scores(fit: BoostedSurvivalFit, scores: Floats) -> EvaluatedPredictions:
    """Return the training rows with their scores (n,), out of bag if there are several runs."""
    weights, source = fit.data.weights, OUT_OF_BAG_ROWS
    if fit.control.n_runs == 1:
        source = HELD_OUT_ROWS if fit.held.any() else TRAINING
        weights = np.where(fit.held, weights, 0.0) if fit.held.any() else weights
    predicted = PredictedScores(fit.curves, scores)
    return evaluated_rows(fit, predicted, fit.times, weights, source, None)
