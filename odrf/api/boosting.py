"""The function a user calls for boosted oblique trees, from a formula."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from odrf.api.calling import design_of, spelled_call
from odrf.design.columns.frame import check_frame
from odrf.design.formulas.lookup import environment
from odrf.design.offset import offset_of
from odrf.errors import InputError
from odrf.fits.boosted_fit import grow_boosted_fit
from odrf.options.boosting_control import resolve_boosting
from odrf.projections.family import Family
from odrf.results.boosted import ODBTResults

__all__ = ["odbt"]


def odbt(
    formula: str,
    data: pd.DataFrame,
    *,
    loss: str = "auto",
    n_trees: int = 100,
    learning_rate: str | float = "auto",
    projection: str | Family | Mapping[str | Family, float] = "auto",
    subset_size: str | int = "random",
    n_projections: str | int = "auto",
    n_singles: str | int = "auto",
    max_depth: int = 5,
    min_leaf: int = 5,
    leaf_values: str = "newton",
    l2: float = 1.0,
    n_thresholds: str | int = "auto",
    split_search: str = "auto",
    sample_fraction: float = 1.0,
    predictor_fraction: float = 1.0,
    n_runs: int = 1,
    run_predictors: float = 1.0,
    validation: str | float | None = None,
    patience: int = 20,
    offset: str | ArrayLike | None = None,
    weights: str | ArrayLike | None = None,
    class_weights: str | Mapping[Any, float] | None = None,
    missing: str = "raise",
    kind: str = "auto",
    seed: int | np.random.SeedSequence | np.random.Generator | None = None,
    n_jobs: int | None = None,
    progress: bool = False,
) -> ODBTResults:
    """Boost oblique trees: a sum of shallow trees, each grown on what those before it leave.

    Starting from the best constant, every round grows a tree on the slopes of the loss at the
    present predictions: by squared error on Newton's response -g/h with weights h, g and h being
    first and second derivatives (Friedman 2001; Chen and Guestrin 2016).  Its leaves then add
    their own Newton steps -G/(H + λ), shrunken by the learning rate.  A tree's directions come
    from any family of `odrf.projections`, as those of `odrf.odrf` do.

    Parameters
    ----------
    formula : str
        The model; see `odrf.odt`.
    data : DataFrame
        One row per observation.
    loss : str, default "auto"
        What is lowered.  For numbers ``"squared_error"``, the default; ``"absolute"``, whose
        predictions are medians; ``"huber"``, squared up to the 90 % quantile of the absolute
        residuals of the round and linear beyond; ``"poisson"``, half the deviance of counts and
        other numbers of at least 0, with trees that add up to the logarithm of the mean.  For
        classes, by default, the negative log-likelihood: ``"logistic"`` of two, ``"multinomial"``
        of more, or of two, with a tree for each class in every round.  For three or more ordered
        classes ``"ordinal"``: that of being above each class but the last, added up, with a tree
        for each of these in every round; the class said is the median.
    n_trees : int, default 100
        Rounds, at most.  Twice as many at a learning rate of 0.07 are a little more accurate.
    learning_rate : "auto" or float, default "auto"
        By which leaves are shrunken, above 0 and at most 1: by default 0.1, and 1 where leaves
        are refitted.
    projection : str, Family or mapping, default "auto"
        As in `odrf.odt`.  By default three families together: every predictor singly, and of
        sparse and of logistic directions as many each as there are predictors, 5 at least and
        8 at most: more cost time and gain nothing on most tables.
    subset_size : "random" or int, default "random"
        As in `odrf.odt`.
    n_projections, n_singles : "auto" or int, default "auto"
        As in `odrf.odt` for a tree; with ``projection="auto"`` the directions of both oblique
        families, 2 at least, and the single predictors, 1 at least.
    max_depth : int, default 5
        Most splits between root and leaf.
    min_leaf : int, default 5
        Fewest rows of a leaf.
    leaf_values : {"newton", "refit"}, default "newton"
        What leaves add: Newton steps, shrunken, which later trees leave as they are; or, by
        squared error, what is best for all trees so far: whenever a tree comes, the leaves of all
        trees are refitted together by least squares with the penalty λ, which is orthogonal
        matching pursuit [3]_.  Few trees then do the work of many, and too many overfit: 20 or so
        of depth 3 or 4 are a good start.
    l2 : float, default 1.0
        λ, the penalty on the squares of leaf values.  Medians and Huber's steps have none.
    n_thresholds, split_search
        As in `odrf.odt`.
    sample_fraction : float, default 1.0
        Share of the rows that each tree draws at random, without replacement.
    predictor_fraction : float, default 1.0
        Share of the predictors that each tree draws at random, of those of its run.
    n_runs : int, default 1
        Boosting runs, whose mean is the fit.  Each of several has a bootstrap sample of the rows
        and `run_predictors` of the predictors; what the trees add up to is averaged, before it is
        turned into means or probabilities.  Rows out of the runs' bags tell the error:
        `ODBTResults.oob_error`.
    run_predictors : float, default 1.0
        Share of the predictors that each of several runs draws: feature bagging.
    validation : float or "oob", optional
        Share of the rows to hold out, of each class alike, to choose the number of rounds: that
        of their smallest loss; or, with several runs, that those out of their bags choose it,
        each judged by the runs that did not draw it.  By default none are: on small tables those
        rows are missed more than rounds that are too many do harm, unless the noise is strong.
    patience : int, default 20
        Rounds without a smaller loss of the rows held out, after which it ends.
    offset : str or array-like, optional
        What is known of each row beforehand, on the scale of ``predict(type="link")``, and added
        to what the trees say: such as the logarithm of the exposure of a count.  A column, which
        new rows need then and which ``.`` leaves out, or one number for each row, by position.
        Not where rows have several scores, by the multinomial and the ordinal loss.
    weights, class_weights, missing, kind
        As in `odrf.odt`; the loss, too, is that of the reweighted rows.
    seed : int, SeedSequence or Generator, optional
        Makes the fit reproducible, for any number of threads; `ODBTResults.control` keeps the
        one that was used.
    n_jobs : int, optional
        Threads; by default all cores.  They share the trees of a round: one for each run, and
        with the multinomial and the ordinal loss for each class.
    progress : bool, default False
        Show a progress bar.

    Returns
    -------
    ODBTResults

    Raises
    ------
    InputError
        Naming the argument or column at fault, and the way out.

    Notes
    -----
    With ``projection="axis"``, ``split_search="exact"``, ``l2=0`` and squared error the trees are
    those of scikit-learn's ``GradientBoostingRegressor``, but for ties: where several predictors
    part a node's rows in the same way, either may choose another.

    For absolute and Huber's loss trees are grown on first derivatives alone, leaves are medians of
    the residuals and one step from them (Friedman 2001, Algorithms 3 and 4).  A Poisson leaf goes
    up no farther than to the mean of its rows, where Newton's step would overshoot.

    The mean of many runs on bootstrap samples and some of the predictors is the boosting ensemble
    of the R package ODRF; [3]_, which refits leaves, has theory for it.

    References
    ----------
    .. [1] J. H. Friedman. Greedy function approximation: a gradient boosting machine. Annals of
       Statistics 29 (2001).
    .. [2] T. Chen, C. Guestrin. XGBoost: a scalable tree boosting system. KDD (2016).
    .. [3] H. Zhan, Y. Liu, Y. Xia. Consistency of oblique decision tree and its boosting and random
       forest. arXiv 2211.12653v4 (2025).

    Examples
    --------
    >>> import odrf
    >>> problem = odrf.simulate.friedman1()
    >>> fit = odrf.odbt("y ~ .", problem.sample(300, seed=1), seed=1)
    >>> new = problem.sample(1000, seed=2)
    >>> bool(((fit.predict(new) - new["y"]) ** 2).mean() < 0.2 * new["y"].var())
    True
    """
    options = dict(locals())
    for name in ("formula", "data", "progress"):
        del options[name]
    call = spelled_call(odbt, formula, options)
    check_frame(data)
    known = offset_of(offset, data)
    design, training = design_of(formula, data, options, environment(1), known.column)
    control = resolve_boosting(
        options,
        y=training.y,
        weights=training.weights,
        kind=design.response.kind,
        P=len(design.predictors),
        p=len(design.columns),
        n_classes=design.response.n_classes,
        ordered=design.response.ordered,
        ranges=design.scaling.range,
        grid=design.grid,
    )
    if known.given and control.n_outputs > 1:
        raise InputError(
            f'offset= adds to the one score of a row, and the loss "{control.loss}" has '
            f"{control.n_outputs}: leave it out"
        )
    own = known.keeping(training.complete)
    return ODBTResults(grow_boosted_fit(call, design, training, own, control, progress))
