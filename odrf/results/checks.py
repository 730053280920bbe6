"""How well predictions are calibrated, and how well they tell classes apart."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf import fits, reports
from odrf.checks import checked_choice, checked_part, checked_whole
from odrf.design.folds import Folds
from odrf.errors import InputError, nearest
from odrf.fits.fit import AnyFit, RawRows, raw_rows
from odrf.fits.responses import groups_of_rows, leaves_rows_out
from odrf.public import public_method
from odrf.results.base import FittedResults, Of, Rows
from odrf.statistics.calibration import METHODS, POWER, EvaluatedRows

if TYPE_CHECKING:
    from odrf.reports.checks import CalibratedFit, Calibration, Discrimination, PredictiveCheck

LEVEL = 0.95
MOST_BINS = 1000


@public_method
def calibration(
    self: FittedResults,
    newdata: Rows = None,
    *,
    bins: int = 10,
    level: float = LEVEL,
) -> Calibration:
    """Compare predicted probabilities with how often the classes are observed.

    Parameters
    ----------
    {rows_to_check}
    bins : int, default 10
        Bins of about equally many rows in the table.
    {level_of_checks}

    Returns
    -------
    Calibration
        A reliability diagram, and the parts of the Brier score.  Of two classes, the event is
        the second; of more, each class in turn.

    Raises
    ------
    InputError
        {about invalid_check}

    Notes
    -----
    Intervals take the rows as independent; if the fit has ``groups=``, the groups, with the
    effective number of rows by Korn and Graubard (1998).  New rows without the column of
    groups, and all rows of a fit without its training rows, count as independent.  The band is
    pointwise: at each probability it holds the share `level` of the curves of calibrated
    probabilities, with events that are independent given these.

    References
    ----------
    T. Dimitriadis, T. Gneiting and A. I. Jordan (2021). Stable reliability diagrams for
    probabilistic classifiers. PNAS 118, e2016191118.

    E. L. Korn and B. I. Graubard (1998). Confidence intervals for proportions with small
    expected number of positive counts estimated from survey data. Survey Methodology 24,
    193-201.

    Examples
    --------
    >>> import odrf
    >>> data = odrf.load_data("breast_cancer")
    >>> forest = odrf.odrf("diagnosis ~ .", data, n_trees=50, seed=1)
    >>> list(forest.calibration(bins=5).table.columns[:3])
    ['class', 'predicted', 'observed']
    """
    bins, level = checked_whole("bins", bins, 2, MOST_BINS), checked_part("level", level)
    return reports.checks.Calibration(
        self.call, _evaluated_rows(self, newdata), bins, level, self.seed
    )


@public_method
def discrimination(
    self: FittedResults, newdata: Rows = None, *, level: float = LEVEL
) -> Discrimination:
    """Measure how well the probability of each class tells its rows from the others.

    Parameters
    ----------
    {rows_to_check, level_of_checks}

    Returns
    -------
    Discrimination
        Areas under ROC curves (intervals of DeLong and others), average precisions (bootstrap
        intervals), and net benefits for decision curves.

    Raises
    ------
    InputError
        {about invalid_check}

    Notes
    -----
    Intervals take the rows as independent; if the fit has ``groups=``, the groups, as in
    `calibration`: the variance of areas is by Obuchowski (1997), and the bootstrap samples whole
    groups.  Where a class is separated without any mistake, the area's interval is wide if
    there are few rows, and the average precision has none.

    References
    ----------
    E. R. DeLong, D. M. DeLong and D. L. Clarke-Pearson (1988). Comparing the areas under two or
    more correlated receiver operating characteristic curves. Biometrics 44, 837-845.

    N. A. Obuchowski (1997). Nonparametric analysis of clustered ROC curve data. Biometrics 53,
    567-578.

    A. J. Vickers and E. B. Elkin (2006). Decision curve analysis. Medical Decision Making 26,
    565-574.

    Examples
    --------
    >>> import odrf
    >>> data = odrf.load_data("breast_cancer")
    >>> forest = odrf.odrf("diagnosis ~ .", data, n_trees=50, seed=1)
    >>> list(forest.discrimination().table["measure"])
    ['area under ROC curve', 'average precision']
    """
    rows = _evaluated_rows(self, newdata)
    return reports.checks.Discrimination(self.call, rows, checked_part("level", level), self.seed)


@public_method
def calibrate(
    self: FittedResults, method: str = POWER, *, cv: Folds | None = None, progress: bool = False
) -> CalibratedFit:
    """Return the fit with calibrated class probabilities.

    The map from predicted to calibrated probabilities is learned from predictions of the training
    rows by trees that have not seen them: out of bag; or, where no rows are out of bag, by fits
    that are grown again without a fold of the rows (cross-fitting).  So no row is spent.

    Parameters
    ----------
    method : {"power", "isotonic", "platt", "beta"}, default "power"
        - ``"power"``: the probabilities of all classes to one power, the one with the smallest log
          loss.  Their order stays, and so does the most likely class.
        - ``"isotonic"``: the increasing function that fits best; for a thousand rows or more.
        - ``"platt"``: a logistic regression on the log odds.
        - ``"beta"``: a logistic regression on log p and log(1 - p).
    cv : int, array-like or splitter, optional
        Folds for cross-fitting: a number, a label for each row, or a splitter of scikit-learn.
        They keep the ``groups=`` of the fit whole and follow its ``order=``.  By default 5, or as
        many as there can be, for fits without rows out of bag (`odt`, `graf`, `odbt` with one run,
        and ``resample="none"``); others use the rows out of bag.
    {progress}

    Returns
    -------
    CalibratedFit
        It has `predict` and `save`, and shows the Brier score before and after.

    Raises
    ------
    InputError
        If the method is unknown; if the fit is a regression; if there are no such folds.

    Notes
    -----
    Each fit of cross-fitting has grown on fewer rows, so that its probabilities are a little less
    sharp than those that are calibrated.  On 32 open tables, "power" had the smallest log loss
    (``benchmarks/accuracy/stacks.py``).  In time, rows before the first fold teach nothing.

    References
    ----------
    J. Platt (1999). Probabilistic outputs for support vector machines. In Advances in Large Margin
    Classifiers, 61-74, section 2.1: cross-fitting.

    C. Guo, G. Pleiss, Y. Sun and K. Q. Weinberger (2017). On calibration of modern neural networks.
    ICML: a power, as the temperature of a softmax.

    A. Niculescu-Mizil and R. Caruana (2005). Predicting good probabilities with supervised
    learning. ICML.

    Examples
    --------
    >>> import odrf
    >>> data = odrf.load_data("breast_cancer")
    >>> forest = odrf.odrf("diagnosis ~ .", data, n_trees=50, seed=1)
    >>> list(forest.calibrate("beta").table.columns)
    ['before', 'after']
    """
    checked_choice("method", method, METHODS)
    _require_classes(self)
    if cv is None and leaves_rows_out(self.fit):
        rows = _evaluated_rows(self, None)
    else:
        rows = _of_several_classes(fits.refit.cross_fitted_rows(self.fit, cv, progress))
    return reports.checks.CalibratedFit(fits.calibration.recalibration(self.fit, rows, method))


def _require_classes(self: FittedResults) -> pd.Index:
    if self.classes is None:
        raise InputError(
            f"this is for probabilities of classes, and {self.fit.design.response.name!r} was "
            "fitted as a number: use predictive_check() of odrf() or auto(), or fit with "
            'kind="classification"'
        )
    return self.classes


def _evaluated_rows(self: FittedResults, newdata: Rows) -> EvaluatedRows:
    classes = _require_classes(self)
    if newdata is not None:
        y = self.fit.design.labelled(newdata)[1]
        predicted = self.predict(newdata, type="prob")
        known = predicted.notna().all(axis=1).to_numpy()
        p, groups = predicted[known].to_numpy(), groups_of_rows(self.fit, newdata, known)
        rows = EvaluatedRows(p, y.astype(np.int64), np.ones(len(y)), classes, "new", groups)
    else:
        if not leaves_rows_out(self.fit):
            raise InputError(
                "all trees have seen all training rows, so that these show nothing: give rows "
                "with their classes as newdata="
            )
        data, p = self.fit.data, self._scored
        used = (data.weights > 0) & ~np.isnan(p[:, 0])
        code = data.y[used].astype(np.int64)
        groups = groups_of_rows(self.fit, None, used)
        source = fits.refit.with_class_weights("out of bag", data)
        rows = EvaluatedRows(p[used], code, data.weights[used], classes, source, groups)
    return _of_several_classes(rows)


def _of_several_classes(rows: EvaluatedRows) -> EvaluatedRows:
    if not rows.events():
        raise InputError("the rows have one class only: give rows of several classes")
    return rows


# Whether predictions of a number agree with the responses.


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


class WithDistribution(Of[AnyFit], Protocol):
    """Results that predict distributions of numbers."""

    def _compared(
        self,
        newdata: Rows,
        rows: RawRows,
        y: NDArray[np.float64],
        level: float,
        progress: bool,
    ) -> Compared:
        """Return what is predicted of rows with the responses y (n,)."""


@public_method
def predictive_check(
    self: WithDistribution,
    newdata: Rows = None,
    *,
    level: float = LEVEL,
    by: str | None = None,
    progress: bool = False,
) -> PredictiveCheck:
    """Compare predictions of a number, and their distributions, with the responses.

    Parameters
    ----------
    newdata : DataFrame, optional
        Rows with responses.  By default the training rows of positive weight, predicted out of bag.
        Each row counts once.
    level : float, default 0.95
        Nominal coverage of the prediction intervals.
    by : str, optional
        A column of `newdata`, or else a variable of the fit, such as a factor, whose values divide
        the rows in the table of coverage.  By default tenths of the fitted values.
    {progress}

    Returns
    -------
    PredictiveCheck
        Residuals; coverage by region; for each row the share of its predicted distribution below
        the response; and for each training row of a forest its leverage and its influence.  The
        distribution of a forest has its weights (Meinshausen 2006).  That of a stack is made of the
        out-of-bag residuals: of all training rows together it is right by construction, so that
        only regions, or new rows, can show that it is not.

    Raises
    ------
    InputError
        If the response is a class; if no rows are out of bag, which the intervals of a forest need
        for new rows, too; if `by` is no column.

    References
    ----------
    T. Gneiting, F. Balabdaoui and A. E. Raftery (2007). Probabilistic forecasts, calibration and
    sharpness. JRSS B 69, 243-268.

    R. D. Cook (1977). Detection of influential observation in linear regression. Technometrics 19,
    15-18.

    Examples
    --------
    >>> import odrf
    >>> data = odrf.load_data("diabetes")
    >>> forest = odrf.odrf("progression ~ bmi + ltg + sex", data, n_trees=100, seed=1)
    >>> len(forest.predictive_check(by="sex").coverage)
    2
    """
    level = checked_part("level", level)
    if self.fit.design.response.classes is not None:
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
            self.fit.call, table[used], level, region, "new", groups=groups
        )
    influence = None if compared.influence is None else compared.influence[used]
    return reports.checks.PredictiveCheck(
        self.fit.call, table[used], level, region, "out of bag", influence, groups
    )


def _column(name: str, frame: pd.DataFrame) -> pd.Series:
    if not isinstance(name, str) or name not in frame.columns:
        raise InputError(f"by={name!r} is no column of the rows{nearest(str(name), frame.columns)}")
    return frame[name]
