"""Effects of predictors: averaged predictions, comparisons and slopes; curves; interactions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

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
    from odrf.reports.curves import EffectCurve, EffectSurface
    from odrf.reports.effects import Effects
    from odrf.reports.individual_curves import IndividualCurves
    from odrf.reports.interactions import Interactions

LEVEL = 0.95
Target = Literal["truth", "forest"]


@public_method
def predictions(
    self: FittedResults,
    *,
    by: str | Sequence[str] | None = None,
    at: Mapping[str, Any] | None = None,
    newdata: pd.DataFrame | None = None,
    level: float = LEVEL,
    population: bool = False,
    target: Target | None = None,
    progress: bool = False,
) -> Effects:
    """Average the predictions over rows: the mean response, or the share of each class.

    Parameters
    ----------
    {by, at, rows_averaged, level, population, target, progress}

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
        self, "Averaged predictions", estimands, by, newdata, level, population, target, progress
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
    target: Target | None = None,
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
    {by, at, rows_averaged, level, population, target, progress}

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
        target,
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
    target: Target | None = None,
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
    {by, at, rows_averaged, level, population, target, progress}

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
    return _effects(self, "Slopes", estimands, by, newdata, level, population, target, progress)


def _effects(
    self: FittedResults,
    title: str,
    estimands: Any,
    by: Any,
    newdata: pd.DataFrame | None,
    level: float,
    population: bool,
    target: str | None,
    progress: bool,
    ratio: bool = False,
) -> Effects:
    level = checked_part("level", level)
    population = checked_truth("population", population)
    if target is not None:
        checked_choice("target", target, reports.effects.TARGETS)
    return reports.effects.effects_of(
        self.fit, title, estimands, by, newdata, level, population, progress, ratio, target
    )


@public_method
def partial(
    self: FittedResults,
    variables: str | list[str],
    *,
    values: Any = None,
    points: int | None = None,
    newdata: pd.DataFrame | None = None,
    level: float = 0.95,
    progress: bool = False,
) -> EffectCurve | EffectSurface:
    """Return the partial dependence of the prediction on one or two variables.

    The mean prediction of the rows in which a variable is set to a value, for each of several
    values (Friedman 2001).  All predictors that are computed from the variable follow it, such
    as ``log(x)`` or ``x:z``.  If the variable depends on others, some of these rows are unlike
    any that were seen: see `ale`.

    Parameters
    ----------
    variables : str or list of two str
        Columns of the data that the predictors are computed from.
    {values, points_of_curves}
    newdata : DataFrame, optional
        Rows over which predictions are averaged.  By default the training rows, with their case
        weights, which class weights multiply; new rows count alike.  Rows of a fit with offsets
        need the column that ``offset=`` named.
    level : float, default 0.95
        Coverage of intervals and bands.
    {progress_of_rows}

    Returns
    -------
    EffectCurve or EffectSurface
        With ``table``, ``summary()`` and ``plot()``.  For classes, probabilities of each.
        Standard errors are those of forests that sample rows: how much the curve varies over
        training samples.  They say nothing of the bias of the forest.

    Notes
    -----
    An interval is for one point, a band for all points together: by a multivariate t whose
    degrees of freedom are those of the estimated variances (Satterthwaite 1946), the median
    over the points.  Those of probabilities are on the scale of the log odds.  How often they
    cover, ``benchmarks/inference/interval_coverage.py`` measures.

    Raises
    ------
    InputError
        {about invalid_curve}

    Warns
    -----
    UserWarning
        A number of `values` is beyond the training rows.

    References
    ----------
    Friedman (2001), Greedy function approximation: a gradient boosting machine, Annals of
    Statistics 29, 1189-1232.

    Examples
    --------
    >>> import odrf
    >>> data = odrf.load_data("penguins").dropna()
    >>> fit = odrf.odrf("body_mass_g ~ species + sex", data, n_trees=50, seed=1)
    >>> fit.partial("sex").table["value"].tolist()
    ['female', 'male']
    """
    return reports.curves.partial_dependence(
        self.fit, variables, values, points, newdata, level, progress
    )


