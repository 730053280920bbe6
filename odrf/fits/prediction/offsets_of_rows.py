"""Offsets of the rows that boosted trees predict."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from odrf.errors import InputError
from odrf.fits.boosted_fit import BoostedFit
from odrf.fits.prediction.predicting import RowsToPredict

__all__ = ["offsets_of_rows"]


def offsets_of_rows(
    fit: BoostedFit,
    newdata: pd.DataFrame | None,
    rows: RowsToPredict,
    offset: str | ArrayLike | None,
) -> NDArray[np.float64]:
    """Return the offsets of the complete rows.

    Parameters
    ----------
    fit : BoostedFit
    newdata : DataFrame or None
        None for the training rows.
    rows : RowsToPredict
    offset : str, array-like or None
        The argument of `predict`.

    Raises
    ------
    InputError
        If offsets are missing, or given for the training rows.
    """
    if newdata is None:
        if offset is not None:
            raise InputError(
                "offset= needs newdata=: the training rows keep the offsets of the fit"
            )
        return fit.offset.values
    return fit.offset.of(newdata, offset, rows.complete)
