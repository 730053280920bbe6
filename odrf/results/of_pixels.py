"""How often the splits of a fit use each pixel."""

from __future__ import annotations

from odrf.fits.fit import BoostedFit, Fit
from odrf.reports.importance import PixelImportance
from odrf.results.fitted import FittedResults

__all__ = ["PixelResults"]


class PixelResults(FittedResults):
    """Base class of the results of trees whose splits may be on pixels."""

    fit: Fit | BoostedFit

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
