"""The results that trees and forests for times to an event share."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from odrf import fits, plots, reports
from odrf.checks import (
    checked_choice,
    checked_part,
    checked_truth,
    checked_whole,
    is_word,
    require_default,
)
from odrf.errors import InputError
from odrf.fits.predicting import rows_of
from odrf.fits.responses import (
    asked_out_of_bag,
    leaves_rows_out,
    predicting_rows_apart,
    require_out_of_bag,
    training_rows,
)
from odrf.options.tree import ResolvedOptions
from odrf.public import public
from odrf.public.progress import progress_bar
from odrf.results.base import AnyResults
from odrf.results.trees import ResultsWithoutData
from odrf.text.summary import Summary

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from odrf.fits.survival.fit import SurvivalFit
    from odrf.fits.survival.validation import EvaluatedPredictions
    from odrf.reports.importance import MeasuredImportance
    from odrf.reports.survival.checks import SurvivalCalibration, SurvivalROC
    from odrf.reports.survival.consistency import CurveConsistency
    from odrf.reports.survival.curves import SurvivalCurves


# ------------------------------------------------------------------------------------------------
# What is made of predicted risks and curves beside the observed times of the validation rows.
# ------------------------------------------------------------------------------------------------

MOST_GROUPS = 1000


class EvaluatedTimesResults(AnyResults):
    """Base class of all results whose risks and curves observed times evaluate.

    Parameters
    ----------
    fit : SurvivalFit or BoostedSurvivalFit
        The fit, from which the results are computed when they are needed.
    """

    fit: Any

    @property
    @abstractmethod
    def _evaluated_training(self) -> EvaluatedPredictions:
        """Predictions for the training rows, all causes as one; the first call computes them."""

    @property
    def _validation_if_any(self) -> EvaluatedPredictions | None:
        """Predictions for training rows, all causes as one; None if none of them has an event."""
        with suppress(fits.survival.validation.NoValidationRowsError):
            return self._evaluated_training
        return None

    def _scores(
        self, evaluated: EvaluatedPredictions, until: float | None, level: float, progress: bool
    ) -> pd.DataFrame:
        level, rows = checked_part("level", level), evaluated.rows
        until = None if until is None else rows.checked_time("until", until)
        with progress_bar(total=len(evaluated.used), unit="row", progress=progress) as bar:
            scores = evaluated.scores(until, bar.update)
        return reports.survival.summaries.estimates_table(scores, level, rows.groups, rows.source)

    def _calibration(
        self, evaluated: EvaluatedPredictions, time: float, groups: int, level: float
    ) -> SurvivalCalibration:
        time = evaluated.rows.checked_time("time", time)
        groups = checked_whole("groups", groups, 1, MOST_GROUPS)
        return reports.survival.checks.SurvivalCalibration(
            self.call, evaluated, time, groups, checked_part("level", level)
        )

    def _roc(self, evaluated: EvaluatedPredictions, time: float, level: float) -> SurvivalROC:
        time = evaluated.rows.checked_time("time", time)
        return reports.survival.checks.SurvivalROC(
            self.call, evaluated, time, checked_part("level", level)
        )


# ------------------------------------------------------------------------------------------------
# The results that trees and forests for times to an event share.
# ------------------------------------------------------------------------------------------------


class SurvivalResults(ResultsWithoutData, AnyResults):
    """Base class of the results for times to an event.

    Parameters
    ----------
    fit : SurvivalFit
        The fit, from which the results are computed when they are needed.
    """

    fit: SurvivalFit

    def __init__(self, fit: SurvivalFit) -> None:
        self.fit = fit

    @property
    def control(self) -> ResolvedOptions:
        """The options of the fit, with the values that were used."""
        return self.fit.control

    @property
    def event_times(self) -> NDArray[np.float64]:
        """The different times (R,) of events of the training rows, ascending."""
        return self.fit.event_times

    @public
    @predicting_rows_apart
    def predict(
        self,
        newdata: pd.DataFrame | None = None,
        type: str = "risk",
        *,
        times: float | ArrayLike | None = None,
        quantiles: float | Sequence[float] | None = None,
        cause: str | None = None,
        training: str | None = None,
        progress: bool = False,
    ) -> pd.Series | pd.DataFrame:
        """Predict new rows, or the training rows.

        Parameters
        ----------
        newdata : DataFrame, optional
            Rows to predict, with the columns that the formula uses; the response is not needed.  By
            default the training rows.
        type : str, default "risk"
            - ``"risk"``: the mortality, the cumulative hazard added up over all event times
              (Ishwaran et al. 2008).  Rows with a larger one are expected to have the event sooner.
              With a `cause`, the time that rows are expected to lose by it up to the last event
              time (Ishwaran et al. 2014).
            - ``"survival"``: the probability that the event comes after each of the `times`: the
              mean over the trees of the Kaplan–Meier curve in the row's leaf.
            - ``"hazard"``: the cumulative hazard at each of the `times`: the mean over the trees of
              the Nelson–Aalen curve in the row's leaf.
            - ``"incidence"``: the probability to have had an event of each cause by each of the
              `times`: the mean over the trees of the Aalen–Johansen curve in the row's leaf.  With
              the survival the incidences of all causes add up to 1.
            - ``"time"``: the median time to the event; infinite if less than half are expected to
              have it by the last event time.
            - ``"rmst"``: the restricted mean survival time, the area under the survival curve up to
              each of the `times`.
            - ``"lost"``: the time that rows are expected to lose by each cause up to each of the
              `times`: the area under its incidence (Andersen 2013).  With ``"rmst"`` those of all
              causes add up to the time itself.
            - ``"quantile"``: the times by which shares, the `quantiles`, have had the event.
            - ``"leaf"``: the number of the leaf that the row reaches in each tree.
        times : float or sequence of float, optional
            Times in the unit of the response.  By default all event times of the training rows; for
            ``"rmst"`` and ``"lost"`` the last one.  Beyond the last event time curves stay as they
            are.
        quantiles : float or sequence of float, optional
            Shares above 0 and below 1; by default the quartiles.
        cause : str, optional
            The cause of events whose ``"incidence"``, time ``"lost"`` or ``"risk"`` is predicted: a
            category of the event in ``Surv(time, event)``.  By default all of them: ``"risk"`` is
            then that of an event of whatever cause.
        training : {"out-of-bag", "in-bag"}, optional
            How training rows are predicted, without `newdata`: of a forest by default by the trees
            that did not draw the row.
        progress : bool, default False
            Show a progress bar of the rows.

        Returns
        -------
        Series or DataFrame
            With the index of `newdata`; for curves a column for each of the `times`; for several
            causes for each cause and time, such as ``["relapse", 365.0]``.

        Raises
        ------
        InputError
            If an argument is invalid, or is not for this `type`; if `newdata` lacks a column.

        Warns
        -----
        UserWarning
            If one of the `times` is after the last training row was observed.

        References
        ----------
        P. K. Andersen (2013). Decomposition of number of life years lost according to causes of
        death. Statistics in Medicine 32, 5278-5285.

        H. Ishwaran, T. A. Gerds, U. B. Kogalur, R. D. Moore, S. J. Gange and B. M. Lau (2014).
        Random survival forests for competing risks. Biostatistics 15, 757-773.

        H. Ishwaran, U. B. Kogalur, E. H. Blackstone and M. S. Lauer (2008). Random survival
        forests. Annals of Applied Statistics 2, 841-860.
        """
        leaves_out = newdata is None and leaves_rows_out(self.fit)
        out_of_bag = asked_out_of_bag(training, newdata, leaves_out)
        rows = training_rows(self.fit, None) if newdata is None else rows_of(self.fit, newdata)
        unseen = self._unseen if out_of_bag else None
        return fits.survival.curves.predict_survival(
            rows, unseen, type, times, quantiles, cause, progress
        )

    @cached_property
    def _unseen(self) -> NDArray[np.bool_]:
        """Which rows (B, n) are out of bag for each tree."""
        return self.fit.draws.all_unseen()


# ------------------------------------------------------------------------------------------------
# Curves of rows, to be shown and drawn.
# ------------------------------------------------------------------------------------------------


class DrawnCurves(SurvivalResults):
    """Base class of results whose predicted curves can be drawn."""

    def curves(
        self,
        newdata: pd.DataFrame,
        times: float | ArrayLike | None = None,
        *,
        cause: str | None = None,
        progress: bool = False,
    ) -> SurvivalCurves:
        """Return the predicted survival curves of rows, to be shown and drawn.

        With a `cause` they are the incidences of this cause.

        Parameters
        ----------
        newdata : DataFrame
            The rows, with the columns that the formula uses; the response is not needed.
        times : float or sequence of float, optional
            Times in the unit of the response; by default all event times of the training rows.
        cause : str, optional
            The cause of events, if there are several; by default the one that splits are about,
            or all as one.
        progress : bool, default False
            Show a progress bar of the rows.

        Returns
        -------
        SurvivalCurves
            With ``table``, ``quartiles``, ``summary()`` and ``plot()``.

        Raises
        ------
        InputError
            If `newdata` lacks a column, `times` are no numbers of at least 0, or there is no such
            `cause`.

        Warns
        -----
        UserWarning
            As `predict` warns.

        Examples
        --------
        >>> import odrf
        >>> data = odrf.load_data("gbsg2")
        >>> forest = odrf.odrf("Surv(time, event) ~ .", data, n_trees=50, seed=1)
        >>> forest.curves(data.head(3)).quartiles.shape
        (3, 3)
        """
        cause = self.fit.control.cause if cause is None else cause
        if cause is not None:
            return self._curves_of_cause(newdata, times, cause, progress)
        survival = self.predict(newdata, "survival", times=times, progress=progress)
        quartiles = cast(pd.DataFrame, self.predict(newdata, "quantile"))
        return reports.survival.curves.SurvivalCurves(
            self.fit, cast(pd.DataFrame, survival), quartiles
        )

    def _curves_of_cause(
        self,
        newdata: pd.DataFrame,
        times: float | ArrayLike | None,
        cause: str,
        progress: bool,
    ) -> SurvivalCurves:
        every = self.predict(
            newdata, fits.survival.curves.INCIDENCE, cause=cause, progress=progress
        )
        table = (
            every
            if times is None
            else self.predict(newdata, fits.survival.curves.INCIDENCE, times=times, cause=cause)
        )
        quartiles = reports.survival.curves.times_reaching(
            cast(pd.DataFrame, every), fits.survival.curves.QUARTILES
        )
        return reports.survival.curves.SurvivalCurves(
            self.fit, cast(pd.DataFrame, table), quartiles, str(cause)
        )


# ------------------------------------------------------------------------------------------------
# How well risks and survival curves are predicted.
# ------------------------------------------------------------------------------------------------


class EvaluatedSurvivalResults(DrawnCurves, EvaluatedTimesResults):
    """Base class of results whose predicted curves are evaluated."""

    def score(
        self,
        newdata: pd.DataFrame | None = None,
        *,
        cause: str | None = None,
        until: float | None = None,
        level: float = 0.95,
        progress: bool = False,
    ) -> pd.DataFrame:
        """Return how good predicted risks and curves are.

        Parameters
        ----------
        newdata : DataFrame, optional
            Rows with their times and events, each of weight 1.  By default the training rows with
            their case weights, predicted out of bag by a forest and by a tree of a forest.  A tree
            of `odrf.odt`, or a forest whose trees use all rows, predicts them itself, which is too
            good.
        cause : str, optional
            The cause whose events are predicted: a category of the event in ``Surv(time, event)``.
            By default every cause counts as the event.
        until : float, optional
            Uno's C counts events up to this time, and Brier scores are integrated up to it.  By
            default the last event time at which a tenth of the rows is still at risk: later, few
            rows have large weights.
        level : float, default 0.95
            Nominal coverage of the intervals.
        progress : bool, default False
            Show a progress bar of the rows whose curves are predicted.

        Returns
        -------
        DataFrame
            The name of the index says of which rows.  Columns: ``estimate``, ``std_error``,
            ``conf_low``, ``conf_high``.  Rows:

            - ``harrell_c``: Harrell's C, the share of comparable pairs of rows in which the row
              with the earlier event has the higher risk.  What it estimates depends on censoring.
            - ``uno_c``: Uno's C, weighted by the inverse probability not to be censored.
            - ``integrated_brier``: the mean over time, from 0 to `until`, of the Brier score of the
              survival curves, with the same weights (Graf et al. 1999).
            - ``explained``: 1 minus this score divided by that of the Kaplan–Meier curve of the
              training rows; 0 if predictors tell nothing.

            Intervals are normal, with ``groups=`` by Student's t; of ``explained``, which is at
            most 1, on the scale of log(1 - p), of the others, which lie between 0 and 1, on that of
            log(p/(1 - p)), so that they stay within.  A score that is such a limit has none.

            Of one cause there is no ``harrell_c``; ``uno_c`` is the C of Wolbers et al. (2014), and
            the Kaplan–Meier curve becomes the Aalen–Johansen estimate.

        Raises
        ------
        InputError
            If `newdata` lacks a column or the response; if no row that evaluates has an event; if
            there is no such `cause`; if `until` is before the first event, or beyond the last time;
            if `level` is not between 0 and 1; if the fit was kept without its training rows.

        Notes
        -----
        Standard errors are those of the infinitesimal jackknife over rows, or over groups of a fit
        with ``groups=``; they allow for the estimate of the censoring curve.  The fit is taken as
        given.  A row is predicted out of bag by some of the trees only, so that out-of-bag scores
        are a little worse than those of new rows, the more so the fewer trees there are.  That
        other training rows would give other predictions out of bag is not in the standard errors,
        so that out-of-bag intervals of C cover less than `level`
        (``benchmarks/survival/concordance_coverage.py``).

        If rows enter late, as by ``Surv(start, stop, event)``, those that had the event before they
        could enter are not seen.  The others stand for them, too: all weights are by the inverse
        probability to be under observation, which is S(t-)/Y(t) but for a factor, of the
        Kaplan–Meier curve S and the number Y at risk (Geskus 2011; see
        `odrf.statistics.survival.observation`).  So scores are of the population without late
        entry, if neither entry nor censoring depends on events or predictors.  Few rows are at
        risk at first, as a rule, and tell little: everything is given that no event has come by the
        last event time, before the risk set is largest, at which it has less than a tenth of this
        size; the predicted survival is divided by that at this time.

        References
        ----------
        R. B. Geskus (2011). Cause-specific cumulative incidence estimation and the Fine and Gray
        model under both left truncation and right censoring. Biometrics 67, 39-49.

        E. Graf, C. Schmoor, W. Sauerbrei and M. Schumacher (1999). Assessment and comparison of
        prognostic classification schemes for survival data. Statistics in Medicine 18, 2529-2545.

        H. Uno, T. Cai, M. J. Pencina, R. B. D'Agostino and L. J. Wei (2011). On the C-statistics
        for evaluating overall adequacy of risk prediction procedures with censored survival data.
        Statistics in Medicine 30, 1105-1117.

        M. Wolbers, P. Blanche, M. T. Koller, J. C. M. Witteman and T. A. Gerds (2014). Concordance
        for prognostic models with competing risks. Biostatistics 15, 526-539.

        Examples
        --------
        >>> import odrf
        >>> from odrf import simulate
        >>> problem = simulate.proportional_hazards()
        >>> forest = odrf.odrf(
        ...     "Surv(time, event) ~ .", problem.sample(200, seed=1), n_trees=50, seed=1
        ... )
        >>> scores = forest.score(problem.sample(200, seed=2))
        >>> list(scores.index)
        ['harrell_c', 'uno_c', 'integrated_brier', 'explained']
        >>> bool(scores.loc["uno_c", "estimate"] > 0.6)
        True
        """
        return self._scores(self._validation(newdata, cause), until, level, progress)

    def calibration(
        self,
        time: float,
        newdata: pd.DataFrame | None = None,
        *,
        cause: str | None = None,
        groups: int = 10,
        level: float = 0.95,
    ) -> SurvivalCalibration:
        """Compare predicted probabilities of an event by a time with how often events happen.

        Parameters
        ----------
        time : float
            The time, in the unit of the response.
        newdata, cause : optional
            As in `score`.
        groups : int, default 10
            Rows of similar predicted probability are compared together: at most so many groups, of
            about equal weight.
        level : float, default 0.95
            Nominal coverage of the limits.

        Returns
        -------
        SurvivalCalibration
            With ``table``, ``overall``, ``summary()`` and ``plot()``.

        Raises
        ------
        InputError
            As by `score`; if `time` is before the first event of the rows, or beyond their last
            time; if `groups` or `level` is out of range.

        Notes
        -----
        What is observed in a group is its Kaplan–Meier estimate, of one cause the Aalen–Johansen
        estimate.  Limits are symmetric for log(-log p), and take the rows as independent, also of a
        fit with ``groups=``.  If rows enter late, what is predicted is a
        mean that is weighted as in `score`, because rows that live long are seen more often, and
        all is given no event by the same time.

        Examples
        --------
        >>> import odrf
        >>> data = odrf.load_data("gbsg2")
        >>> forest = odrf.odrf("Surv(time, event) ~ .", data, n_trees=50, seed=1)
        >>> overall = forest.calibration(1000).overall
        >>> bool(abs(overall["predicted"] - overall["observed"]) < 0.03)
        True
        """
        return self._calibration(self._validation(newdata, cause), time, groups, level)

    def roc(
        self,
        time: float,
        newdata: pd.DataFrame | None = None,
        *,
        cause: str | None = None,
        level: float = 0.95,
    ) -> SurvivalROC:
        """Measure how well predictions tell rows with an event by a time from those without.

        Parameters
        ----------
        time, newdata, cause, level
            As in `calibration`.

        Returns
        -------
        SurvivalROC
            The ROC curve at the time, and areas along time, with ``table``, ``summary()`` and
            ``plot()``.

        Raises
        ------
        InputError
            As by `calibration`; if none is known not to have had the event by the time.

        Notes
        -----
        Cases are the rows with an event by the time, controls those without one by then.  Both are
        weighted by the inverse probability not to be censored (Uno et al. 2007).  Of one cause,
        rows that have had an event of another cause by the time are controls, too.  The score is
        the predicted probability of an event by that time.  Intervals are those of `score`,
        by the infinitesimal jackknife over rows, or over groups of a fit with ``groups=``, normal
        on the scale of log(area/(1 - area)).  An area of 0 or 1 has none.

        References
        ----------
        H. Uno, T. Cai, L. Tian and L. J. Wei (2007). Evaluating prediction rules for t-year
        survivors with censored regression models. JASA 102, 527-537.

        Examples
        --------
        >>> import odrf
        >>> data = odrf.load_data("gbsg2")
        >>> forest = odrf.odrf("Surv(time, event) ~ .", data, n_trees=50, seed=1)
        >>> list(forest.roc(1000).table.columns)
        ['auc', 'std_error', 'conf_low', 'conf_high']
        """
        return self._roc(self._validation(newdata, cause), time, level)

    def _validation(self, newdata: pd.DataFrame | None, cause: str | None) -> EvaluatedPredictions:
        if newdata is not None:
            return fits.survival.validation.evaluated_new_rows(self.fit, newdata, cause)
        if cause is not None:
            return fits.survival.validation.evaluated_training_rows(self.fit, self._unseen, cause)
        return self._evaluated_training

    def _evaluated_causes(self) -> dict[str, EvaluatedPredictions]:
        """Return the training rows evaluating each cause, if there are several with events."""
        times = self.fit.times
        if len(times.causes) == 1:
            return {}
        evaluated = self._validation_if_any
        if evaluated is None:
            return {}
        happened = set(evaluated.rows.event.tolist())
        names = [name for code, name in enumerate(times.causes, start=1) if code in happened]
        return {name: self._validation(None, name) for name in names}

    @cached_property
    def _evaluated_training(self) -> EvaluatedPredictions:
        return fits.survival.validation.evaluated_training_rows(self.fit, self._unseen, None)


# ------------------------------------------------------------------------------------------------
# Importances of predictors of times to an event.
# ------------------------------------------------------------------------------------------------

PERMUTATION, IMPURITY = "permutation", "impurity"


class SurvivalImportances(EvaluatedSurvivalResults):
    """Base class of results for times to an event with importances of predictors."""

    def importance(
        self, type: str | None = None, *, cause: str | None = None, progress: bool = False
    ) -> pd.DataFrame:
        """Return the importance of each predictor, the most important first.

        Parameters
        ----------
        type : {"permutation", "impurity"}, optional
            By default ``"permutation"``; of trees without rows out of bag, or without events in
            these, ``"impurity"``.

            - ``"permutation"``: by how much Uno's C of the out-of-bag predictions falls when the
              values of the predictor are permuted among the rows.  The whole forest predicts the
              rows anew, so that it is the forest that is evaluated, not its trees one by one.
            - ``"impurity"``: the decrease of the squared error of the log-rank scores by the splits
              on the predictor, each weighted by the node's share of the rows: the mean over the
              trees.  The rows that chose the splits also evaluate them: predictors with many cut
              points seem more important than they are.
        cause : str, optional
            For ``"permutation"``: the cause whose events are predicted, as in `score`.  By default
            every cause counts as the event.
        progress : bool, default False
            Show a progress bar of the predictors.

        Returns
        -------
        DataFrame
            Index: predictors as in the formula; a factor is one, whose levels are permuted
            together.  For ``"permutation"`` the columns ``importance``, ``std_error``, ``conf_low``
            and ``conf_high`` (95%); ``monte_carlo_error``, the part of the error that is due to
            random permutations; ``brier_rise`` and ``brier_std_error``, by how much the integrated
            Brier score rises.  For ``"impurity"`` ``importance``, and ``share`` of their sum.

        Raises
        ------
        InputError
            If `type` is unknown; ``"permutation"`` of trees without rows out of bag; if there is no
            such `cause`, or it is given with ``"impurity"``.

        Notes
        -----
        A predictor is permuted 2 to 10 times, the more often the fewer rows.  The permutations
        follow from the fit's seed.  Standard errors are those of the infinitesimal jackknife over
        rows, or over groups of a fit with ``groups=``; the fit is taken as given.  A predictor that
        tells what others tell, too, loses little: the others are there.

        References
        ----------
        L. Breiman (2001). Random forests. Machine Learning 45, 5-32, section 10.

        Examples
        --------
        >>> import odrf
        >>> from odrf import simulate
        >>> data = simulate.proportional_hazards(p=6, relevant=2).sample(200, seed=1)
        >>> forest = odrf.odrf("Surv(time, event) ~ .", data, n_trees=50, seed=1)
        >>> sorted(forest.importance().index[:2])
        ['x1', 'x2']
        """
        return self._measured_importance(type, cause, progress).table.copy()

    def _measured_importance(
        self, type: str | None, cause: str | None, progress: bool
    ) -> MeasuredImportance:
        """Return the importances of a type, or those that are shown first."""
        if type is None:
            evaluates = leaves_rows_out(self.fit) and self._validation_if_any is not None
            type = PERMUTATION if evaluates else IMPURITY
        if checked_choice("type", type, (PERMUTATION, IMPURITY)) == IMPURITY:
            if cause is not None:
                raise InputError('cause= is for type="permutation", not "impurity"')
            return reports.survival.summaries.survival_impurity_measured(self.fit)
        require_out_of_bag(self.fit, "Permutation importances")
        fits.survival.hazards.cause_numbers(cause, self.fit.design.response.causes)
        known = self._permutation_importances
        if cause not in known:
            evaluated = self._validation(None, cause)
            known[cause] = reports.survival.summaries.permutation_measured(
                self.fit, evaluated, progress
            )
        return known[cause]

    @cached_property
    def _permutation_importances(self) -> dict[str | None, MeasuredImportance]:
        """Those that have been computed, by cause; None: of all causes."""
        return {}


# ------------------------------------------------------------------------------------------------
# Plots of results for times to an event.
# ------------------------------------------------------------------------------------------------

CURVES, IMPORTANCE, ERROR = "curves", "importance", "error"
# Predictors that a plot shows.
ROWS = 15


class PlottedSurvivalResults(SurvivalImportances):
    """Base class of results for times to an event with plots."""

    @property
    def error_path(self) -> pd.Series:
        """Out-of-bag error of the first trees, 1 - Harrell's C, by their number.

        It is computed at up to 16 numbers of trees, about equally far apart on a logarithmic scale,
        over the rows that some of these trees did not draw; missing where none can be compared.

        Raises
        ------
        InputError
            If every tree uses all rows.
        """
        require_out_of_bag(self.fit, "Errors by the number of trees")
        if "_error_path" not in vars(self):
            self._error_path = fits.survival.fit.error_by_trees(self.fit, self._unseen)
        return self._error_path.copy()

    def plot(
        self,
        kind: str | None = None,
        *,
        ax: Axes | NDArray | None = None,
        type: str | None = None,
        cause: str | None = None,
        progress: bool = False,
    ) -> Axes | NDArray:
        """Plot predicted curves beside observed ones, the importances of predictors, or both.

        Parameters
        ----------
        kind : {"curves", "importance", "error"}, optional
            - ``"curves"``: the training rows in four groups of similar risk, as predicted out of
              bag: the mean of their predicted survival, and their Kaplan–Meier curve with 95%
              limits, pointwise.  Below the axis the numbers of rows at risk in each group.  Times
              go to the last event at which a tenth of the rows is at risk.  Of one cause, the
              groups are of similar risk of this one, and the curves are its incidence, predicted
              and by the Aalen–Johansen estimate.
            - ``"importance"``: the importances, with intervals if they are by permutation.
            - ``"error"``: 1 - Harrell's C of the first trees, out of bag, by their number.

            By default two panels: the curves, and the importances.
        ax : Axes or array of two Axes, optional
            Where to draw.  By default on a new figure.
        type : str, optional
            Which importances, as in `importance`.
        cause : str, optional
            The cause that is evaluated, if events have several: by the curves, by default the one
            that splits are about, or all; by the importances, as in `importance`.
        progress : bool, default False
            Show a progress bar while the importances are computed.

        Returns
        -------
        Axes or array of Axes

        Raises
        ------
        InputError
            If `kind` is unknown, or `type` or `cause` is given and it does not show them; if there
            is no such `cause`; if `ax` has another number of axes.
        """
        if kind is not None and not is_word(kind, IMPORTANCE):
            require_default("type", type, None, f'kind="{IMPORTANCE}"')
            if not is_word(kind, CURVES):
                require_default("cause", cause, None, f'kind="{CURVES}" and kind="{IMPORTANCE}"')
        draw = partial(self._plot_importance, type=type, cause=cause, progress=progress)
        if ax is None and is_word(kind, IMPORTANCE):
            # a figure of its own is as high as its rows need
            return draw(None)
        drawings: dict[str, Callable[[Any], object]] = {
            CURVES: partial(self._plot_curves, cause=cause),
            IMPORTANCE: draw,
        }
        if kind is not None:
            drawings[ERROR] = lambda panel: plots.plot_error(self.error_path, panel)
        return plots.draw_panels(drawings, kind, ax)

    def _plot_curves(self, ax: Axes | None, cause: str | None) -> Axes:
        cause = self.fit.control.cause if cause is None else str(cause)
        return reports.survival.curves.drawn_risk_groups(self._validation(None, cause), ax, cause)

    def _plot_importance(
        self, ax: Axes | None, type: str | None, cause: str | None, progress: bool
    ) -> Axes:
        measured = self._measured_importance(type, cause, progress)
        shown, P = measured.table.head(ROWS), len(measured.table)
        if "conf_low" not in shown:
            return plots.plot_importance(
                measured.table["share"], f"share of {measured.measure}", ax
            )
        numbers = shown.rename(columns={"importance": "estimate"})
        labels = pd.DataFrame({"predictor": shown.index})
        drawn = plots.plot_effects(labels, numbers, measured.measure, 0.0, ax)
        if P > ROWS:
            drawn.set_xlabel(f"estimate (first {ROWS} of {P})")
        return drawn


# ------------------------------------------------------------------------------------------------
# How results for times to an event show themselves: summary and card.
# ------------------------------------------------------------------------------------------------


class ShownSurvivalResults(PlottedSurvivalResults):
    """Base class of results for times to an event with a summary."""

    def summary(self, *, detail: bool = False, progress: bool = False) -> Summary:
        """Return a summary: data, options, sizes, scores, importances.

        It prints as text, and converts to HTML and LaTeX.  Follow-up is estimated by the
        Kaplan–Meier curve of censoring (Schemper and Smith 1996).

        Parameters
        ----------
        detail : bool, default False
            Also show what each predictor was taken as: the table of `data_summary`.
        progress : bool, default False
            Show a progress bar while the importances are computed.

        Returns
        -------
        Summary

        References
        ----------
        M. Schemper and T. L. Smith (1996). A note on quantifying follow-up in studies of failure
        time. Controlled Clinical Trials 17, 343-346.
        """
        measured = self._measured_importance(None, None, progress)
        of_causes = self._evaluated_causes()
        summary = reports.survival.summaries.survival_summary(
            self.fit, self._validation_if_any, of_causes, measured
        )
        return (
            reports.data_summary.with_data(summary, self.fit)
            if checked_truth("detail", detail)
            else summary
        )

    def consistency(self) -> CurveConsistency:
        """Report which result on consistency covers the predicted curves, and what is not covered.

        Returns
        -------
        CurveConsistency
            With ``table``, ``conclusion`` and ``summary()``.
        """
        return reports.survival.consistency.CurveConsistency(self.fit)
