"""What trees and forests of `odrf.odt` and `odrf.odrf` have in common as results."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from odrf.checks import checked_whole
from odrf.fits.fit import Fit
from odrf.fits.prediction.scores import mean_rank_error
from odrf.options.control import Control
from odrf.reports.consistency import ConsistencyReport
from odrf.reports.consistency_facts import facts_of
from odrf.reports.pixel_importance import PixelImportance
from odrf.reports.projection_importance import ProjectionImportance
from odrf.results.row_predicting import RowPredicting

__all__ = ["TreeResults"]


class TreeResults(RowPredicting):
    """A fitted tree or forest: the part that both share.

    Parameters
    ----------
    fit : Fit
        Everything else is computed from it, when asked for.
    """

    fit: Fit

    def __init__(self, fit: Fit) -> None:
        self.fit = fit

    @property
    def control(self) -> Control:
        """Every option of the fit, resolved."""
        return self.fit.control

    @property
    def mean_rank_error(self) -> float:
        """How many ranks the predicted class is off, in the mean by weight, of ordered classes.

        Of out-of-bag predictions for a forest, of the training rows for a tree.

        Raises
        ------
        InputError
            If the response is no ordered categorical.
        """
        return mean_rank_error(self.fit, self._scored)

    @property
    def _scored(self) -> NDArray[np.float64]:
        """Return the values (n, K) of the training rows that scores are of."""
        return self._fitted

    def projection_importance(
        self, top: int = 10, resamples: int = 0, progress: bool = False
    ) -> ProjectionImportance:
        """Return the most important directions, θ and -θ being one (Tomita et al. 2020).

        Parameters
        ----------
        top : int, default 10
            How many, at most.
        resamples : int, default 0
            Grow the fit again on so many random halves of the rows, to see on how many of them
            each direction is again among the first.
        progress : bool, default False
            Show a progress bar.

        Returns
        -------
        ProjectionImportance
            With ``table``, ``coefficients``, ``summary()`` and ``plot()``.

        Raises
        ------
        InputError
            If a number is no whole number, or too small.
        """
        return ProjectionImportance(
            self.fit,
            checked_whole("top", top, 1),
            checked_whole("resamples", resamples, 0),
            progress,
        )

    def pixel_importance(
        self, shape: tuple[int, int] | None = None, channels: int | None = None
    ) -> PixelImportance:
        """Return how often each pixel is used (Perry 2020, section 3.2).

        Parameters
        ----------
        shape : (int, int), optional
            Height and width of the images that the predictors are; (1, T) for series.  By default
            those of the fit's patches, or of its data: see `odrf.Patch`.
        channels : int, optional
            By default likewise.

        Returns
        -------
        PixelImportance
            With ``table``, ``images``, ``summary()`` and ``plot_image()``.

        Raises
        ------
        InputError
            If the shape is not known, or the predictors do not fill it.
        """
        return PixelImportance(self.fit, shape, channels)

    def consistency(self) -> ConsistencyReport:
        """Ask which theorem covers this fit, and whether the data look as it supposes.

        Returns
        -------
        ConsistencyReport
            With ``table``, ``conclusion``, ``evidence``, ``summary()`` and ``plot()``.

        Examples
        --------
        >>> import odrf
        >>> data = odrf.load_data("diabetes")
        >>> forest = odrf.odrf("progression ~ .", data, n_trees=10, alpha="1/sqrt(n)", seed=1)
        >>> forest.consistency().conclusion
        'Consistent for any continuous regression function, by [Z] Theorem 5.'
        """
        return ConsistencyReport(self.fit, facts_of(self.fit), self._noise_residuals())

    def _noise_residuals(self) -> NDArray[np.float64]:
        """Return the residuals that say most of the noise, none for classes."""
        return self.resid.to_numpy() if self.kind == "regression" else np.empty(0)
