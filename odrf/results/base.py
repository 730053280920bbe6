"""The results that trees of `odrf.odt` and forests of `odrf.odrf` share."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from odrf.checks import MOST, checked_whole
from odrf.fits.fit import Fit
from odrf.options.tree import Control
from odrf.public import respelled
from odrf.reports.consistency import ConsistencyReport, properties_of
from odrf.reports.importance import ProjectionImportance
from odrf.reports.paths import require_own_path
from odrf.results.keeping.forgetting import ForgettingResults
from odrf.results.of_pixels import PixelResults
from odrf.results.row_predicting import RowPredicting

__all__ = ["TreeResults"]


class TreeResults(ForgettingResults, PixelResults, RowPredicting):
    """Base class of `ODTResults` and `ODRFResults`.

    Parameters
    ----------
    fit : Fit
        The fit, from which the results are computed when they are needed.
    """

    fit: Fit

    def __init__(self, fit: Fit) -> None:
        self.fit = fit

    @property
    def control(self) -> Control:
        """The options of the fit, with the values that were used."""
        return self.fit.control

    @respelled(by_name=("resamples", "progress"))
    def projection_importance(
        self, top: int = 10, *, resamples: int = 0, progress: bool = False
    ) -> ProjectionImportance:
        """Return the most important directions (Tomita et al. 2020); θ and -θ count as one.

        Parameters
        ----------
        top : int, default 10
            Most directions to return.
        resamples : int, default 0
            Number of random halves of the rows on which the model is fitted again, to count on how
            many of them each direction is among the `top` again.
        progress : bool, default False
            Show a progress bar.

        Returns
        -------
        ProjectionImportance
            With ``table``, ``coefficients``, ``summary()`` and ``plot()``.

        Raises
        ------
        InputError
            If `top` or `resamples` is not a whole number, or too small.
        """
        return ProjectionImportance(
            self.fit,
            checked_whole("top", top, 1),
            checked_whole("resamples", resamples, 0, MOST),
            progress,
        )

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
        return ConsistencyReport(self.fit, properties_of(self.fit), self._noise_residuals())

    def _check_path(self, path: Any, whole: str) -> None:
        """Raise `InputError` unless a path is None or the pruning path of this fit, a `whole`."""
        require_own_path(path, self.fit, whole)

    def _noise_residuals(self) -> NDArray[np.float64]:
        """Return the residuals that describe the noise best; empty for classes."""
        return self._own_resid if self.kind == "regression" else np.empty(0)
