"""Fit one oblique tree from a formula and a data frame, or a sample of rows in chunks."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pandas as pd

from odrf import api
from odrf.api.calling import checked_options, design_of, spelled_call
from odrf.checks import AUTO, Seed, checked_seed
from odrf.design.columns import as_frame
from odrf.design.functions import environment
from odrf.fits.data_warnings import warned_of_data
from odrf.fits.fit import Fit
from odrf.fits.growing import grow_fit
from odrf.fits.pruning import sized_tree, tree_of_best_leaves
from odrf.options import words
from odrf.options.options import DataOptions, Options
from odrf.public import in_partitions
from odrf.public.chunks import ChunkSource, chunks_of
from odrf.results.tree import LineTreeResults, ODTResults


@in_partitions("data")
def odt(
    formula: str,
    data: pd.DataFrame | ChunkSource,
    *,
    leaves: words.Leaves = "constant",
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
    {formula}
        With a survival time, ``"Surv(time, event) ~ ."`` (see `odrf.Surv`), the result is a
        `SurvivalTreeResults`.
    data : DataFrame, path or Chunks
        {about data}
        Of a path of Parquet files, and of other sources that `odrf.Chunks` names, the tree grows on
        all rows, or on a random sample of a half, a quarter, … of them that fits into memory; a
        warning and the summary say how many.
    leaves : {"constant", "linear", "auto"}, default "constant"
        What leaves predict: the mean of their rows, or a line in some of the predictors; with
        ``"auto"`` whichever has the smaller error of cross-validation.  With
        ``"linear"`` splits are hinges, where two planes meet, besides cuts of predictors and of
        planes; a leaf has a constant, a line or a plane, as BIC allows.  The tree has few leaves,
        and often much less error where the response is smooth; of numbers only.  The result is a
        `LineTreeResults`.  Options of candidate splits, from `projection` to `n_singles`,
        `criterion` to `split_search`, and `honest`, are for constant leaves.
    {projection, subset_size, n_projections}
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
    {pruning}
    min_leaf : int, default 5
        Fewest rows of a leaf; rpart's default is 7.  A leaf with a line has three times as many.
    {max_depth, criterion, cause, split_scale, penalty, n_thresholds, split_search}
        Tables of up to 10,000 rows are searched as by ``"exact"``.  ``control.split_search`` of the
        tree says which it was.
    {honest, weights, class_weights, groups}
        Neither folds nor the halves of honest trees divide a group.  Rows of ``Surv(start, stop,
        event)`` are those of one subject if none of a group overlap in time: `min_leaf` then counts
        subjects, as that many times the mean number of their rows.
    {order}
        In folds, rows are evaluated by earlier rows.
    {strata}
        Folds and halves keep the shares of the strata.
    {missing}
        The summary lists surrogates, and `ODTResults.surrogates` is their table.
    {unseen, kind, seed}
    n_jobs : int, optional
        Threads, by default all cores, or as many as ``OMP_NUM_THREADS`` says: of cross-validation,
        of predictions, and of the growth of a tree of more than 131,072 rows.
    progress : bool, default False
        Show a progress bar of the cross-validation.

    Returns
    -------
    ODTResults
        Of a response ``Surv(time, event)``, a
        `odrf.results.survival.tree.SurvivalTreeResults`; with ``leaves="linear"`` a
        `odrf.results.tree.LineTreeResults`.

    Raises
    ------
    {InputError, MemoryError}

    References
    ----------
    {about references_of_trees}

    Examples
    --------
    >>> import odrf
    >>> data = odrf.load_data("diabetes")
    >>> tree = odrf.odt("progression ~ .", data, max_leaves=lambda n: n**0.5, seed=1)
    >>> tree.n_leaves
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
        leaves=leaves,
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
    env, chunks = environment(2), chunks_of(data)
    if chunks is None:
        table = as_frame(data)
    else:
        drawn_by = checked_seed(seed)
        options = replace(options, seed=drawn_by)
        table, sampled_from = api.chunks.sampled_table(
            formula, chunks, rows, drawn_by, env, progress
        )
    design, training = design_of(formula, table, rows, env, with_times=True)
    if sampled_from:
        training = replace(training, sampled_from=sampled_from)
    if leaves == AUTO:
        if design.response.kind == "regression":
            fit = tree_of_best_leaves(call, design, training, options, progress)
            return _results(warned_of_data(fit, table))
        options = replace(options, leaves="constant")
    grown = grow_fit(call, design, training, options)
    if training.times is not None:
        return api.survival.survival_tree(grown, table, progress)
    return _results(warned_of_data(sized_tree(grown, progress), table))


def _results(fit: Fit) -> ODTResults:
    return ODTResults(fit) if fit.forest.lines is None else LineTreeResults(fit)
