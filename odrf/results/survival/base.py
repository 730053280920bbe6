"""What all results for survival times have, and what trees and forests of them have."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf import fits, reports
from odrf.options.tree import ResolvedOptions
from odrf.results.base import AnyResults, Rows

if TYPE_CHECKING:
    from odrf.fits.survival.boosted import BoostedSurvivalFit
    from odrf.fits.survival.fit import SurvivalFit
    from odrf.fits.survival.validation import EvaluatedPredictions
    from odrf.reports.importance import MeasuredImportance
    from odrf.reports.survival.consistency import CurveConsistency

FOR_CLASSES = "it is for classes: see score(), calibration() and roc()"
NOT_OF_TIMES = "it is of responses that are numbers or classes: see {}"
CURVES_OF_TREES = {
    "classes": FOR_CLASSES,
    "rows to add": "fit again for more rows",
    "pixel_importance": NOT_OF_TIMES.format("importance()"),
    "projection_importance": NOT_OF_TIMES.format("importance()"),
    "predictive_check": "it is of numbers: see calibration()",
    "get_prediction": "it predicts curves: see bands() of a forest of odrf()",
    "oob_error": "see oob_scores of a forest",
}
"""What trees and forests for survival times lack."""
OF_ONE_NUMBER = (
    "one number",
    "neighbours",
    "means of trees",
    "one sum of trees",
    "trees to imitate",
)
"""What one number of predicted curves has, and the curves have not."""


class SurvivalResults(AnyResults):
    """Base class of the results for survival times.

    Parameters
    ----------
    fit : SurvivalFit or BoostedSurvivalFit
        The fit, from which the results are computed when they are needed.
    """

    fit: SurvivalFit | BoostedSurvivalFit
    predict: Callable[..., Any]
    score: Callable[..., pd.DataFrame]
    _validation: Callable[..., EvaluatedPredictions]
    """Predictions of new rows or, without them, of the training rows, for a cause or offset."""

    # Fit
    @property
    def event_times(self) -> NDArray[np.float64]:
        """The different times (R,) of events of the training rows, ascending."""
        return self.fit.event_times

    # Checks
    def consistency(self) -> CurveConsistency:
        """Report which result on consistency covers the predicted curves, and what is not covered.

        Returns
        -------
        CurveConsistency
            With ``table``, ``conclusion`` and ``summary()``.
        """
        return reports.survival.consistency.CurveConsistency(self.fit)

    @property
    @abstractmethod
    def _evaluated_training(self) -> EvaluatedPredictions:
        """Predictions for the training rows, all causes as one; the first call computes them."""

    @property
    def _validation_if_any(self) -> EvaluatedPredictions | None:
        """Predictions for training rows, all causes as one; None if none of them has an event."""
        with suppress(fits.survival.validation.NoValidationRowsError):
            return self._evaluated_training
        return None


class LeafCurveResults(SurvivalResults):
    """Base class of the results of trees and forests, whose leaves have curves."""

    fit: SurvivalFit

    # Fit
    @property
    def control(self) -> ResolvedOptions:
        """The options of the fit, with the values that were used."""
        return self.fit.control

    @cached_property
    def _unseen(self) -> NDArray[np.bool_]:
        """Which rows (B, n) are out of bag for each tree."""
        return self.fit.draws.all_unseen()

    def _validation(self, newdata: Rows, cause: str | None = None) -> EvaluatedPredictions:
        if newdata is not None:
            return fits.survival.validation.evaluated_new(self.fit, newdata, cause)
        if cause is not None:
            return fits.survival.validation.evaluated_training_rows(self.fit, self._unseen, cause)
        return self._evaluated_training

    def _evaluated_causes(self) -> dict[str, EvaluatedPredictions]:
        """Return the training rows evaluating each cause, if there are several with events."""
        times = self.fit.times
        if len(times.causes) == 1:
            return {}
        evaluated = self._validation_if_any
        if evaluated is None:
            return {}
        happened = set(evaluated.rows.event.tolist())
        names = [name for code, name in enumerate(times.causes, start=1) if code in happened]
        return {name: self._validation(None, name) for name in names}

    @cached_property
    def _evaluated_training(self) -> EvaluatedPredictions:
        return fits.survival.validation.evaluated_training_rows(self.fit, self._unseen, None)

    @abstractmethod
    def _measured_importance(
        self, type: str | None, cause: str | None, progress: bool
    ) -> MeasuredImportance:
        """Return the importances of a type, or those that are shown first."""
