"""What docstrings of several functions share, written once and filled in."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final, TypeVar

Documented = TypeVar("Documented", bound=Callable[..., Any])

# A line such as {newdata}, {weights, missing} or {about data}, with the line break before it.
PLACE: Final = re.compile(r"\n( *)\{(about )?(\w+(?:, \w+)*)\}(?=\n)")


def documented(made: Documented) -> Documented:
    """Decorate a function or class without other decorators: its docstring is `filled`."""
    made.__doc__ = filled(made.__doc__)
    return made


def filled(doc: str | None) -> str | None:
    '''Return a docstring whose places, lines such as ``{name}``, are the entries of these names.

    ``{name, name}`` is an entry for each, ``{about name}`` the entry without its first line, for an
    argument that has another type or default.  Lines that follow are part of the last entry if
    they are indented like its text.

    Examples
    --------
    >>> print(filled("""Fit.
    ...
    ...     {n_jobs}
    ...         Only here.
    ... """))
    Fit.
    <BLANKLINE>
        n_jobs : int, optional
            Threads; by default all cores, or as many as ``OMP_NUM_THREADS`` says.
            Only here.
    <BLANKLINE>
    '''
    if doc is None or "{" not in doc:  # no docstrings with python -OO
        return doc
    return PLACE.sub(_entries, doc)


def _entries(place: re.Match[str]) -> str:
    """Return the lines that take the place of ``{…}``."""
    indent, about, names = place.groups()
    lines = [line for name in names.split(", ") for line in ENTRIES[name]]
    if about:
        lines = [line[4:] for line in lines[1:]]
    return "".join(f"\n{indent}{line}" if line else "\n" for line in lines)


def _read(text: str) -> dict[str, list[str]]:
    """Return the lines of each entry by the word that it begins with, which is not indented."""
    entries: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in text.strip("\n").split("\n"):
        if line and line[0] != " ":
            entries[line.partition(" ")[0]] = lines = []
        lines.append(line)
    return entries


TEXT: Final = r"""
formula : str
    The model, such as ``"y ~ ."``, ``"log(y) ~ a + b:c"`` or ``"y ~ . - id"``; see `odrf.design`.
    A factor is coded by one indicator column per level, and counts as one predictor.
data : DataFrame
    One row per observation: a data frame of pandas, polars, pyarrow or any other library that
    narwhals knows.  A date counts as the seconds since the first one, a duration as seconds.  A
    column whose values 32 bits cannot tell apart, such as an identifier, counts as its rank; its
    cuts are given in its own values.  Text that is different in nearly every row is refused unless
    the formula has it in ``C()``.  The method `data_summary` of the result shows what each
    predictor was taken as.
