"""Averaged predictions, comparisons and slopes of a fit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd

from odrf import fits, reports
from odrf.checks import (
    checked_above_0,
    checked_choice,
    checked_part,
    checked_truth,
    is_list,
)
from odrf.public import public_method
from odrf.results.base import FittedResults

if TYPE_CHECKING:
    from odrf.reports.effects import Effects

LEVEL = 0.95


@public_method
def predictions(
    self: FittedResults,
    *,
    by: str | Sequence[str] | None = None,
    at: Mapping[str, Any] | None = None,
    newdata: pd.DataFrame | None = None,
    level: float = LEVEL,
    population: bool = False,
    progress: bool = False,
) -> Effects:
    """Average the predictions over rows: the mean response, or the share of each class.

    Parameters
    ----------
    by : str or list of str, optional
        Columns whose values make groups of rows; each group has its own average.  By default
        all rows are one group.
    at : mapping, optional
        Values, or lists of values, that variables are set to in every row, such as
        ``{"age": [30, 60]}``: one average for each combination.  A variable is a column of the
        data; predictors computed from it, such as ``log(age)``, follow.
    newdata : DataFrame, optional
        The rows.  By default the training rows, with their case weights, which class weights
        multiply; new rows count alike.  Rows of a fit with offsets need the column that
        ``offset=`` named.
    level : float, default 0.95
        Nominal coverage of the intervals.
    population : bool, default False
        False: the average over these very rows.  True: the rows are a sample of a population,
        and its chance is added to the variance: that of the predictions, divided by the number
        of rows.  Training rows of one group (``groups=``) are one unit of the sample.
    progress : bool, default False
        Show a progress bar.

    Returns
    -------
    Effects
        Its `table` has the columns of marginaleffects: ``term``, ``contrast``, those of `at`
        and `by`, for classes ``class``, ``estimate``, ``std_error``, ``statistic``,
        ``p_value``, ``conf_low``, ``conf_high``.

    Raises
    ------
    InputError
        If an argument or a column cannot be used; if a column is in `by` and in `at`; if the
        fit has no training rows, and there are no new ones.

    Warns
    -----
    UserWarning
        The forest has too few trees for standard errors; or a number of `at` is beyond the
        training rows, or a level of it is in none of them.

    Notes
    -----
    Standard errors are for the forest's expectation over training samples; they do not cover
    its bias.  They are those of the jackknife after bootstrap (`odrf.statistics.jackknife`),
    for the mean over the trees of each tree's average.  Only forests of `odrf.odrf` that have
    their training rows have them.
    Tests and intervals are normal; with ``groups=``, by Student's t with as many degrees of
    freedom as there are groups, less the number of strata.  Intervals of averaged probabilities
    are on the scale of the log odds, so that they stay between 0 and 1.

    Examples
    --------
    >>> import odrf
    >>> penguins = odrf.load_data("penguins")
    >>> forest = odrf.odrf("body_mass_g ~ . - year", penguins, n_trees=50, seed=1)
    >>> list(forest.predictions(by="species").table["species"])
    ['Adelie', 'Chinstrap', 'Gentoo']
    """
    estimands = fits.estimands.prediction_estimands(self.fit, at)
    return _effects(
        self, "Averaged predictions", estimands, by, newdata, level, population, progress
    )


@public_method
def comparisons(
    self: FittedResults,
    variables: str | Sequence[str] | None = None,
    *,
    contrast: str | Sequence[Any] | None = None,
    comparison: str = "difference",
    by: str | Sequence[str] | None = None,
    at: Mapping[str, Any] | None = None,
    newdata: pd.DataFrame | None = None,
    level: float = LEVEL,
    population: bool = False,
    progress: bool = False,
) -> Effects:
    """Compare predictions with a variable set to one value and to another, averaged over rows.

    Parameters
    ----------
    variables : str or list of str, optional
        Columns of the data that predictors are computed from; a factor is one.  By default all
        but dates, durations, periods and whole numbers beyond 2⁵³, which have no usual
        contrast: name them, and give two.
    contrast : {"sd", "unit", "iqr", "reference", "pairwise"} or a pair of values, optional
        Which two values are compared.

        - ``"sd"``, the default for numbers of more than two values: half a standard deviation
          above and below the value of each row.  A forest is a step function: it may not change
          over one unit.  Of numbers with few values, such as 1 to 5, name two instead.
        - ``"unit"``: the value of each row, and 1 more.
        - ``"iqr"``: the quartiles, the same in all rows.
        - ``"reference"``, the default for factors: each level with the first.
        - ``"pairwise"``: any two levels.
        - ``(a, b)``: a with b; the default for numbers of two values, such as 0 and 1.  Dates,
          durations and periods may be written as text.

        What is for numbers is ignored by factors, and the other way round, if there are several
        variables.
    comparison : {"difference", "ratio"}, default "difference"
        The difference of the two averages, or the second divided by the first.  For classes
        these are differences and ratios of risks.
    by, at, newdata, level, population, progress
        As in `predictions`.

    Returns
    -------
    Effects
        As `predictions`; of two classes differences are those of the event alone, which is the
        second: the other one's would be their mirror image.  ``statistic`` tests
        that the difference is 0, or the ratio 1.

    Raises
    ------
    InputError
        As by `predictions`; if a contrast does not fit a variable; if the fit has no training
        rows, which tell levels and spreads of variables.

    Warns
    -----
    UserWarning
        The forest has too few trees for standard errors; or a number of `at`, or of a pair
        `contrast`, is beyond the training rows, or a level is in none of them.

    Examples
    --------
    >>> import odrf
    >>> penguins = odrf.load_data("penguins")
    >>> forest = odrf.odrf("body_mass_g ~ . - year", penguins, n_trees=50, seed=1)
    >>> list(forest.comparisons("species").table["contrast"])
    ['Chinstrap - Adelie', 'Gentoo - Adelie']
    """
    checked_choice("comparison", comparison, (fits.effects.DIFFERENCE, fits.effects.RATIO))
    if contrast is not None and not is_list(contrast):
        checked_choice("contrast", contrast, fits.estimands.CONTRASTS)
    estimands = fits.estimands.comparison_estimands(self.fit, variables, contrast, at, newdata)
    title = f"Comparisons: {'differences' if comparison == fits.effects.DIFFERENCE else 'ratios'}"
    return _effects(
        self,
        title,
        estimands,
        by,
        newdata,
        level,
        population,
        progress,
        comparison == fits.effects.RATIO,
    )


@public_method
def slopes(
    self: FittedResults,
    variables: str | Sequence[str] | None = None,
    *,
    bandwidth: float | None = None,
    by: str | Sequence[str] | None = None,
    at: Mapping[str, Any] | None = None,
    newdata: pd.DataFrame | None = None,
    level: float = LEVEL,
    population: bool = False,
    progress: bool = False,
) -> Effects:
    """Average the slope of the prediction in a variable over rows.

    The slope of a row is the difference of the predictions at a value above and one below its
    own, divided by their distance.  By default these are the next values of training rows that
    are a quarter of a standard deviation or more away; at the ends of the range, the last one.

    Parameters
    ----------
    variables : str or list of str, optional
        Columns with numbers that predictors are computed from.  By default all such columns but
        those with whole numbers beyond 2⁵³.
    bandwidth : float, optional
        The distance, in the unit of the variable, above 0: half of it above and below, moved
        inside near the ends of the training range.  A forest is a step function, whose slope
        over a very small interval is 0 or very large.
    by, at, newdata, level, population, progress
        As in `predictions`.

    Returns
    -------
    Effects
        As `predictions`; of two classes that of the event alone, which is the second.

    Raises
    ------
    InputError
        As by `predictions`; if a variable holds no numbers; if the fit has no training rows,
        which tell its spread.

    Warns
    -----
    UserWarning
        The forest has too few trees for standard errors; or a number of `at` is beyond the
        training rows, or a level of it is in none of them.

    Examples
    --------
    >>> import odrf
    >>> data = odrf.load_data("diabetes")
    >>> forest = odrf.odrf("progression ~ bmi + ltg", data, n_trees=50, seed=1)
    >>> bool((forest.slopes().table["estimate"] > 0).all())
    True
    """
    width = None if bandwidth is None else checked_above_0("bandwidth", bandwidth)
    estimands = fits.estimands.slope_estimands(self.fit, variables, width, at, newdata)
    return _effects(self, "Slopes", estimands, by, newdata, level, population, progress)


def _effects(
    self: FittedResults,
    title: str,
    estimands: Any,
    by: Any,
    newdata: pd.DataFrame | None,
    level: float,
    population: bool,
    progress: bool,
    ratio: bool = False,
) -> Effects:
    level = checked_part("level", level)
    population = checked_truth("population", population)
    return reports.effects.effects_of(
        self.fit, title, estimands, by, newdata, level, population, progress, ratio
    )
