"""Fit one oblique tree from a formula and a data frame, or a sample of rows in chunks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, cast

import pandas as pd
from numpy.typing import ArrayLike
from patsy import EvalEnvironment

from odrf import api
from odrf.api.calling import (
    TREE,
    AlphaRule,
    ClassWeights,
    LeafRule,
    Projection,
    design_of,
    options_of,
    requested,
    spelled_call,
)
from odrf.checks import Seed
from odrf.design.functions import environment
from odrf.fits.data_warnings import warned_of_data
from odrf.fits.growing import grow_fit
from odrf.fits.pruning import sized_tree
from odrf.pruning.complexity import WEAKEST_LINK
from odrf.public import in_partitions
from odrf.public.chunks import ChunkSource, chunks_of
from odrf.results.tree import ODTResults

# ------------------------------------------------------------------------------------------------
# A tree from the arguments of `odrf.odt`: of a data frame, or of a sample of rows in chunks.
# ------------------------------------------------------------------------------------------------


def fitted_tree(
    function: Callable[..., Any],
    formula: str,
    data: Any,
    options: Mapping[str, Any],
    env: EvalEnvironment,
    progress: bool,
) -> ODTResults:
    """Return the tree of a call of `odrf.odt`, the `function`."""
    call, chunks, sampled_from = spelled_call(function, formula, options), chunks_of(data), 0
    if chunks is not None:
        sampled = api.chunks.sampled_table(formula, chunks, options, env, progress)
        data, sampled_from, options = sampled
    design, training = design_of(formula, data, options, env, with_times=True)
    if sampled_from:
        training = replace(training, sampled_from=sampled_from)
    request = requested(function, options, TREE)
    if training.times is not None:
        # a union of both types would make every use of a tree ask which one it is
        tree = api.survival.survival_tree(call, design, training, data, request, progress)
        return cast("ODTResults", tree)
    fit = sized_tree(grow_fit(call, design, training, request), progress)
    return ODTResults(warned_of_data(fit, data))


# ------------------------------------------------------------------------------------------------
# Fit one oblique tree from a formula and a data frame.
# ------------------------------------------------------------------------------------------------


@in_partitions("data")
def odt(
    formula: str,
    data: pd.DataFrame | ChunkSource,
    *,
    projection: Projection = "logistic",
    subset_size: str | int = "random",
    n_projections: str | int = "auto",
    n_singles: str | int = "auto",
    max_leaves: LeafRule = None,
    alpha: AlphaRule = "auto",
    pruning: str = WEAKEST_LINK,
    min_leaf: int = 5,
    max_depth: int | None = None,
    criterion: str = "auto",
    cause: str | None = None,
    split_scale: str = "response",
    penalty: str | None = None,
    n_thresholds: str | int = "auto",
    split_search: str = "auto",
    honest: bool = False,
    weights: str | ArrayLike | None = None,
    class_weights: ClassWeights = None,
    groups: str | ArrayLike | None = None,
    order: str | ArrayLike | None = None,
    strata: str | ArrayLike | None = None,
    missing: str = "split",
    unseen: str = "missing",
    kind: str = "auto",
    seed: Seed = None,
    n_jobs: int | None = None,
    progress: bool = False,
) -> ODTResults:
    """Grow one oblique decision tree (Zhan, Liu and Xia, Algorithm 1).

    The tree grows breadth-first.  The candidates at each node A, which holds N(A) rows, are single
    predictors and directions θ, which are linear combinations of a random subset of the
    predictors.  The node is split by the rule θᵀx ≤ s that decreases the impurity most.  Growth
    ends when the tree has t_n leaves or no node can be split.

    Parameters
    ----------
    {formula}
        With a time to an event, ``"Surv(time, event) ~ ."`` (see `odrf.Surv`), the result is a
        `SurvivalTreeResults`.
    data : DataFrame, path or Chunks
        {about data}
        Of a path of Parquet files, and of other sources that `odrf.Chunks` names, the tree grows on
        all rows, or on a random sample of a half, a quarter, … of them that fits into memory; a
        warning and the summary say how many.
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
        Fewest rows of a leaf; rpart's default is 7.
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
        `odrf.results.survival.tree.SurvivalTreeResults`.

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
    >>> int(tree.n_leaves[0])
    21
    """
    return fitted_tree(odt, formula, data, options_of(locals()), environment(2), progress)
