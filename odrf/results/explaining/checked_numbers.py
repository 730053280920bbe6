"""Whether predictions of a number agree with the responses."""

from __future__ import annotations

from abc import abstractmethod
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf.checks import checked_part
from odrf.errors import InputError, nearest
from odrf.fits.fit import RawRows, raw_rows
from odrf.fits.responses import groups_of_rows
from odrf.public import public
from odrf.reports.checks import PredictiveCheck
from odrf.results.out_of_bag import OutOfBagResults

__all__ = ["CheckedNumbers", "Compared"]

LEVEL = 0.95


class Compared(NamedTuple):
    """What is predicted of n rows whose responses are known.

    Attributes
    ----------
    rows : DataFrame of n rows
        ``fitted``; ``conf_low`` and ``conf_high``, the ends of the prediction interval; ``pit``,
        the share of the predicted distribution below the response.
    influence : DataFrame of n rows or None
        ``leverage`` and ``influence`` of training rows, where they are known.
    """

    rows: pd.DataFrame
    influence: pd.DataFrame | None


@public
class CheckedNumbers(OutOfBagResults):
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
            Rows with responses.  By default the training rows of positive weight, predicted out of
            bag.  Each row counts once.
        level : float, default 0.95
            Nominal coverage of the prediction intervals.
        by : str, optional
            A column of `newdata`, or else a variable of the fit, such as a factor, whose values
            divide the rows in the table of coverage.  By default tenths of the fitted values.
        progress : bool, default False
            Show a progress bar.

        Returns
        -------
        PredictiveCheck
            Residuals; coverage by region; for each row the share of its predicted distribution
            below the response; and for each training row of a forest its leverage and its
            influence.  The distribution of a forest has its weights (Meinshausen 2006).  That of a
            stack is made of the out-of-bag residuals: of all training rows together it is right by
            construction, so that only regions, or new rows, can show that it is not.

        Raises
        ------
        InputError
            If the response is a class; if no rows are out of bag, which the intervals of a forest
            need for new rows, too; if `by` is no column.

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
        y = self.fit.data.y if newdata is None else self.fit.design.labelled(newdata)[1]
        compared = self._compared(newdata, rows, y, level, progress)
        table = compared.rows.copy()
        table.insert(0, "observed", y)
        used = table.notna().all(axis=1).to_numpy() & (rows.weights > 0)
        region = None if by is None else _column(by, rows.frame if newdata is None else newdata)
        if region is not None:
            region = region[rows.complete if newdata is not None else slice(None)][used]
        judging = rows.complete.copy()
        judging[rows.complete] = used
        groups = groups_of_rows(self.fit, newdata, judging)
        if newdata is not None:
            return PredictiveCheck(self.call, table[used], level, region, "new", groups=groups)
        influence = None if compared.influence is None else compared.influence[used]
        return PredictiveCheck(
            self.call, table[used], level, region, "out of bag", influence, groups
        )

    @abstractmethod
    def _compared(
        self,
        newdata: pd.DataFrame | None,
        rows: RawRows,
        y: NDArray[np.float64],
        level: float,
        progress: bool,
    ) -> Compared:
        """Return what is predicted of rows with the responses y (n,)."""


def _column(name: str, frame: pd.DataFrame) -> pd.Series:
    if not isinstance(name, str) or name not in frame.columns:
        raise InputError(f"by={name!r} is no column of the rows{nearest(str(name), frame.columns)}")
    return frame[name]