projection : str, Family or mapping, default "logistic"
    How directions are found: the name of a family of `odrf.projections`, or one of its objects
    with parameters, such as ``odrf.Patch(width=(2, 5))``.  ``"logistic"`` estimates the
    coefficients of a logistic model with one unit (the paper's choice), ``"least_squares"`` those
    of a linear regression.  ``"sparse"`` draws random signs for a few columns (SPORF).  ``"axis"``
    splits on single predictors only (CART).  A mapping combines several families by their shares
    of the directions, such as ``{"axis": 0.5, "logistic": 0.5}``.

    In a split on a factor alone, its levels are ordered by their mean response.  In a direction of
    several predictors, a factor of more than six levels, or of more than two if the response is
    classes, is replaced by these means.  The means of more than six levels are shrunk towards that
    of the node, and a split by them must gain more, so that labels without meaning are hardly ever
    chosen.
subset_size : "random" or int, default "random"
    Predictors in each random subset.  By default the number is drawn for every direction, uniformly
    from 1 … min(⌈N(A)^0.4⌉, P), P being the number of predictors.  The theorems on consistency for
    every continuous regression function suppose this.  A number is refused where no family has
    subsets, as of ``"axis"`` or ``"sparse"``.
n_projections : "auto" or int, default "auto"
    Directions tried at each node.  By default max(5, ⌈√P⌉) where directions are estimated on random
    subsets, as by ``"logistic"``, and the number of columns of the design for ``"sparse"`` and
    other random directions; see the family for exceptions.
pruning : {"weakest_link", "growth"}, default "weakest_link"
    Which subtrees are candidates of pruning: all of them (Breiman et al. 1984, section 3.3), or
    only the trees that existed during growth (Zhan, Liu and Xia, section 3.2).
max_depth : int, optional
    Most splits between root and leaf; by default no limit.
criterion : str, default "auto"
    Impurity of a node: ``"squared_error"`` for a regression; for classes ``"gini"``, the default,
    ``"entropy"`` or ``"ordinal"``; for times to an event ``"log_rank"``, the default, ``"gray"`` or
    ``"exponential"``.

    By default entropy for classes with the families ``"sparse"``, ``"rc"``, ``"sphere"``,
    ``"patch"`` and ``"cca"``, because it separates the better ones of many random directions.  For
    three or more ordered classes, which a pandas categorical with ``ordered=True`` has, the default
    is ``"ordinal"``: Σ F_k (1 - F_k), F_k being the share of the classes up to k < K (Piccarreta
    2008).  It rewards separating low from high classes at any cut.  Estimated directions then
    separate the classes up to a random one from the others, and the predicted class is the median.
    ``"gini"`` and ``"entropy"`` treat the classes as unordered.

    ``"log_rank"`` makes the split with the largest log-rank statistic, as far as scores of the rows
    tell it (LeBlanc and Crowley 1993).  ``"gray"`` does so for the incidence of one cause; see
    `cause`.  ``"exponential"`` lowers the exponential deviance most (LeBlanc and Crowley 1992;
    rpart's ``method="exp"``).  That is the deviance of a constant hazard in each leaf, on the scale
    of time on which the hazard of all rows is constant; trees of all three criteria are pruned by
    it.  If events have several causes and `cause` names none, ``"log_rank"`` adds up the scores of
    the causes with random signs, drawn for each node, so that its splits serve all causes;
    ``"exponential"`` splits on events of any cause.  Then pruning adds up the deviances of the
    causes.
cause : str, optional
    If events have several causes, the one that splits are about; by default all.  With
    ``criterion="log_rank"`` splits separate rows by the hazard of this cause, those of other causes
    being censored.  With ``"gray"`` they separate rows by its cumulative incidence: rows with an
    event of another cause stay at risk, weighted by the survival of censoring, and splits have the
    largest log-rank statistic of the subdistribution hazards (Gray 1988; Fine and Gray 1999).
    Curves of all causes are predicted in any case.  Trees are pruned by the deviance of this cause,
    the others being censored; with ``"gray"`` by that of its subdistribution hazards.
split_scale : {"response", "log", "box_cox", "normal", "ranks"}, default "response"
    For a regression, the scale of the response on which splits are chosen.  Values, impurities and
    gains of nodes are those of the response itself.  Splits by squared error follow the largest
    responses: if the response is skewed or has heavy tails, a few rows decide them.  ``"log"``
    chooses the splits for its logarithm (if some y ≤ 0, for that of y minus its minimum plus a
    tenth of its standard deviation), ``"box_cox"`` for the power of it that is most likely normal
    (Box and Cox 1964), ``"ranks"`` for its ranks (Conover and Iman 1981), ``"normal"`` for the
    normal quantiles of the ranks (van der Waerden 1952).  Equal responses share a mean rank.  Which
    of them helps depends on the data.
penalty : {None, "aic", "bic"}, default None
    Charge a split for each of its coefficients and for its threshold: 2 each (AIC), or log N(A)
    each (BIC).  A split is made only if it lowers N(A)·log(impurity) by more than this charge, and
    of several the one with the largest difference is made.
n_thresholds : "auto", "all" or int, default "auto"
    Thresholds tried along each direction: all, or this many random ones, uniform between the
    smallest and the largest value.  By default all; one with ``projection="extra"``, which gives
    extremely randomised trees (Geurts et al. 2006).
split_search : {"auto", "exact"}, default "auto"
    ``"exact"`` tries every threshold along every direction.  The default takes less time: only
    nodes of up to 64 rows (128 for three or more classes) try every threshold.  Larger ones compare
    directions by thresholds between up to 256 bins, and then try every threshold near the best one,
    so that a split may be a little worse than the best.
honest : bool, default False
    Choose the splits with a random half of the rows, and compute the nodes' values from the other
    half.  This removes a bias: the rows that choose a split exaggerate the difference between its
    two sides.  The cost is that splits and values each use half of the rows.  Value, count, weight,
    impurity and gain of a node are those of the second half.  A leaf without such rows takes its
    value from the nearest node above that has some.  `min_leaf` counts the first half.  Pruning
    uses the second half.
weights : str or array of shape (n,), optional
    Case weights: a column of `data`, or numbers in the order of its rows; a Series goes by the
    labels of its index, which must be those of `data`.  A row of weight 2 counts as two equal rows,
    except that `min_leaf` counts it once.  Nothing is learned from a row of weight 0, no level,
    class or range either; results for each training row list it, too.
class_weights : None, "balanced" or mapping, default None
    Factors that multiply the case weights of each class.  A mapping gives positive numbers by
    class, 1 for classes that it does not name.  ``"balanced"`` gives all classes the same total
    weight and keeps the sum of all weights.  Splits, class shares, predictions and all errors are
    then those of a population with these class shares, as with ``prior`` in rpart.
    ``predict(priors=)`` corrects probabilities to other shares.
groups : str or array of shape (n,), optional
    Which rows belong together, such as all rows of one subject: a column of `data`, which ``.``
    then leaves out, or values in the order of its rows; a Series goes by its labels.  Rows of one
    group are never divided.
order : str or array of shape (n,), optional
    The time of each row, as for `groups`: numbers, dates or times.  Not together with `groups`.
strata : str or array of shape (n,), optional
    The stratum of each row, as for `groups`.  All rows of a group must be in one stratum.
missing : {"split", "surrogate", "median", "drop", "raise"}, default "split"
    What is done with missing values of predictors.

    - ``"split"`` keeps them: each split says where they go.  A single predictor tries them on both
      sides of each cut.  In a direction they count as the mean of the node, or as what a term for
      missing values finds best; in random directions also as the least or the largest value of the
      node.  Large nodes take these values from their first rows, which are a random sample.  In a
      factor they are one more level.  If cells of a predictor are empty only in new rows, the mean
      of the training rows of the node fills them; after ``without_data()`` a fit refuses such rows.
    - ``"surrogate"``, of `odrf.odt` alone, also keeps them, as rpart does (Breiman et al. 1984,
      section 5.3): a split is scored on the rows that have values for it, and a row that has none
      goes by the first of up to five surrogates that it has values for, else to the larger side.
      Surrogates are the splits on other predictors that send most rows to the same side; a split
      on several predictors may have an oblique one.
    - ``"median"`` fills them by the median of the training rows, or by the most frequent level.
    - ``"drop"`` leaves these rows out, and predicts them as missing.
    - ``"raise"`` raises an error.

    Rows whose response is missing are left out in any case, and the summary counts them.
unseen : {"missing", "raise"}, default "missing"
    What is done, in new rows, with levels of factors that no training row has.  By default a
    warning names column and level.  The cell counts as empty if `missing` is ``"split"`` or
    ``"surrogate"``; else the row is taken to have none of the known levels.  ``"raise"`` refuses
    such rows.
kind : {"auto", "regression", "classification"}, default "auto"
    By default a numeric response gives a regression, any other a classification.
seed : int, SeedSequence or Generator, optional
    Makes the result reproducible, for any number of threads.  Without one, a seed is drawn; the
    attribute `seed` of the result has it.
n_jobs : int, optional
    Threads; by default all cores, or as many as ``OMP_NUM_THREADS`` says.
progress : bool, default False
    Show a progress bar.
InputError
    If an argument or a column is invalid.  The message names it and says what to use.
MemoryError
    If the table or the trees take more memory than there is, as far as known beforehand.
models : mapping of str to model
    Models by name, each one of

    - a function of formula and data that returns a fit with ``predict(newdata)``, such as
      `odt` or ``functools.partial(odrf.odrf, n_trees=100)``; for probabilities it is called
      as ``predict(newdata, type="prob")``, for survival as ``predict(newdata,
      type="survival", times=times)``.  If it has an argument `seed` that is not set yet,
      a seed is passed to it.  Options are set in it: of events of several causes, for example,
      ``functools.partial(odrf.odrf, cause=…)`` splits for one of them;
    - a formula with the same response, for `odrf`;
    - a pair of a formula with the same response and one of the other kinds of models;
    - an estimator with ``fit(X, y)`` and ``predict(X)``, as in scikit-learn.  A copy of it is
      fitted to the columns of the formula's design matrix, each scaled to a range of 1 on the
      training rows, with one 0/1 column per level of a factor.  Missing values are NaN, those
      of a factor a level of their own: begin a pipeline with ``SimpleImputer()`` if the
      estimator takes no NaN.  If its ``random_state`` is None, a seed is set.  For times to
      an event it is one of `odrf.sklearn`, or of scikit-survival.
cv : int, str, array-like or splitter, default 10
    - A number of folds, stratified by class, or by whether rows had an event.
    - The fold of each row: labels of any kind, or the name of a column that holds them.  Models
      do not see this column unless a formula names it.
    - An object with ``split(X, y, groups)``, as in scikit-learn.  X are row numbers.  If its
      ``random_state`` is None and it draws rows at random, a seed is set.

    Every test row counts once, also if a model is fitted with case weights.
metric : str or callable, default "auto"
    - For a numeric response ``"mse"`` (the default), ``"rmse"``, ``"mae"``, ``"r2"``.
    - For classes ``"error"`` (the default) and ``"accuracy"``; on predicted probabilities
      ``"brier"`` (the sum over the classes, so for two classes twice the squared error of
      the probability of one class), ``"log_loss"``, and for two classes ``"auc"``.
    - For times to an event ``"integrated_brier"`` (the default) of predicted survival,
      ``"uno_c"`` and ``"harrell_c"`` of risks.  Up to which time events count, and the
      weights that make up for censored rows, follow from all rows of the table, as in
      ``score()`` of a fit.
    - Or a function of observed and predicted values, numbers or labels, two arrays (n,).  For
      times to an event it takes a data frame with the columns ``time`` and ``event``, and
      ``start`` if rows enter late, and an array (n,) of risks.  It returns a number; smaller is
      better.

    Metrics of times to an event are those of the events of all causes.
p : int, default 10
    Number of predictors.
noise : float, default 0.0
    Probability that a label is replaced by one of the others, below 1 - 1/K for K classes.  It is
    the Bayes error where the classes do not overlap.
censored : float, default 0.3
    Expected share of censored rows, from 0 to below 1.
problem
    Returns
    -------
    Problem

    Raises
    ------
    InputError
        If an argument is out of range.
survival_problem
    Returns
    -------
    SurvivalProblem

    Raises
    ------
    InputError
        If an argument is out of range.
references_of_trees
    G. E. P. Box and D. R. Cox (1964). An analysis of transformations. Journal of the Royal
    Statistical Society B 26, 211-252.

    L. Breiman, J. H. Friedman, R. A. Olshen and C. J. Stone (1984). Classification and
    regression trees. Wadsworth.

    W. J. Conover and R. L. Iman (1981). Rank transformations as a bridge between parametric and
    nonparametric statistics. The American Statistician 35, 124-129.

    J. P. Fine and R. J. Gray (1999). A proportional hazards model for the subdistribution of a
    competing risk. JASA 94, 496-509.

    P. Geurts, D. Ernst and L. Wehenkel (2006). Extremely randomized trees. Machine Learning 63,
    3-42.

    R. J. Gray (1988). A class of K-sample tests for comparing the cumulative incidence of a
    competing risk. Annals of Statistics 16, 1141-1154.

    M. LeBlanc and J. Crowley (1992). Relative risk trees for censored survival data. Biometrics
    48, 411-425.

    M. LeBlanc and J. Crowley (1993). Survival trees by goodness of split. JASA 88, 457-467.

    R. Piccarreta (2008). Classification trees for ordinal variables. Computational Statistics
    23, 407-427.

    B. L. van der Waerden (1952). Order tests for the two-sample problem and their power.
    Indagationes Mathematicae 14, 453-458.

    H. Zhan, Y. Liu and Y. Xia. Consistency of the oblique decision tree and its random forest.
    arXiv 2211.12653.
"""
ENTRIES: Final = _read(TEXT)
