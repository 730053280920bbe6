"""Growing a forest again with the same options on some of its predictors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from odrf.engine.factors import beside, with_rows
from odrf.engine.oob import LossIncrease, permutation_loss
from odrf.fits.fit import Fit
from odrf.fits.growing import grow_fit
from odrf.options.request import Request
from odrf.public.progress import progress_bar

__all__ = ["permutation_rises", "regrown", "regrown_beside_shadows"]

SHADOW_TREES = 100


def regrown(fit: Fit, which: Sequence[int], call: str, progress: bool = False) -> Fit:
    """Grow the forest of a fit again on the predictors with the numbers `which`."""
    design = fit.design.keeping(which)
    data = replace(fit.data, X=fit.data.X[fit.design.recipe.columns_of(which)])
    return grow_fit(call, design, data, _within(fit.request, len(which)), progress)


def regrown_beside_shadows(fit: Fit, which: Sequence[int], seed: int) -> Fit:
    """Grow a forest of one kind on the predictors `which` and a permuted copy of each.

    The columns of a predictor are permuted together.  The copies come last, in the same order.
    """
    rng = np.random.default_rng(seed)
    order = [rng.permutation(len(fit.data.y)) for _ in which]
    shadows = [
        with_rows(fit.data.X[fit.design.recipe.columns_of([j])], rows)
        for j, rows in zip(which, order, strict=True)
    ]
    X = beside([fit.data.X[fit.design.recipe.columns_of(which)], *shadows])
    design = fit.design.keeping([*which, *which])
    request = _within(fit.request, len(which))
    plain = replace(request, n_trees=SHADOW_TREES, blend=False, seed=seed, alpha=None)
    return grow_fit("", design, replace(fit.data, X=X), plain)


def permutation_rises(fit: Fit, progress: bool = False) -> LossIncrease:
    """Return by how much each tree's out-of-bag loss increases when a predictor is permuted."""
    data = fit.data
    with progress_bar(total=fit.forest.n_trees, unit="tree", progress=progress) as bar:
        return permutation_loss(fit.forest, data.X, data.y, fit.design.first, fit.draws, bar.update)


def _within(request: Request, P: int) -> Request:
    """Return the request with a subset size of at most P predictors."""
    size = request.subset_size
    return request if isinstance(size, str) else replace(request, subset_size=min(size, P))
