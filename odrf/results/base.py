"""The results that trees of `odrf.odt` and forests of `odrf.odrf` share."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from odrf.checks import MOST, checked_whole
from odrf.fits.fit import Fit
from odrf.fits.prediction.scores import mean_rank_error
from odrf.options.control import Control
from odrf.public import respelled
from odrf.reports.consistency import ConsistencyReport
from odrf.reports.consistency_facts import facts_of
from odrf.reports.pixel_importance import PixelImportance
from odrf.reports.projection_importance import ProjectionImportance
from odrf.results.row_predicting import RowPredicting

__all__ = ["TreeResults"]


class TreeResults(RowPredicting):
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

    @property
    def mean_rank_error(self) -> float:
        """Mean absolute difference in rank between predicted and observed class, for ordered ones.

        The mean is weighted by case weights.  For a forest the predictions are out of bag, for a
        tree they are those of the training rows.

        Raises
        ------
        InputError
            If the classes are not ordered.
        """
        return mean_rank_error(self.fit, self._scored)

    @property
    def _scored(self) -> NDArray[np.float64]:
        """Return the values (n, K) that `mean_rank_error` evaluates."""
        return self._in_bag

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

    def pixel_importance(
        self, shape: tuple[int, int] | None = None, channels: int | None = None
    ) -> PixelImportance:
        """Return how often splits use each pixel (Perry 2020, section 3.2).

        Parameters
        ----------
        shape : (int, int), optional
            Height and width of the images; (1, T) for series of length T.  By default those of the
            fit's patches or, failing that, of its data: see `odrf.Patch`.
        channels : int, optional
            Channels of the images, with the same default.

        Returns
        -------
        PixelImportance
            With ``table``, ``images``, ``summary()`` and ``plot_image()``.

        Raises
        ------
        InputError
            If the shape is not known, or does not match the number of predictors.
        """
        return PixelImportance(self.fit, shape, channels)

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
        >>> forest.consistency().conclusion
        'Consistent for any continuous regression function, by [Z] Theorem 5.'
        """
        return ConsistencyReport(self.fit, facts_of(self.fit), self._noise_residuals())

    def _noise_residuals(self) -> NDArray[np.float64]:
        """Return the residuals that describe the noise best; empty for classes."""
        return self.resid.to_numpy() if self.kind == "regression" else np.empty(0)
