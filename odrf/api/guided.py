"""Fit a guided random forest from a formula and a data frame."""

from __future__ import annotations

import pandas as pd

from odrf.api.calling import design_of, spelled_call
from odrf.checks import Seed
from odrf.design import Design, TrainingData
from odrf.design.columns import listed
from odrf.design.functions import environment
from odrf.design.missing import require_no_surrogates
from odrf.design.scaling import crowded_columns
from odrf.errors import warn_user
from odrf.fits.data_warnings import warned_of_data
from odrf.fits.fit import grow_guided_fit
from odrf.options import words
from odrf.options.guided import GuidedOptions, resolve_guided
from odrf.options.options import DataOptions
from odrf.public import public
from odrf.results.guided import GRAFResults


@public
def graf(
    formula: str,
    data: pd.DataFrame,
    *,
    n_trees: int = 100,
    subspace: words.Subspace = "sqrt",
    trials: int | None = None,
    min_split: int = 2,
    origin: words.Origin = "data",
    batched: words.Switch = "auto",
    device: words.DeviceName = "cpu",
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
) -> GRAFResults:
    """Grow a guided random forest, whose hyperplanes divide all impure regions at once (GRAF).

    Each tree uses a random subspace of M predictors and all rows.  As long as a region is impure, a
    step draws random planes through the mean of the most impure region.  The plane that leaves the
    least total impurity is kept, and divides every impure region that it cuts.  So a few planes,
    each stored once, make many regions.

    Parameters
    ----------
    {formula, data}
    n_trees : int, default 100
        B, the number of trees.
    subspace : {"sqrt", "log2", "half", "all"} or int, default "sqrt"
        M, the predictors that each tree uses: ⌈√P⌉, ⌈log₂P⌉, ⌈P/2⌉ or all of the P predictors, or
        this number.  A factor is one predictor.  Gupta et al. tune M.  ``"all"`` suits problems
        where predictors are informative only together.
    trials : int, optional
        Candidate planes at each step; by default M, as in Gupta et al.
    min_split : int, default 2
        Fewest rows of a region that may be divided.  With a noisy response 5, which Gupta et al.
        also try, or more is often better.
    origin : {"data", "region"}, default "data"
        How the coefficients of a plane are drawn.  The coefficient of predictor j is uniform
        between the smallest and the largest value of predictor j in the most impure region, in
        standard deviations over all rows (the indicators of a factor share one).  ``"data"``
        measures these values from the mean of all rows: equation (6) for standardised predictors.
        ``"region"`` measures them from the mean of the region, so that the planes do not depend on
        where the region lies.  This is not in the paper; it needs fewer planes and is as accurate.
    batched : "auto" or bool, default "auto"
        Evaluate the planes of a step by one matrix product over all regions, instead of one by one
        over the regions that each can cut.  Apart from rounding, the trees are the same.  By
        default True for a subspace of 30 predictors or more, where it is faster.
    device : {"cpu", "cuda"}, default "cpu"
        Where the planes are evaluated.  ``"cuda"`` is a graphics card of NVIDIA, with arrays of
        CuPy or PyTorch (``pip install "odrf[cuda]"``); everything else is done on the processor.
        The trees are the same apart from rounding, as for `batched`.  It is meant for many rows,
        a large subspace and many trials, and for few threads.  A fit needs no device to predict;
        where there is none when it grows more trees later, the processor grows them.
    {weights, class_weights, groups}
        Trees use all rows, so this matters where rows are held out, as for
        `GRAFResults.importance`.
    {order}
        It matters where rows are held out.
    {strata}
        It matters where rows are held out.
    missing : {"split", "median", "drop", "raise"}, default "split"
        {about missing}
        With ``"split"`` planes are not sought for missing values: these count as the mean of the
        most impure region, for which a plane is drawn, and a column that marks them has a
        coefficient like any other.
    {unseen, kind, seed, n_jobs, progress}

    Returns
    -------
    GRAFResults

    Raises
    ------
    {InputError, MemoryError}

    Warns
    -----
    UserWarning
        If most values of a column are within a thousandth of its range, as beside a code such as
        99999: planes, whose coefficients depend on the range, do not tell them apart.

    Notes
    -----
    The impurity of a region is the Gini index of its class weights, each divided by the total
    weight of its class, times the weight of the region (equation (8)).  Leaves vote log₂(1 + h), h
    being their class shares with the same scaling (equations (18) to (22)).  So rare classes count
    as much as common ones.  ``type="prob"`` divides the votes by their sum.

    Regression is not in the paper.  Here the impurity is the sum of squares within regions, a leaf
    predicts its mean, and the forest predicts the mean of the trees.

    Case weights enter the impurity and the votes, but not the distribution of the planes, which
    depends only on where the rows lie.

    Since all classes count alike within regions, class weights change only which regions are
    divided first, how much these count in the total impurity, and the errors.

    Ordered classes are treated as unordered, because the paper's impurity ignores the order.

    Every plane uses all columns of its tree, so ``importance("impurity")`` distinguishes predictors
    less well than in other forests, and favours factors of many levels.  The importances shown
    first are of held-out rows whose values are permuted.

    Gupta et al. skip a region whose mean is farther from a plane than a corner of its bounding box
    (equation (25)), although other corners may be farther away.  Here a region is skipped only if
    the plane misses its bounding box, which does not change the trees.

    References
    ----------
    .. [1] P. Gupta, A. Jindal, Jayadeva, D. Sengupta. Guided random forest and its application to
       data approximation.

    Examples
    --------
    >>> import odrf
    >>> problem = odrf.simulate.hypercube(5)
    >>> fit = odrf.graf("y ~ .", problem.sample(400, seed=1), subspace="all", seed=1)
    >>> new = problem.sample(1000, seed=2)
    >>> bool((fit.predict(new) == new["y"]).mean() > 0.6)
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
    options = GuidedOptions(
        n_trees=n_trees,
        subspace=subspace,
        trials=trials,
        min_split=min_split,
        origin=origin,
        batched=batched,
        device=device,
        seed=seed,
        n_jobs=n_jobs,
    )
    call = spelled_call(graf, formula, rows, options)
    options = options.checked()
    require_no_surrogates(missing)
    design, training = design_of(formula, data, rows, environment(2))
    control = resolve_guided(options, design)
    _warn_of_outliers(design, training)
    frame = data.copy() if training.complete.all() else data[training.complete]
    fit = grow_guided_fit(call, design, training, frame, control, progress)
    return GRAFResults(warned_of_data(fit, data))


def _warn_of_outliers(design: Design, data: TrainingData) -> None:
    crowded = [design.columns[j] for j in crowded_columns(data.X)]
    if crowded:
        warn_user(
            f"{listed(crowded)}: most values are within a thousandth of the range, and planes do "
            "not tell them apart: make codes for unknown values missing values, or use log(x); "
            "odrf() and odbt() do not mind"
        )
