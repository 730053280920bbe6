"""The fit of a forest whose training rows came in chunks: it keeps none of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from odrf.fits.fit import Fit

__all__ = ["RowSums", "StreamedFit"]


@dataclass(frozen=True)
class RowSums:
    """What a pass over all rows has summed up: mostly of their out-of-bag predictions.

    Attributes
    ----------
    error_path : (B,) float64
        Weighted mean loss (squared error; 0-1 for classes) of the first b trees, over the rows that
        have an out-of-bag prediction by them.
    n_judged : int
        Rows of positive weight with an out-of-bag prediction by all trees.
    variance : float
        Weighted variance of the response over all rows; NaN for classes.
    log_loss, brier : float
        Weighted means for class probabilities; NaN for a regression.  A probability of 0 counts as
        2⁻⁵² in the log loss.
    confusion : (K, K) float64 or None
        Sums of case weights by observed and predicted class; None for a regression.
    column_means : (p,) float64
        Weighted mean of each scaled column, 0 for indicators of levels: what an empty cell counts
        as, in a new row, if no training row has one in the column.
    importance : (P,) float64
        The out-of-bag importance of each predictor; see `odrf.statistics.importance`.
    """

    error_path: NDArray[np.float64]
    n_judged: int
    variance: float
    log_loss: float
    brier: float
    confusion: NDArray[np.float64] | None
    column_means: NDArray[np.float64]
    importance: NDArray[np.float64]


@dataclass(frozen=True)
class StreamedFit(Fit):
    """A fit of a forest on rows in chunks.  It can be pickled.

    Its `data` are the numbers of rows only, and say so to whoever asks for the rows.  `streams` are
    those of growth; rows are drawn by `odrf.engine.chunks`.

    Attributes
    ----------
    sums : RowSums or None
        None before the rows have been judged.
    """

    sums: RowSums | None = None

    @property
    def fills(self) -> NDArray[np.float64] | None:
        """The means (p,) of columns, which fill empty cells of new rows; None if not known yet."""
        return None if self.sums is None else self.sums.column_means
