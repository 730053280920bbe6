"""What the results for numbers and classes list: of all fits, and of trees and forests."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from odrf import reports
from odrf.engine.oob import OutOfBag
from odrf.fits.fit import Fit
from odrf.fits.responses import forest_out_of_bag, leaves_rows_out
from odrf.options.tree import ResolvedOptions
from odrf.results import checks, effects, export, growing, predictions
from odrf.results import explain as explanations
from odrf.results import importance as importances
from odrf.results import proximity as proximities
from odrf.results.absent import known, out_of_bag_rows
from odrf.results.base import FittedResults

if TYPE_CHECKING:
    from odrf.reports.consistency import ConsistencyReport


class TreeModelResults(FittedResults):
    """Base class of the results of all fits for numbers and classes."""

    # Predictions
    estimate_priors = predictions.estimate_priors

    # Errors of training rows
    training_error = predictions.training_error
    r_squared = predictions.r_squared
    confusion_matrix = predictions.confusion_matrix
    mean_rank_error = predictions.mean_rank_error

    # Importance
    importance = importances.importance
    _measured_importance = importances.measured
    _plot_importance = importances.drawn

    # Effects
    comparisons = effects.comparisons
    slopes = effects.slopes
    partial = effects.partial
    ale = effects.ale
    ice = effects.ice
    interactions = effects.interactions
    predictions = effects.predictions

    # Single predictions
    explain = explanations.explain

    # Checks
    calibration = checks.calibration
    discrimination = checks.discrimination
    calibrate = checks.calibrate


class TreeResults(TreeModelResults):
    """Base class of `ODTResults` and `ODRFResults`.

    Parameters
    ----------
    fit : Fit
        The fit, from which the results are computed when they are needed.
    """

    fit: Fit

    # Fit
    @property
    def control(self) -> ResolvedOptions:
        """The options of the fit, with the values that were used."""
        return self.fit.control

    @known(out_of_bag_rows, kept=True)
    def _out_of_bag(self) -> OutOfBag:
        return forest_out_of_bag(self.fit)

    @property
    def _known_out_of_bag(self) -> OutOfBag | None:
        return self._out_of_bag if leaves_rows_out(self.fit) else None

    # More rows
    update = growing.update
    changes = growing.changes

    # Importance
    projection_importance = importances.projection_importance
    pixel_importance = importances.pixel_importance

    # Rows
    proximity = proximities.proximity
    prototypes = proximities.prototypes
    outliers = proximities.outliers
    map = proximities.map
    impute = proximities.impute

    # Single predictions
    shap = explanations.shap
    shap_interactions = explanations.shap_interactions
    row_predictor = predictions.row_predictor

    # Export
    to_python = export.to_python
    to_c = export.to_c
    to_onnx = export.to_onnx

    # Checks

    def consistency(self) -> ConsistencyReport:
        """Report which consistency theorem covers this fit, and whether its conditions hold.

        Returns
        -------
        ConsistencyReport
            With ``table``, ``conclusion``, ``evidence``, ``summary()`` and ``plot()``.

        Examples
        --------
        >>> import odrf
        >>> data = odrf.load_data("diabetes")
        >>> forest = odrf.odrf("progression ~ .", data, n_trees=10, alpha="1/sqrt(n)", seed=1)
        >>> forest.consistency().conclusion[-69:]
        'if Y is sub-Gaussian and what differs does no harm, by [Z] Theorem 5.'
        """
        return reports.consistency.ConsistencyReport(
            self.fit, reports.consistency.properties_of(self.fit), self._noise_residuals()
        )

    def _noise_residuals(self) -> NDArray[np.float64]:
        """Return the residuals that describe the noise best; empty for classes."""
        return self._own_resid if self.kind == "regression" else np.empty(0)

    def _check_intervals(self, type: str, interval: object, quantiles: object) -> None:
        """Raise `InputError` if such intervals and quantiles have no meaning here."""

    def _sized(self, fit: Fit) -> Fit:
        """Return the fit pruned as its options say."""
        raise NotImplementedError
