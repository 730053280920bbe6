"""Fit several models from a formula and a data frame, and predict by their weighted mean."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd

from odrf.api.calling import design_of, spelled_call
from odrf.checks import Seed
from odrf.design.functions import environment
from odrf.design.missing import require_no_surrogates
from odrf.fits.data_warnings import warned_of_data
from odrf.fits.stack.growing import RUNS, RUNS_ON_SINGLES, grow_stack
from odrf.options import words
from odrf.options.boosting import BoostingOptions, resolve_boosting
from odrf.options.options import DataOptions, Options
from odrf.options.stack import ResolvedStackOptions, StackOptions, resolve_stacked
from odrf.public import public
from odrf.results.stack import AutoResults

# Rounds of the boosted runs, at most: out-of-bag rows choose how many are kept.
MOST_ROUNDS = 150


@public
def auto(
    formula: str,
    data: pd.DataFrame,
    *,
    n_trees: int = 500,
    weights: words.OfRows = None,
    class_weights: words.ClassWeights = None,
    groups: words.OfRows = None,
    order: words.OfRows = None,
    strata: words.OfRows = None,
    missing: words.Missing = "split",
    unseen: words.Unseen = "missing",
    kind: words.Kind = "auto",
    budget: words.Budget = "default",
    seed: Seed = None,
    n_jobs: int | None = None,
    progress: bool = False,
) -> AutoResults:
    """Fit several models, and predict by their weighted mean: for the best prediction.

    The weights are estimated by stacking (Breiman 1996) of out-of-bag predictions, so that no row
    evaluates a model that has seen its response.  The usual models:

    - a forest of several kinds of trees, as of `odrf.odrf`;
    - for a regression, a forest of half as many trees that predicts what a sum of natural cubic
      splines leaves.  Trees follow smooth curves slowly (Friedberg et al. 2020), and such a sum
      follows them at once;
    - a kernel smoother, which is kernel ridge regression: a ridge regression whose prediction is a
      sum over the training rows of a function of the distance to them.  It follows what bends in
      all predictors at once, and classes that lie around each other;
    - an oblique smoother, the same with a learned distance, which counts as much as the predictors
      matter along it: by their importance in a small forest, or by the gradients of a first
      smoother (Radhakrishnan et al. 2024);
    - where at most half of the predictors matter, a forest of half as many trees on these alone.
      Their number is the effective number of their importances (Hill 1973);
    - boosted oblique trees, the mean of six runs on bootstrap samples, as of `odrf.odbt`; three or
      four runs if there are more than three classes, and none if there are ten or more, unless
      there is no smoother;
    - with 3,000 rows or more and fewer than ten classes, boosted trees on single predictors, if
      they lower the out-of-bag loss by more than two standard errors.

    Parameters
    ----------
    {formula}
        Survival times are refused.
    {data}
    n_trees : int, default 500
        Trees of the forest, at least 20; the other forests have half as many, but at least 20.
    {weights, class_weights, groups}
        With `groups`, `order` or `strata` there are only the forest and the boosted trees, which
        draw as those of `odrf.odrf`: the errors of the other models are estimated by leaving out
        rows regardless of these.
    {order, strata, missing, unseen, kind}
    budget : float or "default", default "default"
        Seconds.  With a number, the forest is fitted in any case, and other models are begun as
        long as there is time: the usual ones, then three other kinds of boosted runs, of shallow
        trees, in small steps, and with splits on single predictors.  These are kept if they lower
        the out-of-bag loss by more than two standard errors.  If there is time for all of them,
        the fit depends on the seed alone, not on the machine.  By default the usual models are
        fitted, and no others.
    {seed, n_jobs}
    progress : bool, default False
        Show a progress bar for each model.

    Returns
    -------
    AutoResults

    Raises
    ------
    {InputError, MemoryError}

    Notes
    -----
    The weights are at least 0 and add up to 1.  Those of a regression minimise the out-of-bag mean
    squared error of the weighted mean, with a penalty on unequal weights that matters where there
    are few rows.  Class probabilities are the weighted geometric mean of those of the models, to a
    power, made to add up to 1 (Genest and Zidek 1986); smaller ones than 0.001 count as 0.001.
    Weights and power minimise the out-of-bag log loss, to which one row is added in which all
    classes are equally probable.  The power calibrates, too: the mean of the trees of a forest is
    too moderate where each tree is sure of another class.  With few rows for each class the
    weights overfit.  So the forest has all the weight unless the models together lower its
    out-of-bag Brier score by more than three quarters of a standard error, which is about what
    chance alone does.

    The sum of splines has the penalty of a ridge regression, chosen by leaving out one row at a
    time.  Its forest is grown on the residuals of rows that are left out.  With many columns there
    are lines instead of splines, and with still more, or very many rows, no such forest.

    The forest on few predictors is evaluated on five folds of rows; importances are computed, and
    the numbers of predictors and trees chosen, without the fold.  Two numbers are tried, of order 2
    and 1.  On the first fold the better one must lower the loss of the forest by more than two
    standard errors when both are put together; else this model is left out.

    The kernel smoother has a Gaussian or a Laplace kernel; kernel, width and penalty are chosen by
    leaving out one row at a time, of at most 500 rows.  It uses at most 3,000 rows, sampled at
    random, and there is none with fewer than five.  An oblique smoother is chosen, and evaluated,
    without each of five folds of rows; importances are those of 50 to 200 trees, more with many
    columns.  There is none with fewer than 20 rows, and gradients have no part with more than 150
    columns (a factor has one for each level).

    The result has intervals and quantiles of responses, importances, curves and most of what a
    forest tells, of all models together; for what it lacks it says why.  `interactions` fits the
    stack again, which takes long.

    The fit takes three to four times as long as the forest alone
    (``benchmarks/accuracy/stacks.py``).  For standard errors, and for a model that is read, use
    `odrf.odrf`: they are those of one forest.

    References
    ----------
    L. Breiman (1996). Stacked regressions. Machine Learning 24, 49-64.

    C. Genest and J. V. Zidek (1986). Combining probability distributions: a critique and an
    annotated bibliography. Statistical Science 1, 114-148.

    R. Friedberg, J. Tibshirani, S. Athey and S. Wager (2020). Local linear forests. Journal of
    Computational and Graphical Statistics 30.

    M. O. Hill (1973). Diversity and evenness: a unifying notation and its consequences. Ecology 54,
    427-432.

    A. Radhakrishnan, D. Beaglehole, P. Pandit and M. Belkin (2024). Mechanism for feature learning
    in neural networks and backpropagation-free machine learning models. Science 383, 1461-1467.

    Examples
    --------
    >>> import odrf
    >>> fit = odrf.auto("progression ~ .", odrf.load_data("diabetes"), n_trees=50, seed=1)
    >>> bool(fit.parts["weight"].sum() > 0.999)
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
    options = StackOptions(
        n_trees=n_trees,
        budget=budget,
        seed=seed,
        n_jobs=n_jobs,
    )
    call = spelled_call(auto, formula, rows, options)
    options = options.checked()
    require_no_surrogates(missing)
    design, training = design_of(formula, data, rows, environment(2))
    control = resolve_stacked(options, design.response.n_classes)
    trees, seed, jobs = control.n_trees, control.seed, control.n_jobs
    shared = frozenset(("n_trees", "seed", "n_jobs"))
    forests = Options(n_trees=trees, blend=True, seed=seed, n_jobs=jobs, given=shared)
    boosting = {
        name: resolve_boosting(each, design, training.y)
        for name, each in kinds_of_runs(control).items()
    }
    fit = grow_stack(call, design, training, control, forests, boosting, progress)
    return AutoResults(warned_of_data(fit, data))


def kinds_of_runs(control: ResolvedStackOptions) -> dict[str, BoostingOptions]:
    """Return the options of the usual boosted runs, and of others that may be tried."""
    usual = BoostingOptions(
        n_trees=MOST_ROUNDS,
        n_runs=control.n_runs,
        validation="oob",
        seed=control.seed,
        n_jobs=control.n_jobs,
    )
    return {
        RUNS: usual,
        "boosted runs of shallow trees": replace(usual, max_depth=3, n_trees=2 * MOST_ROUNDS),
        "boosted runs in small steps": replace(usual, learning_rate=0.04, n_trees=3 * MOST_ROUNDS),
        RUNS_ON_SINGLES: replace(usual, projection="axis", n_trees=2 * MOST_ROUNDS),
    }
