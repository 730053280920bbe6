"""The function a user calls for a guided random forest, from a formula."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from odrf.api.calling import design_of, spelled_call
from odrf.design.formulas.lookup import environment
from odrf.fits.guided_fit import grow_guided_fit
from odrf.options.guided_control import resolve_guided
from odrf.results.guided import GRAFResults

__all__ = ["graf"]


def graf(
    formula: str,
    data: pd.DataFrame,
    *,
    n_trees: int = 100,
    subspace: str | int = "sqrt",
    trials: int | None = None,
    min_split: int = 2,
    origin: str = "data",
    batched: bool | str = "auto",
    weights: str | ArrayLike | None = None,
    class_weights: str | Mapping[Any, float] | None = None,
    missing: str = "raise",
    kind: str = "auto",
    seed: int | np.random.SeedSequence | np.random.Generator | None = None,
    n_jobs: int | None = None,
    progress: bool = False,
) -> GRAFResults:
    """Grow a guided random forest: planes that are offered to every impure region (GRAF).

    A tree draws a random subspace of M predictors and uses all rows.  While regions are impure,
    planes are drawn at random through the mean of the most impure one, and that which leaves the
    least impurity in all regions together divides each of them that it cuts.  So few planes make
    many regions, and a plane is stored once.

    Parameters
    ----------
    formula : str
        The model; see `odrf.odt`.
    data : DataFrame
        One row per observation.
    n_trees : int, default 100
        B, the number of trees.
    subspace : {"sqrt", "log2", "half", "all"} or int, default "sqrt"
        M, the predictors that each tree uses: ⌈√P⌉, ⌈log₂P⌉, ⌈P/2⌉ or all of P, or so many.  A
        factor is one predictor.  Gupta et al. tune it; problems where no predictor says anything
        without the others want ``"all"``.
    trials : int, optional
        Planes to choose from at each step; by default M, as Gupta et al. have it.
    min_split : int, default 2
        Fewest rows of a region that may be divided.  With noise in the response 5, which Gupta
        et al. also try, or more is often better.
    origin : {"data", "region"}, default "data"
        A plane's weight on predictor j is uniform between its least and largest value in the most
        impure region, in standard deviations of all rows (the indicators of a factor share one).
        With ``"data"`` these values are measured from the mean of all rows: equation (6) for
        standardised predictors.  With ``"region"`` they are from the mean of the region, so that
        planes do not depend on where it lies; that is ours, needs fewer planes, and is as
        accurate.
    batched : "auto" or bool, default "auto"
        Judge the planes of a step by one matrix product over all regions, instead of plane by
        plane over those that it can cut.  Rounding aside, the trees are the same.  The default
        does so from a subspace of 30 predictors on, where it is faster.
    weights, class_weights, missing, kind
        As in `odrf.odt`.
    seed : int, SeedSequence or Generator, optional
        Makes the forest reproducible, for any number of threads; `GRAFResults.control` keeps
        the one that was used.
    n_jobs : int, optional
        Threads; by default all cores.
    progress : bool, default False
        Show a progress bar.

    Returns
    -------
    GRAFResults

    Raises
    ------
    InputError
        Naming the argument or column at fault, and the way out.

    Notes
    -----
    The impurity of a region is Gini's of its class weights, each as a share of all rows of its
    class, times its weight (equation (8)).  Leaves vote with log₂(1 + h), h being their shares of
    the classes, weighted likewise (equations (18) to (22)): so rare classes count as much as
    common ones.  ``type="prob"`` gives the votes as shares of their sum.

    Regression is ours, not in the paper: the impurity is the sum of squares within regions,
    leaves predict their mean, and the forest the mean of the trees.

    Case weights enter the impurity and the votes, not the law of the planes: where the rows lie is
    what it is, however much they count.

    Classes count alike within regions whatever their weights, as said above: class weights change
    which regions are divided first, how much they count beside others, and the errors.

    Ordered classes are taken as unordered: the paper's impurity knows no order.

    Every plane uses all columns of its tree, so that importances tell predictors apart less well
    than those of other forests.

    Gupta et al. skip a region whose mean is farther from a plane than a corner of its box (their
    equation (25)); other corners may be farther still.  Here a region is skipped if the plane
    misses its box, which changes no tree.

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
    options = dict(locals())
    for name in ("formula", "data", "progress"):
        del options[name]
    call = spelled_call(graf, formula, options)
    design, training = design_of(formula, data, options, environment(1))
    control = resolve_guided(
        options,
        kind=design.response.kind,
        P=len(design.predictors),
        n_classes=design.response.n_classes,
    )
    frame = data if training.complete.all() else data[training.complete]
    return GRAFResults(grow_guided_fit(call, design, training, frame, control, progress))
