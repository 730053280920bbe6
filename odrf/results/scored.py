"""How well a fit predicts its own training rows."""

from __future__ import annotations

from abc import abstractmethod
from functools import cached_property

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf.fits.fit import AnyFit
from odrf.fits.scores import confusion_table, mean_loss, mean_rank_error, r_squared
from odrf.public import public
from odrf.text.summary import Carded

__all__ = ["Scored"]


@public
class Scored(Carded):
    """Base class of results with scores of the training rows."""

    fit: AnyFit

    @cached_property
    def training_error(self) -> float:
        """Error of the training rows, predicted by all trees.

        Mean squared error, or misclassification rate, weighted by case weights.  It is smaller than
        the error of new rows.  Rows that boosting held out by ``validation=`` are training rows,
        too; the summary tells the errors of both apart.
        """
        return mean_loss(self.fit, self._in_bag)

    @property
    def r_squared(self) -> float:
        """R²: share of the response's variance in the training rows that is explained.

        Of forests of `odrf.odrf`, of boosted trees with several runs, and of `odrf.auto`, by
        out-of-bag predictions.  NaN if the variance is so small that it is rounded to 0.

        Raises
        ------
        InputError
            For classes; for a forest in which no rows are out of bag.
        """
        return r_squared(self.fit, self._scored_error)

    @property
    def confusion_matrix(self) -> pd.DataFrame:
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
        return confusion_table(self.fit, self._scored)

    @property
    def mean_rank_error(self) -> float:
        """Mean absolute difference in rank between predicted and observed class, for ordered ones.

        The mean is weighted by case weights.  The predictions are those of `confusion_matrix`.

        Raises
        ------
        InputError
            If the classes are not ordered; for a forest in which no rows are out of bag.
        """
        return mean_rank_error(self.fit, self._scored)

    @property
    def _scored(self) -> NDArray[np.float64]:
        """Return the values (n, K) that scores of the training rows evaluate."""
        return self._in_bag

    @property
    def _scored_error(self) -> float:
        return self.training_error

    @property
    @abstractmethod
    def _in_bag(self) -> NDArray[np.float64]:
        """Return the mean response or class shares (n, K) that all trees predict."""
