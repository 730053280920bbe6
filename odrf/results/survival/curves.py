"""Predicted risks and curves of trees and forests, and curves of rows to be shown and drawn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, TypedDict, overload

import pandas as pd
from numpy.typing import ArrayLike

from odrf import fits, reports
from odrf.fits.predicting import rows_of
from odrf.fits.responses import (
    asked_out_of_bag,
    leaves_rows_out,
    predicting_rows_apart,
    training_rows,
)
from odrf.public import public, public_method
from odrf.results.base import Rows, Training
from odrf.results.survival.base import LeafCurveResults, SurvivalResults

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from odrf.reports.survival.bands import SurvivalBands
    from odrf.reports.survival.curves import SurvivalCurves

Times = float | ArrayLike | None
Risk = Literal["risk", "time"]
"""Types of predictions that are a series, of one cause."""
Table = Literal["survival", "hazard", "incidence", "quantile"]
"""Types of predictions that are a data frame."""
Other = Literal["rmst", "lost", "leaf"]


class OfCurves(TypedDict, total=False):
    """Options of `predict` for survival times."""

    times: Times
    quantiles: float | Sequence[float] | None
    cause: str | None
    training: Training
    progress: bool


@overload
def predict(
    self: LeafCurveResults, newdata: Rows = ..., type: Risk = ..., **how: Unpack[OfCurves]
) -> pd.Series: ...
@overload
def predict(
    self: LeafCurveResults, newdata: Rows = ..., type: Table = ..., **how: Unpack[OfCurves]
) -> pd.DataFrame: ...
@overload
def predict(
    self: LeafCurveResults,
    newdata: Rows = ...,
    type: Risk | Table | Other = ...,
    **how: Unpack[OfCurves],
) -> pd.Series | pd.DataFrame: ...
@public
@predicting_rows_apart
def predict(
    self: LeafCurveResults,
    newdata: Rows = None,
    type: Risk | Table | Other = "risk",
    *,
    times: Times = None,
    quantiles: float | Sequence[float] | None = None,
    cause: str | None = None,
    training: Training = None,
    progress: bool = False,
) -> pd.Series | pd.DataFrame:
    """Predict new rows, or the training rows.

    Parameters
    ----------
    {rows_to_predict}
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
    {shares_of_times}
    cause : str, optional
        The cause of events whose ``"incidence"``, time ``"lost"`` or ``"risk"`` is predicted: a
        category of the event in ``Surv(time, event)``.  By default all of them: ``"risk"`` is
        then that of an event of whatever cause.
    training : {"out-of-bag", "in-bag"}, optional
        How training rows are predicted, without `newdata`: of a forest by default by the trees
        that did not sample the row.
    {progress_of_rows}

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


def curves(
    self: SurvivalResults,
    newdata: pd.DataFrame,
    times: float | ArrayLike | None = None,
    *,
    progress: bool = False,
    **which: Any,
) -> SurvivalCurves:
    """Return the predicted survival curves of rows, to be shown and drawn.

    Parameters
    ----------
    {rows_shown, times_of_curves, which, progress_of_rows}

    Returns
    -------
    SurvivalCurves
        With ``table``, ``quartiles``, ``summary()`` and ``plot()``.

    Raises
    ------
    InputError
        If `newdata` lacks a column, `times` are no numbers of at least 0, offsets are missing, or
        there is no such cause.

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
    cause = which.get("cause")
    if cause is None:
        cause = getattr(self.fit.control, "cause", None)
    if cause is None:
        table = self.predict(newdata, "survival", times=times, progress=progress, **which)
        quartiles = self.predict(newdata, "quantile", **which)
        return reports.survival.curves.SurvivalCurves(self.fit, table, quartiles)
    which = {"cause": cause}
    table = every = self.predict(newdata, "incidence", progress=progress, **which)
    if times is not None:
        table = self.predict(newdata, "incidence", times=times, **which)
    quartiles = reports.survival.curves.times_reaching(every, fits.survival.curves.QUARTILES)
    return reports.survival.curves.SurvivalCurves(self.fit, table, quartiles, str(cause))


@public_method
def bands(
    self: LeafCurveResults,
    newdata: Rows = None,
    times: float | ArrayLike | None = None,
    *,
    cause: str | None = None,
    level: float = 0.95,
    training: str | None = None,
    progress: bool = False,
) -> SurvivalBands:
    """Return predicted curves with confidence intervals and simultaneous bands.

    The curves are of survival, or with `cause` the cumulative incidences of a cause.

    Intervals and bands are for the forest's expectation over training samples, which differs from
    the true curves by the forest's bias.  Grow the forest with ``inference=True``: standard errors
    of others are too large (``benchmarks/survival/survival_coverage.py``).

    Parameters
    ----------
    {rows_to_predict}
    times : float or sequence of float, optional
        Times in the unit of the response; a band covers the curve at all of them.  By default the
        event times of the training rows; of more than 50, as many quantiles of them.
    cause : str, optional
        The curves are the incidences of this cause of events.  By default they are of survival.
    level : float, default 0.95
        Nominal coverage, of the intervals for a single time, and of the band for all times of a
        row.
    training : {"out-of-bag", "in-bag"}, optional
        How training rows are predicted, as in `predict`.
    {progress}

    Returns
    -------
    SurvivalBands
        With ``table``, ``summary()`` and ``plot()``.

    Raises
    ------
    InputError
        If an argument is invalid, or the trees do not tell how the forest varies: it has one, or
        they sampled all rows.

    Warns
    -----
    UserWarning
        The forest has too few trees for standard errors; or one of the `times` is after the last
        training row was observed.

    Notes
    -----
    Standard errors are those of the jackknife after bootstrap (`odrf.statistics.jackknife`), of the
    mean over the trees of their survival at a time; so are the covariances of two times.  Intervals
    (normal) and bands are symmetric for log(-log S), and so within 0 and 1.  Bands reach as many
    standard errors as the largest of errors with these correlations has with the probability
    `level`, by simulation: of a multivariate t, whose degrees of freedom are those of the estimated
    variances (Satterthwaite 1946), the median over the times.  More trees make bands narrower.

    Survival never rises: where a band allows more than that, it is cut, and intervals are cut at
    the band.  Where all trees agree, as before the first event, the standard error is 0, and only
    other times tell how far survival can be from 1.  The same is done with 1 minus an incidence.

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
