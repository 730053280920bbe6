"""Fit one oblique tree from a formula and a data frame, or a sample of rows in chunks."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import pandas as pd

from odrf import api
from odrf.api.calling import checked_options, design_of, spelled_call
from odrf.checks import Seed, checked_seed
from odrf.design.functions import environment
from odrf.fits.data_warnings import warned_of_data
from odrf.fits.growing import grow_fit
from odrf.fits.pruning import sized_tree
from odrf.options import words
from odrf.options.options import DataOptions, Options
from odrf.public import in_partitions
from odrf.public.chunks import ChunkSource, chunks_of
from odrf.results.tree import ODTResults


@in_partitions("data")
def odt(
    formula: str,
    data: pd.DataFrame | ChunkSource,
    *,
    projection: words.Projection = "logistic",
    subset_size: words.SubsetSize = "random",
    n_projections: words.Number = "auto",
    n_singles: words.Number = "auto",
    max_leaves: words.LeafRule = None,
    alpha: words.AlphaRule = "auto",
    pruning: words.Pruning = "weakest_link",
    min_leaf: int = 5,
    max_depth: int | None = None,
    criterion: words.Criterion = "auto",
    cause: str | None = None,
    split_scale: words.SplitScale = "response",
    penalty: words.Penalty = None,
    n_thresholds: words.Thresholds = "auto",
    split_search: words.SplitSearch = "auto",
    honest: bool = False,
    weights: words.OfRows = None,
    class_weights: words.ClassWeights = None,
    groups: words.OfRows = None,
    order: words.OfRows = None,
    strata: words.OfRows = None,
    missing: words.Missing = "split",
    unseen: words.Unseen = "missing",
    kind: words.Kind = "auto",
    seed: Seed = None,
    n_jobs: int | None = None,
    progress: bool = False,
) -> ODTResults | Any:
    """Grow one oblique decision tree (Zhan, Liu and Xia, Algorithm 1).

    The tree grows breadth-first.  The candidates at each node A, which holds N(A) rows, are single
    predictors and directions θ, which are linear combinations of a random subset of the
    predictors.  The node is split by the rule θᵀx ≤ s that decreases the impurity most.  Growth
    ends when the tree has t_n leaves or no node can be split.

    Parameters
    ----------
    formula : str
        The model, such as ``"y ~ ."``, ``"log(y) ~ a + b:c"`` or ``"y ~ . - id"``; see
        `odrf.design`.  A factor is coded by one indicator column per level, and counts as one
        predictor.  With a time to an event, ``"Surv(time, event) ~ ."`` (see `odrf.Surv`), the
        result is a `SurvivalTreeResults`.
    data : DataFrame, path or Chunks
        One row per observation: a data frame of pandas, polars, pyarrow or any other library that
        narwhals knows.  Of a path of Parquet files, and of other sources that `odrf.Chunks` names,
        the tree grows on all rows, or on a random sample of a half, a quarter, … of them that fits
        into memory; a warning and the summary say how many.  A date counts as the seconds since
        the first one, a duration as seconds.  A column whose values 32 bits cannot tell apart, such
        as an identifier, counts as its rank; its cuts are given in its own values.
        Text that is different in nearly every row is refused unless the formula has it in ``C()``.
        `ODTResults.data_summary` shows what each predictor was taken as.
    projection : str, Family or mapping, default "logistic"
        How directions are found: the name of a family of `odrf.projections`, or one of its objects
        with parameters, such as ``odrf.Patch(width=(2, 5))``.  ``"logistic"`` estimates the
        coefficients of a logistic model with one unit (the paper's choice), ``"least_squares"``
        those of a linear regression.  ``"sparse"`` draws random signs for a few columns (SPORF).
        ``"axis"`` splits on single predictors only (CART).  A mapping combines several families by
        their shares of the directions, such as ``{"axis": 0.5, "logistic": 0.5}``.  In a split on a
        factor alone, its levels are ordered by their mean response.  In a direction of several
        predictors, a factor of more than six levels, or of more than two if the response is
        classes, is replaced by these means.  The means of more than six levels are shrunk towards
        that of the node, and a split by them must gain more, so that labels without meaning are
        hardly ever chosen.
    subset_size : "random" or int, default "random"
        Predictors in each random subset.  By default the number is drawn for every direction,
        uniformly from 1 … min(⌈N(A)^0.4⌉, P), P being the number of predictors.  The theorems on
        consistency for every continuous regression function suppose this.  A number is refused
        where no family has subsets, as of ``"axis"`` or ``"sparse"``.
    n_projections : "auto" or int, default "auto"
        Directions tried at each node.  By default max(5, ⌈√P⌉) where directions are estimated on
        random subsets, as by ``"logistic"``, and the number of columns of the design for
        ``"sparse"`` and other random directions; see the family for exceptions.
    n_singles : "auto" or int, default "auto"
        Single predictors tried at each node in addition; a number above P is P.  By default all;
        none for oblique families that do not estimate directions on random subsets.
    max_leaves : int, str, callable or None, default None
        t_n, the number of leaves at which growth stops: a number, or a function of n such as
        ``lambda n: n**0.5``.  None sets no limit.  ``"sqrt"`` and ``"n/log5"`` are rates that
        Theorem 1 allows, c·√n and c·n/ln⁵n; the constant c is found by 10-fold cross-validation
        along the growth.
    alpha : float, str, callable or None, default "auto"
        Complexity parameter α_n at which the grown tree is pruned: a number or a function of n; see
        `ODTResults.prune`.  ``"cv"`` chooses the subtree with the smallest error of 10-fold
        cross-validation, ``"1se"`` the smallest subtree within one standard error of it.  None
        leaves the tree as grown.  The default is ``"cv"``, or None if `max_leaves`, `max_depth` or
        `penalty` limits the tree, or if there are fewer than 20 rows.  On 35 tables trees by
        ``"cv"`` had on average 7 % less error than trees as grown, and a quarter of the leaves;
        those by ``"1se"`` had 0.6 times as many leaves as that, and as much error as trees as grown
        (``benchmarks/options/sizes.py``).  ``"log6/n"`` and ``"1/sqrt(n)"`` are rates that Theorem
        3 allows, c·ln⁶n/n and c/√n; the constant c is found by 10-fold cross-validation.
    pruning : {"weakest_link", "growth"}, default "weakest_link"
        Which subtrees are candidates of pruning: all of them (Breiman et al. 1984, section 3.3), or
        only the trees that existed during growth (Zhan, Liu and Xia, section 3.2).
    min_leaf : int, default 5
        Fewest rows of a leaf; rpart's default is 7.
    max_depth : int, optional
        Most splits between root and leaf; by default no limit.
    criterion : str, default "auto"
        Impurity of a node: ``"squared_error"`` for a regression; for classes ``"gini"``, the
        default, ``"entropy"`` or ``"ordinal"``; for times to an event ``"log_rank"``, the default,
        ``"gray"`` or ``"exponential"``.  By default entropy for classes with the families
        ``"sparse"``, ``"rc"``, ``"sphere"``, ``"patch"`` and ``"cca"``, because it separates the
        better ones of many random directions.  For three or more ordered classes, which a pandas
        categorical with ``ordered=True`` has, the default is ``"ordinal"``: Σ F_k (1 - F_k), F_k
        being the share of the classes up to k < K (Piccarreta 2008).  It rewards separating low
        from high classes at any cut.  Estimated directions then separate the classes up to a random
        one from the others, and the predicted class is the median.  ``"gini"`` and ``"entropy"``
        treat the classes as unordered.  ``"log_rank"`` makes the split with the largest log-rank
        statistic, as far as scores of the rows tell it (LeBlanc and Crowley 1993).  ``"gray"`` does
        so for the incidence of one cause; see `cause`.  ``"exponential"`` lowers the
        exponential deviance most (LeBlanc and Crowley 1992; rpart's ``method="exp"``).  That is the
        deviance of a constant hazard in each leaf, on the scale of time on which the hazard of all
        rows is constant; trees of all three criteria are pruned by it.  If events have several
        causes and `cause` names none, ``"log_rank"`` adds up the scores of the causes with random
        signs, drawn for each node, so that its splits serve all causes; ``"exponential"`` splits on
        events of any cause.  Then pruning adds up the deviances of the causes.
    cause : str, optional
        If events have several causes, the one that splits are about; by default all.  With
        ``criterion="log_rank"`` splits separate rows by the hazard of this cause, those of other
        causes being censored.  With ``"gray"`` they separate rows by its cumulative incidence: rows
        with an event of another cause stay at risk, weighted by the survival of censoring, and
        splits have the largest log-rank statistic of the subdistribution hazards (Gray 1988; Fine
        and Gray 1999).  Curves of all causes are predicted in any case.  The tree is pruned by the
        deviance of this cause, the others being censored; with ``"gray"`` by that of its
        subdistribution hazards, rows with an event of another cause staying at risk.
    split_scale : {"response", "log", "box_cox", "normal", "ranks"}, default "response"
        For a regression, the scale of the response on which splits are chosen.  Values, impurities
        and gains of nodes are those of the response itself.  Splits by squared error follow the
        largest responses: if the response is skewed or has heavy tails, a few rows decide them.
        ``"log"`` chooses the splits for its logarithm (if some y ≤ 0, for that of y minus its
        minimum plus a tenth of its standard deviation), ``"box_cox"`` for the power of it that is
        most likely normal (Box and Cox 1964), ``"ranks"`` for its ranks (Conover and Iman 1981),
        ``"normal"`` for the normal quantiles of the ranks (van der Waerden 1952).  Equal responses
        share a mean rank.  The default, because which of them helps depends on the data: see
        `odrf`.
    penalty : {None, "aic", "bic"}, default None
        Charge a split for each of its coefficients and for its threshold: 2 each (AIC), or log N(A)
        each (BIC).  A split is made only if it lowers N(A)·log(impurity) by more than this charge,
        and of several the one with the largest difference is made.
    n_thresholds : "auto", "all" or int, default "auto"
        Thresholds tried along each direction: all, or this many random ones, uniform between the
        smallest and the largest value.  By default all; one with ``projection="extra"``, which
        gives extremely randomised trees (Geurts et al. 2006).
    split_search : {"auto", "exact"}, default "auto"
        ``"exact"`` tries every threshold along every direction.  So does the default for tables of
        up to 10,000 rows.  For more rows it takes less time: only nodes of up to 64 rows (128 for
        three or more classes) try every threshold.  Larger ones compare directions by thresholds
        between up to 256 bins, and then try every threshold near the best one, so that a split may
        be a little worse than the best.  ``control.split_search`` of the tree says which it was.
    honest : bool, default False
        Choose the splits with a random half of the rows, and compute the nodes' values from the
        other half.  This removes a bias: the rows that choose a split exaggerate the difference
        between its two sides.  The cost is that splits and values each use half of the rows.
        Value, count, weight, impurity and gain of a node are those of the second half.  A leaf
        without such rows takes its value from the nearest node above that has some.  `min_leaf`
        counts the first half.  Pruning uses the second half.
    weights : str or array of shape (n,), optional
        Case weights: a column of `data`, or numbers in the order of its rows; a Series goes by the
        labels of its index, which must be those of `data`.  A row of weight 2 counts as two equal
        rows, except that `min_leaf` counts it once.  Nothing is learned from a row of weight 0, no
        level, class or range either; results for each training row list it, too.
    class_weights : None, "balanced" or mapping, default None
        Factors that multiply the case weights of each class.  A mapping gives positive numbers by
        class, 1 for classes that it does not name.  ``"balanced"`` gives all classes the same total
        weight and keeps the sum of all weights.  Splits, class shares, predictions and all errors
        (out of bag, or by cross-validation) are then those of a population with these class shares,
        as with ``prior`` in rpart.  ``predict(priors=)`` corrects probabilities to other shares.
    groups : str or array of shape (n,), optional
        Which rows belong together, such as all rows of one subject: a column of `data`, which ``.``
        then leaves out, or values in the order of its rows, as for `weights`.  Rows of one group
        are never divided: neither by folds, nor by the halves of honest trees.
        Rows of ``Surv(start, stop, event)`` are those of one subject if none of a group overlap in
        time: `min_leaf` then counts subjects, as that many times the mean number of their rows.
    order : str or array of shape (n,), optional
        The time of each row, as for `groups`: numbers, dates or times.  In folds, rows are
        evaluated by earlier rows.  Not together with `groups`.
    strata : str or array of shape (n,), optional
        The stratum of each row, as for `groups`.  Folds and halves keep the shares of the strata.
        All rows of a group must be in one stratum.
    missing : {"split", "surrogate", "median", "drop", "raise"}, default "split"
        What is done with missing values of predictors.  ``"split"`` keeps them: each split says
        where they go.  A single predictor tries them on both sides of each cut.  In a direction
        they count as the mean of the node, or as what a term for missing values finds best; in
        random directions also as the least or the largest value of the node.  Large nodes take
        these values from their first rows, which are a random sample.  In a factor they are one
        more level.  If cells of a predictor are empty only in new rows, the mean of the training
        rows of the node fills them; after ``without_data()`` a fit refuses such
        rows.

        ``"surrogate"`` also keeps them, as rpart does (Breiman et al. 1984, section 5.3): a split
        is scored on the rows that have values for it, and a row that has none goes by the first of
        up to five surrogates that it has values for, else to the larger side.  Surrogates are the
        splits on other predictors that send most rows to the same side; a split on several
        predictors may have an oblique one.  The summary lists them, and `ODTResults.surrogates` is
        their table.  ``"median"`` fills missing values by the median of the training rows, or by
        the most frequent level.  ``"drop"`` leaves these rows out, and predicts them as missing.
        ``"raise"`` raises an error.  Rows whose response is missing are left out in any case, and
        the summary counts them.
    unseen : {"missing", "raise"}, default "missing"
        What is done, in new rows, with levels of factors that no training row has.  By default a
        warning names column and level.  The cell counts as empty if `missing` is ``"split"`` or
        ``"surrogate"``; else the row is taken to have none of the known levels.  ``"raise"``
        refuses such rows.
    kind : {"auto", "regression", "classification"}, default "auto"
        By default a numeric response gives a regression, any other a classification; see
        `criterion` for ordered categoricals.
    seed : int, SeedSequence or Generator, optional
        Makes the tree reproducible, for any number of threads.  Without one, a seed is drawn;
        `ODTResults.seed` has it.
    n_jobs : int, optional
        Threads, by default all cores, or as many as ``OMP_NUM_THREADS`` says: of cross-validation,
        of predictions, and of the growth of a tree of more than 131,072 rows.
    progress : bool, default False
        Show a progress bar of the cross-validation.

    Returns
    -------
    ODTResults
        Of a response ``Surv(time, event)``, a
        `odrf.results.survival.tree.SurvivalTreeResults`.

    Raises
    ------
    InputError
        If an argument or a column is invalid.  The message names it and says what to use.
    MemoryError
        If the table or the trees take more memory than there is, as far as known beforehand.

    References
    ----------
    G. E. P. Box and D. R. Cox (1964). An analysis of transformations. Journal of the Royal
    Statistical Society B 26, 211-252.

    L. Breiman, J. H. Friedman, R. A. Olshen and C. J. Stone (1984). Classification and regression
    trees. Wadsworth.

    W. J. Conover and R. L. Iman (1981). Rank transformations as a bridge between parametric and
    nonparametric statistics. The American Statistician 35, 124-129.

    J. P. Fine and R. J. Gray (1999). A proportional hazards model for the subdistribution of a
    competing risk. JASA 94, 496-509.

    P. Geurts, D. Ernst and L. Wehenkel (2006). Extremely randomized trees. Machine Learning 63,
    3-42.

    R. J. Gray (1988). A class of K-sample tests for comparing the cumulative incidence of a
    competing risk. Annals of Statistics 16, 1141-1154.

    M. LeBlanc and J. Crowley (1992). Relative risk trees for censored survival data. Biometrics 48,
    411-425.

    M. LeBlanc and J. Crowley (1993). Survival trees by goodness of split. JASA 88, 457-467.

    R. Piccarreta (2008). Classification trees for ordinal variables. Computational Statistics 23,
    407-427.

    B. L. van der Waerden (1952). Order tests for the two-sample problem and their power.
    Indagationes Mathematicae 14, 453-458.

    H. Zhan, Y. Liu and Y. Xia. Consistency of the oblique decision tree and its random forest.
    arXiv 2211.12653.

    Examples
    --------
    >>> import odrf
    >>> data = odrf.load_data("diabetes")
    >>> tree = odrf.odt("progression ~ .", data, max_leaves=lambda n: n**0.5, seed=1)
    >>> int(tree.n_leaves[0])
    21
    """
    rows = DataOptions(
        weights=weights,
        class_weights=class_weights,
        groups=groups,
        order=order,
        strata=strata,
        missing=missing,
        unseen=unseen,
        kind=kind,
    )
    options = Options(
        n_trees=1,
        resample="none",
        blend=False,
        projection=projection,
        subset_size=subset_size,
        n_projections=n_projections,
        n_singles=n_singles,
        max_leaves=max_leaves,
        alpha=alpha,
        pruning=pruning,
        min_leaf=min_leaf,
        max_depth=max_depth,
        criterion=criterion,
        cause=cause,
        split_scale=split_scale,
        penalty=penalty,
        n_thresholds=n_thresholds,
        split_search=split_search,
        honest=honest,
        seed=seed,
        n_jobs=n_jobs,
    )
    call = spelled_call(odt, formula, rows, options)
    options, sampled_from = checked_options(odt, options), 0
    env, chunks, table = environment(2), chunks_of(data), cast("pd.DataFrame", data)
    if chunks is not None:
        drawn_by = checked_seed(seed)
        options = replace(options, seed=drawn_by)
        table, sampled_from = api.chunks.sampled_table(
            formula, chunks, rows, drawn_by, env, progress
        )
    design, training = design_of(formula, table, rows, env, with_times=True)
    if sampled_from:
        training = replace(training, sampled_from=sampled_from)
    if training.times is not None:
        return api.survival.survival_tree(call, design, training, table, options, progress)
    fit = sized_tree(grow_fit(call, design, training, options), progress)
    return ODTResults(warned_of_data(fit, table))
