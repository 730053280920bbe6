"""Results of one number of the curves of a survival forest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pandas as pd
from numpy.typing import ArrayLike

from odrf import fits, plots, reports
from odrf.checks import checked_choice, checked_whole, is_word
from odrf.engine.oob import OutOfBag
from odrf.errors import AbsentError, InputError
from odrf.fits.predicting import rows_of
from odrf.fits.responses import asked_out_of_bag, leaves_rows_out, training_rows
from odrf.results.base import Priors
from odrf.results.forest_predictions import ForestImportances
from odrf.results.proximity import ProximityResults
from odrf.results.scores import BY_HELD_OUT, KNOCKOFF
from odrf.results.shapley import ShapleyResults
from odrf.results.survival.base import SurvivalResults
from odrf.results.tree import SurrogateTreeResults
from odrf.results.trees import Drawing, Panelled, SeveralTrees
from odrf.text.summary import Card, Summary

if TYPE_CHECKING:
    from odrf.fits.survival.fit import EstimandFit
    from odrf.reports.interactions import Interactions
    from odrf.reports.proximity import Proximity
    from odrf.reports.survival.bands import SurvivalBands


# ------------------------------------------------------------------------------------------------
# Results of one number of the curves of a survival forest.
# ------------------------------------------------------------------------------------------------

OUT_OF_BAG, PERMUTATION = "out_of_bag", "permutation"
GROWN_FOR_CURVES = "its trees are those of a survival forest"
# What other forests have and this has not, because it would grow or change trees.
WITHOUT = {
    "changes": f"{GROWN_FOR_CURVES}, which is not updated",
    "combine": f"{GROWN_FOR_CURVES}: combine these, and call estimand() of the result",
    "consistency": f"{GROWN_FOR_CURVES}, of which theorems on squared errors say nothing",
    "get_prediction": 'its responses are pseudo-values: use predict(interval="confidence")',
    "grow": f"{GROWN_FOR_CURVES}: fit that with a larger n_trees=, and call estimand() again",
    "growth_path": f"{GROWN_FOR_CURVES}, whose curves are those of leaves alone: see error_path",
    "kinds": f"{GROWN_FOR_CURVES}: see there",
    "pixel_importance": f"{GROWN_FOR_CURVES}, whose splits are for curves: see importance()",
    "predictive_check": "its responses are pseudo-values, whose distribution says nothing",
    "projection_importance": f"{GROWN_FOR_CURVES}, whose splits are for curves: see importance()",
    "prune": f"{GROWN_FOR_CURVES}: fit that with a larger min_leaf=",
    "pruning_path": f"{GROWN_FOR_CURVES}: fit that with a larger min_leaf=",
    "select_variables": f"{GROWN_FOR_CURVES}, and selections grow others: see importance()",
    "strength_correlation": f"{GROWN_FOR_CURVES}: see error_path for whether they are enough",
    "to_sklearn": f"{GROWN_FOR_CURVES}, and estimators of scikit-learn grow others: use predict()",
    "tree": f"{GROWN_FOR_CURVES}: see splits, or surrogate() for one tree to read",
    "update": f"{GROWN_FOR_CURVES}: fit that to all rows, and call estimand() again",
}
NOTE = (
    "Errors and importances compare predictions with pseudo-values, because censored times do not "
    "tell the number of a row."
)
ENTER_LATE = (
    "Rows enter late: pseudo-values of rows that are rarely seen are too far from their mean, so "
    "that errors and importances are rough. score() of the survival forest allows for late entry."
)
GROWN_ANEW = "it grows trees anew, by squared errors of pseudo-values"
# Importances that are not of this number, and why.
NOT_HERE = {
    "impurity": "it is of splits that were found for curves, not for this number",
    **dict.fromkeys((BY_HELD_OUT, "conditional", "loco", KNOCKOFF), GROWN_ANEW),
}


class Unsupported:
    """In place of what a base class has and a result has not; `__getattr__` then says why."""

    def __get__(self, result: object, kind: type | None = None) -> Unsupported:
        if result is None:
            return self
        raise AttributeError


class EstimandResults(
    ForestImportances,
    SeveralTrees,
    Panelled,
    SurrogateTreeResults,
    ShapleyResults,
    ProximityResults,
):
    """One number of the curves of a survival forest, as returned by its method `estimand`.

    It is the regression forest of that number: the same trees, on the same draws of rows, with the
    number of each leaf's curve as its value.  So it has what a forest of `odrf.odrf` has for a
    regression: predictions and their confidence intervals, averaged predictions, comparisons and
    slopes, partial dependence, accumulated and individual effects, Shapley values, importances,
    a surrogate tree, proximities, explanations of single rows, exports, and plots.

    Censored times do not tell the number of a row.  In place of responses the training rows have
    pseudo-values: what each row adds to the Kaplan–Meier estimate of the number (to the
    Nelson–Aalen estimate of a hazard, to the Aalen–Johansen estimate of an incidence or of the time
    lost by a cause), as if it had been observed to the end
    (`odrf.statistics.survival.pseudo_values`).  Their mean given the predictors is the number that
    is predicted, if censoring does not depend on the predictors, and no rows enter late.  They are
    what out-of-bag errors, R² and importances compare predictions with; predictions, effects and
    their standard errors do not use them.  Single pseudo-values can lie outside the range of the
    number.

    What would grow or change trees is not there, or raises `InputError`: that is for the survival
    forest.

    Parameters
    ----------
    fit : EstimandFit
        Design, data, options and trees.

    Attributes
    ----------
    fit : EstimandFit

    References
    ----------
    Andersen, Klein and Rosthøj (2003), Generalised linear models for correlated
    pseudo-observations, with applications to multi-state models, Biometrika 90, 15-27.

    Examples
    --------
    >>> import odrf
    >>> data = odrf.simulate.hazard_jump(p=3).sample(300, seed=1)
    >>> forest = odrf.odrf("Surv(time, event) ~ .", data, n_trees=50, seed=1)
    >>> alive = forest.estimand("survival", time=0.5)
    >>> alive.design.response.name
    'S(0.5)'
    >>> curve = forest.predict(data, type="survival", times=0.5)[0.5]
    >>> bool(abs(alive.predict(data) - curve).max() < 1e-12)
    True
    >>> bool(alive.partial("x1", points=5).table["estimate"].between(0, 1).all())
    True
    """

    fit: EstimandFit

    consistency: Any = Unsupported()
    get_prediction: Any = Unsupported()
    growth_path: Any = Unsupported()
    pixel_importance: Any = Unsupported()
    projection_importance: Any = Unsupported()
    to_sklearn: Any = Unsupported()

    if not TYPE_CHECKING:  # for types, attributes are those that are written down

        def __getattr__(self, name: str) -> Any:
            """Say why this forest lacks what others have."""
            if name in WITHOUT:
                raise AbsentError(f"{type(self).__name__} has no {name!r}: {WITHOUT[name]}")
            return super().__getattr__(name)

    @property
    def estimand(self) -> str:
        """Which number it is, such as ``"survival"``; see the method `estimand` of forests."""
        return self.fit.estimand

    @property
    def cause(self) -> str | None:
        """The cause of events that the number is of; None: of all."""
        return self.fit.cause

    @property
    def time(self) -> float:
        """The time that the number is of."""
        return self.fit.time

    def predict(
        self,
        newdata: pd.DataFrame | None = None,
        type: str = "response",
        *,
        priors: Priors = None,
        interval: str | None = None,
        level: float = 0.95,
        method: str = "auto",
        quantiles: float | Sequence[float] | None = None,
        training: str | None = None,
        progress: bool = False,
    ) -> pd.Series | pd.DataFrame:
        """Predict new rows, or the training rows.

        Parameters
        ----------
        newdata, priors, level, training, progress
            As in `ODRFResults.predict`.
        type : {"response", "leaf", "trees"}, default "response"
            The number; the leaf in each tree; the number of each tree.
        interval : "confidence", optional
            An interval for the forest's expectation over training samples, by the jackknife.  That
            of a probability is on the scale of the log odds, so that it stays between 0 and 1.
        method : {"auto", "jackknife"}, default "auto"
            The same.
        quantiles : None
            Pseudo-values have none that mean something.

        Returns
        -------
        Series or DataFrame
            As `ODRFResults.predict`.

        Raises
        ------
        InputError
            As by `ODRFResults.predict`; if a prediction interval or quantiles are asked for.
        """
        if is_word(interval, "prediction") or is_word(type, "quantile") or quantiles is not None:
            raise InputError(
                "prediction intervals and quantiles would be those of pseudo-values, which nobody "
                'has: use interval="confidence", or predict(type="quantile") of the survival '
                "forest for the times of events"
            )
        return super().predict(
            newdata, type, priors=priors, interval=interval, level=level, method=method,
            training=training, progress=progress,
        )  # fmt: skip

    def importance(
        self,
        type: str | None = None,
        *,
        test: str = "t",
        adjust: str | None = "holm",
        groups: Mapping[str, Sequence[str]] | None = None,
        level: float = 0.95,
        progress: bool = False,
    ) -> pd.DataFrame:
        """Return the importance of each predictor for this number, the most important first.

        Parameters
        ----------
        type : {"out_of_bag", "permutation"}, default "out_of_bag"
            As in `ODRFResults.importance`: by how much splits on the predictor move predictions
            towards the pseudo-values of rows out of bag; or the increase of the out-of-bag squared
            error of pseudo-values when the predictor is permuted.
        test, adjust, groups, level
            They are for tests, of which there are none here.
        progress : bool, default False
            Show a progress bar.

        Returns
        -------
        DataFrame
            As `ODRFResults.importance`.

        Raises
        ------
        InputError
            If `type` is another one, an argument for tests is given, or no rows are out of bag.
        """
        asked = OUT_OF_BAG if type is None else type
        checked_choice("type", asked, (OUT_OF_BAG, PERMUTATION, *NOT_HERE))
        if asked in NOT_HERE:
            raise InputError(
                f"type={asked!r} is not for numbers of curves, because {NOT_HERE[asked]}: use "
                f'type="{OUT_OF_BAG}", or importance() of the survival forest'
            )
        return super().importance(
            asked, test=test, adjust=adjust, groups=groups, level=level, progress=progress
        )

    def interactions(
        self,
        variables: list[str] | None = None,
        *,
        rows: int = 100,
        permutations: int = 0,
        newdata: pd.DataFrame | None = None,
        progress: bool = False,
    ) -> Interactions:
        """Return which variables interact in their effect on the number.

        Parameters
        ----------
        variables, rows, newdata, progress
            As in `ODRFResults.interactions`.
        permutations : 0
            How often the fit is grown again to tell what noise reaches: not at all, because this
            would grow other trees.

        Returns
        -------
        Interactions
            As `ODRFResults.interactions`.

        Raises
        ------
        InputError
            As by `ODRFResults.interactions`; if `permutations` is not 0.
        """
        if checked_whole("permutations", permutations, 0):
            raise InputError(f"permutations={permutations!r}: {GROWN_ANEW}: use permutations=0")
        return super().interactions(
            variables, rows=rows, permutations=0, newdata=newdata, progress=progress
        )

    def proximity(self, newdata: pd.DataFrame | None = None, *, type: str = "plain") -> Proximity:
        """Return how near rows are to the training rows, by the leaves that they share.

        Parameters
        ----------
        newdata : DataFrame, optional
            The rows.  By default the training rows.
        type : {"plain", "oob"}, default "plain"
            As in `ODRFResults.proximity`.

        Returns
        -------
        Proximity
            As `ODRFResults.proximity`.

        Raises
        ------
        InputError
            As by `ODRFResults.proximity`; if `type` is ``"weights"``.
        """
        if is_word(type, "weights"):
            raise InputError(
                'type="weights": predictions are no means of the pseudo-values of training rows: '
                'use type="plain"'
            )
        return super().proximity(newdata, type=type)

    def _summary(self, progress: bool) -> Summary:
        importance = self._measured_importance(progress)
        summary = reports.summaries.forest_summary(self.fit, self._known_out_of_bag, importance)
        facts = {"Number": self.fit.in_words, **summary.facts, "Criterion": "log-rank"}
        title = "Oblique random survival forest: a number of its curves"
        notes = (NOTE, ENTER_LATE) if self.fit.late else (NOTE,)
        return replace(summary, title=title, facts=facts, notes=(*summary.notes, *notes))

    @property
    def _known_out_of_bag(self) -> OutOfBag | None:
        return self._out_of_bag if leaves_rows_out(self.fit) else None

    def _drawing(self) -> Drawing:
        return "error", lambda panel: plots.plot_error(self.error_path, panel)

    def _card(self) -> Card:
        card = reports.summaries.forest_card(self.fit, self._known_out_of_bag)
        title = f"{self.fit.in_words.capitalize()}, by {self.forest.n_trees} survival trees"
        return replace(card, title=title)


# ------------------------------------------------------------------------------------------------
# Numbers of the curves of a survival forest, and bands of the curves.
# ------------------------------------------------------------------------------------------------


class CurveEstimates(SurvivalResults):
    """Base class of survival forests, which have estimands and bands of their curves."""

    def estimand(self, estimand: str, *, time: float, cause: str | None = None) -> EstimandResults:
        """Return the forest as the regression forest of one number of its curves.

        It has the same trees.  So effects, curves, Shapley values, importances and confidence
        intervals of a number of the curve are those of any forest: the difference that a treatment
        makes for the survival at a year is ``estimand("survival", time=365).comparisons(...)``.

        Parameters
        ----------
        estimand : {"survival", "rmst", "hazard", "incidence", "lost"}
            - ``"survival"``: the probability that the event comes after `time`.
            - ``"rmst"``: the restricted mean survival time, the area under the survival curve up to
              `time`: how long a row is expected to be without the event, of this time.
            - ``"hazard"``: the cumulative hazard at `time`.
            - ``"incidence"``: the probability of an event of the cause by `time`, others being
              possible: of what has one cause, 1 minus survival.
            - ``"lost"``: the time that is expected to be lost by the cause up to `time`, the area
              under its incidence (Andersen 2013).
        time : float
            In the unit of the response.
        cause : str, optional
            The cause of ``"incidence"`` and ``"lost"``, if events have several.

        Returns
        -------
        EstimandResults
            Its `predict` gives the number that `predict` gives here, to rounding.

        Raises
        ------
        InputError
            If the estimand is unknown; if `cause` is missing, unknown, without events, or given
            where there is nothing to choose; if the time is not above 0, is before the first event
            (of the cause, if there is one; of an area: not after it), or is after the last
            observation; if the number is the same for all training rows.

        Warns
        -----
        UserWarning
            If the time is after the last event, where curves stay as they are.

        References
        ----------
        P. K. Andersen (2013). Decomposition of number of life years lost according to causes of
        death. Statistics in Medicine 32, 5278-5285.

        Examples
        --------
        >>> import odrf
        >>> data = odrf.simulate.hazard_jump(p=3).sample(300, seed=1)
        >>> forest = odrf.odrf("Surv(time, event) ~ .", data, n_trees=50, seed=1)
        >>> gained = forest.estimand("rmst", time=1).comparisons("x3", contrast=(0, 0.5))
        >>> list(gained.table["term"])
        ['x3']
        >>> data = odrf.simulate.competing_risks(p=4).sample(300, seed=1)
        >>> forest = odrf.odrf("Surv(time, event) ~ .", data, n_trees=50, seed=1)
        >>> forest.estimand("incidence", time=1, cause="2").design.response.name
        'F(1, 2)'
        """
        return EstimandResults(fits.survival.fit.estimand_fit(self.fit, estimand, time, cause))

    def bands(
        self,
        newdata: pd.DataFrame | None = None,
        times: float | ArrayLike | None = None,
        *,
        cause: str | None = None,
        level: float = 0.95,
        training: str | None = None,
        progress: bool = False,
    ) -> SurvivalBands:
        """Return predicted curves with confidence intervals and simultaneous bands.

        The curves are of survival, or with `cause` the cumulative incidences of a cause.

        Intervals and bands are for the forest's expectation over training samples, which differs
        from the true curves by the forest's bias.  Grow the forest with ``inference=True``:
        standard errors of others are too large (``benchmarks/survival/survival_coverage.py``).

        Parameters
        ----------
        newdata : DataFrame, optional
            The rows, with the columns that the formula uses; the response is not needed.  By
            default the training rows.
        times : float or sequence of float, optional
            Times in the unit of the response; a band covers the curve at all of them.  By default
            the event times of the training rows; of more than 50, as many quantiles of them.
        cause : str, optional
            The curves are the incidences of this cause of events.  By default they are of survival.
        level : float, default 0.95
            Nominal coverage, of the intervals for a single time, and of the band for all times of
            a row.
        training : {"out-of-bag", "in-bag"}, optional
            How training rows are predicted, as in `predict`.
        progress : bool, default False
            Show a progress bar of the rows.

        Returns
        -------
        SurvivalBands
            With ``table``, ``summary()`` and ``plot()``.

        Raises
        ------
        InputError
            If an argument is invalid, or the trees do not tell how the forest varies: it has one,
            or they drew all rows.

        Warns
        -----
        UserWarning
            The forest has too few trees for standard errors; or one of the `times` is after the
            last training row was observed.

        Notes
        -----
        Standard errors are those of the jackknife after bootstrap (`odrf.statistics.jackknife`), of
        the mean over the trees of their survival at a time; so are the covariances of two times.
        Intervals and bands are symmetric for log(-log S), and so within 0 and 1.  Intervals are
        normal.  Bands reach as many standard errors as the largest of errors with these
        correlations has with the probability `level`, by simulation: of a multivariate t, because
        variances that are estimated from a finite number of trees are noisy.  Its degrees of
        freedom are those of the estimated variances (Satterthwaite 1946), the median over the
        times: the more trees, the more there are, and the narrower are bands.

        Survival never rises: where a band allows more than that, it is cut, and intervals are cut
        at the band.  This is where survival is near 1, and standard errors on that scale are large.
        Where all trees agree, as before the first event, the standard error is 0, and only other
        times tell how far survival can be from 1.  The same is done with 1 minus an incidence,
        which is survival if there is one cause.

        References
        ----------
        F. E. Satterthwaite (1946). An approximate distribution of estimates of variance components.
        Biometrics Bulletin 2, 110-114.

        Examples
        --------
        >>> import odrf
        >>> data = odrf.simulate.hazard_jump(p=3).sample(300, seed=1)
        >>> forest = odrf.odrf(
        ...     "Surv(time, event) ~ .", data, n_trees=300, inference=True, seed=1
        ... )
        >>> forest.bands(data.head(3), times=[0.2, 0.5]).table.shape
        (6, 8)
        >>> found = forest.bands(data.head(3), times=[0.2, 0.5], cause="event").table
        >>> bool((found["band_low"] <= found["estimate"]).all())
        True
        """
        out_of_bag = asked_out_of_bag(training, newdata, leaves_rows_out(self.fit))
        rows = training_rows(self.fit, None) if newdata is None else rows_of(self.fit, newdata)
        return reports.survival.bands.bands_of(
            rows, self._unseen if out_of_bag else None, times, cause, level, progress
        )
