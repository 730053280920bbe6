"""Fit a forest of oblique trees from a formula and rows in memory, in chunks or on a cluster."""

from __future__ import annotations

from typing import Any

import pandas as pd

from odrf import api
from odrf.api.calling import checked_options, design_of, grown_by, spelled_call
from odrf.checks import Seed
from odrf.design.columns import as_frame
from odrf.design.functions import environment
from odrf.design.missing import require_no_surrogates
from odrf.fits.data_warnings import warned_of_data
from odrf.fits.growing import grow_fit
from odrf.fits.pruning import sized_forest
from odrf.options import words
from odrf.options.options import DataOptions, Options
from odrf.public import in_partitions
from odrf.public.chunks import ChunkSource, chunks_of
from odrf.results.forest import ODRFResults


@in_partitions("data")
def odrf(
    formula: str,
    data: pd.DataFrame | ChunkSource,
    *,
    n_trees: int | None = None,
    blend: words.Switch = "auto",
    objective: words.Objective = "error",
    projection: words.Projection = "logistic",
    subset_size: words.SubsetSize = "random",
    n_projections: words.Number = "auto",
    n_singles: words.Number = "auto",
    max_leaves: words.LeafRule = None,
    alpha: words.AlphaRule = None,
    pruning: words.Pruning = "weakest_link",
    min_leaf: int = 2,
    max_depth: int | None = None,
    criterion: words.Criterion = "auto",
    cause: str | None = None,
    split_scale: words.SplitScale = "response",
    penalty: words.Penalty = None,
    n_thresholds: words.Thresholds = "auto",
    split_search: words.SplitSearch = "auto",
    resample: words.Resample = "auto",
    sample_fraction: words.ShareRule = "auto",
    honest: bool = False,
    inference: bool = False,
    weights: words.OfRows = None,
    class_weights: words.ClassWeights = None,
    groups: words.OfRows = None,
    order: words.OfRows = None,
    strata: words.OfRows = None,
    missing: words.Missing = "split",
    unseen: words.Unseen = "missing",
    kind: words.Kind = "auto",
    backend: words.BackendName = "auto",
    seed: Seed = None,
    n_jobs: int | None = None,
    progress: bool = False,
) -> ODRFResults | Any:
    """Grow a forest of oblique decision trees (Zhan, Liu and Xia, section 4).

    Each tree is grown as by `odt`, on a resample of the rows.  The forest predicts the mean of its
    trees; for classes, the mean of their class shares (equation (4.1)).

    Parameters
    ----------
    {formula}
        With a survival time, ``"Surv(time, event) ~ ."`` (see `odrf.Surv`), the result is a
        `SurvivalForestResults`.
    data : DataFrame, path or Chunks
        {about data}
        Of a path of Parquet files, of a data frame of Dask, and of other sources that `odrf.Chunks`
        names, rows are never all in memory; the result is a `StreamedResults`.
    n_trees : int or None, default None
        B.  None: 500, and 4,000 with ``inference=True``.  More trees do not overfit: the expected
        squared error, or Brier score, never rises.  `ODRFResults.plot` shows whether they are
        enough.
    blend : "auto" or bool, default "auto"
        Grow several kinds of trees: with the best threshold of each direction, with random
        thresholds, with few directions, with large leaves; for classes also with sparse directions
        and with single predictors only.  Stacking (Breiman 1996) of a few pilot trees of each kind,
        out of bag, decides how many trees of each kind the forest has.  Options that you set hold
        for all kinds.  See `ODRFResults.kinds`.  By default forests of 100 trees or more are
        blends, unless `projection` is a mapping or a family other than ``"logistic"``,
        ``"least_squares"``, ``"lda"`` and ``"ppr"``, or `resample` is ``"none"``.
    objective : {"error", "brier", "log_loss"}, default "error"
        For classes, what stacking makes small: the rate of wrong labels, or the Brier score or the
        log loss of the probabilities.  ``"brier"`` lowers log loss, too, ``"log_loss"`` more.
    {projection, subset_size, n_projections}
    n_singles : "auto" or int, default "auto"
        Single predictors tried at each node, sampled anew for each node; a number above P is P.  By
        default all P predictors up to 60, and max(60, ⌈√P⌉) of more.  With ``projection="axis"``
        the numbers of the ordinary random forest: ⌈√P⌉ for classes and ⌈P/3⌉ for a regression.
        With ``"sparse"`` none.
    max_leaves : int, callable or None, default None
        t_n, the number of leaves at which each tree stops to grow: a number, or a function of n
        such as ``lambda n: n**0.5``.  None sets no limit.
    alpha : float, str, callable or None, default None
        Complexity parameter α_n at which each tree is pruned (Theorem 5): a number or a function of
        n.  ``"oob"`` chooses the α with the smallest out-of-bag error.  ``"log6/n"`` and
        ``"1/sqrt(n)"`` are rates that Theorem 3 allows, c·ln⁶n/n and c/√n; the constant c is found
        out of bag.  By default trees stay as grown.
    {pruning}
    min_leaf : int, default 2
        Fewest rows of a leaf; small, because averaging over trees smooths the predictions.  In a
        blend 1 to 10, depending on the kind of tree, unless you set it.  For survival times,
        whose leaves have curves, 20, or a fifteenth of few rows, and in a blend half to twice that.
    {max_depth, criterion, cause}
    split_scale : {"response", "auto", "log", "box_cox", "normal", "ranks"}, default "response"
        {about split_scale}
        In a blend ``"auto"`` chooses among the response, ``"log"`` and ``"normal"``, by the
        out-of-bag errors of a few pilot trees on each.  It is not the default, because it takes
        time, and what it gains is small on most tables (``benchmarks/options/split_scales.py``).
        Not together with ``inference=True``.
    {penalty, n_thresholds, split_search}
        If one tree has all rows, tables of up to 10,000 rows are searched as by ``"exact"``, which
        takes up to 1.7 times as long.
    resample : {"auto", "bootstrap", "subsample", "none"}, default "auto"
        How each tree samples its rows: with replacement, without replacement, or all rows.
        Out-of-bag results need one of the first two.  By default a bootstrap; in a blend a
        subsample.
    sample_fraction : "auto", float or callable, default "auto"
        Rows that each tree samples, as a share of n, or a function of n that gives it.  By default
        1 for a bootstrap and 0.632 for a subsample, which gives about as many distinct rows; in a
        blend 0.632 to 0.9, depending on the kind of tree.  The theory of honest forests needs a
        share that falls with n, such as ``lambda n: n**-0.3``.
    {honest}
        Rows that a tree did not sample at all are out of bag.  With ``resample="subsample"`` and a
        `sample_fraction` that falls with n, class probabilities are consistent (Perry et al.,
        Theorem 2; see `ODRFResults.consistency`).  They are more moderate, which helps where noise
        makes those of a plain forest too extreme (``benchmarks/options/honesty.py``).
    inference : bool, default False
        Grow the forest for standard errors (`ODRFResults.comparisons`, `ODRFResults.slopes`):
        trees of one kind (``blend=False``), each on 30 % of the rows, sampled without replacement
        (``resample="subsample"``, ``sample_fraction=0.3`` unless you set it).  There are 4,000 by
        default: averages need 500, intervals of single rows of a table of 1,000 rows up to 4,000,
        which take 3 seconds on one core where 500 take 0.4.  Then standard errors of averaged
        predictions are close to their variation over samples.  The trees are not honest
        unless you set `honest`: averages of honest forests are further from the truth
        (``benchmarks/inference/effects_coverage.py``).
    {weights}
        Rows are sampled whatever their weight; the weights then count within the tree and out of
        bag.
    {class_weights, groups}
        Each tree samples whole groups in place of rows: all rows of a group enter it equally often,
        or are all out of bag.  So out-of-bag errors and prediction intervals are those of new
        groups, and standard errors have the groups as their units (Efron 1992).  Rows of
        ``Surv(start, stop, event)`` are those of one subject if none of a group overlap in time:
        `min_leaf` then counts subjects, as that many times the mean number of their rows.
    {order}
        A row is out of bag for a tree only if it is later than all rows that the tree can sample.
        Half of the trees sample from all rows, and have no out-of-bag rows.  Each of the others
        samples from the rows up to the time of a random row in the later half.  So rows of the
        first half are never out of bag, and late rows are in fewer trees.
    {strata}
        Each tree samples the same share of every stratum.
    {missing, unseen, kind}
    backend : {"auto", "threads", "dask", "joblib"}, default "auto"
        Where trees are grown.  The forest is the same, bit by bit.  ``"threads"``: in threads of
        this process.  ``"dask"``: on the workers of the Dask client that is active.  Of a data
        frame of Dask, partitions stay where they are; a data frame in memory is sent to all
        workers.  ``"joblib"``, for a data frame in memory: in processes that joblib starts, as
        ``joblib.parallel_config`` says (loky, Ray and others); by default, `n_jobs` or as many as
        there are cores.  The default is ``"dask"`` for a data frame of Dask if a client is active,
        else ``"threads"``.  Threads share the rows; processes are for several machines.
    {seed, n_jobs, progress}

    Returns
    -------
    ODRFResults
        Of a response ``Surv(time, event)``, a
        `odrf.results.survival.forest.SurvivalForestResults`.  If events have several
        causes, each node is split on log-rank scores of the causes, added up with random signs, so
        that splits serve all causes; or, with `cause`, on those of one.

    Raises
    ------
    {InputError, MemoryError}
    ConnectionError
        If the scheduler of the Dask cluster is lost.  That a worker is lost costs only time.
    RuntimeError
        If workers of the Dask cluster die again and again.

    References
    ----------
    L. Breiman (1996). Stacked regressions. Machine Learning 24, 49-64.

    B. Efron (1992). Jackknife-after-bootstrap standard errors and influence functions. Journal of
    the Royal Statistical Society B 54, 83-127.

    {about references_of_trees}

    Examples
    --------
    >>> import odrf
    >>> data = odrf.load_data("breast_cancer")
    >>> forest = odrf.odrf("diagnosis ~ .", data, n_trees=50, seed=1)
    >>> forest.oob_error < 0.06
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
    options = Options(
        n_trees=n_trees,
        blend=blend,
        objective=objective,
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
        resample=resample,
        sample_fraction=sample_fraction,
        honest=honest,
        inference=inference,
        seed=seed,
        n_jobs=n_jobs,
    )
    call = spelled_call(odrf, formula, rows, options)
    options = checked_options(odrf, options)
    require_no_surrogates(missing)
    env, chunks = environment(2), chunks_of(data)
    if chunks is not None:
        return api.chunks.forest_of_chunks(
            call, formula, chunks, rows, options, env, backend, progress
        )
    table = as_frame(data)
    design, training = design_of(formula, table, rows, env, with_times=True)
    with grown_by(backend, n_jobs):
        grown = grow_fit(call, design, training, options, progress)
        if training.times is not None:
            return api.survival.survival_forest(grown, table)
        fit = sized_forest(grown)
    return ODRFResults(warned_of_data(fit, table))
