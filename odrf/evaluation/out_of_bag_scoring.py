"""Scores of a fit on its out-of-bag rows, by any metric, with standard errors."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from odrf.design.folds import fold_numbers, fold_of_rows, most_folds, rows_to_divide
from odrf.errors import InputError
from odrf.evaluation.metrics import AUTO, METRICS, Metric
from odrf.evaluation.survival.out_of_bag_times import JUDGED, out_of_bag_score_of_times
from odrf.fits.fit import AnyFit, BoostedFit, Fit
from odrf.fits.responses import leaves_rows_out
from odrf.fits.scores import out_of_bag_loss
from odrf.results.forest_predictions import OutOfBagResults

__all__ = ["out_of_bag_score"]

# Groups of the jackknife; with more of them the standard error hardly changes.
GROUPS = 20


def out_of_bag_score(fit: Any, metric: Metric, seed: int) -> tuple[float, float]:
    """Return the score of the out-of-bag predictions, and its standard error.

    By the default metric, rows of forests of `odrf` count by their case weights.  By another
    metric, and in other fits, every row of positive weight counts once.  Then the standard error is
    that of the jackknife that leaves out one of at most 20 parts of the rows at a time.  The parts
    are random; or whole groups, or blocks of time, if the fit was made with `groups` or `order`.

    Parameters
    ----------
    fit : ODRFResults, ODBTResults or AutoResults; or results for times to an event
        Of these the scores and errors are those of their ``score()``.
    metric : Metric
    seed : int
        Seed of the groups.

    Raises
    ------
    InputError
        If the fit has no out-of-bag rows.
    """
    if isinstance(fit, JUDGED):
        return out_of_bag_score_of_times(fit, metric)
    if not isinstance(fit, OutOfBagResults) or _is_one_run(fit.fit):
        raise InputError(
            'method="oob" needs out-of-bag rows, which only forests of odrf.odrf, boosted trees '
            'with several runs and stacks of odrf.auto have: use method="cv"'
        )
    # a function of the user may have the name of a metric
    if isinstance(fit.fit, Fit) and metric == METRICS[AUTO[fit.kind]]:
        return out_of_bag_loss(fit.fit)
    known, y, predicted = _observed_and_predicted(fit, metric)
    rows = rows_to_divide(fit.fit.design, fit.fit.data)
    if rows.groups is None and rows.order is None:
        group = fold_of_rows(y, 1, min(GROUPS, len(y)), seed)
    else:
        group = fold_numbers(rows, min(GROUPS, most_folds(rows)), seed)[known]
    without = [_score(fit, metric, y[group != k], predicted[group != k]) for k in np.unique(group)]
    spread = np.array(without) - np.mean(without)
    std_error = np.sqrt((len(without) - 1) / len(without) * np.sum(spread**2))
    return _score(fit, metric, y, predicted), float(std_error)


def _is_one_run(fit: AnyFit) -> bool:
    return isinstance(fit, BoostedFit) and not leaves_rows_out(fit)


def _observed_and_predicted(
    fit: OutOfBagResults, metric: Metric
) -> tuple[NDArray[np.bool_], NDArray[np.float64], NDArray[Any]]:
    """Return which rows have out-of-bag predictions, and responses or class codes, and these."""
    probabilities = metric.needs_probabilities
    predicted = fit.oob_prob if probabilities else fit.oob_prediction.to_frame()
    data = fit.fit.data
    if data.apart is not None:
        predicted = predicted[~data.apart.where]
    known = predicted.notna().all(axis=1).to_numpy() & (data.weights > 0)
    values = predicted[known].to_numpy()
    return known, data.y[known], values if probabilities else values[:, 0]


def _score(
    fit: OutOfBagResults, metric: Metric, y: NDArray[np.float64], predicted: NDArray[Any]
) -> float:
    if fit.classes is None:
        return metric.score(y, predicted.astype(np.float64))
    codes = y.astype(np.int64)
    observed = codes if metric.needs_probabilities else fit.classes.to_numpy()[codes]
    return metric.score(observed, predicted)
