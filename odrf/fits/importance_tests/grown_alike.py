"""Growing a fit of any kind again by its options, on other rows or other values."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from odrf.design import TrainingData
from odrf.fits.boosted_fit import BoostedFit, grow_boosted_fit
from odrf.fits.fit import AnyFit, Fit
from odrf.fits.growing import grow_fit
from odrf.fits.guided_fit import GuidedFit, grow_guided_fit
from odrf.fits.sizing import sized_forest
from odrf.fits.stacked.stack_grown_alike import stack_grown_alike
from odrf.fits.stacked.stacked_fit import StackedFit

__all__ = ["grown_alike"]


def grown_alike(fit: AnyFit, data: TrainingData, rows: NDArray[np.bool_]) -> AnyFit:
    """Grow a fit again by its options on the `rows` (n,) of `data`.

    Sizes that the options find by held-out rows are found again.  What `prune` cut later is not cut
    again.

    Parameters
    ----------
    fit : AnyFit
    data : TrainingData
        The training rows of the fit, perhaps with other predictors or another response.
    rows : (n,) bool

    Raises
    ------
    InputError
        The fit is a stack whose models depended on time.
    """
    kept = data.keeping(rows)
    if isinstance(fit, BoostedFit):
        offset = replace(fit.offset, values=fit.offset.values[rows])
        return grow_boosted_fit("", fit.design, kept, offset, fit.control, False)
    if isinstance(fit, GuidedFit):
        return grow_guided_fit("", fit.design, kept, fit.frame[rows], fit.control, False)
    if isinstance(fit, StackedFit):
        return stack_grown_alike(fit, kept)
    assert isinstance(fit, Fit)
    return sized_forest(grow_fit("", fit.design, kept, fit.request))