@public_method
def ale(
    self: FittedResults,
    variables: str | list[str],
    *,
    points: int | None = None,
    newdata: pd.DataFrame | None = None,
    level: float = 0.95,
    progress: bool = False,
) -> EffectCurve | EffectSurface:
    """Return accumulated local effects of one variable, or second-order ones of two.

    The values of a variable are divided into intervals.  Within each, the predictions of its
    rows change by a mean amount from one end to the other; these changes are added up, and the
    curve is shifted so that its mean over the rows is 0 (Apley and Zhu 2020).  Rows are only
    moved within their interval, so that they stay like those that were seen, even if variables
    depend on each other: this is the difference to `partial`.

    Of two variables, only what they add together to the sum of their own effects.

    Parameters
    ----------
    variables : str or list of two str
        Columns of the data that the predictors are computed from; two of numbers.
    points : int, optional
        How many ends of intervals there are, each interval with about as many rows as the
        others; all values of the variable, if they are not more.  By default 40, for two
        variables 15.
    newdata : DataFrame, optional
        Rows whose predictions are changed.  By default the training rows, with weights as in
        `partial`.  Rows of a fit with offsets need the column that ``offset=`` named.
    level : float, default 0.95
        Coverage of intervals and bands.
    {progress_of_rows}

    Returns
    -------
    EffectCurve or EffectSurface
        With ``table``, ``summary()`` and ``plot()``; standard errors as of `partial`.

    Raises
    ------
    InputError
        If no predictor is computed from a variable; it holds dates, or one value only in the
        rows of positive weight, or none; one of two is a factor; the fit does not hold its
        training rows, and there is no `newdata`.

    Notes
    -----
    The levels of a factor are put in an order, and neighbours are compared on the rows of both.
    Ordered categories keep theirs; others are ordered by the similarity of the other variables
    of their rows.

    References
    ----------
    Apley and Zhu (2020), Visualizing the effects of predictor variables in black box supervised
    learning models, JRSS B 82, 1059-1086.

    Examples
    --------
    >>> import odrf
    >>> data = odrf.load_data("diabetes")
    >>> fit = odrf.odrf("progression ~ .", data, n_trees=50, seed=1)
    >>> curve = fit.ale("bmi", points=5).table
    >>> bool(curve["estimate"].iloc[0] < 0 < curve["estimate"].iloc[-1])
    True
    """
    return reports.curves.accumulated_effects(self.fit, variables, points, newdata, level, progress)


@public_method
def interactions(
    self: FittedResults,
    variables: list[str] | None = None,
    *,
    rows: int = 100,
    permutations: int = 3,
    newdata: pd.DataFrame | None = None,
    progress: bool = False,
) -> Interactions:
    """Return which variables interact: H statistics of all pairs, and of each with all others.

    If two variables do not interact, their partial dependence together is the sum of those of
    each.  The difference is their interaction (Friedman and Popescu 2008).  Trees show some of
    it even where there is none, so the fit is grown again on permuted responses: the largest
    strength there is what noise alone reaches.

    Parameters
    ----------
    {variables_of_pairs, rows_of_pairs}
    permutations : int, default 3
        How often the fit is grown again.  0: no noise is computed.
    {rows_drawn}
    progress : bool, default False
        Show a progress bar of the curves.

    Returns
    -------
    Interactions
        With ``table``, ``overall``, ``summary()`` and ``plot()``.

    Raises
    ------
    InputError
        If there are fewer than two variables, or no predictor is computed from one of them; if
        fewer than two rows have values of all; if `rows` or `permutations` are out of range.

    Notes
    -----
    They are ranked by strength, in the unit of the prediction.  H is relative: of variables
    with hardly an effect it can be close to 1.  The noise is that of responses without any
    relation.  Strong effects of several variables, which trees approximate by steps, can show
    interactions above it even if they add up: see `ale` of two variables for its form.

    References
    ----------
    Friedman and Popescu (2008), Predictive learning via rule ensembles, Annals of Applied
    Statistics 2, 916-954.

    Examples
    --------
    >>> import odrf
    >>> data = odrf.simulate.friedman1().sample(300, seed=1)
    >>> fit = odrf.odrf("y ~ x1 + x2 + x3 + x4", data, n_trees=50, seed=1)
    >>> strongest = fit.interactions(rows=50, permutations=0).table.iloc[0]
    >>> strongest["first"], strongest["second"]
    ('x1', 'x2')
    """
    return reports.interactions.interactions_of(
        self.fit, variables, rows, permutations, newdata, progress
    )


@public_method
def ice(
    self: FittedResults,
    variable: str,
    *,
    values: Any = None,
    points: int | None = None,
    rows: int = 200,
    newdata: pd.DataFrame | None = None,
    progress: bool = False,
) -> IndividualCurves:
    """Return how the prediction of each of some rows depends on a variable.

    Their mean over all rows is the partial dependence, if these have equal weights.  Curves
    that are not parallel show that the variable interacts with others (Goldstein et al. 2015).

    Parameters
    ----------
    variable : str
        A column of the data that the predictors are computed from.
    {values, points_of_curves}
    rows : int, default 200
        How many rows at most; of more, some are sampled at random, by the fit's seed.
    {rows_of_curves, progress_of_rows}

    Returns
    -------
    IndividualCurves
        With ``table``, ``summary()`` and ``plot(colour=, centred=)``.

    Raises
    ------
    InputError
        {about invalid_curve}
        If `rows` is out of range.

    References
    ----------
    Goldstein, Kapelner, Bleich and Pitkin (2015), Peeking inside the black box: visualizing
    statistical learning with plots of individual conditional expectation, Journal of
    Computational and Graphical Statistics 24, 44-65.

    Examples
    --------
    >>> import odrf
    >>> data = odrf.load_data("diabetes")
    >>> fit = odrf.odrf("progression ~ .", data, n_trees=50, seed=1)
    >>> curves = fit.ice("bmi", points=5, rows=len(data))
    >>> mean = curves.table.groupby("value")["estimate"].mean().to_numpy()
    >>> bool(abs(mean - fit.partial("bmi", points=5).table["estimate"]).max() < 1e-9)
    True
    """
    return reports.individual_curves.individual_curves(
        self.fit, variable, values, points, rows, newdata, progress
    )
