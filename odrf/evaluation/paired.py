"""Two fits compared on the same rows, out of bag or new, by paired tests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from odrf.checks import checked_part
from odrf.design.weights import row_labels
from odrf.errors import InputError
from odrf.evaluation.models import WORDS
from odrf.fits.refit import with_class_weights
from odrf.fits.responses import groups_of_rows, leaves_rows_out
from odrf.fits.survival.validation import NEW, OUT_OF_BAG_ROWS, EvaluatedPredictions, evaluated_rows
from odrf.public import public
from odrf.results.base import AnyResults, FittedResults
from odrf.results.survival.estimand import EstimandResults
from odrf.statistics.paired import (
    PairedDifference,
    PairedRows,
    difference_by_influence,
    difference_of_areas,
    difference_of_error_rates,
    difference_of_means,
)
from odrf.text.summary import TableReport

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

FEWEST_ROWS = 2
# The smallest probability whose logarithm is taken, as by the metric "log_loss".
LEAST = np.finfo(np.float64).eps
WAY_OUT = "give rows that neither fit was grown on as newdata="
NOTE = (
    "Differences are the first minus the second; tests are two-sided and paired. Both fits are "
    "taken as they are: that other training rows would give other fits is not in the errors, but "
    "in those of compare()."
)


@public
@dataclass(eq=False, repr=False)
class PairedComparison(TableReport):
    """Scores of two fits on the same rows, with paired tests.

    Made by `odrf.compare_fits`.

    Attributes
    ----------
    first, second : str
        The calls of the fits.
    source : str
        The rows: ``"out of bag"``, or ``"new"``.
    n_rows : int
    n_groups : int or None
        None if rows are independent.
    level : float
    table : DataFrame
        One row for each measure: the scores of both fits, ``first`` and ``second``; their
        ``difference``, the first minus the second, with ``std_error``, ``conf_low`` and
        ``conf_high``; the two-sided ``p_value``, and the ``test`` that it is of.
    """

    first: str
    second: str
    source: str
    n_rows: int
    n_groups: int | None
    level: float
    table: pd.DataFrame

    _heading = "Scores"
    _note = NOTE

    @property
    def call(self) -> str:
        """The call that made the comparison."""
        newdata = ", newdata" if self.source == NEW else ""
        level = "" if self.level == 0.95 else f", level={self.level}"
        return f"compare_fits(first, second{newdata}{level})"

    @property
    def _title(self) -> str:
        return "Comparison of two fits on the same rows"

    def _facts(self) -> dict[str, str]:
        groups = {} if self.n_groups is None else {"Groups": str(self.n_groups)}
        return {
            "First": self.first,
            "Second": self.second,
            "Rows": f"{self.n_rows}, {self.source}",
            **groups,
            "Intervals": f"{100 * self.level:g} %",
        }


class EvaluatedPair(NamedTuple):
    """Predictions of two fits for n rows: numbers (n, 1), or probabilities (n, K).

    `y`: responses, or codes of classes (n,).  `wrong`: of classes, for each fit which rows (n,) it
    has wrong.  `source` says in words what the rows are.
    """

    y: Floats
    predicted: tuple[Floats, Floats]
    wrong: tuple[Floats, Floats] | None
    rows: PairedRows
    source: str


@public
def compare_fits(
    first: AnyResults,
    second: AnyResults,
    newdata: pd.DataFrame | None = None,
    *,
    groups: str | ArrayLike | None = None,
    level: float = 0.95,
) -> PairedComparison:
    """Compare two fits on the same rows: differences of their scores, with paired tests.

    Parameters
    ----------
    first, second : results
        Fits to the same response, whatever their predictors, options and kind.
    newdata : DataFrame, optional
        Rows with responses that neither fit was grown on; each counts once.  By default the
        training rows, which must be the same for both, predicted out of bag, with their weights.
    groups : str or array-like, optional
        Rows of a group are not independent.  A column of `newdata`, or one label for each row of
        `newdata`, or for each training row of the fits.  By default the ``groups=`` of the fits.
    level : float, default 0.95
        Nominal coverage of the intervals.

    Returns
    -------
    PairedComparison
        For numbers the mean squared and the mean absolute error; for classes the error rate, the
        Brier score, the log loss and, of two classes, the area under the ROC curve; for survival
        times the scores of their summaries.

    Raises
    ------
    InputError
        If the fits have other responses or other training rows; if no rows are out of bag; if rows
        have no response, or `groups` are no groups.

    Notes
    -----
    Error rates are compared by McNemar's exact test, areas by that of DeLong, DeLong and
    Clarke-Pearson (1988), mean losses by Student's t of the paired differences, and scores of
    survival times by a normal test with the infinitesimal jackknife.  With groups, sums over groups
    take the place of rows (Obuchowski 1997), and all tests are by Student's t; McNemar's also
    where rows have different weights.

    The fits are taken as they are.  Which of two ways to fit is better on other training rows is a
    question for `odrf.compare`.  If out-of-bag errors have chosen options of one fit, it looks a
    little too good.

    References
    ----------
    E. R. DeLong, D. M. DeLong and D. L. Clarke-Pearson (1988). Comparing the areas under two or
    more correlated receiver operating characteristic curves. Biometrics 44, 837-845.

    Q. McNemar (1947). Note on the sampling error of the difference between correlated proportions
    or percentages. Psychometrika 12, 153-157.

    N. A. Obuchowski (1997). Nonparametric analysis of clustered ROC curve data. Biometrics 53,
    567-578.

    Examples
    --------
    >>> import odrf
    >>> data = odrf.load_data("breast_cancer")
    >>> oblique = odrf.odrf("diagnosis ~ .", data, n_trees=50, seed=1)
    >>> axis = odrf.odrf("diagnosis ~ .", data, n_trees=50, projection="axis", seed=1)
    >>> odrf.compare_fits(oblique, axis).table["test"].to_dict()
    {'error rate': 'McNemar', 'Brier score': 't', 'log loss': 't', 'area under ROC curve': 'DeLong'}
    """
    level = checked_part("level", level)
    for argument, fit in (("first", first), ("second", second)):
        _require_comparable(argument, fit)
    if first.kind != second.kind:
        raise InputError(
            f"the response of first is {WORDS[first.kind]} and that of second "
            f"{WORDS[second.kind]}: compare fits to the same response"
        )
    if newdata is None:
        _require_same_training_rows(first, second)
    if isinstance(first, FittedResults) and isinstance(second, FittedResults):
        pair = _evaluated_pair(first, second, newdata, groups, level)
        measures, units = _measures(pair), pair.rows.groups
        source, n_rows = pair.source, len(pair.y)
    else:
        one, other, used = _evaluated_times(first, second, newdata)
        units = _groups(first, second, newdata, groups, used)
        measures = _measures_of_times(one, other, units, level)
        source, n_rows = one.rows.source, len(one.rows.time)
    n_groups = None if units is None else len(np.unique(units))
    table = pd.DataFrame.from_dict(measures, orient="index", columns=PairedDifference._fields)
    table = table.rename_axis(index="measure")
    return PairedComparison(first.call, second.call, source, n_rows, n_groups, level, table)


def _require_comparable(argument: str, fit: Any) -> None:
    if not isinstance(fit, AnyResults) or isinstance(fit, EstimandResults):
        raise InputError(
            f"{argument} is of type {type(fit).__name__}: give a fit of odt(), odrf(), odbt(), "
            "graf() or auto(); compare() takes other models"
        )


def _require_same_training_rows(first: AnyResults, second: AnyResults) -> None:
    """Require rows out of bag in both fits, and the same ones."""
    for argument, fit in (("first", first), ("second", second)):
        if fit.rows is None or not leaves_rows_out(fit.fit):
            raise InputError(f"{argument} has no out-of-bag predictions of its rows: {WAY_OUT}")
    if not first.fit.data.index.equals(second.fit.data.index):
        raise InputError(f"first and second have other training rows: {WAY_OUT}")


def _require_same_responses(first: NDArray[Any], second: NDArray[Any]) -> None:
    """Require the same observed numbers or classes (n,) of both fits."""
    if not np.array_equal(first, second):
        raise InputError(
            "first and second have other responses in the same rows: compare fits to the same "
            "response, on the same scale"
        )


def _groups(
    first: AnyResults,
    second: AnyResults,
    newdata: pd.DataFrame | None,
    groups: str | ArrayLike | None,
    used: NDArray[np.bool_],
) -> Integers | None:
    """Return the codes of the groups of the `used` rows: those asked for, else those of a fit."""
    if groups is None:
        of_fit = groups_of_rows(first.fit, newdata, used)
        return groups_of_rows(second.fit, newdata, used) if of_fit is None else of_fit
    frame = pd.DataFrame(index=first.fit.data.index) if newdata is None else newdata
    labels = row_labels("groups", groups, frame)[used]
    codes = pd.factorize(labels)[0].astype(np.int64)
    if (codes < 0).any():
        raise InputError("groups= has missing values: fill them in, or leave these rows out")
    if codes.max() < 1:
        raise InputError("groups= has one group only, and differences need two or more")
    return codes


# Numbers and classes.


def _evaluated_pair(
    first: FittedResults,
    second: FittedResults,
    newdata: pd.DataFrame | None,
    groups: str | ArrayLike | None,
    level: float,
) -> EvaluatedPair:
    """Return the predictions of both fits for the rows that both predict."""
    both = [_predicted(fit, newdata) for fit in (first, second)]
    observed = [_observed(fit, newdata) for fit in (first, second)]
    _require_same_responses(*observed)
    source = NEW if newdata is not None else with_class_weights(OUT_OF_BAG_ROWS, first.fit.data)
    n = len(observed[0])
    weights = _common_weights(first, second) if newdata is None else np.ones(n)
    known = weights > 0
    for value, _ in both:
        known &= value.notna().all(axis=1).to_numpy()
    if known.sum() < FEWEST_ROWS:
        raise InputError(f"fewer than two rows have predictions of both fits: {WAY_OUT}")
    values = [value.to_numpy(dtype=np.float64)[known] for value, _ in both]
    rows = PairedRows(weights[known], _groups(first, second, newdata, groups, known), level)
    y = observed[0][known]
    if first.classes is None or second.classes is None:
        return EvaluatedPair(y, (values[0], values[1]), None, rows, source)
    one, other = ((label.to_numpy()[known] != y).astype(np.float64) for _, label in both)
    in_order = values[1][:, second.classes.get_indexer(first.classes)]
    codes = first.classes.get_indexer(pd.Index(y)).astype(np.float64)
    return EvaluatedPair(codes, (values[0], in_order), (one, other), rows, source)


def _observed(fit: FittedResults, newdata: pd.DataFrame | None) -> NDArray[Any]:
    """Return the observed numbers or classes of new rows, or of the training rows."""
    response = fit.fit.design.response
    y = fit.fit.data.y if newdata is None else response.numbers(newdata)
    return y if response.classes is None else response.classes.to_numpy()[y.astype(np.int64)]


def _predicted(fit: Any, newdata: pd.DataFrame | None) -> tuple[pd.DataFrame, pd.Series]:
    """Return numbers, or probabilities, as columns, and predicted numbers or classes."""
    if newdata is not None:
        label = fit.predict(newdata)
        return label.to_frame() if fit.classes is None else fit.predict(newdata, "prob"), label
    label, apart = fit.oob_prediction, fit.fit.data.apart
    value = label.to_frame() if fit.classes is None else fit.oob_prob
    return (value, label) if apart is None else (value[~apart.where], label[~apart.where])


def _common_weights(first: FittedResults, second: FittedResults) -> Floats:
    """Return the weights of the training rows; 1 for those that count if they are not the same."""
    one, other = (fit.fit.data.weights / fit.fit.data.weights.mean() for fit in (first, second))
    if np.allclose(one, other):
        return one
    return ((one > 0) & (other > 0)).astype(np.float64)


def _measures(pair: EvaluatedPair) -> dict[str, PairedDifference]:
    """Return the differences of the scores by their names."""
    (one, other), rows = pair.predicted, pair.rows
    if pair.wrong is None:
        off, other_off = one[:, 0] - pair.y, other[:, 0] - pair.y
        return {
            "mean squared error": difference_of_means(off**2, other_off**2, rows),
            "mean absolute error": difference_of_means(np.abs(off), np.abs(other_off), rows),
        }
    codes = pair.y.astype(np.int64)
    measures = {
        "error rate": difference_of_error_rates(*pair.wrong, rows),
        "Brier score": difference_of_means(_brier(one, codes), _brier(other, codes), rows),
        "log loss": difference_of_means(_log_loss(one, codes), _log_loss(other, codes), rows),
    }
    if one.shape[1] == 2 and len(np.unique(codes)) == 2:
        event = codes.astype(np.float64)
        area = difference_of_areas(one[:, 1], other[:, 1], event, rows)
        measures["area under ROC curve"] = area
    return measures


def _brier(p: Floats, codes: Integers) -> Floats:
    """Return the squared distances (n,) of probabilities (n, K) from the indicators of classes."""
    return np.asarray(np.sum((p - np.eye(p.shape[1])[codes]) ** 2, axis=1))


def _log_loss(p: Floats, codes: Integers) -> Floats:
    """Return minus the logarithms (n,) of the probabilities (n, K) of the observed classes."""
    return np.asarray(-np.log(np.maximum(p[np.arange(len(p)), codes], LEAST)))


# Survival times.


def _evaluated_times(
    first: Any, second: Any, newdata: pd.DataFrame | None
) -> tuple[EvaluatedPredictions, EvaluatedPredictions, NDArray[np.bool_]]:
    """Return the predictions of both fits for the rows that both predict, and which rows (n,)."""
    fits, rows = (first, second), newdata
    known = np.ones(len(first.fit.data.index if newdata is None else newdata), dtype=np.bool_)
    if newdata is None:
        of_fits = [np.asarray(fit.fit.data.weights) for fit in fits]
    else:
        for fit in fits:
            known &= fit.fit.design.matrix(newdata)[1]
        rows = newdata[known]
        of_fits = [np.ones(len(rows))] * 2
    one, other = (fit._validation(rows, None) for fit in fits)
    times = [fit.fit.times if rows is None else fit.fit.design.response.times(rows) for fit in fits]
    for of_row in ("time", "event"):
        _require_same_responses(*(getattr(each, of_row) for each in times))
    common = one.used & other.used
    if not np.array_equal(one.used, other.used):
        of_fits = [np.where(common, weights, 0.0) for weights in of_fits]
        one, other = (
            evaluated_rows(fit.fit, each.predicted, time, weights, each.rows.source, rows)
            for fit, each, time, weights in zip(fits, (one, other), times, of_fits, strict=True)
        )
    used = np.zeros(len(known), dtype=np.bool_)
    used[known] = one.used
    return one, other, used


def _measures_of_times(
    first: EvaluatedPredictions,
    second: EvaluatedPredictions,
    groups: Integers | None,
    level: float,
) -> dict[str, PairedDifference]:
    """Return the differences of the scores that summaries show by their names."""
    scores, others = first.scores(), second.scores()
    return {
        name: difference_by_influence(
            (score.estimate, others[name].estimate),
            score.influence - others[name].influence,
            groups,
            level,
        )
        for name, score in scores.items()
    }
