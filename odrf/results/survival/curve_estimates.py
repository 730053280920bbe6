"""Numbers of the curves of a survival forest, and bands of the curves."""

from __future__ import annotations

import pandas as pd
from numpy.typing import ArrayLike

from odrf.fits.intervals import LEVEL
from odrf.fits.predicting import rows_of
from odrf.fits.responses import asked_out_of_bag, leaves_rows_out, training_rows
from odrf.fits.survival.fit import estimand_fit
from odrf.reports.survival.bands import SurvivalBands, bands_of
from odrf.results.survival.estimand_results import EstimandResults
from odrf.results.survival.survival_results import SurvivalResults

__all__ = ["CurveEstimates"]


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
        return EstimandResults(estimand_fit(self.fit, estimand, time, cause))

    def bands(
        self,
        newdata: pd.DataFrame | None = None,
        times: float | ArrayLike | None = None,
        *,
        cause: str | None = None,
        level: float = LEVEL,
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
        return bands_of(rows, self._unseen if out_of_bag else None, times, cause, level, progress)
