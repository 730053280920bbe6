"""Adding trees to a forest: those that the same call with a larger `n_trees` would have grown."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from odrf.engine.guided.growth import joined_guided
from odrf.engine.numeric import streams
from odrf.engine.trees.forest import joined
from odrf.errors import InputError
from odrf.fits.blending import Blend, Blended
from odrf.fits.fit import Fit
from odrf.fits.growing import grow_alike, grow_in_kinds, one_kind
from odrf.fits.guided_fit import GuidedFit, grow_guided_trees
from odrf.fits.pruned import before_pruning
from odrf.fits.sizing import sized_forest

__all__ = ["enlarged_fit", "enlarged_guided_fit"]


def enlarged_fit(fit: Fit, k: int, n_jobs: int, progress: bool) -> Fit:
    """Return the forest with `k` more trees; if its options pruned it, it is pruned again."""
    unpruned = before_pruning(fit, "grow() cannot enlarge a forest")
    larger = _enlarged(unpruned, k, n_jobs, progress)
    return larger if unpruned is fit else sized_forest(larger)


def enlarged_guided_fit(fit: GuidedFit, k: int, n_jobs: int, progress: bool) -> GuidedFit:
    """Return the guided forest with `k` more trees."""
    _require_one_seed(fit)
    B = fit.control.n_trees
    control = replace(fit.control, n_trees=B + k)
    tree_streams = streams(control.seed, B, B + k)
    more = grow_guided_trees(fit.design, fit.data, control, tree_streams, n_jobs, progress)
    return replace(
        fit,
        call=f"{fit.call}.grow({k})",
        control=control,
        guided=joined_guided([fit.guided, more], 2),
        streams=np.concatenate([fit.streams, tree_streams]),
    )


def _enlarged(fit: Fit, k: int, n_jobs: int, progress: bool) -> Fit:
    _require_one_seed(fit)
    if fit.control.batches:
        raise InputError(
            "grow() adds trees as if all had been grown at once, but update() has added rows to "
            "these: grow() the forest first, then update() it"
        )
    request = replace(fit.request, n_trees=fit.control.n_trees + k)
    fit = replace(fit, call=f"{fit.call}.grow({k})", request=request)
    if fit.blend is None:
        return _with_more_alike(fit, k, n_jobs, progress)
    return _with_more_in_kinds(fit, fit.blend, k, n_jobs, progress)


def _require_one_seed(fit: Fit | GuidedFit) -> None:
    if fit.further_seeds:
        raise InputError(
            "grow() cannot enlarge a forest that combine() made of several seeds: grow the "
            "forests that it was made of, and combine these"
        )


def _with_more_alike(fit: Fit, k: int, n_jobs: int, progress: bool) -> Fit:
    B = fit.control.n_trees
    control = fit.control.with_trees(B + k)
    # a forest of one tree tries more single predictors at a node: its tree is grown again
    first = 0 if B == 1 else B
    if first == 0:
        control = replace(control, mixture=one_kind(fit.request, fit.design, fit.data).mixture)
    tree_streams = streams(control.seed, 0, B + k)
    more = grow_alike(fit.design, fit.data, control, tree_streams[first:], n_jobs, progress)
    forest = more if first == 0 else joined([fit.forest, more], 2)
    return replace(fit, control=control, forest=forest, streams=tree_streams)


def _with_more_in_kinds(fit: Fit, blend: Blend, k: int, n_jobs: int, progress: bool) -> Fit:
    n_trees = fit.control.n_trees + k
    kinds = {name: control.with_trees(n_trees) for name, control in fit.kinds.items()}
    grown = grow_in_kinds(
        fit.design,
        fit.data,
        list(kinds.values()),
        n_jobs,
        progress,
        Blended(fit.forest, fit.streams, blend),
        fit.request.objective,
    )
    return replace(
        fit,
        control=fit.control.with_trees(n_trees),
        forest=grown.forest,
        streams=grown.streams,
        blend=grown.blend,
        kinds=kinds,
    )
