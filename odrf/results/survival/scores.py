"""How well risks and survival curves are predicted.

Trees and forests evaluate a `cause` of events, boosted trees take an `offset`: the classes list the
functions with this argument in place of ``**which``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd

from odrf import reports
from odrf.checks import checked_part, checked_whole
from odrf.public.progress import progress_bar
from odrf.results.base import Rows
from odrf.results.survival.base import SurvivalResults

if TYPE_CHECKING:
    from odrf.reports.survival.checks import SurvivalCalibration, SurvivalROC

MOST_GROUPS = 1000


def score(
    self: SurvivalResults,
    newdata: Rows = None,
    *,
    until: float | None = None,
    level: float = 0.95,
    progress: bool = False,
    **which: Any,
) -> pd.DataFrame:
    """Return how good predicted risks and curves are.

    Parameters
    ----------
    {rows_to_evaluate, which, until, level}
    progress : bool, default False
        Show a progress bar of the rows whose curves are predicted.

    Returns
    -------
    DataFrame
        {about scores}

    Raises
    ------
    InputError
        {about invalid_score}

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
    evaluated = self._validation(newdata, **which)
    level, rows = checked_part("level", level), evaluated.rows
    until = None if until is None else rows.checked_time("until", until)
    with progress_bar(total=len(evaluated.used), unit="row", progress=progress) as bar:
        scores = evaluated.scores(until, bar.update)
    return reports.survival.summaries.estimates_table(scores, level, rows.groups, rows.source)


def calibration(
    self: SurvivalResults,
    time: float,
    newdata: Rows = None,
    *,
    groups: int = 10,
    level: float = 0.95,
    **which: Any,
) -> SurvivalCalibration:
    """Compare predicted probabilities of an event by a time with how often events happen.

    Parameters
    ----------
    {time, rows_to_evaluate, which, groups_of_risk, level}

    Returns
    -------
    SurvivalCalibration
        With ``table``, ``overall``, ``summary()`` and ``plot()``.

    Raises
    ------
    InputError
        {about invalid_score}
        If `time` is before the first event of the rows, or beyond their last time; if `groups` is
        out of range.

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
    evaluated = self._validation(newdata, **which)
    time = evaluated.rows.checked_time("time", time)
    groups = checked_whole("groups", groups, 1, MOST_GROUPS)
    return reports.survival.checks.SurvivalCalibration(
        self.call, evaluated, time, groups, checked_part("level", level)
    )


def roc(
    self: SurvivalResults,
    time: float,
    newdata: Rows = None,
    *,
    level: float = 0.95,
    **which: Any,
) -> SurvivalROC:
    """Measure how well predictions tell rows with an event by a time from those without.

    Parameters
    ----------
    {time, rows_to_evaluate, which, level}

    Returns
    -------
    SurvivalROC
        The ROC curve at the time, and areas along time, with ``table``, ``summary()`` and
        ``plot()``.

    Raises
    ------
    InputError
        {about invalid_score}
        If `time` is before the first event of the rows, or beyond their last time; if none is known
        not to have had the event by the time.

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
    evaluated = self._validation(newdata, **which)
    time = evaluated.rows.checked_time("time", time)
    return reports.survival.checks.SurvivalROC(
        self.call, evaluated, time, checked_part("level", level)
    )
