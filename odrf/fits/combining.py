"""Combining the trees of two forests into one forest."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf.engine.guided.growth import joined_guided
from odrf.engine.trees.forest import joined
from odrf.fits.blending import Blend
from odrf.fits.fit import Fit
from odrf.fits.guided_fit import GuidedFit
from odrf.fits.matching import require_combinable
from odrf.fits.pruned import before_pruning
from odrf.fits.sizing import sized_forest

__all__ = ["combined_fits", "combined_guided_fits"]


def combined_fits(fit: Fit, other: Fit) -> Fit:
    """Return a forest of the trees of both; if their options pruned them, it is pruned alike."""
    first = before_pruning(fit, "combine() cannot take a forest")
    second = before_pruning(other, "combine() cannot take a forest")
    require_combinable(first, second)
    both = _combined(first, second)
    return both if first is fit else sized_forest(both)


def combined_guided_fits(fit: GuidedFit, other: GuidedFit) -> GuidedFit:
    """Return a guided forest of the trees of both."""
    require_combinable(fit, other)
    return replace(
        fit,
        call=_call(fit, other),
        control=replace(fit.control, n_trees=_n_trees(fit, other)),
        guided=joined_guided([fit.guided, other.guided], 2),
        streams=np.concatenate([fit.streams, other.streams]),
        further_seeds=_further_seeds(fit, other),
    )


def _combined(fit: Fit, other: Fit) -> Fit:
    n_trees = _n_trees(fit, other)
    both = replace(
        fit,
        call=_call(fit, other),
        control=fit.control.with_trees(n_trees),
        forest=joined([fit.forest, other.forest], 2),
        streams=np.concatenate([fit.streams, other.streams]),
        request=replace(fit.request, n_trees=n_trees),
        further_seeds=_further_seeds(fit, other),
        changes=_both_changes(fit, other),
        n_at_split=_both_n_at_split(fit, other),
    )
    if fit.blend is None or other.blend is None:
        return both
    kinds = {name: control.with_trees(n_trees) for name, control in fit.kinds.items()}
    return replace(both, blend=_both_blends(fit.blend, other.blend), kinds=kinds)


def _both_blends(first: Blend, second: Blend) -> Blend:
    """Return the blend of both; weights and errors are means, weighted by numbers of trees."""
    sizes = [len(first.of_tree), len(second.of_tree)]

    def mean(a: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.average([a, b], axis=0, weights=sizes)

    return Blend(
        np.concatenate([first.of_tree, second.of_tree]),
        mean(first.weights, second.weights),
        mean(first.errors, second.errors),
    )


def _both_changes(fit: Fit, other: Fit) -> pd.DataFrame | None:
    if fit.changes is None or other.changes is None:
        return None
    both = pd.concat([fit.changes, other.changes], ignore_index=True)
    return both.rename_axis("tree")


def _both_n_at_split(fit: Fit, other: Fit) -> NDArray[np.int32] | None:
    if fit.n_at_split is None or other.n_at_split is None:
        return None
    return np.concatenate([fit.n_at_split, other.n_at_split])


def _call(fit: Fit | GuidedFit, other: Fit | GuidedFit) -> str:
    return f"{fit.call}.combine({other.call})"


def _n_trees(fit: Fit | GuidedFit, other: Fit | GuidedFit) -> int:
    return fit.control.n_trees + other.control.n_trees


def _further_seeds(fit: Fit | GuidedFit, other: Fit | GuidedFit) -> tuple[int, ...]:
    return (*fit.further_seeds, other.control.seed, *other.further_seeds)
