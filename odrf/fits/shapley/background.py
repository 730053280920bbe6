"""Background rows: what a prediction is compared with."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf.checks import checked_whole, is_whole
from odrf.engine.factors import Matrix, with_rows
from odrf.errors import InputError
from odrf.fits.fit import AnyFit
from odrf.fits.raw_rows import rows_of_scores

__all__ = ["USUAL_ROWS", "background_rows"]

USUAL_ROWS = 100
"""Background rows that are drawn by default."""
# The key of the draw among those of the fit's seed.
KEY = (22, 0)


def background_rows(fit: AnyFit, background: Any) -> Matrix:
    """Return the matrix (p, m) of the background rows.

    Parameters
    ----------
    fit : AnyFit
    background : DataFrame, int or None
        The rows, or how many training rows are drawn; None for `USUAL_ROWS`.

    Raises
    ------
    InputError
        `background` is neither, or has no row that can be predicted; the fit was saved without its
        training rows.
    """
    if background is None or is_whole(background):
        wanted = USUAL_ROWS if background is None else checked_whole("background", background, 1)
        return with_rows(fit.data.X, _drawn(fit, wanted))
    if not isinstance(background, pd.DataFrame):
        raise InputError(
            f"background={type(background).__name__}: use a data frame of rows, or a number of "
            "training rows to draw"
        )
    return rows_of_scores(fit, background).X


def _drawn(fit: AnyFit, wanted: int) -> NDArray[np.int64]:
    """Return the numbers of the training rows that are drawn: all, if they are not more.

    Rows of unequal case weights are drawn in proportion to these, with replacement.
    """
    data = fit.data
    weights = data.weights
    if data.class_weights is not None:
        weights = weights / data.class_weights[data.y.astype(np.int64)]
    candidates = np.flatnonzero(weights > 0)
    weights = weights[candidates]
    rng = np.random.default_rng(np.random.SeedSequence(fit.control.seed, spawn_key=KEY))
    if np.ptp(weights) > 1e-9 * weights.max():
        return np.sort(rng.choice(candidates, wanted, p=weights / weights.sum()))
    if len(candidates) <= wanted:
        return candidates
    return np.sort(rng.choice(candidates, wanted, replace=False))
