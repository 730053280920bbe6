"""By how much survival is predicted worse out of bag when a predictor is permuted among the rows.

Each row is predicted by the mean of the trees that did not draw it, as it is and with the value of
another row: so it is the forest that is judged, not each tree.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from odrf.engine.factors import layout_of, rows_of_predictors, stored, with_layout
from odrf.engine.survival.curve_numbers import incidence_at, mortality, survival_at, time_lost_at
from odrf.fits.survival.curves_of_rows import PredictedRows
from odrf.fits.survival.judged.judged_predictions import JudgedPredictions, PredictedCause
from odrf.public.progress import progress_bar
from odrf.statistics.survival.pseudo_values import (
    RowwiseEstimate,
    difference_of_estimates,
)
from odrf.statistics.survival.scores import UNO, brier_of_curves, concordances, conditional_survival

__all__ = ["LossesByPredictor", "RepeatedEstimate", "losses_when_permuted"]

# Permutations of a predictor, of fewer rows more of them.
FEWEST, MOST, ROWS = 2, 10, 2000
# Times of the integrated Brier score.
TIMES = 20
# Keeps these permutations apart from others that are drawn by the fit's seed.
KEY = 45


class RepeatedEstimate(NamedTuple):
    """The mean of an estimate over random permutations.

    Attributes
    ----------
    mean : RowwiseEstimate
    monte_carlo_error : float
        The standard error of this mean over permutations.
    """

    mean: RowwiseEstimate
    monte_carlo_error: float


class LossesByPredictor(NamedTuple):
    """What P predictors add.

    Attributes
    ----------
    concordance : list of P RepeatedEstimate
        By how much Uno's C falls.
    brier : list of P RepeatedEstimate
        By how much the integrated Brier score rises.
    """

    concordance: list[RepeatedEstimate]
    brier: list[RepeatedEstimate]


@dataclass(frozen=True)
class _Scoring:
    """Scores of the means of the trees at the rows that judge."""

    judged: JudgedPredictions
    until: float
    at: NDArray[np.float64]
    values: Sequence[NDArray[np.float64]]

    def scores(self, predicted: PredictedRows) -> list[RowwiseEstimate]:
        """Return C and minus the integrated Brier score."""
        means, rows = predicted.means(self.values)[self.judged.used], self.judged.rows
        found = concordances(rows, means[:, 0], self.until)
        survival = conditional_survival(means[:, 2:], means[:, 1]) if rows.since else means[:, 1:]
        score = brier_of_curves(rows, survival, self.at).integrated
        return [found[UNO], RowwiseEstimate(-score.estimate, -score.influence)]


def losses_when_permuted(
    judged: JudgedPredictions, seed: int, progress: bool = False
) -> LossesByPredictor:
    """Return the losses of the fit whose out-of-bag predictions are `judged`.

    All columns of a predictor are permuted together, among the rows that judge, at least twice: the
    fewer rows, the more often.
    """
    of_cause = judged.predicted if isinstance(judged.predicted, PredictedCause) else None
    predicted = judged.predicted if of_cause is None else of_cause.rows
    assert isinstance(predicted, PredictedRows)
    used = np.flatnonzero(judged.used)
    until = judged.rows.last_time()
    at = judged.rows.grid(until, TIMES)
    cause = None if of_cause is None else of_cause.cause
    values = _values(predicted, at, cause, judged.rows.since)
    scoring = _Scoring(judged, until, at, values)
    base = scoring.scores(predicted)
    repeats = int(np.clip(np.ceil(ROWS / len(used)), FEWEST, MOST))
    first, forest = predicted.fit.design.first, predicted.fit.forest
    in_splits = np.zeros(first[-1], dtype=np.bool_)
    in_splits[forest.index] = True
    losses = []
    with progress_bar(total=len(first) - 1, unit="predictor", progress=progress) as bar:
        for j in range(len(first) - 1):
            if in_splits[first[j] : first[j + 1]].any():
                others = _permutations(predicted, j, used, repeats, seed)
                scores = [scoring.scores(permuted) for permuted in others]
            else:
                scores = [base] * repeats
            losses.append([_differences(base, after) for after in scores])
            bar.update()
    by_score = [[_mean([one[k] for one in of]) for of in losses] for k in range(len(base))]
    return LossesByPredictor(*by_score)


def _values(
    predicted: PredictedRows, at: NDArray[np.float64], cause: int | None, since: float
) -> list[NDArray[np.float64]]:
    """Return what the nodes predict: the risk, and the probability of no event by the times.

    Before the latter, if it is given that there is none since a time, those of no event of any
    cause and of this cause by then.
    """
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


def _differences(
    before: Sequence[RowwiseEstimate], after: Sequence[RowwiseEstimate]
) -> list[RowwiseEstimate]:
    return [difference_of_estimates(*pair) for pair in zip(before, after, strict=True)]


def _mean(estimates: Sequence[RowwiseEstimate]) -> RepeatedEstimate:
    values = np.array([found.estimate for found in estimates])
    influence = np.mean([found.influence for found in estimates], axis=0)
    error = float(values.std(ddof=1) / np.sqrt(len(values)))
    return RepeatedEstimate(RowwiseEstimate(float(values.mean()), influence), error)
