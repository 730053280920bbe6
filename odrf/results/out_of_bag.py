"""What a fit predicts for its training rows by the trees that did not draw them."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf.fits.prediction.predicting import as_response
from odrf.results.fitted import FittedResults

__all__ = ["OutOfBagResults"]


class OutOfBagResults(FittedResults):
    """The part of the results of several trees that their out-of-bag rows tell."""

    @property
    def oob_prediction(self) -> pd.Series:
        """Prediction of each training row by the trees that did not draw it.

        Of boosted trees those are runs.  Numbers or classes; missing for a row that all drew.

        Raises
        ------
        InputError
            If all trees saw all rows, or if boosted trees are of one run only.
        """
        return as_response(self.fit, self._oob_value, self.fit.data.index)

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
        """Return the mean response or the class shares (n, K); NaN where there are none."""
