"""Explanations and checks that results have."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf import fits, reports
from odrf.checks import checked_above_0, checked_part, checked_whole, require_default
from odrf.errors import InputError, nearest
from odrf.fits.fit import RawRows, raw_rows
from odrf.fits.responses import groups_of_rows
from odrf.public import public
from odrf.results.base import FittedResults
from odrf.results.calibration import CalibrationResults
from odrf.results.curves import CurveResults
from odrf.results.effects import AveragedResults
from odrf.results.forest_predictions import ForestPredicting, OutOfBagResults
from odrf.statistics.residuals import probability_transforms, row_influence

if TYPE_CHECKING:
    from odrf.reports.checks import PredictiveCheck
    from odrf.reports.explain import Explanation


# ------------------------------------------------------------------------------------------------
# Whether predictions of a number agree with the responses.
# ------------------------------------------------------------------------------------------------

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
        evaluating = rows.complete.copy()
        evaluating[rows.complete] = used
        groups = groups_of_rows(self.fit, newdata, evaluating)
        if newdata is not None:
            return reports.checks.PredictiveCheck(
                self.call, table[used], level, region, "new", groups=groups
            )
        influence = None if compared.influence is None else compared.influence[used]
        return reports.checks.PredictiveCheck(
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


# ------------------------------------------------------------------------------------------------
# The predicted distributions of a forest, and the influence of its training rows.
# ------------------------------------------------------------------------------------------------

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
        near = fits.proximity.proximities(
            self.fit, None if newdata is None else rows.X, fits.proximity.WEIGHTS
        )
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


# ------------------------------------------------------------------------------------------------
# One prediction explained: paths, neighbours, nearest changes.
# ------------------------------------------------------------------------------------------------


@public
class LocalResults(FittedResults):
    """Base class of results that explain single predictions."""

    def explain(
        self,
        row: pd.DataFrame | Mapping[str, Any] | pd.Series,
        *,
        change: float | None = None,
        nearest: int = 5,
    ) -> Explanation:
        """Explain the prediction of one row: its splits, its neighbours, and what would change it.

        Parameters
        ----------
        row : DataFrame of one row, mapping or Series
            The row: values of the columns that predictors are computed from, and of the column that
            ``offset=`` named, if the fit has offsets.
        change : float, optional
            For numbers: by how much, above 0, the prediction must change in `Explanation.changes`.
            By default half a standard deviation of the response.  For classes the class changes,
            and there is nothing to set.
        nearest : int, default 5
            How many neighbours are shown.

        Returns
        -------
        Explanation
            With tables of splits, neighbours, nearest changes and slopes.

        Raises
        ------
        InputError
            If `row` is not one row that can be predicted; if an argument is invalid.

        Notes
        -----
        Nearest changes are found among the values of training rows: along each variable, up to 50
        of them, and for pairs of the six variables that move the prediction most on a coarser grid.
        Each is a change of the prediction, checked by predicting it; a nearer one between the
        values that are tried may exist.  They describe the fit; they do not say what would happen
        if somebody changed the values.

        References
        ----------
        S. Wachter, B. Mittelstadt and C. Russell (2017). Counterfactual explanations without
        opening the black box. Harvard Journal of Law and Technology 31, 841-887.

        Examples
        --------
        >>> import odrf
        >>> penguins = odrf.load_data("penguins")
        >>> formula = "species ~ bill_length_mm + bill_depth_mm"
        >>> forest = odrf.odrf(formula, penguins, n_trees=20, seed=1)
        >>> explanation = forest.explain({"bill_length_mm": 39.0, "bill_depth_mm": 18.0})
        >>> explanation.prediction.idxmax()
        'Adelie'
        """
        if isinstance(row, Mapping | pd.Series):
            row = pd.DataFrame({name: [value] for name, value in row.items()})
        if row is None:
            raise InputError("row=None is no row: give a data frame of one row, or a mapping")
        if isinstance(row, pd.DataFrame) and len(row) != 1:
            raise InputError(
                f"row has {len(row)} rows: explain() takes one, such as data.iloc[[3]]"
            )
        amount = None if change is None else checked_above_0("change", change)
        if self.classes is not None:
            require_default("change", change, None, "predictions of numbers")
        rows = raw_rows(self.fit, row)
        return reports.explain.Explanation(
            self.fit, rows, amount, checked_whole("nearest", nearest, 1)
        )


# ------------------------------------------------------------------------------------------------
# All explanations that every fit has.
# ------------------------------------------------------------------------------------------------


class Explained(AveragedResults, CurveResults, LocalResults, CalibrationResults):
    """Base class of results with effects, curves and what else explains any fit."""
