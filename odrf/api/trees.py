"""The functions a user calls: one oblique tree, or a forest of them, from a formula."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from odrf.api.calling import DESIGN_ARGUMENTS, design_of, is_default, spelled_call
from odrf.design.formulas.lookup import environment
from odrf.fits.growing import grow_fit
from odrf.fits.sizing import sized_forest, sized_tree
from odrf.options.request import Request, request_of
from odrf.projections.family import Family
from odrf.pruning.complexity import WEAKEST_LINK
from odrf.results.forest import ODRFResults
from odrf.results.tree import ODTResults

__all__ = ["odrf", "odt"]

# What a tree is where a forest has options.
TREE = {
    "n_trees": 1, "resample": "none", "sample_fraction": "auto", "blend": False, "n_jobs": 1,
}  # fmt: skip

Seed = int | np.random.SeedSequence | np.random.Generator | None
LeafRule = int | str | Callable[[int], float] | None
ShareRule = float | str | Callable[[int], float]
AlphaRule = float | str | Callable[[int], float] | None
ClassWeights = str | Mapping[Any, float] | None
Projection = str | Family | Mapping[str | Family, float]


def odt(
    formula: str,
    data: pd.DataFrame,
    *,
    projection: Projection = "logistic",
    subset_size: str | int = "random",
    n_projections: str | int = "auto",
    n_singles: str | int = "auto",
    max_leaves: LeafRule = None,
    alpha: AlphaRule = None,
    pruning: str = WEAKEST_LINK,
    min_leaf: int = 5,
    max_depth: int | None = None,
    criterion: str = "auto",
    penalty: str | None = None,
    n_thresholds: str | int = "auto",
    split_search: str = "auto",
    honest: bool = False,
    weights: str | ArrayLike | None = None,
    class_weights: ClassWeights = None,
    missing: str = "raise",
    kind: str = "auto",
    seed: Seed = None,
) -> ODTResults:
    """Grow one oblique decision tree (Zhan, Liu and Xia, Algorithm 1).

    The tree is grown breadth-first.  At each node every predictor is tried singly, and
    directions θ are estimated on random subsets of predictors; the split θᵀx ≤ s with the
    largest decrease of impurity is made, until the tree has t_n leaves.

    Parameters
    ----------
    formula : str
        The model, such as ``"y ~ ."``, ``"log(y) ~ a + b:c"`` or ``"y ~ . - id"``; see
        `odrf.design`.  A factor becomes one indicator per level and stays one predictor.
    data : DataFrame
        One row per observation.
    projection : str, Family or mapping, default "logistic"
        How a direction is found, by the name of a family of `odrf.projections`, or as one of
        these with parameters of its own: the weights of a one-unit logistic model (the paper's
        choice), ``"least_squares"``, ``"sparse"`` (a few columns with random signs: SPORF), and
        others; ``"axis"`` gives CART.  A mapping gives each of several families its share of the
        directions, such as ``{"axis": 0.5, "logistic": 0.5}``.  Alone, a factor has its levels
        ordered by their mean response; among several predictors, one of more than six levels is
        scored so, too.
    subset_size : "random" or int, default "random"
        Predictors in each subset: drawn anew for every direction, uniformly on
        1 … min(⌈N(A)^0.4⌉, P), which is consistent for every continuous regression function;
        or fixed.
    n_projections : "auto" or int, default "auto"
        Directions tried at each node; max(5, ⌈√P⌉) for P predictors where they are estimated,
        where they are random as many as the design has columns.
    n_singles : "auto" or int, default "auto"
        Predictors tried singly at each node beside these: all where directions are estimated,
        none where they are random.
    max_leaves : int, str, callable or None, default None
        t_n, the number of leaves at which growth stops, or a rule such as
        ``lambda n: n**0.5``; None sets no limit.  By name, rates that Theorem 1 allows:
        ``"sqrt"`` and ``"n/log5"``, c·√n and c·n/ln⁵n, with c found by 10-fold cross-validation
        along the growth.
    alpha : float, str or callable, optional
        α_n: prune the grown tree at this price of a leaf, or by a rule in n; see
        `ODTResults.prune`.  ``"cv"`` takes the smallest error of 10-fold cross-validation,
        ``"1se"`` the smallest tree within one standard error of it.  By name, rates that Theorem
        3 allows: ``"log6/n"`` and ``"1/sqrt(n)"``, c·ln⁶n/n and c/√n, with c found by
        cross-validation.
    pruning : {"weakest_link", "growth"}, default "weakest_link"
        Which subtrees pruning has to choose from: all, or, as in Zhan, Liu and Xia (section 3.2),
        those that there were while the tree grew, which never cost less at the same α.
    min_leaf : int, default 5
        Fewest rows of a leaf: enough for its mean to say something, as in rpart's 7.
    max_depth : int, optional
        Most splits between root and leaf.
    criterion : {"auto", "squared_error", "gini", "entropy", "ordinal"}, default "auto"
        Impurity: squared error for a regression; for classes Gini, with sparse directions entropy,
        which tells the better ones of many random directions.  For three or more ordered classes,
        those of a pandas categorical with ``ordered=True``, ``"ordinal"``: Σ F_k (1 - F_k), F_k
        being the share up to class k < K (Piccarreta 2008), so that a split pays that parts low
        classes from high ones at any height; logistic and other estimated directions then part the
        classes up to a random one from the others, and the predicted class is the median.
        ``"gini"`` and ``"entropy"`` take them as unordered.
    penalty : {None, "aic", "bic"}, default None
        Charge each split for its coefficients, 2 or log N(A) each: it must lower
        N(A)·log(impurity) by more.
    n_thresholds : "auto", "all" or int, default "auto"
        Cuts tried along each direction: all of them, or the best of so many at random, uniform
        between the ends.  By default all, with ``projection="extra"`` one, which makes extremely
        randomised trees (Geurts et al. 2006).
    split_search : {"auto", "exact"}, default "auto"
        ``"exact"`` tries every cut along every direction.  The default does so in nodes of up
        to 64 rows (128 for three or more classes); in larger ones it compares directions by the
        cuts between up to 256 bins, and tries every cut near the winner's.
    honest : bool, default False
        Let one half of the rows, drawn at random, shape the tree and the others fill its nodes.
        A split seeks out where the rows that shape it differ by chance, so that what they then say
        of the two sides is exaggerated; the others did not take part, at the price of half of the
        rows for either.  Value, count, weight, impurity and gain of a node are theirs; a leaf that
        none of them reaches has the value of the nearest node above that some do, and `min_leaf`
        counts the rows that shape.  Pruning then chooses among subtrees by rows that had no part
        in the splits.
    weights : str or array of shape (n,), optional
        Case weights, as a column of `data` or as numbers in its order: a weight of 2 says as much
        as the row twice.  `min_leaf` counts rows.
    class_weights : None, "balanced" or mapping, default None
        What the case weights of each class are multiplied by: numbers above 0 by class, 1 for
        those not named; or ``"balanced"``, so that all classes weigh the same in total, and as much
        as before together.  Splits, shares, predictions and all errors, out of bag or in folds,
        then speak of a population with these shares of the classes, as with ``prior`` in rpart;
        ``predict(priors=)`` takes probabilities back to others.
    missing : {"raise", "drop"}, default "raise"
        What to do about rows with missing values.
    kind : {"auto", "regression", "classification"}, default "auto"
        By the type of the response: numbers are regressed, everything else classified, ordered
        categoricals by cumulative splits; see `criterion`.
    seed : int, SeedSequence or Generator, optional
        Makes the tree reproducible; `ODTResults.control` keeps the one that was used.

    Returns
    -------
    ODTResults

    Raises
    ------
    InputError
        Naming the argument or column at fault, and the way out.

    Examples
    --------
    >>> import odrf
    >>> data = odrf.load_data("diabetes")
    >>> tree = odrf.odt("progression ~ .", data, max_leaves=lambda n: n**0.5, seed=1)
    >>> int(tree.n_leaves[0])
    21
    """
    options = dict(locals())
    for name in ("formula", "data"):
        del options[name]
    call = spelled_call(odt, formula, options)
    design, training = design_of(formula, data, options, environment(1))
    request = _request(odt, options, TREE)
    return ODTResults(sized_tree(grow_fit(call, design, training, request)))


def odrf(
    formula: str,
    data: pd.DataFrame,
    *,
    n_trees: int = 500,
    blend: bool | str = "auto",
    projection: Projection = "logistic",
    subset_size: str | int = "random",
    n_projections: str | int = "auto",
    n_singles: str | int = "auto",
    max_leaves: LeafRule = None,
    alpha: AlphaRule = None,
    pruning: str = WEAKEST_LINK,
    min_leaf: int = 2,
    max_depth: int | None = None,
    criterion: str = "auto",
    penalty: str | None = None,
    n_thresholds: str | int = "auto",
    split_search: str = "auto",
    resample: str = "auto",
    sample_fraction: ShareRule = "auto",
    honest: bool = False,
    weights: str | ArrayLike | None = None,
    class_weights: ClassWeights = None,
    missing: str = "raise",
    kind: str = "auto",
    seed: Seed = None,
    n_jobs: int | None = None,
    progress: bool = False,
) -> ODRFResults:
    """Grow a forest of oblique decision trees (Zhan, Liu and Xia, section 4).

    Each tree is grown as by `odt` on its own resample of the rows; the forest predicts the
    mean of its trees, for classes the mean of their proportions (equation (4.1)).

    Parameters
    ----------
    formula : str
        The model; see `odt`.
    data : DataFrame
        One row per observation.
    n_trees : int, default 500
        B, the number of trees.  More never hurt accuracy; `ODRFResults.plot` shows whether
        the out-of-bag error has settled.
    blend : "auto" or bool, default "auto"
        Grow several kinds of trees: greedy, with random cuts, with few directions, with large
        leaves, for classes also with sparse directions and with none.  A pilot of each is judged
        out of bag, and stacking (Breiman 1996) decides how many there are of each; options given
        hold for all.  See `ODRFResults.kinds`.  The default does so from 100 trees on, unless
        `projection` does not estimate its directions or `resample` is ``"none"``; a forest that
        `ODRFResults.grow` enlarges stays what it was.
    projection, subset_size, n_projections
        As in `odt`.
    n_singles : "auto" or int, default "auto"
        Predictors tried singly at each node: all up to 60, then 60 or, if more, ⌈√P⌉, drawn
        anew for each node; with ``projection="axis"`` those of the ordinary random forest, ⌈√P⌉
        for classes and ⌈P/3⌉ for a regression, with ``"sparse"`` none.
    max_leaves : int, callable or None, default None
        As in `odt`, for every tree.
    alpha : float, str or callable, optional
        As in `odt`; the same α_n prunes each tree (Theorem 5).  ``"oob"`` takes the α with the
        smallest out-of-bag error, and the constant of a rate by its name, ``"log6/n"`` or
        ``"1/sqrt(n)"``, is found out of bag as well.
    pruning, max_depth, criterion, penalty, n_thresholds, split_search
        As in `odt`, for every tree.
    min_leaf : int, default 2
        Fewest rows of a leaf; small, because averaging does the smoothing.  In a blend it is 1 to
        10 by the kind of tree, unless given.
    resample : {"auto", "bootstrap", "subsample", "none"}, default "auto"
        Each tree's rows: drawn with replacement, without, or all of them.  Out-of-bag results
        need one of the first two.  By default a bootstrap, for a blend a subsample.
    sample_fraction : "auto", float or callable, default "auto"
        Rows drawn as a share of n: 1 for a bootstrap, 0.632 for a subsample, which then has as
        many distinct rows; in a blend 0.632 to 0.9, the more the less greedy a kind of tree is.
        Theory on honest forests wants a share that falls with n, such as ``lambda n: n**-0.3``.
    honest : bool, default False
        As in `odt`, for every tree: of the rows that it draws, a random half shapes it and the
        other fills it.  With ``resample="subsample"`` and a `sample_fraction` that falls with n,
        class probabilities are consistent (Perry et al., Theorem 2; see `ODRFResults.consistency`).
        Out of bag are the rows that a tree has not drawn at all.  Probabilities come out more
        moderate: better where noise makes those of a plain forest too extreme; but a plain forest
        is often too moderate already, and an honest one then is more so
        (``benchmarks/honesty.py``).
    weights, class_weights, missing, kind
        As in `odt`.  Each tree draws rows whatever they weigh; those drawn then count by their
        weights, within the tree and out of bag.
    seed : int, SeedSequence or Generator, optional
        Makes the forest reproducible, for any number of threads; `ODRFResults.control` keeps
        the one that was used.
    n_jobs : int, optional
        Threads; by default all cores.
    progress : bool, default False
        Show a progress bar.

    Returns
    -------
    ODRFResults

    Raises
    ------
    InputError
        Naming the argument or column at fault, and the way out.

    Examples
    --------
    >>> import odrf
    >>> data = odrf.load_data("breast_cancer")
    >>> forest = odrf.odrf("diagnosis ~ .", data, n_trees=50, seed=1)
    >>> forest.oob_error < 0.06
    True
    """
    options = dict(locals())
    for name in ("formula", "data", "progress"):
        del options[name]
    call = spelled_call(odrf, formula, options)
    design, training = design_of(formula, data, options, environment(1))
    request = _request(odrf, options, {})
    return ODRFResults(sized_forest(grow_fit(call, design, training, request, progress)))


def _request(
    function: Callable[..., Any], options: Mapping[str, Any], fixed: Mapping[str, Any]
) -> Request:
    """Return what the call asks of growth: its options, and those that a tree has `fixed`."""
    given = {name for name, value in options.items() if not is_default(function, name, value)}
    return request_of({**options, **fixed}, frozenset(given.difference(DESIGN_ARGUMENTS)))
