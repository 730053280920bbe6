"""The predicted distributions of a forest, and the influence of its training rows."""

from __future__ import annotations

from typing import cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf.fits.fit import RawRows
from odrf.fits.proximity import WEIGHTS, proximities
from odrf.results.explaining.checked_numbers import CheckedNumbers, Compared
from odrf.results.forest_predicting import ForestPredicting
from odrf.statistics.residuals import probability_transforms, row_influence

__all__ = ["CheckedForest"]

INFLUENCE = ("leverage", "influence")


class CheckedForest(CheckedNumbers, ForestPredicting):
    """Base class of forests whose predicted distributions are compared with responses."""

    def _compared(
        self,
        newdata: pd.DataFrame | None,
        rows: RawRows,
        y: NDArray[np.float64],
        level: float,
        progress: bool,
    ) -> Compared:
        frame = cast(
            pd.DataFrame,
            self.predict(newdata, interval="prediction", level=level, progress=progress),
        )[rows.complete]
        near = proximities(self.fit, None if newdata is None else rows.X, WEIGHTS)
        table = pd.DataFrame(
            {
                "fitted": frame["estimate"].to_numpy(),
                "conf_low": frame["conf_low"].to_numpy(),
                "conf_high": frame["conf_high"].to_numpy(),
                "pit": probability_transforms(near, self.fit.data.y, y),
            },
            index=frame.index,
        )
        if newdata is not None:
            return Compared(table, None)
        values = row_influence(near, self.fit.data.y, rows.weights)
        influence = pd.DataFrame(dict(zip(INFLUENCE, values, strict=True)), index=frame.index)
        return Compared(table, influence)
