"""What several boosting runs say of the rows that they did not draw."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf.engine.boosting.runs import out_of_bag
from odrf.engine.boosting.sums import added_up_by_run
from odrf.errors import InputError
from odrf.fits.boosted_fit import BoostedFit
from odrf.fits.prediction.predicting import as_response
from odrf.pruning.held_out import losses_of
from odrf.results.fitted import FittedResults

__all__ = ["BaggedResults"]


class BaggedResults(FittedResults):
    """The part of boosted trees' results that the rows out of the runs' bags tell."""

    fit: BoostedFit

    @cached_property
    def _out_of_bag(self) -> NDArray[np.float64]:
        """Return the mean response or the class shares (n, K) by runs that did not draw a row."""
        fit = self.fit
        if fit.control.n_runs == 1:
            raise InputError(
                "out-of-bag results need runs with rows of their own: fit with n_runs=10 or so, "
                "or hold rows out by validation="
            )
        boosted = fit.boosted
        scores = added_up_by_run(boosted.forest, fit.data.X, boosted.starts, fit.control.n_jobs)
        # rows held out are out of every bag
        missed = np.ones((fit.control.n_runs, self.nobs), dtype=bool)
        missed[:, ~fit.held] = [own.counts == 0 for own in boosted.drawn]
        return fit.loss.means(out_of_bag(list(scores), missed) + fit.offset.values)

    @property
    def oob_prediction(self) -> pd.Series:
        """Prediction of each training row by the runs that did not draw it.

        Numbers or classes; missing for a row that every run drew.

        Raises
        ------
        InputError
            If there is one run only.
        """
        return as_response(self.fit, self._out_of_bag, self.fit.data.index)

    @property
    def oob_error(self) -> float:
        """Mean squared error or misclassification rate of the predictions out of bag.

        Raises
        ------
        InputError
            If there is one run only, or all runs drew all rows.
        """
        value, data = self._out_of_bag, self.fit.data
        known = ~np.isnan(value[:, 0]) & (data.weights > 0)
        if not known.any():
            raise InputError("every run drew every row: use more runs, as in n_runs=10")
        losses = losses_of(value[known], data.y[known], self.fit.ordered)
        return float(np.average(losses, weights=data.weights[known]))
