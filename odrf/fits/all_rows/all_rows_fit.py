"""The fit of one tree of all rows in chunks: it keeps none of them."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from odrf.fits.fit import StreamedFit

__all__ = ["AllRowsFit"]


@dataclass(frozen=True)
class AllRowsFit(StreamedFit):
    """A fit of one tree on all rows in chunks.  It can be pickled.

    No row is out of bag, so that its `sums` are None.

    Attributes
    ----------
    column_means : (p,) float64
        Weighted mean of each scaled column, 0 for indicators: see `RowSums`.
    levels : int
        How many levels of nodes had more rows than grow in memory.
    n_held_out : int
        How many rows were held out to choose the size of the tree.
    """

    column_means: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    levels: int = 0
    n_held_out: int = 0

    @property
    def fills(self) -> NDArray[np.float64]:
        """The means (p,) of columns, which fill empty cells of new rows."""
        return self.column_means
