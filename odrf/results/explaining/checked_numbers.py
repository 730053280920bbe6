"""Whether predictions of a number agree with the responses."""

from __future__ import annotations

from typing import cast

import pandas as pd

from odrf.checks import checked_part
from odrf.errors import InputError, nearest
from odrf.fits.judging.groups_of_rows import groups_of_rows
from odrf.fits.proximity.leaf_sharing import WEIGHTS, proximities
from odrf.fits.raw_rows import raw_rows
from odrf.public import public
from odrf.reports.residuals.predictive_check import PredictiveCheck
from odrf.results.forest_predicting import ForestPredicting
from odrf.statistics.residuals.predicted_distributions import probability_transforms
from odrf.statistics.residuals.row_influence import row_influence

__all__ = ["CheckedNumbers"]

LEVEL = 0.95
INFLUENCE = ("leverage", "influence")


@public
class CheckedNumbers(ForestPredicting):
    """Base class of results whose predicted distributions are compared with responses."""

    def predictive_check(
        self,
        newdata: pd.DataFrame | None = None,
        *,
        level: float = LEVEL,
        by: str | None = None,
        progress: bool = False,
    ) -> PredictiveCheck:
        """Compare predictions of a number, and their distributions, with the responses.

        Parameters
        ----------
        newdata : DataFrame, optional
            Rows with responses.  By default the training rows, predicted out of bag.
        level : float, default 0.95
            Nominal coverage of the prediction intervals.
        by : str, optional
            A column, such as a factor, whose values divide the rows in the table of coverage.  By
            default tenths of the fitted values.
        progress : bool, default False
            Show a progress bar.

        Returns
        -------
        PredictiveCheck
            Residuals; coverage by region; for each row the share of its predicted distribution
            below the response; and for each training row its leverage and its influence.  The
            distribution has the weights of the forest (Meinshausen 2006).

        Raises
        ------
        InputError
            If the response is a class; if no rows are out of bag; if `by` is no column.

        References
        ----------
        T. Gneiting, F. Balabdaoui and A. E. Raftery (2007). Probabilistic forecasts, calibration
        and sharpness. JRSS B 69, 243-268.

        R. D. Cook (1977). Detection of influential observation in linear regression. Technometrics
        19, 15-18.

        Examples
        --------
        >>> import odrf
        >>> data = odrf.load_data("diabetes")
        >>> forest = odrf.odrf("progression ~ bmi + ltg + sex", data, n_trees=100, seed=1)
        >>> len(forest.predictive_check(by="sex").coverage)
        2
        """
        level = checked_part("level", level)
        if self.classes is not None:
            raise InputError(
                f"predictive_check() is for numbers, and {self.fit.design.response.name!r} was "
                "fitted as classes: use calibration()"
            )
        rows = raw_rows(self.fit, newdata)
        frame = cast(
            pd.DataFrame,
            self.predict(newdata, interval="prediction", level=level, progress=progress),
        )
        frame = frame[rows.complete]
        y = self.fit.data.y if newdata is None else self.fit.design.labelled(newdata)[1]
        near = proximities(self.fit, None if newdata is None else rows.X, WEIGHTS)
        table = pd.DataFrame(
            {
                "observed": y,
                "fitted": frame["estimate"].to_numpy(),
                "low": frame["conf_low"].to_numpy(),
                "high": frame["conf_high"].to_numpy(),
                "pit": probability_transforms(near, self.fit.data.y, y),
            },
            index=frame.index,
        )
        used = table.notna().all(axis=1).to_numpy() & (rows.weights > 0)
        region = None if by is None else _column(by, rows.frame if newdata is None else newdata)
        if region is not None:
            region = region[rows.complete if newdata is not None else slice(None)][used]
        judging = rows.complete.copy()
        judging[rows.complete] = used
        groups = groups_of_rows(self.fit, newdata, judging)
        if newdata is not None:
            return PredictiveCheck(self.call, table[used], level, region, "new", groups=groups)
        values = row_influence(near, self.fit.data.y, rows.weights)
        influence = pd.DataFrame(dict(zip(INFLUENCE, values, strict=True)), index=frame.index)
        return PredictiveCheck(
            self.call, table[used], level, region, "out of bag", influence[used], groups
        )


def _column(name: str, frame: pd.DataFrame) -> pd.Series:
    if not isinstance(name, str) or name not in frame.columns:
        raise InputError(f"by={name!r} is no column of the rows{nearest(str(name), frame.columns)}")
    return frame[name]
