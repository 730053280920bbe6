"""What docstrings of several functions share, written once and filled in."""

from __future__ import annotations

import re
from collections.abc import Callable
from inspect import cleandoc
from typing import Any, Final, TypeVar

Documented = TypeVar("Documented", bound=Callable[..., Any])

# A line such as {newdata}, {weights, missing} or {about data}, with the line break before it.
PLACE: Final = re.compile(r"\n( *)\{(about )?(\w+(?:, \w+)*)\}(?=\n)")


def documented(made: Documented) -> Documented:
    """Decorate a function or class without other decorators: its docstring is `filled`."""
    made.__doc__ = filled(made.__doc__)
    return made


def filled(doc: str | None, draws: bool = False) -> str | None:
    '''Return a docstring whose places, lines such as ``{name}``, are the entries of these names.

    ``{name, name}`` is an entry for each, ``{about name}`` the entry without its first line, for an
    argument that has another type or default.  Lines that follow are part of the last entry if
    they are indented like its text.  If it `draws` and describes no arguments, `ax` is added.

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
    if doc is None:  # with python -OO
        return doc
    if draws and "Parameters\n" not in doc:
        doc = cleandoc(doc) + "\n\nParameters\n----------\n{about ax}\n"
    return PLACE.sub(_entries, doc)


def _entries(place: re.Match[str]) -> str:
    """Return the lines that take the place of ``{…}``."""
    indent, about, names = place.groups()
    lines = [line for name in names.split(", ") for line in ENTRIES[name]]
    if about:
        lines = [line[4:] for line in lines[1:]]
    return "".join(f"\n{indent}{line}" if line else "\n" for line in lines)


def _read(text: str) -> dict[str, list[str]]:
    """Return the lines of each entry by its name, which begins the line that is not indented.

    The name is the argument, or stands before ``=``.
    """
    entries: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in text.strip("\n").split("\n"):
        if line and line[0] != " ":
            name, mark, head = line.partition(" = ")
            name = name if mark else line.partition(" ")[0]
            entries[name], line = (lines := []), head or line
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

    In a split on a factor alone, its levels are ordered by their mean response.  The means of more
    than six levels are shrunk towards that of the node, and a split by them must gain more, so that
    labels without meaning are hardly ever chosen; but not in trees of ``"axis"`` that try every
    cut.  In a direction of several predictors, the levels of a factor have random effects: each is
    shrunk by how reliable it is.
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
    ``"entropy"`` or ``"ordinal"``; for survival times ``"log_rank"``, the default, ``"gray"`` or
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
      estimator takes no NaN.  If its ``random_state`` is None, a seed is set.  For survival
      times it is one of `odrf.sklearn`, or of scikit-survival.
cv : int, str, array-like or splitter, default 10
    - A number of folds, stratified by class, or by whether rows had an event.
    - The fold of each row: labels of any kind, or the name of a column that holds them.  Models
      do not see this column unless a formula names it.
    - An object with ``split(X, y, groups)``, as in scikit-learn.  X are row numbers.  If its
      ``random_state`` is None and it samples rows at random, a seed is set.

    Every test row counts once, also if a model is fitted with case weights.
metric : str or callable, default "auto"
    - For a numeric response ``"mse"`` (the default), ``"rmse"``, ``"mae"``, ``"r2"``.
    - For classes ``"error"`` (the default) and ``"accuracy"``; on predicted probabilities
      ``"brier"`` (the sum over the classes, so for two classes twice the squared error of
      the probability of one class), ``"log_loss"``, and for two classes ``"auc"``.
    - For survival times ``"integrated_brier"`` (the default) of predicted survival,
      ``"uno_c"`` and ``"harrell_c"`` of risks.  Up to which time events count, and the
      weights that make up for censored rows, follow from all rows of the table, as in
      ``score()`` of a fit.
    - Or a function of observed and predicted values, numbers or labels, two arrays (n,).  For
      survival times it takes a data frame with the columns ``time`` and ``event``, and
      ``start`` if rows enter late, and an array (n,) of risks.  It returns a number; smaller is
      better.

    Metrics of survival times are those of the events of all causes.
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
rows_to_predict = newdata : DataFrame, optional
    Rows to predict, with the columns that the formula uses.  The response is not needed, and other
    columns are ignored.  By default the training rows.
types_of_labels
    - ``"response"``: the mean response (regression), or the class.  Classes are
      categorical: with the categories of the response, in their order, or else sorted.
    - ``"class"``: the most probable class, the first of ties.  With
      ``criterion="ordinal"`` the median: the first class with a cumulative probability of
      at least 1/2.  Its mean absolute difference in rank is the smallest.
    - ``"prob"``: a column of probabilities for each class.
    - ``"cumulative"``, for ordered classes: a column for each class but the last, with the
      probability of this class or a lower one.
types_of_trees
    - ``"leaf"``: the number of the leaf that the row reaches, as in `ODTResults.nodes`; for
      a forest a column for each tree.
    - ``"trees"``: a column with the prediction of each tree.
priors : mapping of class to number, or Series, optional
    The class shares π' in the population of these rows, if they differ from the weighted
    shares π in the training rows: a positive number for each class; they add up to 1.
    Probabilities are corrected by Bayes' rule, p'_k ∝ p_k·π'_k/π_k (Saerens, Latinne and
    Decaestecker 2002, equation (2.4)), and classes are predicted from these.  For the types
    ``"response"``, ``"class"``, ``"prob"`` and ``"cumulative"`` of classes; see
    `estimate_priors`.
training : {"out-of-bag", "in-bag"}, optional
    How training rows are predicted, without `newdata`.  ``"out-of-bag"``, the default of
    fits that leave rows out: by the trees that did not sample the row (of boosted trees, by
    the runs).  These are forests of `odrf.odrf`, unless ``resample="none"``, boosted trees
    with several runs, and fits of `odrf.auto`.  ``"in-bag"``: by all trees, as if the row
    were new.  It is the default of all other fits, and too close to the responses of the
    training rows.
progress_of_rows = progress : bool, default False
    Show a progress bar of the rows.
predicted
    With the index of `newdata`.  With ``missing="drop"``, the prediction of a row with
    missing predictors is missing.  Out of bag, that of a row that every tree sampled is
    missing, with a `UserWarning` unless the fit has `order`; for ``"trees"``, that of a
    tree that sampled the row.  ``"leaf"`` gives the leaves in all trees in any case.
unknown_levels
    If a factor of `newdata` has levels that no training row has, declared as categories or
    not: they count as missing values if the fit has ``missing="split"``, the default, or
    ``"surrogate"``; else the row is taken to have none of the known levels.  An ordered
    factor has a rank for each declared category, whether or not a row has it.
level : float, default 0.95
    Nominal coverage of the intervals.
quantiles : float or sequence of float, optional
    Probabilities above 0 and below 1.  They imply ``type="quantile"``, whose default they
    are (0.05, 0.5, 0.95).
offset : str, array-like or float, optional
    Offsets of the new rows: a column of `newdata`, one number for each row (of a Series by
    its labels), or one for all.  By default the column that ``offset=`` named in the fit.
chunks_to_predict = source : path, Chunks, iterable of data frames, or function
    The rows, as `odrf.Chunks` takes them; also an iterator of data frames, such as
    ``pd.read_csv(path, chunksize=100_000)``.
rows_to_evaluate = newdata : DataFrame, optional
    Rows with their times and events, each of weight 1.  By default the training rows with
    their case weights, predicted out of bag by a forest, by a tree of a forest and by
    boosted trees of several runs; of one run those held out.  A tree of `odrf.odt`, or
    trees that use all rows, predict them themselves, which is too good.
cause_evaluated = cause : str, optional
    The cause whose events are predicted: a category of the event in ``Surv(time, event)``.
    By default every cause counts as the event.
cause_of_curves = cause : str, optional
    The cause of events whose incidences are shown; by default the one that splits are about, or,
    with the curves of survival, all as one.
rows_shown = newdata : DataFrame
    The rows, with the columns that the formula uses; the response is not needed.
times_of_curves = times : float or sequence of float, optional
    Times in the unit of the response; by default all event times of the training rows.
shares_of_times = quantiles : float or sequence of float, optional
    Shares above 0 and below 1; by default the quartiles.
type_of_chunks = type : str, optional
    What is predicted: a type of `predict`, by default its first.
until : float, optional
    Uno's C counts events up to this time, and Brier scores are integrated up to it.  By
    default the last event time at which a tenth of the rows is still at risk: later, few
    rows have large weights.
groups_of_risk = groups : int, default 10
    Rows of similar predicted probability are compared together: at most so many groups, of
    about equal weight.
time : float
    The time, in the unit of the response.
invalid_score
    If `newdata` lacks a column or the response; if no row that evaluates has an event; if
    there is no such `cause`; if `until` is before the first event, or beyond the last time;
    if `level` is not between 0 and 1; if the fit was kept without its training rows.
scores
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
impurity
    - ``"impurity"``: the impurity decrease of the splits on the predictor, each weighted by
      the node's share of the rows: the mean over the trees.  For boosted trees, decrease
      times node weight: the sum over the trees.  The rows that chose the splits also
      evaluate them: predictors with many cut points seem more important than they are.
tests_of_variables
    - ``"conditional"``: a test of each variable (Watson and Wright 2021): by how much the
      loss of held-out rows grows when the variable is resampled given the other variables.  It
      asks what the variable tells that the others do not.
    - ``"loco"``: the same test, but the fit is grown again on resampled values.  It asks what is
      lost if the variable is not there from the beginning.
splits_on_several
    What a split on several predictors adds is divided among them: in proportion to the
    absolute values of their coefficients, for numbers scaled to [0, 1]; of a factor the
    range of its coefficients, 0 among them, stands for it.  So a predictor without a
    relation that is split on together with others has a part of what these add.
test : {"t", "wilcoxon"}, default "t"
    For tests: Student's t of the mean rise of the loss, or Wilcoxon's signed ranks of the
    rises.  Both are one-sided: a variable that matters lowers the loss.
adjust : {"holm", "bh"} or None, default "holm"
    For tests: how p-values are adjusted for their number.  ``"holm"`` bounds the
    probability of any false finding, ``"bh"`` (Benjamini and Hochberg) the expected share
    of false ones among those found.
groups_tested = groups : mapping of str to list of str, optional
    For tests: sets of variables, by name, that are replaced and tested together.  Variables
    in no set are tested one by one.
level_of_tests = level : float, default 0.95
    For tests: coverage of the intervals, which have two sides.
notes_on_tests
    Tests divide the rows into five folds, at random or in time.  Each of the last three
    evaluates the fit grown again on the folds before it: by the squared error, for classes by
    the sum of squared differences of indicators and probabilities.  (If each fold evaluated
    trees of all others, the rises of two folds would be correlated, and the test too large.)
    Groups of rows stay whole and are one unit of the test.  A resampled number is an
    estimate of its mean given the other variables (ridge regression, and a forest of its
    residuals if this helps) plus the residual of a random row; a label is drawn from the class
    probabilities of a forest.  Predictors that are computed from the variable follow.  Losses
    are means over ten resamples for the t test.  Wilcoxon's test uses one, because its
    differences must be symmetric.

    A variable that tells nothing beside the others and its resampled values have the same
    distribution, so that the test finds it significant in 5 % of the samples, as far as the
    estimate of that distribution is good.  Growing without the variable, as in Lei et al. (2018),
    changes how many predictors compete in a node, so that the loss of a
    variable that tells nothing does not rise by 0 on average; on resampled values it does (Hooker,
    Mentch and Zhou 2021, "condition and relearn").
references_of_importances
    G. Hooker, L. Mentch and S. Zhou (2021). Unrestricted permutation forces extrapolation:
    variable importance requires at least one more model, or there is no free variable
    importance. Statistics and Computing 31.

    J. Lei, M. G'Sell, A. Rinaldo, R. J. Tibshirani and L. Wasserman (2018). Distribution-free
    predictive inference for regression. JASA 113.

    D. S. Watson and M. N. Wright (2021). Testing conditional independence in supervised
    learning algorithms. Machine Learning 110.

    X. Li, Y. Wang, S. Basu, K. Kumbier and B. Yu (2019). A debiased MDI feature importance
    measure for random forests. NeurIPS.
by : str or list of str, optional
    Columns whose values make groups of rows; each group has its own average.  By default
    all rows are one group.
at : mapping, optional
    Values, or lists of values, that variables are set to in every row, such as
    ``{"age": [30, 60]}``: one average for each combination.  A variable is a column of the
    data; predictors computed from it, such as ``log(age)``, follow.
rows_averaged = newdata : DataFrame, optional
    The rows.  By default the training rows, with their case weights, which class weights
    multiply; new rows count alike.  Rows of a fit with offsets need the column that
    ``offset=`` named.
population : bool, default False
    False: the average over these very rows.  True: the rows are a sample of a population,
    and its chance is added to the variance: that of the predictions, divided by the number
    of rows.  Training rows of one group (``groups=``) are one unit of the sample.
target : {"truth", "forest"}, optional
    What is averaged: the true regression function, or the forest's predictions, which shrink
    effects.  By default the truth where the forest's bias can be corrected, as in averages over
    training rows of a forest, also in groups, with factors set to levels, and numbers shifted or
    set to a value that many rows have; otherwise the forest, or another fit; the summary says which
    and why.
table_of_effects
    Its `table` has the columns of marginaleffects: ``term``, ``contrast``, those of `at`
    and `by`, for classes ``class``, ``estimate``, ``std_error``, ``statistic``,
    ``p_value``, ``conf_low``, ``conf_high``.
invalid_effect
    If an argument or a column cannot be used; if a column is in `by` and in `at`; if the
    fit has no training rows, and there are no new ones.
notes_on_effects
    Of the truth: the forest's average out of bag, plus what its out-of-bag residuals add along
    the Riesz representer of the average, which is linear in the predictors, their hinges and
    products (Chernozhukov, Newey and Singh 2022, Econometrica 90, 967-1027).  Standard errors
    are those of these sums.  How often intervals cover the truth, and how wide they are,
    ``benchmarks/inference/effects_of_truth.py`` measures.
    Of the forest: standard errors are for its expectation over training samples, and do not
    cover its bias.  They are those of the jackknife after bootstrap
    (`odrf.statistics.jackknife`), for the mean over the trees of each tree's average.  Only
    forests of `odrf.odrf` that have their training rows have them.
    Tests and intervals are normal; with ``groups=``, by Student's t with as many degrees of
    freedom as there are groups, less the number of strata.  Intervals of averaged probabilities
    are on the scale of the log odds, so that they stay between 0 and 1.
values : list, or mapping of str to list, optional
    The points.  By default see `points`, which has no say where these are given; of a
    factor all levels.
points_of_curves = points : int, optional
    How many points a variable of numbers has: equally spaced ones between its 1 % and 99 %
    quantiles, or all of its values if they are not more.  By default 50, for two variables
    20.
rows_of_curves = newdata : DataFrame, optional
    The rows.  By default the training rows.  Rows of a fit with offsets need the column
    that ``offset=`` named.
invalid_curve
    If no predictor is computed from a variable, or it holds dates; if `values` or `points`
    are none; if the fit does not hold its training rows, and there is no `newdata`.
variables_of_pairs = variables : list of str, optional
    Columns of the data that the predictors are computed from.  By default all; the time
    grows with the square of their number.
rows_of_pairs = rows : int, default 100
    Over how many rows predictions are averaged, at as many values.  Of those that have a
    value of each variable some are sampled, by their weights, or all are taken if they are
    not more; then they count alike.  The time grows with its square.
rows_drawn = newdata : DataFrame, optional
    Where the rows are sampled from.  By default the training rows.  Rows of a fit with
    offsets need the column that ``offset=`` named.
rows_to_explain = newdata : DataFrame, optional
    Rows to explain.  By default the training rows, as all trees predict them.  Rows that
    cannot be predicted are left out.
background : DataFrame or int, optional
    What predictions are compared with: rows, or how many training rows are sampled by the
    seed of the fit.  By default 100 are sampled, or all are taken if there are not more.
    Rows of unequal case weights are drawn in proportion to them, with replacement.
max_boxes : int, default 4096
    Values are exact where all coalitions of a tree and a pair of rows fall into at most so
    many boxes; of fewer than 13 terms that a tree reads they always do, with 4096.  With
    more, orders of the terms are drawn for the boxes of little weight, below 3/√max_boxes.
    A smaller number is faster and less exact; with 0 all orders are drawn.
draws : int, optional
    How many random orders are drawn, each together with its reverse, at least 2: of each
    box that is drawn.  By default as many as give a reliable standard error.
seed_of_orders = seed : int, SeedSequence or Generator, optional
    Seed of the orders; by default that of the fit.
threads_of_fit = n_jobs : int, optional
    Threads; by default those of the fit.  The values are the same for any number.
progress_of_shap = progress : bool, default False
    Show a progress bar of the rows.
invalid_shap
    If an argument is out of range, or rows cannot be predicted; for class probabilities of
    a guided forest, which are shares of votes and no mean over trees.
rows_to_check = newdata : DataFrame, optional
    Rows with their classes.  By default the training rows, predicted out of bag and with
    their case and class weights.
level_of_checks = level : float, default 0.95
    Nominal coverage of the intervals of the bins, and of the band for calibrated
    probabilities.
invalid_check
    If the fit is a regression; if no rows are out of bag and there is no `newdata`; if the
    rows have one class only.
folds_of_path = cv : int, array-like, splitter or None, default 10
    Folds of the cross-validation.  For each fold, a tree is grown without it by the same
    options, pruned at the geometric means of successive critical α, and evaluated on it.
    The path of a pruned tree begins at the α at which it was cut, as a part of its
    parent's.

    - A number of folds, stratified by class.  Of a fit with `groups`, groups are held out
      whole; of one with `order`, each of `cv` blocks of rows is held out from a tree of the
      rows before it.
    - The fold of each row: labels of any kind, for the rows of the data or of the fit.
    - An object with ``split(X, y, groups)``, as in scikit-learn; X are row numbers.  Each
      row may be held out once.

    None gives training errors only.
seed_of_folds = seed : int, SeedSequence or Generator, optional
    Seed of the folds and their trees; by default that of the fit.
threads_of_path = n_jobs : int, optional
    Threads; by default all cores, or as many as ``OMP_NUM_THREADS`` says.  The result is
    the same for any number.
X : data frame or array-like of shape (n, p)
    Predictors.  Columns of text and categories of a data frame are factors; missing cells (NaN,
    None, NA) are treated as `missing` says.
y : array-like of shape (n,)
    Responses: numbers of a regression, labels of a classification.  The categories of an ordered
    categorical series are ordered classes.
times_and_events = y : structured array (n,) or data frame of shape (n, 2) or (n, 3)
    Times and events, as scikit-survival's ``Surv.from_arrays(event, time)`` makes them: one field
    is bool or of 0 and 1, and True or 1 where the event happened at the end of observation; the
    other one is the time, in any unit.  With two fields of times the first is when the row entered,
    the second the end.  In a data frame the event may be categorical: its first category means
    censored, and each of the others is a cause.
sample_weight : array-like of shape (n,), optional
    Case weights.  Rows of weight 0 are left out.
groups_of_rows = groups : array-like of shape (n,), optional
    The group of each row, such as its subject, in place of the option `groups`, which names
    a column of X.  By ``set_fit_request(groups=True)`` scikit-learn's tools hand it over.
rule : {"min", "1se"}, default "1se"
    - ``"min"``: the smallest error on rows held out, or out of bag; of ties the smallest size.
    - ``"1se"``: the smallest size with an error at most one standard error above the smallest
      error (Breiman et al. 1984, section 3.4.3).  With one validation row or group, no standard
      error is known, and the smallest error decides.
ax
    ax : Axes, optional
        Where to draw.  By default on a new figure.

    Returns
    -------
    Axes
rows_selected
    - ``"sample"``: sampled without replacement, with probabilities proportional to the
      sensitivities.
    - ``"top"``: the rows of largest sensitivity.
    - ``"uniform"``: sampled without replacement with equal probabilities, for comparison.
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
