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
    {by, at, rows_averaged, level, population, progress}

    Returns
    -------
    Effects
        {about table_of_effects}

    Raises
    ------
    InputError
        {about invalid_effect}

    Warns
    -----
    UserWarning
        The forest has too few trees for standard errors; or a number of `at` is beyond the
        training rows, or a level of it is in none of them.

    Notes
    -----
    {about notes_on_effects}

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
    {by, at, rows_averaged, level, population, progress}

    Returns
    -------
    Effects
        {about table_of_effects}
        Of two classes differences are those of the event alone, which is the second: the other
        one's would be their mirror image.  ``statistic`` tests that the difference is 0, or the
        ratio 1.

    Raises
    ------
    InputError
        {about invalid_effect}
        If a contrast does not fit a variable; if the fit has no training rows, which tell levels
        and spreads of variables.

    Warns
    -----
    UserWarning
        The forest has too few trees for standard errors; or a number of `at`, or of a pair
        `contrast`, is beyond the training rows, or a level is in none of them.

    Notes
    -----
    {about notes_on_effects}

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
    {by, at, rows_averaged, level, population, progress}

    Returns
    -------
    Effects
        {about table_of_effects}
        Of two classes the slope is that of the event alone, which is the second.

    Raises
    ------
    InputError
        {about invalid_effect}
        If a variable holds no numbers; if the fit has no training rows, which tell its spread.

    Warns
    -----
    UserWarning
        The forest has too few trees for standard errors; or a number of `at` is beyond the
        training rows, or a level of it is in none of them.

    Notes
    -----
    {about notes_on_effects}

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
