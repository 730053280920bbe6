"""Fit boosted oblique trees from a formula and a data frame."""

from __future__ import annotations

from typing import Any

import pandas as pd

from odrf import api
from odrf.api.calling import design_of, spelled_call
from odrf.checks import Seed
from odrf.design.columns import check_frame
from odrf.design.functions import environment
from odrf.design.missing import require_no_surrogates
from odrf.design.weights import offset_of
from odrf.errors import InputError
from odrf.fits.data_warnings import warned_of_data
from odrf.fits.fit import grow_boosted_fit
from odrf.options import words
from odrf.options.boosting import BoostingOptions, resolve_boosting, with_rows_held
from odrf.options.options import DataOptions
from odrf.public import public
from odrf.results.boosted import ODBTResults


@public
def odbt(
    formula: str,
    data: pd.DataFrame,
    *,
    loss: words.LossName = "auto",
    n_trees: int = 100,
    learning_rate: float | words.Auto = "auto",
    projection: words.Projection = "auto",
    subset_size: words.SubsetSize = "random",
    n_projections: words.Number = "auto",
    n_singles: words.Number = "auto",
    max_depth: int = 5,
    max_leaves: int | None = None,
    min_leaf: int = 5,
    min_hessian: float = 0.0,
    leaf_values: words.LeafValues = "newton",
    l2: float = 1.0,
    n_thresholds: words.Thresholds = "auto",
    split_search: words.SplitSearch = "auto",
    sample_fraction: float = 1.0,
    predictor_fraction: float = 1.0,
    n_runs: words.Number = "auto",
    run_predictors: float = 1.0,
    validation: words.ValidationRows = "auto",
    patience: words.Number = "auto",
    offset: words.OfRows = None,
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
) -> ODBTResults | Any:
    """Boost oblique trees: a sum of shallow trees, each fitted to the errors of the sum so far.

    Boosting starts from the constant with the smallest loss; for the Huber loss, from the median.
    Every round grows a tree by squared error on the working response -g/h with weights h, where g
    and h are the first and second derivatives of the loss at the current predictions (Friedman
    2001; Chen and Guestrin 2016).  Each leaf then adds its Newton step -G/(H + λ), multiplied by
    the learning rate; G and H are the sums of g and h over its rows.  Directions come from any
    family of `odrf.projections`, as in `odrf.odrf`.

    Parameters
    ----------
    {formula}
        With a survival time, ``"Surv(time, event) ~ ."`` (see `odrf.Surv`), the result is a
        `SurvivalBoostedResults`.
    {data}
    loss : str, default "auto"
        The loss to minimise.  For a numeric response:

        - ``"squared_error"``, the default.
        - ``"absolute"``: predictions are medians.
        - ``"huber"``: squared up to the 90 % quantile of the absolute residuals of the round,
          linear beyond.
        - ``"poisson"``: half the deviance of counts and other numbers of at least 0.  The trees add
          up to the logarithm of the mean.

        For classes, a negative log-likelihood:

        - ``"logistic"``, the default for two classes.
        - ``"multinomial"``, the default for three or more unordered classes: every round grows a
          tree for each class.
        - ``"ordinal"``, the default for three or more ordered classes: the sum over all classes but
          the last of the loss of "above this class or not".  Every round grows a tree for each of
          these, and the predicted class is the median.

        For a survival time, ``Surv(time, event)``, of which some are censored:

        - ``"cox"``, the default: the negative log partial likelihood of proportional hazards, with
          the ties of Efron [6]_.  The trees add up to the logarithm of the relative hazard.
        - ``"lognormal"``, ``"loglogistic"``, ``"weibull"``: the negative log-likelihood of
          accelerated failure times, log T = f + σ ε.  The trees add up to f; the scale σ is
          estimated in every round [7]_.
    n_trees : int, default 100
        Rounds, at most.  200 rounds with a learning rate of 0.05 are a little more accurate
        (``benchmarks/options/learning_rates.py``).
    learning_rate : "auto" or float, default "auto"
        Factor on the values of new leaves, above 0 and at most 1.  By default 0.1; 1 if leaves are
        refitted, where any other number is refused.
    projection : str, Family or mapping, default "auto"
        By default three families together: all single predictors, sparse directions and logistic
        directions.  Of the latter two a node tries as many each as there are predictors, but at
        least 5 and at most 8; more cost time and gain nothing on most tables.

        {about projection}
    {subset_size, n_projections}
        With ``projection="auto"``: the directions of both oblique families together, at least 2.
    n_singles : "auto" or int, default "auto"
        Single predictors tried at each node in addition, at least 1 with ``projection="auto"``; a
        number above P is P.  By default all; none for oblique families that do not estimate
        directions on random subsets.
    max_depth : int, default 5
        Most splits between root and leaf.
    max_leaves : int, optional
        Most leaves of a tree, at least 2.  The tree then grows best-first: of all leaves, that one
        is split next whose best split decreases the weighted squared error most [4]_ [5]_.
        `max_depth` still holds; make it large for trees that only `max_leaves` limits.  By default
        a tree is limited by its depth alone.
    min_leaf : int, default 5
        Fewest rows of a leaf.
    min_hessian : float, default 0.0
        Least sum H of the second derivatives h of a leaf's rows, each multiplied by its case
        weight: a split is made only if both sides have as much.  Such leaves have no large Newton
        steps [2]_.  H is the number of rows for squared error, and for the logistic loss the sum of
        p(1 - p), p being the predicted probabilities; so it leaves rows alone whose class is
        nearly certain.  Case weights are taken as for `l2`.  By default any sum suffices.
    leaf_values : {"newton", "refit"}, default "newton"
        ``"newton"``: a leaf adds its Newton step, multiplied by the learning rate, and keeps this
        value.  ``"refit"``, for squared error only: whenever a tree is added, the leaf values of
        all trees are refitted together by least squares with the penalty λ.  This is orthogonal
        matching pursuit [3]_.  It needs few trees, and too many overfit; start with about 20 trees
        of depth 3 or 4.
    l2 : float, default 1.0
        λ, the penalty on the squares of leaf values.  It takes no part in the choice of splits, and
        has no effect on the absolute and the Huber loss.  It is compared with sums of case weights,
        and a weight of 2 is the same as the row twice.  If the mean of the weights is below 1, λ is
        multiplied by this mean, so that weights that add up to 1 are penalised as weights of mean
        1.
    {n_thresholds, split_search}
        It takes up to 2.4 times as long.
    sample_fraction : float, default 1.0
        Share of the rows that each tree samples at random, without replacement.
    predictor_fraction : float, default 1.0
        Share of the predictors of its run that each tree samples at random.
    n_runs : "auto" or int, default "auto"
        Boosting runs, whose mean is the fit.  By default one, but ten for survival times, unless
        `validation` holds out rows.  With several, each run has a bootstrap sample of the
        rows and a share `run_predictors` of the predictors.  Scores are averaged before they are
        transformed to means or probabilities.  `ODBTResults.oob_error` is the error on the rows
        that runs did not sample.
    run_predictors : float, default 1.0
        Share of the predictors that each of several runs samples (feature bagging).
    validation : "auto", float, "oob", None or array-like, default "auto"
        How to choose the number of rounds.  A number holds out this share of the rows, the same of
        each class, or of rows with and without an event, and keeps the rounds up to the smallest
        loss on them, at least one.  True or False for each row says which rows are held out; fits
        that are made again, as for importances, hold out the same share at random.  ``"oob"``, for
        several runs, uses the out-of-bag loss: that of each row by the runs that did not sample it.
        With None all `n_trees` rounds are kept, and so they are by default for numbers and classes:
        on small tables, holding out rows usually costs more accuracy than too many rounds do,
        unless the noise is strong.  By default rounds for survival times are chosen out of bag
        or, with one run, by a fifth of the rows: after all rounds, the curves of most tables were
        too far apart (``benchmarks/options/boosted_survival.py``).
    patience : "auto" or int, default "auto"
        With `validation`, boosting stops after this many rounds without a smaller loss, by default
        20.  Without it a number is refused.
    offset : str or array-like, optional
        A known part of each row's score, on the scale of ``predict(type="link")``, which is added
        to the trees; for counts, the logarithm of the exposure.  A column name, or one number for
        each row, as `weights`.  ``.`` in the formula leaves the column out, and new rows need it.
        If offsets are given as numbers, `ODBTResults.predict` needs those of new rows.  Not for the
        multinomial and the ordinal loss, where a row has several scores.
    {weights}
        The loss is weighted, too.
    {class_weights, groups}
        `validation` holds out whole groups, and runs sample whole groups in place of rows.
        `sample_fraction` is of whole groups.
    {order}
        `validation` holds out the latest times.  A row is out of bag for a run only if it is later
        than all rows that the run can sample.
    {strata}
        `validation` holds out, and runs sample, equal shares of the strata; `sample_fraction` is of
        every stratum.
    {missing, unseen, kind, seed}
    n_jobs : int, optional
        Threads; by default all cores, or as many as ``OMP_NUM_THREADS`` says.  The trees of a round
        are grown in parallel: one for each run and, with the multinomial and the ordinal loss, each
        score.  So are the branches of a tree of very many rows.
    {progress}

    Returns
    -------
    ODBTResults
        Of a response ``Surv(time, event)``,
        `odrf.results.survival.boosted.SurvivalBoostedResults`.

    Raises
    ------
    {InputError, MemoryError}

    Notes
    -----
    With ``projection="axis"``, ``split_search="exact"``, ``l2=0`` and squared error the trees are
    those of scikit-learn's ``GradientBoostingRegressor``, except for ties: where splits on several
    predictors divide a node's rows in the same way, the two packages may choose different ones.

    For the absolute and the Huber loss, trees are grown on first derivatives alone.  Their leaf
    values are the median of the residuals, and one step from it (Friedman 2001, Algorithms 3 and
    4).  With the Poisson and the Cox loss a step upwards x is shortened to log(1 + x): so a leaf of
    the Poisson loss raises the mean at most to that of its rows, where a Newton step would
    overshoot.

    Survival curves of a Cox fit have the baseline hazard of Breslow.  With several runs they are
    those of a Cox regression of the rows on their out-of-bag scores, and with held-out rows of
    these rows: the scores of the training rows themselves are too far apart.  The same holds for
    the scale of failure times.  If fewer than 20 of such rows have an event, curves are of the rows
    that the trees were grown on.  With Efron's ties a case weight of 2 is not quite the same as the
    row twice, which would be a tie: as in R's package survival, it is an event of twice the weight.

    The mean of many runs, on bootstrap samples and subsets of the predictors, is the boosting
    ensemble of the R package ODRF.  Theory for it is in [3]_, where leaves are refitted.

    References
    ----------
    .. [1] J. H. Friedman. Greedy function approximation: a gradient boosting machine. Annals of
       Statistics 29 (2001).
    .. [2] T. Chen, C. Guestrin. XGBoost: a scalable tree boosting system. KDD (2016).
    .. [3] H. Zhan, Y. Liu, Y. Xia. Consistency of oblique decision tree and its boosting and random
       forest. arXiv 2211.12653v4 (2025).
    .. [4] H. Shi. Best-first decision tree learning. Master's thesis, University of Waikato (2007).
    .. [5] J. Friedman, T. Hastie, R. Tibshirani. Additive logistic regression: a statistical view
       of boosting. Annals of Statistics 28 (2000), Section 8.
    .. [6] G. Ridgeway. The state of boosting. Computing Science and Statistics 31 (1999).
    .. [7] M. Schmid, T. Hothorn. Flexible boosting of accelerated failure time models. BMC
       Bioinformatics 9 (2008).

    Examples
    --------
    >>> import odrf
    >>> problem = odrf.simulate.friedman1()
    >>> fit = odrf.odbt("y ~ .", problem.sample(300, seed=1), seed=1)
    >>> new = problem.sample(1000, seed=2)
    >>> bool(((fit.predict(new) - new["y"]) ** 2).mean() < 0.2 * new["y"].var())
    True
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
    options = BoostingOptions(
        loss=loss,
        n_trees=n_trees,
        learning_rate=learning_rate,
        projection=projection,
        subset_size=subset_size,
        n_projections=n_projections,
        n_singles=n_singles,
        max_depth=max_depth,
        max_leaves=max_leaves,
        min_leaf=min_leaf,
        min_hessian=min_hessian,
        leaf_values=leaf_values,
        l2=l2,
        n_thresholds=n_thresholds,
        split_search=split_search,
        sample_fraction=sample_fraction,
        predictor_fraction=predictor_fraction,
        n_runs=n_runs,
        run_predictors=run_predictors,
        validation=validation,
        patience=patience,
        offset=offset,
        seed=seed,
        n_jobs=n_jobs,
    )
    call = spelled_call(odbt, formula, rows, options)
    options = options.checked()
    check_frame(data)
    options, held = with_rows_held(options, data)
    offsets = offset_of(offset, data)
    require_no_surrogates(missing)
    design, training = design_of(
        formula, data, rows, environment(2), offsets.column, with_times=True
    )
    control = resolve_boosting(options, design, training.y)
    if offsets.given and control.n_outputs > 1:
        raise InputError(
            f'offset= needs a loss with one score for each row, and loss="{control.loss}" has '
            f"{control.n_outputs}: leave offset= out"
        )
    offsets = offsets.keeping(training.complete)
    held = None if held is None else held[training.complete]
    if training.times is not None:
        return api.survival.survival_boosted(
            call, design, training, data, offsets, control, progress, held
        )
    fit = grow_boosted_fit(call, design, training, offsets, control, progress, held)
    return ODBTResults(warned_of_data(fit, data))
