"""Steps of an elimination of predictors of times to an event."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from odrf.fits.fit import Fit
from odrf.fits.regrowing import regrown
from odrf.fits.survival.judged.judged_predictions import JudgedPredictions, judged_training_rows
from odrf.fits.survival.judged.permuting_predictors import losses_when_permuted
from odrf.fits.survival.survival_fit import SurvivalFit, with_curves
from odrf.statistics.survival.scores import HARRELL, INTEGRATED, UNO

__all__ = ["ELIMINATED_BY", "SurvivalSteps", "survival_steps"]

AUTO = "auto"
ELIMINATED_BY = (AUTO, INTEGRATED, UNO, HARRELL)
"""The known values of the argument `metric`."""
WORDS = {INTEGRATED: "integrated Brier score", UNO: "1 - Uno's C", HARRELL: "1 - Harrell's C"}


@dataclass(frozen=True)
class SurvivalSteps:
    """Steps that are judged by out-of-bag risks or curves.

    Attributes
    ----------
    metric : str
        "integrated_brier", "uno_c" or "harrell_c".
    """

    metric: str

    @property
    def error(self) -> str:
        """The name of the out-of-bag error."""
        return WORDS[self.metric]

    def error_of(self, fit: Fit) -> tuple[float, float]:
        """Return the out-of-bag error of a fit, and its standard error over rows or groups."""
        judged = _judged(fit)
        scores = judged.scores() if self.metric == INTEGRATED else judged.concordances()
        score, groups = scores[self.metric], judged.rows.groups
        error = score.std_error if groups is None else score.std_error_of_groups(groups)
        return score.estimate if self.metric == INTEGRATED else 1 - score.estimate, error

    def importances_of(self, fit: Fit) -> NDArray[np.float64]:
        """Return the rise of this error when each predictor is permuted (P,); of 1 - C, Uno's."""
        losses = losses_when_permuted(_judged(fit), fit.control.seed)
        of_metric = losses.brier if self.metric == INTEGRATED else losses.concordance
        return np.array([loss.mean.estimate for loss in of_metric])

    def grown_on(self, fit: Fit, which: Sequence[int], call: str, progress: bool = False) -> Fit:
        """Return the fit grown again on the predictors with the numbers `which`."""
        return with_curves(regrown(fit, which, call, progress))


def survival_steps(metric: str) -> SurvivalSteps:
    """Return the steps for one of `ELIMINATED_BY`."""
    return SurvivalSteps(INTEGRATED if metric == AUTO else metric)


def _judged(fit: Fit) -> JudgedPredictions:
    curved = fit if isinstance(fit, SurvivalFit) else with_curves(fit)
    return judged_training_rows(curved, fit.draws.all_unseen(), None)
