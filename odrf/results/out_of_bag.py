"""Errors of training rows, predicted by all trees or out of bag."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf import fits
from odrf.errors import InputError
from odrf.fits.predicting import as_prob, as_response
from odrf.fits.responses import (
    asked_out_of_bag,
    leaves_rows_out,
    warn_of_rows_always_drawn,
    with_rows_apart,
)
from odrf.results.absent import (
    classes,
    known,
    numbers,
    ordered_classes,
    out_of_bag_rows,
    rows,
    scores,
)
from odrf.results.base import FittedResults, Rows


@known(rows, kept=True)
def training_error(self: FittedResults) -> float:
    """Error of the training rows, predicted by all trees.

    Mean squared error, or misclassification rate, weighted by case weights.  It is smaller than
    the error of new rows.  Rows that boosting held out by ``validation=`` are training rows,
    too; the summary tells the errors of both apart.
    """
    return fits.scores.mean_loss(self.fit, self._in_bag)


@known(numbers, scores)
def r_squared(self: FittedResults) -> float:
    """R²: share of the response's variance in the training rows that is explained.

    Of forests of `odrf.odrf`, of boosted trees with several runs, and of `odrf.auto`, by
    out-of-bag predictions.  NaN if the variance is so small that it is rounded to 0.

    Raises
    ------
    InputError
        For classes; for a forest in which no rows are out of bag.
    """
    return fits.scores.r_squared(self.fit, self._scored_error)


@known(classes, scores)
def confusion_matrix(self: FittedResults) -> pd.DataFrame:
    """Confusion matrix of the training rows: observed classes down, predicted classes across.

    Of forests of `odrf.odrf`, of boosted trees with several runs, and of `odrf.auto`, the
    predictions are out of bag; rows without one are left out.  Entries are sums of case
    weights.  The column ``error`` (``error_`` if a class is called so) is the error rate
    of each class.

    Raises
    ------
    InputError
        For a regression; for a forest in which no rows are out of bag.
    """
    return fits.scores.confusion_table(self.fit, self._scored)


@known(ordered_classes, scores)
def mean_rank_error(self: FittedResults) -> float:
    """Mean absolute difference in rank between predicted and observed class, for ordered ones.

    The mean is weighted by case weights.  The predictions are those of `confusion_matrix`.

    Raises
    ------
    InputError
        If the classes are not ordered; for a forest in which no rows are out of bag.
    """
    return fits.scores.mean_rank_error(self.fit, self._scored)


@known(out_of_bag_rows)
def oob_prediction(self: FittedResults) -> pd.Series:
    """Prediction of each training row by the trees that did not draw it.

    For boosted trees, by the runs that did not draw it.  Numbers or classes; missing for rows
    that all trees, or runs, drew.  No tree draws rows of weight 0; of a fit with `groups` or
    `order` theirs are missing.

    Raises
    ------
    InputError
        If every tree uses all rows, or boosted trees have only one run.
    """
    predicted = as_response(self.fit, self._oob_value, self.fit.data.index)
    return with_rows_apart(self.fit, predicted, self._as_new, out_of_bag=True)


def _probabilities(self: FittedResults) -> None:
    if self.classes is None:
        raise InputError("oob_prob needs classes; for a regression see oob_prediction")


@known(_probabilities, out_of_bag_rows)
def oob_prob(self: FittedResults) -> pd.DataFrame:
    """Out-of-bag probabilities of the classes.

    Raises
    ------
    InputError
        For a regression, or if there are no rows out of bag.
    """
    probabilities = as_prob(self.fit, self._oob_value, self.fit.data.index)

    def as_new(rows: pd.DataFrame) -> pd.DataFrame:
        return self.predict(rows, type="prob")

    return with_rows_apart(self.fit, probabilities, as_new, out_of_bag=True)


def values_asked(
    self: FittedResults, newdata: Rows, training: str | None
) -> NDArray[np.float64] | None:
    """Return the values (n, K) of training rows that are asked out of bag; else None."""
    leaves_out = newdata is None and leaves_rows_out(self.fit)
    if not asked_out_of_bag(training, newdata, leaves_out):
        return None
    structure = self.fit.data.structure
    if structure is None or structure.order is None:  # in time, early rows are never out of bag
        warn_of_rows_always_drawn(self._oob_value, self._drawn_by)
    return self._oob_value
