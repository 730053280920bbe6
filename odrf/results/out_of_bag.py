"""Out-of-bag results, which forests and boosted trees share."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar, cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf.errors import InputError
from odrf.fits.predicting import as_prob, as_response
from odrf.fits.responses import (
    asked_out_of_bag,
    leaves_rows_out,
    warn_of_rows_always_drawn,
    with_rows_apart,
)
from odrf.results.fitted import FittedResults

__all__ = ["OutOfBagResults"]


class OutOfBagResults(FittedResults):
    """Base class of results with out-of-bag predictions."""

    _drawn_by: ClassVar[str] = "tree"

    @property
    def oob_prediction(self) -> pd.Series:
        """Prediction of each training row by the trees that did not draw it.

        For boosted trees, by the runs that did not draw it.  Numbers or classes; missing for rows
        that all trees, or runs, drew.  No tree draws rows of weight 0; of a fit with `groups` or
        `order` theirs are missing.

        Raises
        ------
        InputError
            If every tree uses all rows, or boosted trees have only one run.
        """
        found = as_response(self.fit, self._oob_value, self.fit.data.index)
        return with_rows_apart(self.fit, found, self._as_new, out_of_bag=True)

    @property
    def oob_prob(self) -> pd.DataFrame:
        """Out-of-bag probabilities of the classes.

        Raises
        ------
        InputError
            For a regression, or if there are no rows out of bag.
        """
        if self.kind == "regression":
            raise InputError("oob_prob needs classes; for a regression see oob_prediction")
        found = as_prob(self.fit, self._oob_value, self.fit.data.index)
        return with_rows_apart(self.fit, found, self._prob_as_new, out_of_bag=True)

    def _prob_as_new(self, rows: pd.DataFrame) -> pd.DataFrame:
        return cast(pd.DataFrame, self.predict(rows, type="prob"))

    @property
    @abstractmethod
    def oob_error(self) -> float:
        """Out-of-bag mean squared error, or misclassification rate.

        Raises
        ------
        InputError
            If there are no rows out of bag.
        """

    @property
    @abstractmethod
    def _oob_value(self) -> NDArray[np.float64]:
        """Return out-of-bag means or class probabilities (n, K); NaN for rows without."""

    def _out_of_bag_asked(
        self, newdata: pd.DataFrame | None, training: str | None
    ) -> NDArray[np.float64] | None:
        leaves_out = newdata is None and leaves_rows_out(self.fit)
        if not asked_out_of_bag(training, newdata, leaves_out):
            return None
        structure = self.fit.data.structure
        if structure is None or structure.order is None:  # in time, early rows are never out of bag
            warn_of_rows_always_drawn(self._oob_value, self._drawn_by)
        return self._oob_value
